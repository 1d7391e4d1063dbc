// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that wait, are lost, or come again: what is done once is done once.
 */
#include <linux/delay.h>
#include "../drivers/ward/mem/region.h"
#include "../drivers/ward/qp/qp.h"
#include "verbs_fence.h"

/* Each NAK has its meaning for both sides; what ends the connection ends both of its ends. */
static void fence_F23_fatal_naks(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	static const struct {
		const char *rule;
		enum ib_wc_status status;
	} nak[] = {
		{ "nak=invalid", IB_WC_REM_INV_REQ_ERR },
		{ "nak=access", IB_WC_REM_ACCESS_ERR },
		{ "nak=operation", IB_WC_REM_OP_ERR },
	};
	struct verbs_op *op, *next;
	int i;

	for (i = 0; i < ARRAY_SIZE(nak); i++) {
		verbs_rule(test, &v->b, nak[i].rule);
		op = write_to(test, mr->rkey, mr->iova, 100);
		EXPECT_STATUS(test, op, nak[i].status);
		KUNIT_EXPECT_EQ(test, state_of(test, &v->a), IB_QPS_ERR);
		KUNIT_EXPECT_EQ(test, state_of(test, &v->b), IB_QPS_ERR);
		next = write_to(test, mr->rkey, mr->iova, 100);
		EXPECT_STATUS(test, next, IB_WC_WR_FLUSH_ERR);
		verbs_unrule(test, &v->b, 0);
		verbs_connect(test, v);
	}
}

/* These come of themselves: too much for the receive, a key of ours that is wrong */
static void fence_F23_causes(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_pd *other = verbs_pd(test, &v->b);
	struct verbs_op *recv, *send;
	struct ib_sge sge;
	struct ib_recv_wr wr;

	recv = verbs_recv(test, &v->b, 0, 100);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 101, 0);
	EXPECT_STATUS(test, send, IB_WC_REM_INV_REQ_ERR);
	EXPECT_STATUS(test, recv, IB_WC_LOC_LEN_ERR);
	verbs_connect(test, v);

	recv = verbs_op(test);
	sge = (struct ib_sge) { v->b.dma, 100, other->local_dma_lkey };
	wr = (struct ib_recv_wr) { .wr_cqe = &recv->cqe, .sg_list = &sge, .num_sge = 1 };
	KUNIT_ASSERT_EQ(test, ib_post_recv(v->b.qp, &wr, NULL), 0);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	EXPECT_STATUS(test, send, IB_WC_REM_OP_ERR);
	EXPECT_STATUS(test, recv, IB_WC_LOC_PROT_ERR);
}

/* The other two: a gap is sent again, an RNR NAK is waited for, and nobody fails. */
static void fence_F23_naks_that_heal(struct kunit *test)
{
	struct verbs *v = test->priv;
	u64 seq = verbs_counted(&v->a, WARD_CNT_RCVD_SEQ);
	u64 rnr = verbs_counted(&v->a, WARD_CNT_RCVD_RNR);
	struct verbs_op *recv, *send;
	struct ib_mr *mr;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	verbs_rule(test, &v->b, "nak=sequence op=write nth=2");
	EXPECT_STATUS(test, write_to(test, mr->rkey, mr->iova, VERBS_BUF), IB_WC_SUCCESS);
	KUNIT_EXPECT_GT(test, verbs_counted(&v->a, WARD_CNT_RCVD_SEQ), seq);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	fence_wait_counted(test, &v->a, WARD_CNT_RCVD_RNR, rnr + 1);
	recv = verbs_recv(test, &v->b, 0, 100);
	EXPECT_STATUS(test, send, IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
}

static struct verbs_op *fenced_send(struct kunit *test, struct verbs_end *end, u32 inv_key,
				    int flags)
{
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = { end->dma, 100, end->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe, .opcode = inv_key ? IB_WR_SEND_WITH_INV : IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED | flags, .sg_list = &sge, .num_sge = 1,
		.ex.invalidate_rkey = inv_key,
	};

	KUNIT_ASSERT_EQ(test, ib_post_send(end->qp, &wr, NULL), 0);
	return op;
}

/* While no answer comes to a READ: a SEND arrives, one with the fence flag does not. */
static void fence_F27_fence_flag_waits_for_reads(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *read, *recv[2];
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	recv[0] = verbs_recv(test, &v->b, PART, 100);
	recv[1] = verbs_recv(test, &v->b, PART, 100);
	rule = verbs_rule(test, &v->a, "drop dir=in op=response");
	read = read_from(test, mr->rkey, mr->iova, PART);
	fenced_send(test, &v->a, 0, 0);
	fenced_send(test, &v->a, 0, IB_SEND_FENCE);
	EXPECT_STATUS(test, recv[0], IB_WC_SUCCESS);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(recv[1]));
	KUNIT_EXPECT_FALSE(test, verbs_completed(read));
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, read, IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv[1], IB_WC_SUCCESS);
}

/* It does not wait for WRITEs and SENDs that are not acknowledged. */
static void fence_F27_fence_flag_waits_for_nothing_else(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *write, *recv;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	recv = verbs_recv(test, &v->b, PART, 100);
	rule = verbs_rule(test, &v->a, "drop dir=in op=ack");
	write = write_to(test, mr->rkey, mr->iova, PART);
	fenced_send(test, &v->a, 0, IB_SEND_FENCE);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, verbs_completed(write));
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, write, IB_WC_SUCCESS);
}

/* The region that a READ of A's comes from is invalidated by A: after the READ, with the flag. */
static void fence_F28_send_with_inv_waits_for_reads(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *read, *recv;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	paint(v);
	recv = verbs_recv(test, &v->b, PART, 100);
	rule = verbs_rule(test, &v->a, "drop dir=in op=response");
	read = read_from(test, mr->rkey, mr->iova, PART);
	fenced_send(test, &v->a, mr->rkey, IB_SEND_FENCE);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(recv));
	expect_probed(test, &v->b, mr->rkey, WARD_PROBE_READ, NULL);
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, read, IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	KUNIT_EXPECT_NULL(test, memchr_inv(v->a.buf, 0x55, PART));
}

/* The SEND in front of them is lost and sent again, they are not done again. */
static void fence_F29_local_operations_once(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *send, *reg, *inv, *reg_again;
	struct ib_mr *mr;
	u64 again;

	fence_patient(test);
	again = verbs_counted(&v->b, WARD_CNT_RETRANSMITTED);
	mr = verbs_mr(test, &v->b, 4);
	verbs_map(test, mr, &v->b, 0, PART);
	verbs_recv(test, &v->a, 0, 100);
	verbs_rule(test, &v->b, "drop dir=out op=send times=2");
	send = verbs_send(test, &v->b, IB_WR_SEND, 0, 100, 0);
	reg = verbs_reg(test, &v->b, mr, mr->rkey, REMOTE);
	inv = verbs_inv(test, &v->b, mr->rkey);
	reg_again = verbs_reg(test, &v->b, mr, mr->rkey, REMOTE);
	EXPECT_STATUS(test, send, IB_WC_SUCCESS);
	EXPECT_STATUS(test, reg, IB_WC_SUCCESS);
	EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
	EXPECT_STATUS(test, reg_again, IB_WC_SUCCESS);
	KUNIT_EXPECT_GT(test, verbs_counted(&v->b, WARD_CNT_RETRANSMITTED), again);
	KUNIT_EXPECT_EQ(test, to_ward_mr(mr)->generation, 2);
	expect_open(test, mr->rkey, mr->iova);
}

/* A packet comes again, long after: the memory is in other use by then. */
static void fence_F30_no_write_twice(struct kunit *test)
{
	struct verbs *v = test->priv;
	u64 before = verbs_counted(&v->b, WARD_CNT_DUPLICATE);
	struct verbs_op *recv, *next;
	struct ib_mr *mr;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	recv = verbs_recv(test, &v->b, 0, PART);
	next = verbs_recv(test, &v->b, 0, PART);
	paint(v);
	verbs_rule(test, &v->b, "duplicate=100 dir=in op=write");
	verbs_rule(test, &v->b, "duplicate=100 dir=in op=send");
	EXPECT_STATUS(test, write_to(test, mr->rkey, mr->iova, 100), IB_WC_SUCCESS);
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	memset(v->b.buf, 0x55, VERBS_BUF);
	fence_wait_counted(test, &v->b, WARD_CNT_DUPLICATE, before + 2);
	msleep(20);
	expect_paint(test, 0, VERBS_BUF, 0x55);
	KUNIT_EXPECT_FALSE(test, verbs_completed(next));
}

/* An atomic that comes again is answered as it was, and adds nothing. */
static void fence_F30_no_atomic_twice(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_qp_attr attr = { .qp_access_flags = IB_ACCESS_REMOTE_ATOMIC };
	u64 before = verbs_counted(&v->b, WARD_CNT_DUPLICATE), *counter;
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge;
	struct ib_atomic_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
			.send_flags = IB_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		},
		.compare_add = 5,
	};
	struct ib_mr *mr;

	fence_patient(test);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(v->b.qp, &attr, IB_QP_ACCESS_FLAGS), 0);
	mr = fence_user_mr(test, &v->b, 0, PART, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC);
	counter = (u64 *)v->b.buf;
	*counter = 7;
	sge = (struct ib_sge) { v->a.dma, 8, v->a.pd->local_dma_lkey };
	wr.remote_addr = mr->iova;
	wr.rkey = mr->rkey;
	verbs_rule(test, &v->b, "duplicate=20 dir=in op=atomic");
	/* the first answer is lost, so that the second one is looked at */
	verbs_rule(test, &v->b, "drop dir=out op=atomic-ack nth=1");
	KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
	EXPECT_STATUS(test, op, IB_WC_SUCCESS);
	fence_wait_counted(test, &v->b, WARD_CNT_DUPLICATE, before + 1);
	msleep(20);
	KUNIT_EXPECT_EQ(test, *counter, 12);
	KUNIT_EXPECT_EQ(test, *(u64 *)v->a.buf, 7);
}

/* The key has been registered anew when the SEND_WITH_INV comes again. */
static void fence_F30_no_invalidate_twice(struct kunit *test)
{
	struct verbs *v = test->priv;
	u64 before = verbs_counted(&v->b, WARD_CNT_DUPLICATE);
	struct ib_mr *mr;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	verbs_recv(test, &v->b, PART, 100);
	verbs_recv(test, &v->b, PART, 100);
	verbs_rule(test, &v->b, "duplicate=200 dir=in op=send");
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 1, mr->rkey),
		      IB_WC_SUCCESS);
	EXPECT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	fence_wait_counted(test, &v->b, WARD_CNT_DUPLICATE, before + 1);
	msleep(20);
	expect_open(test, mr->rkey, mr->iova);
	KUNIT_EXPECT_EQ(test, to_ward_mr(mr)->generation, 2);
}

/* A READ that comes again, when its region is invalid, gets no data. */
static void fence_F31_duplicate_read_is_checked(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	u64 refused = verbs_counted(&v->b, WARD_CNT_REFUSED_STATE);
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	rule = verbs_rule(test, &v->b, "duplicate=100 dir=in op=read");
	EXPECT_STATUS(test, read_from(test, mr->rkey, mr->iova, 100), IB_WC_SUCCESS);
	EXPECT_STATUS(test, verbs_inv(test, &other->b, mr->rkey), IB_WC_SUCCESS);
	verbs_unrule(test, &v->b, rule);
	rule = verbs_rule(test, &v->b, "drop dir=out op=response");
	fence_wait_counted(test, &v->b, WARD_CNT_REFUSED_STATE, refused + 1);
	KUNIT_EXPECT_EQ(test, verbs_hits(test, &v->b, rule), 0);
	verbs_unrule(test, &v->b, rule);
	/* anybody may have sent that duplicate: it must not end the connection */
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	EXPECT_STATUS(test, read_from(test, mr->rkey, mr->iova, 100), IB_WC_SUCCESS);
}

/* The first packets are lost, and the buffer has other bytes when they are sent again. */
static void fence_F35_a_source_is_read_once(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct verbs_op *write, *recv, *send;
	struct ib_mr *mr;
	u64 before;
	int rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	paint(v);
	before = verbs_counted(&v->a, WARD_CNT_INJECTED);
	rule = verbs_rule(test, &v->a, "drop dir=out op=write");
	write = write_to(test, mr->rkey, mr->iova, PART);
	fence_wait_counted(test, &v->a, WARD_CNT_INJECTED, before + PART / FENCE_MTU);
	memset(v->a.buf, 0xcc, VERBS_BUF);
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, write, IB_WC_SUCCESS);
	expect_paint(test, 0, PART, 0xaa);

	paint(v);
	recv = verbs_recv(test, &v->b, 0, PART);
	rule = verbs_rule(test, &v->a, "drop dir=in op=ack");
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, PART, 0);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	/* cancelled: it flushes, and nothing of its buffer is needed for that */
	verbs_to_error(test, &v->a);
	EXPECT_STATUS(test, send, IB_WC_WR_FLUSH_ERR);
	memset(v->a.buf, 0xcc, VERBS_BUF);
	msleep(30);
	expect_paint(test, 0, PART, 0xaa);
	KUNIT_EXPECT_TRUE(test, list_empty(&to_ward_qp(v->a.qp)->req.sent));
}

static struct kunit_case loss_cases[] = {
	KUNIT_CASE(fence_F23_fatal_naks),
	KUNIT_CASE(fence_F23_causes),
	KUNIT_CASE(fence_F23_naks_that_heal),
	KUNIT_CASE(fence_F27_fence_flag_waits_for_reads),
	KUNIT_CASE(fence_F27_fence_flag_waits_for_nothing_else),
	KUNIT_CASE(fence_F28_send_with_inv_waits_for_reads),
	KUNIT_CASE(fence_F29_local_operations_once),
	KUNIT_CASE(fence_F30_no_write_twice),
	KUNIT_CASE(fence_F30_no_atomic_twice),
	KUNIT_CASE(fence_F30_no_invalidate_twice),
	KUNIT_CASE(fence_F31_duplicate_read_is_checked),
	KUNIT_CASE(fence_F35_a_source_is_read_once),
	{}
};

FENCE_SUITES("ward-fence-loss", loss_cases);
