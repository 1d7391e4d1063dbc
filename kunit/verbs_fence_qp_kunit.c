// SPDX-License-Identifier: GPL-2.0
/*
 * What a queue pair takes along when it goes: F32 to F36, the options of a link, the probe.
 */
#include <linux/delay.h>
#include "../drivers/ward/qp/qp.h"
#include "../drivers/ward/watch/orphans.h"
#include "verbs_fence.h"

/* After ib_drain_qp nothing arrives by that queue pair any more, whatever is under way. */
static void fence_F32_nothing_written_after_drain(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *last;
	struct ib_mr *mr;
	int round, i;

	for (round = 0; round < 20; round++) {
		paint(v);
		mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
		for (i = 0; i < 8; i++)
			last = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
		if (round & 1)
			usleep_range(50, 50 * round);
		ib_drain_qp(v->b.qp);
		memset(v->b.buf, 0x55, VERBS_BUF);
		usleep_range(1000, 2000);
		expect_paint(test, 0, VERBS_BUF, 0x55);
		verbs_to_error(test, &v->a);
		verbs_status(last);
		verbs_connect(test, v);
	}
}

static int destroy(void *qp)
{
	return ib_destroy_qp(qp);
}

static int to_reset(void *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

/*
 * Whatever takes B's queue pair away returns only when it is out of the memory: with a WRITE that
 * stands before its copy, after which nothing lands, though the region is as open as before.
 */
static void expect_fenced(struct kunit *test, int (*fn)(void *qp), bool gone)
{
	struct verbs *v = test->priv, *other;
	struct fence_task *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	struct verbs_op *write;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	paint(v);
	rule = fence_hold_b(test, v, "write", 4);
	write = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->b, rule);
	fence_start(test, task, fn, v->b.qp);
	fence_expect_waiting(test, task);
	verbs_unrule(test, &v->b, rule);
	fence_expect_done(test, task);
	if (gone)
		v->b.qp = NULL;
	memset(v->b.buf, 0x55, VERBS_BUF);
	msleep(30);
	expect_paint(test, 0, VERBS_BUF, 0x55);
	EXPECT_STATUS(test, write_by(test, other, mr->rkey, mr->iova, 100), IB_WC_SUCCESS);
	verbs_to_error(test, &v->a);
	verbs_status(write);
}

static void fence_F32_modify_to_err_is_a_fence(struct kunit *test)
{
	expect_fenced(test, fence_to_error, false);
}

static void fence_F32_modify_to_reset_is_a_fence(struct kunit *test)
{
	expect_fenced(test, to_reset, false);
}

static void fence_F32_destroy_is_a_fence(struct kunit *test)
{
	expect_fenced(test, destroy, true);
}

/* Again, on a queue pair that is in ERR; and everything flushes once, a marker last. */
static void fence_F32_everything_flushes_once(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *recv[3], *send[3], *marker;
	int i;

	for (i = 0; i < 3; i++)
		recv[i] = verbs_recv(test, &v->b, 0, 100);
	verbs_rule(test, &v->b, "drop dir=out op=send");
	for (i = 0; i < 3; i++)
		send[i] = verbs_send(test, &v->b, IB_WR_SEND, 0, 100, 0);
	verbs_to_error(test, &v->b);
	marker = verbs_send(test, &v->b, IB_WR_SEND, 0, 100, 0);
	EXPECT_STATUS(test, marker, IB_WC_WR_FLUSH_ERR);
	for (i = 0; i < 3; i++) {
		EXPECT_STATUS(test, send[i], IB_WC_WR_FLUSH_ERR);
		EXPECT_STATUS(test, recv[i], IB_WC_WR_FLUSH_ERR);
		KUNIT_EXPECT_LT(test, send[i]->order, marker->order);
	}
	verbs_to_error(test, &v->b);
	ib_drain_qp(v->b.qp);
}

/* Packets that are kept to be sent again are not, and do not stay. */
static void fence_F33_nothing_is_retained(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *write;
	struct ib_mr *mr;
	u64 before;
	int rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	paint(v);
	before = verbs_counted(&v->a, WARD_CNT_INJECTED);
	rule = verbs_rule(test, &v->a, "drop dir=out op=write");
	write = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
	fence_wait_counted(test, &v->a, WARD_CNT_INJECTED, before + 1);
	KUNIT_EXPECT_FALSE(test, list_empty(&to_ward_qp(v->a.qp)->req.sent));
	verbs_to_error(test, &v->a);
	KUNIT_EXPECT_TRUE(test, list_empty(&to_ward_qp(v->a.qp)->req.sent));
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, write, IB_WC_WR_FLUSH_ERR);
	msleep(50);
	expect_paint(test, 0, VERBS_BUF, 0x55);
}

/* A is on its way to its own bytes, for a packet or for a local step, and is told to stop. */
static void fence_F33_the_source_is_left(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct fence_task *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	struct verbs_op *write;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	paint(v);
	rule = verbs_rule(test, &v->a, fence_is_local ? "hold op=write" :
			  "hold dir=out op=write nth=4");
	write = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->a, rule);
	fence_start(test, task, fence_to_error, v->a.qp);
	fence_expect_waiting(test, task);
	verbs_unrule(test, &v->a, rule);
	fence_expect_done(test, task);
	memset(v->a.buf, 0xcc, VERBS_BUF);
	verbs_status(write);
	msleep(30);
	KUNIT_EXPECT_NULL(test, memchr(v->b.buf, 0xcc, VERBS_BUF));
}

static struct verbs *with_srq(struct kunit *test)
{
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 2 }, .srq_type = IB_SRQT_BASIC,
	};
	struct verbs *v = test->priv;

	v->b.srq = ib_create_srq(v->b.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(v->b.srq));
	verbs_connect(test, v);
	return v;
}

/* ib_drain_qp() waits for the event: it comes once for each transition to ERR, however that is. */
static void fence_F34_last_wqe_reached_once(struct kunit *test)
{
	struct verbs *v = with_srq(test);
	const atomic_t *told = &v->b.events[IB_EVENT_QP_LAST_WQE_REACHED];
	int i;

	for (i = 1; i <= 2; i++) {
		verbs_to_error(test, &v->b);
		verbs_to_error(test, &v->b);
		msleep(30);
		KUNIT_EXPECT_EQ(test, atomic_read(told), i);
		verbs_connect(test, v);
	}
	/* by a refusal */
	verbs_status(write_to(test, 0xbad, 0, 100));
	msleep(30);
	KUNIT_EXPECT_EQ(test, atomic_read(told), 3);
}

/* An AH goes, in atomic context, while a SEND that was posted with it has not been executed. */
static void fence_F36_ah_goes_while_it_is_used(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct rdma_ah_attr attr;
	struct verbs_op *recv, *op[2];
	struct ib_ah *ah;
	int i, rule;

	v->type = IB_QPT_UD;
	verbs_connect(test, v);
	recv = verbs_recv(test, &v->b, 0, PART);
	verbs_recv(test, &v->b, 0, PART);
	verbs_path(&v->a, &v->b, &attr);
	ah = rdma_create_ah(v->a.pd, &attr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	rule = verbs_rule(test, &v->a, "hold dir=out op=send nth=1");
	for (i = 0; i < 2; i++) {
		struct ib_sge sge = { v->a.dma, 100, v->a.pd->local_dma_lkey };
		struct ib_ud_wr wr = {
			.wr = {
				.opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
				.sg_list = &sge, .num_sge = 1,
			},
			.ah = ah, .remote_qpn = v->b.qp->qp_num, .remote_qkey = VERBS_QKEY,
		};

		op[i] = verbs_op(test);
		wr.wr.wr_cqe = &op[i]->cqe;
		KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
	}
	verbs_wait_held(test, &v->a, rule);
	preempt_disable();
	rdma_destroy_ah(ah, 0);
	preempt_enable();
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, op[0], IB_WC_SUCCESS);
	EXPECT_STATUS(test, op[1], IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
}

/* What others stand on is not destroyed under them. */
static void fence_F36_destroy_with_users(struct kunit *test)
{
	struct verbs *v = with_srq(test);

	/* the core refuses to destroy what these count users of */
	KUNIT_EXPECT_EQ(test, atomic_read(&v->b.srq->usecnt), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->b.cq->usecnt), 2);
	KUNIT_EXPECT_GT(test, atomic_read(&v->b.pd->usecnt), 0);
	verbs_recv(test, &v->a, 0, 100);
	EXPECT_STATUS(test, verbs_send(test, &v->b, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
}

static void set_option(struct kunit *test, struct verbs_end *end, enum ward_option id, u32 value)
{
	to_ward(end->link->ibdev)->options.v[id] = value;
}

static void options_off(void *dev)
{
	((struct ward_device *)dev)->options.v[WARD_OPT_STRICT] = 0;
	((struct ward_device *)dev)->options.v[WARD_OPT_FENCE_ON_ERROR] = 0;
}

static void option_on(struct kunit *test, struct verbs_end *end, enum ward_option id)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, options_off, to_ward(end->link->ibdev)), 0);
	set_option(test, end, id, 1);
}

/* Reachable through the queue pair that registered it, for all that a peer or B itself can do. */
static void fence_strict(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *recv;
	struct ib_mr *mr;

	option_on(test, &v->b, WARD_OPT_STRICT);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	expect_open(test, mr->rkey, mr->iova);
	expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, "strict");
	expect_probed(test, &other->b, mr->rkey, WARD_PROBE_LOCAL_READ, "strict");
	EXPECT_STATUS(test, write_by(test, other, mr->rkey, mr->iova, 100), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, other);
	EXPECT_STATUS(test, read_by(test, other, mr->rkey, mr->iova, 100), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, other);
	/* nor does another peer end it */
	recv = verbs_recv(test, &other->b, 0, 100);
	EXPECT_STATUS(test, verbs_send(test, &other->a, IB_WR_SEND_WITH_INV, 0, 1, mr->rkey),
		      IB_WC_REM_ACCESS_ERR);
	EXPECT_STATUS(test, recv, IB_WC_REM_INV_REQ_ERR);
	verbs_connect(test, other);
	expect_open(test, mr->rkey, mr->iova);
	/* but B does, by whatever queue pair it has */
	EXPECT_STATUS(test, verbs_inv(test, &other->b, mr->rkey), IB_WC_SUCCESS);
	expect_shut(test, mr->rkey, mr->iova);
	/* F39, by a peer that has nothing to do with it */
	recv = verbs_recv(test, &other->b, 0, 100);
	EXPECT_STATUS(test, verbs_send(test, &other->a, IB_WR_SEND_WITH_INV, 0, 1, mr->rkey),
		      IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	/* the next registration is that of whoever makes it */
	EXPECT_STATUS(test, verbs_reg(test, &other->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	EXPECT_STATUS(test, write_by(test, other, mr->rkey, mr->iova, 100), IB_WC_SUCCESS);
	expect_shut(test, mr->rkey, mr->iova);
}

/* Without the option, one that outlives its connection is listed; a new connection reaches it. */
static void fence_orphans(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	struct ib_mr *local = verbs_region(test, &v->b, PART, PART, IB_ACCESS_LOCAL_WRITE);

	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, ward_mr_is_exposed(to_ward_mr(mr)));
	KUNIT_EXPECT_FALSE(test, ward_mr_is_orphaned(to_ward_mr(mr)));
	rcu_read_unlock();
	verbs_to_error(test, &v->b);
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, ward_mr_is_orphaned(to_ward_mr(mr)));
	KUNIT_EXPECT_FALSE(test, ward_mr_is_orphaned(to_ward_mr(local)));
	rcu_read_unlock();
	verbs_connect(test, v);
	rcu_read_lock();
	KUNIT_EXPECT_FALSE(test, ward_mr_is_orphaned(to_ward_mr(mr)));
	rcu_read_unlock();
	expect_open(test, mr->rkey, mr->iova);
}

/* What a queue pair has registered goes with it, before anything of it flushes. */
static void fence_on_error(struct kunit *test)
{
	static int (*const ways[])(void *qp) = { fence_to_error, to_reset, destroy };
	struct verbs *v = test->priv, *other;
	struct ib_mr *mr, *others;
	int i;

	option_on(test, &v->b, WARD_OPT_FENCE_ON_ERROR);
	other = verbs_more(test, v);
	others = verbs_region(test, &other->b, PART, PART, REMOTE);
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		mr = verbs_region(test, &v->b, 0, PART, REMOTE);
		expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, NULL);
		KUNIT_EXPECT_EQ(test, ways[i](v->b.qp), 0);
		if (ways[i] == destroy)
			v->b.qp = NULL;
		expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, "F1");
		/* F39 */
		EXPECT_STATUS(test, verbs_inv(test, &other->b, mr->rkey), IB_WC_SUCCESS);
		verbs_connect(test, v);
	}
	expect_probed(test, &other->b, others->rkey, WARD_PROBE_WRITE, NULL);
}

/* By an error of its own, in softirq, while somebody is inside: the flush waits. */
static void fence_on_error_before_the_flush(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *recv, *send, *write;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	option_on(test, &v->b, WARD_OPT_FENCE_ON_ERROR);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	recv = verbs_recv(test, &v->b, 0, 100);
	rule = fence_hold_b(test, other, "write", 2);
	write = write_by(test, other, mr->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->b, rule);
	/* the peer does something that costs B its queue pair */
	send = write_to(test, mr->rkey ^ 0x100, mr->iova, 100);
	EXPECT_STATUS(test, send, IB_WC_REM_ACCESS_ERR);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(recv));
	expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, "F1");
	verbs_unrule(test, &v->b, rule);
	EXPECT_STATUS(test, recv, IB_WC_WR_FLUSH_ERR);
	verbs_status(write);
}

/* Racing with what else becomes of the regions: nobody loses, nobody hangs, nothing else goes. */
static void fence_on_error_races(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct fence_task *task;
	struct ib_mr *mr[4];
	int round, i;

	option_on(test, &v->b, WARD_OPT_FENCE_ON_ERROR);
	other = verbs_more(test, v);
	for (i = 0; i < 4; i++)
		mr[i] = verbs_mr(test, &v->b, 4);
	for (round = 0; round < 50; round++) {
		struct verbs_op *op[4];

		for (i = 0; i < 4; i++) {
			verbs_map(test, mr[i], &v->b, 0, PART);
			ASSERT_STATUS(test, verbs_reg(test, &v->b, mr[i], mr[i]->rkey, REMOTE),
				      IB_WC_SUCCESS);
		}
		task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, task);
		fence_start(test, task, fence_to_error, v->b.qp);
		/* the consumer ends its calls by another queue pair, and begins new ones */
		for (i = 0; i < 4; i++) {
			op[i] = verbs_inv(test, &other->b, mr[i]->rkey);
			if (i & 1)
				op[i] = verbs_reg(test, &other->b, mr[i], mr[i]->rkey, REMOTE);
		}
		for (i = 0; i < 4; i++)
			ASSERT_STATUS(test, op[i], IB_WC_SUCCESS);
		fence_expect_done(test, task);
		for (i = 0; i < 4; i++)
			expect_probed(test, &other->b, mr[i]->rkey, WARD_PROBE_WRITE,
				      i & 1 ? NULL : "F1");
		for (i = 1; i < 4; i += 2)
			ASSERT_STATUS(test, verbs_inv(test, &other->b, mr[i]->rkey),
				      IB_WC_SUCCESS);
		verbs_connect(test, v);
	}
}

/* The probe and the packets have the same judge: they agree. */
static void fence_probe(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART,
					IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	struct ib_mr *foreign = foreign_mr(test, verbs_pd(test, &v->b));
	struct ward_device *dev = to_ward(v->b.link->ibdev);
	const struct {
		u32 key;
		u32 right;
		u64 va;
		u64 len;
		const char *rule;
	} q[] = {
		{ mr->rkey, WARD_PROBE_WRITE, mr->iova, PART, NULL },
		{ mr->rkey, WARD_PROBE_LOCAL_WRITE, mr->iova, PART, NULL },
		{ mr->rkey, WARD_PROBE_RECEIVE, mr->iova, PART, NULL },
		{ mr->rkey, WARD_PROBE_READ, mr->iova, PART, "F20" },
		{ mr->rkey, WARD_PROBE_ATOMIC, mr->iova, 8, "F20" },
		{ mr->rkey, WARD_PROBE_WRITE, mr->iova + 1, PART, "F25" },
		{ mr->rkey, WARD_PROBE_WRITE, U64_MAX, 2, "F25" },
		{ mr->rkey ^ 1, WARD_PROBE_WRITE, mr->iova, 1, "F9" },
		{ mr->rkey ^ 0x100, WARD_PROBE_WRITE, mr->iova, 1, "F9" },
		{ 0, WARD_PROBE_WRITE, mr->iova, 0, NULL },
		{ foreign->rkey, WARD_PROBE_WRITE, mr->iova, 1, "F1" },
		{ v->a.pd->local_dma_lkey, WARD_PROBE_WRITE, v->b.dma, 1,
		  fence_is_local ? "F21" : "F9" },
	};
	u64 refused = verbs_counted(&v->b, WARD_CNT_REFUSED_KEY);
	struct ward_probe probe = { .right = WARD_PROBE_WRITE, .key = mr->rkey };
	int i;

	for (i = 0; i < ARRAY_SIZE(q); i++) {
		struct ward_probed answer;

		probe = (struct ward_probe){
			.qpn = v->b.qp->qp_num, .key = q[i].key, .right = q[i].right,
			.has_va = true, .va = q[i].va, .len = q[i].len,
		};
		answer = ward_probe(dev, &probe);
		KUNIT_EXPECT_EQ_MSG(test, answer.granted, !q[i].rule, "question %d: %s", i,
				    answer.why);
		if (q[i].rule)
			KUNIT_EXPECT_STREQ(test, answer.rule, q[i].rule);
	}
	KUNIT_EXPECT_EQ(test, verbs_counted(&v->b, WARD_CNT_REFUSED_KEY), refused);
	probe.qpn = v->a.qp->qp_num;
	KUNIT_EXPECT_FALSE(test, ward_probe(dev, &probe).granted);
	verbs_to_error(test, &v->b);
	expect_probed(test, &v->b, mr->rkey, WARD_PROBE_WRITE, "F32");
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(fence_F32_nothing_written_after_drain),
	KUNIT_CASE(fence_F32_modify_to_err_is_a_fence),
	KUNIT_CASE(fence_F32_modify_to_reset_is_a_fence),
	KUNIT_CASE(fence_F32_destroy_is_a_fence),
	KUNIT_CASE(fence_F32_everything_flushes_once),
	KUNIT_CASE(fence_F33_nothing_is_retained),
	KUNIT_CASE(fence_F33_the_source_is_left),
	KUNIT_CASE(fence_F34_last_wqe_reached_once),
	KUNIT_CASE(fence_F36_ah_goes_while_it_is_used),
	KUNIT_CASE(fence_F36_destroy_with_users),
	KUNIT_CASE(fence_strict),
	KUNIT_CASE(fence_orphans),
	KUNIT_CASE(fence_on_error),
	KUNIT_CASE(fence_on_error_before_the_flush),
	KUNIT_CASE(fence_on_error_races),
	KUNIT_CASE(fence_probe),
	{}
};

FENCE_SUITES("ward-fence-qp", qp_cases);
