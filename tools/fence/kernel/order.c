// SPDX-License-Identifier: GPL-2.0
/*
 * Rules about the order of work requests.
 */
#include <linux/delay.h>
#include "fence.h"

#define BIG	(256 * 1024)

static void f4(struct fence *f)
{
	struct ib_mr *source = fence_region(f, &f->conn.b, 0, 65536, FENCE_REMOTE);
	struct ib_mr *target = fence_region(f, &f->conn.a, 0, 65536, f->iwarp ? FENCE_REMOTE :
					    IB_ACCESS_LOCAL_WRITE);
	struct fence_op *read, *inv;
	int i;

	for (i = 0; source && target && i < 50 && !fence_over(f); i++) {
		fence_paint(f, 0, 0x11 + i);
		read = fence_rdma(f, &f->conn.a, IB_WR_RDMA_READ, target->iova, target->lkey,
				  65536, source->iova, source->rkey);
		inv = fence_post(f, &f->conn.a, IB_WR_LOCAL_INV, 0, 0, target->rkey, 0);
		fence_expect(f, inv, IB_WC_SUCCESS, "LOCAL_INV behind a READ");
		EXPECT(f, completion_done(&read->op.done), "LOCAL_INV completed before the READ");
		fence_expect(f, read, IB_WC_SUCCESS, "READ into the region");
		EXPECT(f, fence_is(f->a.buf, 0x11 + i, 65536), "the READ is not whole");
		fence_expect(f, fence_reg(f, &f->conn.a, target, target->rkey, f->iwarp ?
					  FENCE_REMOTE : IB_ACCESS_LOCAL_WRITE), IB_WC_SUCCESS,
			     "REG_MR");
	}
}

/* A SEND that finds no receive is not acknowledged: the way to have one under way */
static void f5(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE);
	struct fence_op *send, *inv, *write;

	if (f->iwarp) {
		fence_say(f, FENCE_UNSUPPORTED, "a SEND without a receive ends the connection");
		return;
	}
	if (f->a.dev == f->b.dev) {
		fence_say(f, FENCE_UNSUPPORTED, "needs a wire");
		return;
	}
	if (!mr)
		return;
	fence_connect_second(f);
	fence_paint(f, 0xaa, 0x55);
	send = fence_post(f, &f->conn.b, IB_WR_SEND, FENCE_PART, 64, 0, 0);
	inv = fence_inv(f, mr->rkey);
	msleep(20);
	EXPECT(f, !completion_done(&inv->op.done), "LOCAL_INV overtook a SEND");
	write = fence_rdma(f, &f->second.a, IB_WR_RDMA_WRITE, f->a.dma, f->a.pd->local_dma_lkey, 1,
			   mr->iova, mr->rkey);
	fence_expect(f, write, IB_WC_REM_ACCESS_ERR, "WRITE on another QP");
	EXPECT(f, !completion_done(&inv->op.done), "LOCAL_INV overtook a SEND");
	fence_recv(f, &f->conn.a, FENCE_PART, 64);
	fence_expect(f, send, IB_WC_SUCCESS, "SEND");
	fence_expect(f, inv, IB_WC_SUCCESS, "LOCAL_INV");
}

/* SENDs without receives fill the window, so that what stands behind them does not execute */
static void f6(struct fence *f)
{
	struct ib_mr *mr = fence_mr(f, f->b.pd, 2);
	struct fence_op *reg, *write;
	int i;

	if (!mr || kverbs_map(mr, &f->b, 0, FENCE_PART))
		return;
	fence_expect_shut(f, mr->rkey, mr->iova, f->b.buf, "before REG_MR is posted");
	if (f->iwarp) {
		fence_expect(f, fence_reg(f, &f->conn.b, mr, mr->rkey, FENCE_REMOTE),
			     IB_WC_SUCCESS, "REG_MR");
		fence_expect_open(f, mr->rkey, mr->iova, f->b.buf, "after REG_MR");
		return;
	}
	fence_connect_second(f);
	for (i = 0; i < 8; i++)
		fence_post(f, &f->conn.b, IB_WR_SEND, FENCE_PART, BIG, 0, 0);
	reg = fence_reg(f, &f->conn.b, mr, mr->rkey, FENCE_REMOTE);
	msleep(20);
	*f->b.buf = 0x55;
	*f->a.buf = 0xaa;
	write = fence_rdma(f, &f->second.a, IB_WR_RDMA_WRITE, f->a.dma, f->a.pd->local_dma_lkey, 1,
			   mr->iova, mr->rkey);
	fence_wait(write);
	EXPECT(f, *f->b.buf == 0x55, "open while 2 MiB of SENDs stand before REG_MR");
	for (i = 0; i < 8; i++)
		fence_recv(f, &f->conn.a, FENCE_PART, BIG);
	fence_expect(f, reg, IB_WC_SUCCESS, "REG_MR");
	fence_expect_open(f, mr->rkey, mr->iova, f->b.buf, "after REG_MR");
}

static void f34_event(struct ib_event *event, void *context)
{
	atomic_t *count = context;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		atomic_inc(count);
}

static void f34(struct fence *f)
{
	struct ib_srq_init_attr srq_init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	atomic_t count = ATOMIC_INIT(0);
	struct ib_qp_init_attr init = {
		.send_cq = f->b.cq, .recv_cq = f->b.cq, .qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .event_handler = f34_event,
		.qp_context = &count, .cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
	struct ib_srq *srq = ib_create_srq(f->b.pd, &srq_init);
	struct ib_qp *qp;

	if (IS_ERR(srq)) {
		fence_say(f, FENCE_UNSUPPORTED, "no SRQ");
		return;
	}
	init.srq = srq;
	qp = ib_create_qp(f->b.pd, &init);
	if (IS_ERR(qp)) {
		fence_say(f, FENCE_BROKEN, "no QP with an SRQ");
		ib_destroy_srq(srq);
		return;
	}
	if (!f->iwarp)
		ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			     IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_ERR;
	ib_modify_qp(qp, &attr, IB_QP_STATE);
	ib_modify_qp(qp, &attr, IB_QP_STATE);
	msleep(100);
	EXPECT(f, atomic_read(&count) == 1, "%d events LAST_WQE_REACHED", atomic_read(&count));
	ib_destroy_qp(qp);
	ib_destroy_srq(srq);
}

static void f38(struct fence *f)
{
	struct fence_op *recv, *send;
	int i;

	for (i = 0; i < 500 && !fence_over(f); i++) {
		memset(f->a.buf, i, 65536);
		recv = fence_recv(f, &f->conn.b, 0, 65536);
		send = fence_post(f, &f->conn.a, IB_WR_SEND, 0, 65536, 0, 0);
		fence_expect(f, recv, IB_WC_SUCCESS, "the receive");
		EXPECT(f, fence_is(f->b.buf, i, 65536), "the completion came before the data");
		fence_expect(f, send, IB_WC_SUCCESS, "SEND");
	}
}

const struct fence_rule fence_order_rules[] = {
	{ "F4", "LOCAL_INV waits for earlier work with its lkey", f4 },
	{ "F5", "peers are shut out though earlier SENDs are unacknowledged", f5 },
	{ "F6", "REG_MR takes effect in its turn", f6 },
	{ "F34", "LAST_WQE_REACHED exactly once", f34 },
	{ "F38", "data before its completion", f38 },
	{}
};
