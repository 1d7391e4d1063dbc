// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs shows: the truth about known states, whole tables, and no harm while objects come
 * and go.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/trace_events.h>
#include "watch.h"
#include "../drivers/ward/mem/region.h"
#include "../drivers/ward/qp/qp.h"
#include "../drivers/ward/watch/debugfs.h"
#include "../drivers/ward/watch/violations.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

#define EXPECT_FACT(test, text, name, value) \
	KUNIT_EXPECT_STREQ(test, watch_fact(test, text, name), value)
#define EXPECT_COLUMN(test, text, line, name, value) \
	KUNIT_EXPECT_STREQ(test, watch_column(test, text, line, name), value)

static struct link wire;

static const struct {
	const char			*name;
	const struct file_operations	*fops;
} files[] = {
	{ "info", &ward_info_fops },
	{ "counters", &ward_counters_fops },
	{ "exposure.hist", &ward_hist_fops },
	{ "violations", &ward_violations_fops },
	{ "peers", &ward_peers_fops },
	{ "mrs", &ward_mrs_fops },
	{ "mrs.exposed", &ward_exposed_fops },
	{ "mws", &ward_mws_fops },
	{ "pds", &ward_pds_fops },
	{ "cqs", &ward_cqs_fops },
	{ "srqs", &ward_srqs_fops },
	{ "ahs", &ward_ahs_fops },
};

static struct verbs *start(struct kunit *test)
{
	return verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);
}

static struct ward_device *dev_of(const struct verbs_end *end)
{
	return to_ward(end->link->ibdev);
}

static char *number(struct kunit *test, const char *format, u64 n)
{
	char *text = kunit_kzalloc(test, 24, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	snprintf(text, 24, format, n);
	return text;
}

static u64 value(struct kunit *test, const char *text)
{
	u64 n = 0;

	KUNIT_EXPECT_EQ_MSG(test, kstrtou64(text, 0, &n), 0, "\"%s\"", text);
	return n;
}

static char *state_of(struct kunit *test, struct verbs_end *end)
{
	struct ward_qp *qp = to_ward_qp(end->qp);

	KUNIT_ASSERT_NOT_NULL(test, qp->shown);
	return watch_read(test, &ward_state_fops, qp->shown);
}

/* Each file is where it should be, has headings, and as many columns in each line. */
static void files_are_there(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ward_device *dev = dev_of(&v->b);
	int i;

	verbs_region(test, &v->b, 0, 4096, REMOTE);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		struct dentry *dentry = debugfs_lookup(files[i].name, dev->debugfs);
		char *text = watch_read(test, files[i].fops, dev), *line, *headings = NULL;

		KUNIT_EXPECT_NOT_NULL_MSG(test, dentry, "%s", files[i].name);
		dput(dentry);
		while ((line = strsep(&text, "\n")) && *line) {
			size_t columns = 0;
			const char *p;

			if (!headings)
				headings = line;
			if (headings[0] != '#') {
				KUNIT_EXPECT_NOT_NULL_MSG(test, strchr(line, '\t'), "%s: %s",
							  files[i].name, line);
				continue;
			}
			for (p = line; *p; p++)
				columns += p[0] == ' ' && p[1] != ' ';
			for (p = headings + 2; *p; p++)
				columns -= p[0] == ' ' && p[1] != ' ';
			KUNIT_EXPECT_EQ_MSG(test, columns, line == headings, "%s: %s",
					    files[i].name, line);
		}
		KUNIT_EXPECT_NOT_NULL_MSG(test, headings, "%s is empty", files[i].name);
	}
}

static void info_tells_the_netdev(struct kunit *test)
{
	struct verbs *v = start(test);
	char *text = watch_read(test, &ward_info_fops, dev_of(&v->b));

	EXPECT_FACT(test, text, "netdev", "wk1");
	EXPECT_FACT(test, text, "port_state", "ACTIVE");
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "::ffff:10.77.0.2"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "option "));
}

static void qp_at_rest(struct kunit *test)
{
	struct verbs *v = start(test);
	char *text = state_of(test, &v->a);

	EXPECT_FACT(test, text, "qpn", number(test, "%llu", v->a.qp->qp_num));
	EXPECT_FACT(test, text, "type", "RC");
	EXPECT_FACT(test, text, "snapshot", "consistent");
	EXPECT_FACT(test, text, "consumer", "kernel");
	EXPECT_FACT(test, text, "state", "RTS");
	EXPECT_FACT(test, text, "why", "modify_qp");
	EXPECT_FACT(test, text, "peer_gid", "::ffff:10.77.0.2");
	EXPECT_FACT(test, text, "peer_qpn", number(test, "%llu", v->b.qp->qp_num));
	EXPECT_FACT(test, text, "mtu_bytes", "1024");
	EXPECT_FACT(test, text, "sq_waits_for", "nothing");
	EXPECT_FACT(test, text, "sq_outstanding", "0");
	EXPECT_FACT(test, text, "psn_next", number(test, "%llu", v->a.psn));
	EXPECT_FACT(test, text, "psn_expected", number(test, "%llu", v->b.psn));
	EXPECT_FACT(test, text, "retries_left", "6");
	EXPECT_FACT(test, text, "timeout_in_us", "-");
	EXPECT_FACT(test, text, "last_nak", "-");
}

/* B does not answer: the send queue says what it waits for, and which work request does. */
static void qp_waits_for_ack(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *recv = verbs_recv(test, &v->b, 0, 3000), *send;
	struct ward_run run;
	char *text, *wqes, *line;

	ward_qp_own(to_ward_qp(v->b.qp), &run);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 3000, 0);
	text = state_of(test, &v->a);
	wqes = watch_read(test, &ward_wqes_fops, to_ward_qp(v->a.qp)->shown);
	ward_qp_disown(&run);

	EXPECT_FACT(test, text, "sq_waits_for", "ack");
	EXPECT_FACT(test, text, "sq_outstanding", "1");
	EXPECT_FACT(test, text, "psn_unacknowledged", number(test, "%llu", v->a.psn));
	EXPECT_FACT(test, text, "psn_next", number(test, "%llu", v->a.psn + 3));
	EXPECT_FACT(test, text, "packets_kept", "3");
	KUNIT_EXPECT_STRNEQ(test, watch_fact(test, text, "timeout_in_us"), "-");
	line = watch_line(test, wqes, "0");
	EXPECT_COLUMN(test, wqes, line, "opcode", "SEND");
	EXPECT_COLUMN(test, wqes, line, "length_bytes", "3000");
	EXPECT_COLUMN(test, wqes, line, "first_psn", number(test, "%llu", v->a.psn));
	EXPECT_COLUMN(test, wqes, line, "last_psn", number(test, "%llu", v->a.psn + 2));
	EXPECT_COLUMN(test, wqes, line, "state", "executed");

	ASSERT_STATUS(test, send, IB_WC_SUCCESS);
	ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
	text = state_of(test, &v->a);
	EXPECT_FACT(test, text, "sq_waits_for", "nothing");
	EXPECT_FACT(test, text, "count completed", "1");
	wqes = watch_read(test, &ward_wqes_fops, to_ward_qp(v->a.qp)->shown);
	KUNIT_EXPECT_NULL(test, watch_line(test, wqes, "0"));
}

/* Without a receive the sender waits as it was told. */
static void qp_waits_for_receiver(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *send;
	unsigned long until = jiffies + 10 * HZ;
	char *text;

	/* 491 ms */
	to_ward_qp(v->b.qp)->attr.min_rnr_timer = 31;
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	do {
		text = state_of(test, &v->a);
	} while (strcmp(watch_fact(test, text, "rnr_wait"), "yes") && time_before(jiffies, until));
	EXPECT_FACT(test, text, "sq_waits_for", "rnr-timer");
	KUNIT_EXPECT_GT(test, value(test, watch_fact(test, text, "rnr_left_us")), 0);
	verbs_recv(test, &v->b, 0, 100);
	ASSERT_STATUS(test, send, IB_WC_SUCCESS);
}

/* An invalidate waits for somebody who is inside: which key is told. */
static void qp_waits_for_drain(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->a, 0, 4096, REMOTE);
	struct verbs_op *inv;
	char *text, *mrs, *line;

	KUNIT_ASSERT_TRUE(test, ward_guard_enter(&to_ward_mr(mr)->guard));
	inv = verbs_inv(test, &v->a, mr->rkey);
	text = state_of(test, &v->a);
	mrs = watch_read(test, &ward_mrs_fops, dev_of(&v->a));
	local_bh_disable();
	ward_mr_leave(to_ward_mr(mr));
	local_bh_enable();

	EXPECT_FACT(test, text, "sq_waits_for", "drain");
	EXPECT_FACT(test, text, "sq_drain_key", number(test, "0x%08llx", mr->rkey));
	line = watch_line(test, mrs, number(test, "0x%08llx", mr->rkey));
	EXPECT_COLUMN(test, mrs, line, "state", "DRAINING");
	EXPECT_COLUMN(test, mrs, line, "users", "1");
	ASSERT_STATUS(test, inv, IB_WC_SUCCESS);
}

static void qp_tells_why_it_failed(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, IB_ACCESS_REMOTE_READ);
	char *text;

	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       v->a.pd->local_dma_lkey, 8, mr->iova, mr->rkey),
		      IB_WC_REM_ACCESS_ERR);
	text = state_of(test, &v->a);
	EXPECT_FACT(test, text, "state", "ERR");
	EXPECT_FACT(test, text, "why", "send-failed");
	EXPECT_FACT(test, text, "why_detail", ib_wc_status_msg(IB_WC_REM_ACCESS_ERR));
	text = state_of(test, &v->b);
	EXPECT_FACT(test, text, "state", "ERR");
	EXPECT_FACT(test, text, "why", "peer-refused");
	EXPECT_FACT(test, text, "why_detail", "access");
	EXPECT_FACT(test, text, "last_nak", "access");
}

/* A QP that somebody holds for long is shown as far as that goes. */
static void held_qp_is_shown(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ward_run run;
	char *text;

	ward_qp_own(to_ward_qp(v->b.qp), &run);
	text = state_of(test, &v->b);
	ward_qp_disown(&run);
	EXPECT_FACT(test, text, "snapshot", "busy");
	EXPECT_FACT(test, text, "state", "RTS");
	EXPECT_FACT(test, text, "peer_qpn", number(test, "%llu", v->a.qp->qp_num));
	/* and goes on */
	verbs_recv(test, &v->b, 0, 100);
	ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
}

/* From registration to invalidation: who could reach it, who did, and for how long. */
static void exposure_is_told(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 8192, REMOTE);
	char *key = number(test, "0x%08llx", mr->rkey);
	char *text, *line;

	text = watch_read(test, &ward_exposed_fops, dev_of(&v->b));
	line = watch_line(test, text, key);
	EXPECT_COLUMN(test, text, line, "state", "VALID");
	EXPECT_COLUMN(test, text, line, "kind", "fast");
	EXPECT_COLUMN(test, text, line, "rights", "lrw");
	EXPECT_COLUMN(test, text, line, "length_bytes", "8192");
	EXPECT_COLUMN(test, text, line, "generation", "1");
	EXPECT_COLUMN(test, text, line, "orphaned", "no");
	EXPECT_COLUMN(test, text, line, "exposures", "0");
	EXPECT_COLUMN(test, text, line, "last_op", "-");
	EXPECT_COLUMN(test, text, line, "mr_id", number(test, "%llu", mr->res.id));

	ASSERT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       v->a.pd->local_dma_lkey, 3000, mr->iova, mr->rkey),
		      IB_WC_SUCCESS);
	ASSERT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma,
				       v->a.pd->local_dma_lkey, 5000, mr->iova, mr->rkey),
		      IB_WC_SUCCESS);
	/* as the owner: the run that has answered has ended, and left the guard */
	state_of(test, &v->b);
	text = watch_read(test, &ward_mrs_fops, dev_of(&v->b));
	line = watch_line(test, text, key);
	EXPECT_COLUMN(test, text, line, "written_bytes", "3000");
	EXPECT_COLUMN(test, text, line, "read_bytes", "5000");
	EXPECT_COLUMN(test, text, line, "last_op", "read");
	EXPECT_COLUMN(test, text, line, "peer_gid", "::ffff:10.77.0.1");
	EXPECT_COLUMN(test, text, line, "peer_qpn", number(test, "%llu", v->a.qp->qp_num));
	EXPECT_COLUMN(test, text, line, "qpn", number(test, "%llu", v->b.qp->qp_num));

	/* nobody can receive for it any more */
	verbs_to_error(test, &v->b);
	text = watch_read(test, &ward_exposed_fops, dev_of(&v->b));
	EXPECT_COLUMN(test, text, watch_line(test, text, key), "orphaned", "yes");

	verbs_connect(test, v);
	ASSERT_STATUS(test, verbs_inv(test, &v->b, mr->rkey), IB_WC_SUCCESS);
	text = watch_read(test, &ward_exposed_fops, dev_of(&v->b));
	KUNIT_EXPECT_NULL(test, watch_line(test, text, key));
	text = watch_read(test, &ward_mrs_fops, dev_of(&v->b));
	line = watch_line(test, text, key);
	EXPECT_COLUMN(test, text, line, "state", "FREE");
	EXPECT_COLUMN(test, text, line, "exposed_us", "-");
	EXPECT_COLUMN(test, text, line, "exposures", "1");
	EXPECT_COLUMN(test, text, line, "ended_by", "local");
	KUNIT_EXPECT_GT(test, value(test, watch_column(test, text, line, "exposed_total_us")), 0);
}

static u64 hist_sum(struct kunit *test, struct verbs_end *end)
{
	char *text = watch_read(test, &ward_hist_fops, dev_of(end));
	u64 from, exposures, drains, sum = 0;

	while ((text = strchr(text, '\n')) && *++text) {
		KUNIT_EXPECT_EQ(test, sscanf(text, "%llu %llu %llu", &from, &exposures, &drains),
				3);
		sum += exposures;
	}
	return sum;
}

static void hist_counts_exposures(struct kunit *test)
{
	struct verbs *v = start(test);
	u64 before = hist_sum(test, &v->b);
	int i;

	for (i = 0; i < 5; i++) {
		struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

		verbs_recv(test, &v->b, 0, 100);
		ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 10, mr->rkey),
			      IB_WC_SUCCESS);
	}
	/* no peer reaches that one */
	verbs_inv(test, &v->b, verbs_region(test, &v->b, 0, 4096, IB_ACCESS_LOCAL_WRITE)->rkey);
	KUNIT_EXPECT_EQ(test, hist_sum(test, &v->b), before + 5);
}

static void pd_tells_its_owner(struct kunit *test)
{
	struct verbs *v = start(test);
	char *text, *line;

	verbs_region(test, &v->b, 0, 8192, REMOTE);
	verbs_region(test, &v->b, 0, 4096, REMOTE);
	text = watch_read(test, &ward_pds_fops, dev_of(&v->b));
	line = watch_line(test, text, number(test, "%llu", v->b.pd->res.id));
	EXPECT_COLUMN(test, text, line, "owner", "kernel");
	EXPECT_COLUMN(test, text, line, "qps", "1");
	EXPECT_COLUMN(test, text, line, "qps_receiving", "1");
	/* with the one that lkeys of the kernel stand for */
	EXPECT_COLUMN(test, text, line, "mrs", "3");
	EXPECT_COLUMN(test, text, line, "exposed_bytes", "12288");
}

static void violation_is_told(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);
	char *text, *last;

	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       v->a.pd->local_dma_lkey, 24, mr->iova + 4090, mr->rkey),
		      IB_WC_REM_ACCESS_ERR);
	text = watch_read(test, &ward_violations_fops, dev_of(&v->b));
	last = text + strlen(text) - 1;
	KUNIT_ASSERT_EQ(test, *last, '\n');
	*last = 0;
	last = strrchr(text, '\n') + 1;
	text = watch_read(test, &ward_violations_fops, dev_of(&v->b));
	EXPECT_COLUMN(test, text, last, "qpn", number(test, "%llu", v->b.qp->qp_num));
	EXPECT_COLUMN(test, text, last, "peer_gid", "::ffff:10.77.0.1");
	EXPECT_COLUMN(test, text, last, "peer_qpn", number(test, "%llu", v->a.qp->qp_num));
	EXPECT_COLUMN(test, text, last, "psn", number(test, "%llu", v->a.psn));
	EXPECT_COLUMN(test, text, last, "key", number(test, "0x%08llx", mr->rkey));
	EXPECT_COLUMN(test, text, last, "va", number(test, "0x%llx", mr->iova + 4090));
	EXPECT_COLUMN(test, text, last, "length_bytes", "24");
	EXPECT_COLUMN(test, text, last, "op", "write");
	EXPECT_COLUMN(test, text, last, "rule", "range");
	text = watch_read(test, &ward_mrs_fops, dev_of(&v->b));
	EXPECT_COLUMN(test, text, watch_line(test, text, number(test, "0x%08llx", mr->rkey)),
		      "refused", "1");
}

static void peer_is_told(struct kunit *test)
{
	struct verbs *v = start(test);
	char *text, *line = NULL, *next;

	verbs_recv(test, &v->b, 0, 100);
	ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
	text = watch_read(test, &ward_peers_fops, dev_of(&v->a));
	for (next = text; (next = strchr(next, '\n')) && *++next;)
		if (!strcmp(watch_column(test, text, next, "qpn"),
			    number(test, "%llu", v->a.qp->qp_num)))
			line = next;
	KUNIT_ASSERT_NOT_NULL(test, line);
	EXPECT_COLUMN(test, text, line, "peer_gid", "::ffff:10.77.0.2");
	EXPECT_COLUMN(test, text, line, "ops_out", "1");
	EXPECT_COLUMN(test, text, line, "packets_out", "1");
	EXPECT_COLUMN(test, text, line, "bytes_out", "116");
	EXPECT_COLUMN(test, text, line, "packets_in", "1");
	EXPECT_COLUMN(test, text, line, "resent", "0");
}

static int read_on(void *verbs)
{
	struct verbs *v = verbs;
	struct ward_device *dev = dev_of(&v->b);
	struct inode *inode = kzalloc(sizeof(*inode), GFP_KERNEL);
	struct file *file = kzalloc(sizeof(*file), GFP_KERNEL);
	char *buf = kzalloc(PAGE_SIZE, GFP_KERNEL);
	int i = 0;

	while (inode && file && buf && !kthread_should_stop()) {
		struct kvec piece = { buf, PAGE_SIZE };
		struct kiocb iocb = { .ki_filp = file };
		struct iov_iter to;

		inode->i_private = dev;
		file->f_mode = FMODE_READ;
		file->private_data = NULL;
		if (files[i].fops->open(inode, file))
			break;
		do {
			iov_iter_kvec(&to, ITER_DEST, &piece, 1, PAGE_SIZE);
		} while (seq_read_iter(&iocb, &to) > 0);
		files[i].fops->release(inode, file);
		i = (i + 1) % ARRAY_SIZE(files);
		cond_resched();
	}
	kfree(buf);
	kfree(file);
	kfree(inode);
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return i;
}

/* All tables are read without a pause, while all that they show comes and goes. */
static void reading_harms_nobody(struct kunit *test)
{
	struct verbs *v = start(test);
	struct task_struct *reader = kthread_run(read_on, v, "ward-reader");
	int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	for (i = 0; i < 60; i++) {
		struct ib_pd *pd = ib_alloc_pd(v->b.link->ibdev, 0);
		struct ib_cq *cq = ib_alloc_cq(v->b.link->ibdev, NULL, 16, 0, IB_POLL_WORKQUEUE);
		struct ib_srq_init_attr init = {
			.attr = { .max_wr = 16, .max_sge = 2 }, .srq_type = IB_SRQT_BASIC,
		};
		struct ib_srq *srq = ib_create_srq(pd, &init);
		struct ib_mr *mr = ib_alloc_mr(v->b.pd, IB_MR_TYPE_MEM_REG, 4);

		KUNIT_EXPECT_FALSE(test, IS_ERR(pd) || IS_ERR(cq) || IS_ERR(srq) || IS_ERR(mr));
		verbs_map(test, mr, &v->b, 0, 4096);
		EXPECT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
		EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
					       v->a.pd->local_dma_lkey, 4096, mr->iova, mr->rkey),
			      IB_WC_SUCCESS);
		state_of(test, &v->b);
		ib_dereg_mr(mr);
		ib_destroy_srq(srq);
		ib_free_cq(cq);
		ib_dealloc_pd(pd);
		/* both QPs are new ones */
		if (!(i % 4))
			verbs_connect(test, v);
	}
	kthread_stop(reader);
}

/* With every trace point on, all kinds of work are done as without. */
static void trace_points_harm_nobody(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 8192, REMOTE);
	struct verbs_op *recv;
	int rule;

	KUNIT_ASSERT_EQ(test, trace_set_clr_event("ward", NULL, 1), 0);
	rule = verbs_rule(test, &v->a, "drop dir=out op=write nth=2");
	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       v->a.pd->local_dma_lkey, 8192, mr->iova, mr->rkey),
		      IB_WC_SUCCESS);
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma,
				       v->a.pd->local_dma_lkey, 8192, mr->iova, mr->rkey),
		      IB_WC_SUCCESS);
	/* the first try finds no receive */
	verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 100, mr->rkey);
	usleep_range(1000, 2000);
	recv = verbs_recv(test, &v->b, 0, 100);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	EXPECT_STATUS(test, verbs_inv(test, &v->b, mr->rkey), IB_WC_SUCCESS);
	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma,
				       v->a.pd->local_dma_lkey, 100, mr->iova, mr->rkey),
		      IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, trace_set_clr_event("ward", NULL, 0), 0);
}

static u64 port_value(struct kunit *test, struct verbs_end *end, enum ward_counter id)
{
	struct ib_device *ib = end->link->ibdev;
	struct rdma_hw_stats *stats = ib->ops.alloc_hw_port_stats(ib, 1);
	u64 value;

	KUNIT_ASSERT_NOT_NULL(test, stats);
	ib->ops.get_hw_stats(ib, stats, 1, id);
	value = stats->value[id];
	rdma_free_hw_stats_struct(stats);
	return value;
}

/* What a bound QP counts is in the counter of the core, and not in that of the port as well. */
static void bound_qp_counts_once(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_device *ib = v->a.link->ibdev;
	struct rdma_counter *counter = kunit_kzalloc(test, sizeof(*counter), GFP_KERNEL);
	u64 before = port_value(test, &v->a, WARD_CNT_SENT_PKTS);

	KUNIT_ASSERT_NOT_NULL(test, counter);
	counter->device = ib;
	counter->port = 1;
	counter->stats = ib->ops.counter_alloc_stats(counter);
	KUNIT_ASSERT_NOT_NULL(test, counter->stats);
	KUNIT_ASSERT_EQ(test, ib->ops.counter_bind_qp(counter, v->a.qp), 0);
	verbs_recv(test, &v->b, 0, 3000);
	ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 3000, 0), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, port_value(test, &v->a, WARD_CNT_SENT_PKTS), before);
	KUNIT_EXPECT_EQ(test, ib->ops.counter_update_stats(counter), 0);
	KUNIT_EXPECT_EQ(test, counter->stats->value[WARD_CNT_SENT_PKTS], 3);
	KUNIT_EXPECT_EQ(test, ib->ops.counter_unbind_qp(v->a.qp), 0);

	verbs_recv(test, &v->b, 0, 3000);
	ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 3000, 0), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, port_value(test, &v->a, WARD_CNT_SENT_PKTS), before + 3);
	KUNIT_EXPECT_EQ(test, counter->stats->value[WARD_CNT_SENT_PKTS], 3);
	rdma_free_hw_stats_struct(counter->stats);
}

/* The folder of a QP goes with it, if not at once; who comes too late finds nobody. */
static void folder_of_qp_goes(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ward_device *dev = dev_of(&v->a);
	unsigned long until = jiffies + 10 * HZ;
	char *name = number(test, "%llu", v->a.qp->qp_num);
	struct dentry *dentry = debugfs_lookup(name, dev->debugfs_qps);

	KUNIT_EXPECT_NOT_NULL(test, dentry);
	dput(dentry);
	verbs_connect(test, v);
	do {
		dentry = debugfs_lookup(name, dev->debugfs_qps);
		if (dentry)
			dput(dentry);
		usleep_range(1000, 2000);
	} while (dentry && time_before(jiffies, until));
	KUNIT_EXPECT_NULL(test, dentry);
}

static int watch_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	if (err)
		link_down(&wire);
	return err;
}

static void watch_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case watch_cases[] = {
	KUNIT_CASE(files_are_there),
	KUNIT_CASE(info_tells_the_netdev),
	KUNIT_CASE(qp_at_rest),
	KUNIT_CASE(qp_waits_for_ack),
	KUNIT_CASE(qp_waits_for_receiver),
	KUNIT_CASE(qp_waits_for_drain),
	KUNIT_CASE(qp_tells_why_it_failed),
	KUNIT_CASE(held_qp_is_shown),
	KUNIT_CASE(exposure_is_told),
	KUNIT_CASE(hist_counts_exposures),
	KUNIT_CASE(pd_tells_its_owner),
	KUNIT_CASE(violation_is_told),
	KUNIT_CASE(peer_is_told),
	KUNIT_CASE(reading_harms_nobody),
	KUNIT_CASE(trace_points_harm_nobody),
	KUNIT_CASE(bound_qp_counts_once),
	KUNIT_CASE(folder_of_qp_goes),
	{}
};

static struct kunit_suite watch_suite = {
	.name = "ward-watch",
	.suite_init = watch_init,
	.suite_exit = watch_exit,
	.exit = verbs_exit,
	.test_cases = watch_cases,
};

kunit_test_suite(watch_suite);
