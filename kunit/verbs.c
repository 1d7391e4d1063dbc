// SPDX-License-Identifier: GPL-2.0
/*
 * See verbs.h.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "verbs.h"

#define PATIENCE	(10 * HZ)

static atomic_t completions;

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct verbs_op *op = container_of(wc->wr_cqe, struct verbs_op, cqe);

	op->wc = *wc;
	op->order = atomic_inc_return(&completions);
	complete(&op->done);
}

struct verbs_op *verbs_op(struct kunit *test)
{
	struct verbs_op *op = kunit_kzalloc(test, sizeof(*op), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, op);
	op->cqe.done = op_done;
	init_completion(&op->done);
	return op;
}

bool verbs_completed(struct verbs_op *op)
{
	return completion_done(&op->done);
}

/* Waits for the completion; the name of its status. */
const char *verbs_status(struct verbs_op *op)
{
	if (!wait_for_completion_timeout(&op->done, PATIENCE))
		return "no completion at all";
	complete(&op->done);
	return ib_wc_status_msg(op->wc.status);
}

static struct ib_sge sge_of(struct verbs_end *end, u32 offset, u32 len)
{
	return (struct ib_sge) { end->dma + offset, len, end->pd->local_dma_lkey };
}

struct verbs_op *verbs_recv(struct kunit *test, struct verbs_end *end, u32 offset, u32 len)
{
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = sge_of(end, offset, len);
	struct ib_recv_wr wr = { .wr_cqe = &op->cqe, .sg_list = &sge, .num_sge = !!len };

	KUNIT_ASSERT_EQ(test, ib_post_recv(end->qp, &wr, NULL), 0);
	return op;
}

struct verbs_op *verbs_send(struct kunit *test, struct verbs_end *end, enum ib_wr_opcode opcode,
			    u32 offset, u32 len, u32 imm_or_key)
{
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = sge_of(end, offset, len);
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe, .opcode = opcode, .send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = !!len,
	};

	if (opcode == IB_WR_SEND_WITH_INV || opcode == IB_WR_LOCAL_INV)
		wr.ex.invalidate_rkey = imm_or_key;
	else
		wr.ex.imm_data = cpu_to_be32(imm_or_key);
	KUNIT_ASSERT_EQ(test, ib_post_send(end->qp, &wr, NULL), 0);
	return op;
}

struct verbs_op *verbs_rdma(struct kunit *test, struct verbs_end *end, enum ib_wr_opcode opcode,
			    u64 addr, u32 lkey, u32 len, u64 remote, u32 rkey)
{
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = { addr, len, lkey };
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = opcode, .send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge, .num_sge = !!len, .ex.imm_data = cpu_to_be32(0x01020304),
		},
		.remote_addr = remote,
		.rkey = rkey,
	};

	KUNIT_ASSERT_EQ(test, ib_post_send(end->qp, &wr.wr, NULL), 0);
	return op;
}

struct verbs_op *verbs_reg(struct kunit *test, struct verbs_end *end, struct ib_mr *mr, u32 key,
			   int access)
{
	struct verbs_op *op = verbs_op(test);
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = mr, .key = key, .access = access,
	};

	KUNIT_ASSERT_EQ(test, ib_post_send(end->qp, &wr.wr, NULL), 0);
	return op;
}

struct verbs_op *verbs_inv(struct kunit *test, struct verbs_end *end, u32 key)
{
	return verbs_send(test, end, IB_WR_LOCAL_INV, 0, 0, key);
}

static void mr_free(void *mr)
{
	ib_dereg_mr(mr);
}

struct ib_mr *verbs_mr_of(struct kunit *test, struct verbs_end *end, enum ib_mr_type type,
			  u32 pages)
{
	struct ib_mr *mr = ib_alloc_mr(end->pd, type, pages);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mr_free, mr), 0);
	return mr;
}

struct ib_mr *verbs_mr(struct kunit *test, struct verbs_end *end, u32 pages)
{
	return verbs_mr_of(test, end, IB_MR_TYPE_MEM_REG, pages);
}

/* Maps a part of the end's buffer; the address is that of work requests. */
void verbs_map(struct kunit *test, struct ib_mr *mr, struct verbs_end *end, u32 offset, u32 len)
{
	struct scatterlist sg;

	sg_init_one(&sg, end->buf + offset, len);
	sg_dma_address(&sg) = end->dma + offset;
	sg_dma_len(&sg) = len;
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE), 1);
}

/* A part of the end's buffer, registered by its queue pair. */
struct ib_mr *verbs_region(struct kunit *test, struct verbs_end *end, u32 offset, u32 len,
			   int access)
{
	struct ib_mr *mr = verbs_mr(test, end, VERBS_BUF / PAGE_SIZE + 1);

	verbs_map(test, mr, end, offset, len);
	ASSERT_STATUS(test, verbs_reg(test, end, mr, mr->rkey, access), IB_WC_SUCCESS);
	return mr;
}

static void pd_free(void *pd)
{
	ib_dealloc_pd(pd);
}

/* One more PD on the end's device; it goes after the regions that a test makes later. */
struct ib_pd *verbs_pd(struct kunit *test, struct verbs_end *end)
{
	struct ib_pd *pd = ib_alloc_pd(end->link->ibdev, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, pd_free, pd), 0);
	return pd;
}

static void end_start(struct kunit *test, struct verbs_end *end, struct link_end *link, bool ipv6)
{
	union ib_gid gid = {};
	const struct ib_gid_attr *attr;
	u8 last = 1 + (link->netdev->name[2] - '0');

	end->link = link;
	if (ipv6)
		memcpy(gid.raw, (u8[]) { 0xfd, 0x77 }, 2);
	else
		memcpy(gid.raw + 10, (u8[]) { 0xff, 0xff, 10, 77, 0 }, 5);
	gid.raw[15] = last;
	attr = rdma_find_gid_by_port(link->ibdev, &gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(attr), "%s has no GID %pI6", link->ibdev->name,
			       gid.raw);
	end->gid = gid;
	end->gid_index = attr->index;
	rdma_put_gid_attr(attr);

	end->pd = verbs_pd(test, end);
	end->cq = ib_alloc_cq(link->ibdev, NULL, 8 * VERBS_DEPTH, 0, IB_POLL_WORKQUEUE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(end->cq));
	end->buf = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(VERBS_BUF));
	KUNIT_ASSERT_NOT_NULL(test, end->buf);
	end->dma = ib_dma_map_single(link->ibdev, end->buf, VERBS_BUF, DMA_BIDIRECTIONAL);
}

static void qp_destroy(struct verbs_end *end)
{
	if (!IS_ERR_OR_NULL(end->qp))
		ib_destroy_qp(end->qp);
	end->qp = NULL;
}

static void end_stop(struct verbs_end *end)
{
	qp_destroy(end);
	if (!IS_ERR_OR_NULL(end->srq))
		ib_destroy_srq(end->srq);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	if (end->dma)
		ib_dma_unmap_single(end->link->ibdev, end->dma, VERBS_BUF, DMA_BIDIRECTIONAL);
	free_pages((unsigned long)end->buf, get_order(VERBS_BUF));
}

static void qp_event(struct ib_event *event, void *context)
{
	struct verbs_end *end = context;

	if (event->event < ARRAY_SIZE(end->events))
		atomic_inc(&end->events[event->event]);
}

static void qp_create(struct kunit *test, struct verbs *v, struct verbs_end *end)
{
	struct ib_qp_init_attr init = {
		.send_cq = end->cq, .recv_cq = end->cq, .qp_type = v->type,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .srq = end->srq,
		.event_handler = qp_event, .qp_context = end,
		.cap = {
			.max_send_wr = VERBS_DEPTH, .max_send_sge = 4,
			.max_recv_wr = end->srq ? 0 : VERBS_DEPTH,
			.max_recv_sge = end->srq ? 0 : 4,
		},
	};

	qp_destroy(end);
	end->qp = ib_create_qp(end->pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(end->qp));
}

/* The way from one end to the other */
void verbs_path(struct verbs_end *from, struct verbs_end *to, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_grh(attr, &to->gid, 0, from->gid_index, 64, 0);
	ether_addr_copy(attr->roce.dmac, to->link->netdev->dev_addr);
}

static void qp_connect(struct kunit *test, struct verbs *v, struct verbs_end *end,
		       struct verbs_end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .qkey = VERBS_QKEY,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
		.path_mtu = IB_MTU_1024, .dest_qp_num = peer->qp->qp_num, .rq_psn = peer->psn,
		.sq_psn = end->psn, .max_dest_rd_atomic = 4, .max_rd_atomic = 4,
		.min_rnr_timer = 12, .timeout = v->timeout, .retry_cnt = v->retry,
		.rnr_retry = v->rnr_retry,
	};
	const bool rc = v->type == IB_QPT_RC;
	const bool connected = rc || v->type == IB_QPT_UC;
	int mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;

	mask |= connected ? IB_QP_ACCESS_FLAGS : IB_QP_QKEY;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(end->qp, &attr, mask), 0);

	verbs_path(end, peer, &attr.ah_attr);
	attr.qp_state = IB_QPS_RTR;
	mask = IB_QP_STATE;
	if (connected)
		mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN;
	if (rc)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(end->qp, &attr, mask), 0);

	attr.qp_state = IB_QPS_RTS;
	mask = IB_QP_STATE | IB_QP_SQ_PSN;
	if (rc)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(end->qp, &attr, mask), 0);
}

/*
 * Fresh queue pairs in the same PDs, connected. To be called again after whatever killed
 * the old ones.
 */
void verbs_connect(struct kunit *test, struct verbs *v)
{
	qp_create(test, v, &v->a);
	qp_create(test, v, &v->b);
	qp_connect(test, v, &v->a, &v->b);
	qp_connect(test, v, &v->b, &v->a);
}

void verbs_to_error(struct kunit *test, struct verbs_end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	KUNIT_ASSERT_EQ(test, ib_modify_qp(end->qp, &attr, IB_QP_STATE), 0);
}

/* Connected queue pairs between two ends; both ends may be the same device. */
struct verbs *verbs_start(struct kunit *test, enum ib_qp_type type, struct link_end *a,
			  struct link_end *b, bool ipv6)
{
	struct verbs *v = kunit_kzalloc(test, sizeof(*v), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, v);
	test->priv = v;
	v->type = type;
	v->retry = 6;
	v->rnr_retry = 7;	/* for ever */
	v->timeout = 12;
	v->a.psn = 0xfffff0;
	v->b.psn = 17;
	end_start(test, &v->a, a, ipv6);
	end_start(test, &v->b, b, ipv6);
	verbs_connect(test, v);
	return v;
}

struct verbs *verbs_more(struct kunit *test, struct verbs *v)
{
	return verbs_more_pd(test, v, v->a.pd, v->b.pd);
}

/* One more pair of queue pairs between the same devices, of the PDs given. */
struct verbs *verbs_more_pd(struct kunit *test, struct verbs *v, struct ib_pd *a, struct ib_pd *b)
{
	struct verbs *more = kunit_kzalloc(test, sizeof(*more), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, more);
	*more = *v;
	more->a.qp = NULL;
	more->b.qp = NULL;
	more->a.pd = a;
	more->b.pd = b;
	v->more = more;
	verbs_connect(test, more);
	return more;
}

int verbs_rule(struct kunit *test, struct verbs_end *end, const char *rule)
{
	int id = ward_inject_add(to_ward(end->link->ibdev), rule);

	KUNIT_ASSERT_GT_MSG(test, id, 0, "%s", rule);
	return id;
}

void verbs_unrule(struct kunit *test, struct verbs_end *end, int rule)
{
	KUNIT_EXPECT_EQ(test, ward_inject_clear(to_ward(end->link->ibdev), rule), 0);
}

static struct ward_rule_counts counts_of(struct kunit *test, struct verbs_end *end, int rule)
{
	struct ward_rule_counts counts = {};

	KUNIT_ASSERT_EQ(test, ward_rules_counts(&to_ward(end->link->ibdev)->inject.rules, rule,
						&counts), 0);
	return counts;
}

u32 verbs_hits(struct kunit *test, struct verbs_end *end, int rule)
{
	return counts_of(test, end, rule).hits;
}

/* Waits until a queue pair is held by a rule. */
void verbs_wait_held(struct kunit *test, struct verbs_end *end, int rule)
{
	unsigned long until = jiffies + PATIENCE;

	while (!counts_of(test, end, rule).held && time_before(jiffies, until))
		usleep_range(1000, 2000);
	KUNIT_ASSERT_EQ(test, counts_of(test, end, rule).held, 1);
}

u64 verbs_counted(struct verbs_end *end, enum ward_counter id)
{
	return ward_counter_sum(to_ward(end->link->ibdev), id);
}

/* The "exit" of a suite: ends what may still complete requests of the test. */
void verbs_exit(struct kunit *test)
{
	struct verbs *v = test->priv, *more;

	if (v) {
		ward_inject_clear(to_ward(v->a.link->ibdev), 0);
		ward_inject_clear(to_ward(v->b.link->ibdev), 0);
		for (more = v->more; more; more = more->more) {
			qp_destroy(&more->a);
			qp_destroy(&more->b);
		}
		end_stop(&v->a);
		end_stop(&v->b);
	}
}
