// SPDX-License-Identifier: GPL-2.0
/*
 * Fences of fast registrations: when an invalidate or a deregistration is done, it is.
 */
#include <linux/delay.h>
#include "verbs_fence.h"

/*
 * While one queue pair of B stands inside the region, another one invalidates it: peers are shut
 * out at once, the completion waits, and what was inside is all that lands.
 */
static void fence_F01_waits_for_who_is_inside(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *write, *inv;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	paint(v);
	rule = fence_hold_b(test, v, "write", 4);
	write = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->b, rule);
	inv = verbs_inv(test, &other->b, mr->rkey);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
	expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, "F1");
	verbs_unrule(test, &v->b, rule);
	ASSERT_STATUS(test, inv, IB_WC_SUCCESS);
	memset(v->b.buf, 0x55, VERBS_BUF);
	/* a local step was inside with all of it */
	if (!fence_is_local)
		EXPECT_STATUS(test, write, IB_WC_REM_ACCESS_ERR);
	verbs_status(write);
	msleep(20);
	expect_paint(test, 0, VERBS_BUF, 0x55);
}

/* What the peer's WRITEs have to do when the invalidate of F1 completes */
struct scribble {
	struct verbs_op op;
	struct verbs *v;
};

static void scribble_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct scribble *s = container_of(wc->wr_cqe, struct scribble, op.cqe);

	s->op.wc = *wc;
	memset(s->v->b.buf, 0x55, VERBS_BUF);
	complete(&s->op.done);
}

static void fence_F01_flood(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED };
	struct verbs_op *last;
	struct scribble *s;
	struct ib_mr *mr;
	int round, i;

	s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	s->v = v;
	s->op.cqe.done = scribble_done;
	for (round = 0; round < 20; round++) {
		paint(v);
		mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
		for (i = 0; i < 8; i++)
			last = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
		if (round & 1)
			usleep_range(50, 50 * round);
		init_completion(&s->op.done);
		wr.wr_cqe = &s->op.cqe;
		wr.ex.invalidate_rkey = mr->rkey;
		KUNIT_ASSERT_EQ(test, ib_post_send(v->b.qp, &wr, NULL), 0);
		/* a refused WRITE takes B's queue pair down, and B's request may be flushed */
		verbs_status(&s->op);
		verbs_status(last);
		if (s->op.wc.status == IB_WC_SUCCESS)
			expect_paint(test, 0, VERBS_BUF, 0x55);
		verbs_connect(test, v);
	}
}

/* Likewise between two packets of the answer to a READ: what comes later is not read any more. */
static void fence_F02_waits_for_a_read(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *read, *inv;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	paint(v);
	rule = fence_hold_b(test, v, fence_is_local ? "read" : "response", 3);
	read = read_from(test, mr->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->b, rule);
	inv = verbs_inv(test, &other->b, mr->rkey);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
	verbs_unrule(test, &v->b, rule);
	ASSERT_STATUS(test, inv, IB_WC_SUCCESS);
	memset(v->b.buf, 0x77, VERBS_BUF);
	if (!fence_is_local)
		EXPECT_STATUS(test, read, IB_WC_REM_ACCESS_ERR);
	verbs_status(read);
	KUNIT_EXPECT_NULL(test, memchr(v->a.buf, 0x77, VERBS_BUF));
	KUNIT_EXPECT_NULL(test, memchr_inv(v->a.buf, 0x55, 2 * FENCE_MTU));
}

/* The peer is stopped half way. Nobody is inside then, and the rest is refused. */
static void fence_F03_the_rest_of_a_write_is_refused(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *write;
	struct ib_mr *mr;
	u64 before;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	paint(v);
	before = verbs_counted(&v->b, WARD_CNT_RCVD_PKTS);
	rule = verbs_rule(test, &v->a, "hold dir=out op=write nth=4");
	write = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->a, rule);
	fence_wait_counted(test, &v->b, WARD_CNT_RCVD_PKTS, before + 3);
	ASSERT_STATUS(test, verbs_inv(test, &other->b, mr->rkey), IB_WC_SUCCESS);
	expect_paint(test, 3 * FENCE_MTU, VERBS_BUF - 3 * FENCE_MTU, 0x55);
	memset(v->b.buf, 0x55, VERBS_BUF);
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, write, IB_WC_REM_ACCESS_ERR);
	expect_paint(test, 0, VERBS_BUF, 0x55);
}

static void fence_F04_local_inv_after_earlier_work(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *source = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	struct ib_mr *target = verbs_region(test, &v->a, 0, VERBS_BUF, IB_ACCESS_LOCAL_WRITE);
	struct verbs_op *read, *inv;

	paint(v);
	read = verbs_rdma(test, &v->a, IB_WR_RDMA_READ, target->iova, target->lkey, VERBS_BUF,
			  source->iova, source->rkey);
	inv = verbs_inv(test, &v->a, target->rkey);
	EXPECT_STATUS(test, read, IB_WC_SUCCESS);
	EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
	KUNIT_EXPECT_GT(test, inv->order, read->order);
	KUNIT_EXPECT_EQ(test, inv->wc.opcode, IB_WC_LOCAL_INV);
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);
}

/* The answer is late, so that LOCAL_INV has every chance to be too early. */
static void fence_F04_waits_for_a_late_answer(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *source = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	struct ib_mr *target = verbs_region(test, &v->a, 0, VERBS_BUF, IB_ACCESS_LOCAL_WRITE);
	struct verbs_op *read, *inv;
	u64 before;
	int rule;

	paint(v);
	before = verbs_counted(&v->a, WARD_CNT_INJECTED);
	rule = verbs_rule(test, &v->a, "drop dir=in op=response");
	read = verbs_rdma(test, &v->a, IB_WR_RDMA_READ, target->iova, target->lkey, VERBS_BUF,
			  source->iova, source->rkey);
	inv = verbs_inv(test, &v->a, target->rkey);
	fence_wait_counted(test, &v->a, WARD_CNT_INJECTED, before + 1);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, read, IB_WC_SUCCESS);
	EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);
}

/* B's SEND is not acknowledged: its LOCAL_INV has executed, and is not complete. */
static void fence_F05_revoked_before_it_completes(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *send, *inv;
	struct ib_mr *mr;
	char text[64];
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	verbs_recv(test, &v->a, 0, 100);
	snprintf(text, sizeof(text), "drop dir=in op=ack qp=%u", v->b.qp->qp_num);
	rule = verbs_rule(test, &v->b, text);
	send = verbs_send(test, &v->b, IB_WR_SEND, 0, 100, 0);
	inv = verbs_inv(test, &v->b, mr->rkey);
	expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, "F1");
	EXPECT_STATUS(test, write_by(test, other, mr->rkey, mr->iova, 100), IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
	verbs_unrule(test, &v->b, rule);
	EXPECT_STATUS(test, send, IB_WC_SUCCESS);
	EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
	KUNIT_EXPECT_GT(test, inv->order, send->order);
}

/* B's own READ still writes through the key: peers are shut out all the same. */
static void fence_F05_revoked_while_reads_go_on(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct ib_mr *source, *mr;
	struct verbs_op *read, *inv;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	source = verbs_region(test, &v->a, 0, PART, REMOTE);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	paint(v);
	rule = verbs_rule(test, &v->b, "drop dir=in op=response");
	read = verbs_rdma(test, &v->b, IB_WR_RDMA_READ, mr->iova, mr->lkey, PART, source->iova,
			  source->rkey);
	inv = verbs_inv(test, &v->b, mr->rkey);
	expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, "F1");
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
	verbs_unrule(test, &v->b, rule);
	EXPECT_STATUS(test, read, IB_WC_SUCCESS);
	EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
	expect_paint(test, 0, PART, 0xaa);
}

/* A queue pair of another PD registers; neither B's LOCAL_INV nor A's SEND may end that. */
static void fence_F11_invalidate_needs_the_same_pd(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_pd *pd = v->b.pd;
	struct ib_mr *mr;

	v->b.pd = verbs_pd(test, &v->b);
	verbs_connect(test, v);
	mr = foreign_mr(test, v->b.pd);
	ASSERT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	swap(pd, v->b.pd);
	verbs_connect(test, v);
	expect_failed(test, verbs_inv(test, &v->b, mr->rkey));
	expect_bad_remote_inv(test, mr->rkey);
	expect_shut(test, mr->rkey, mr->iova);	/* F21 */
	swap(pd, v->b.pd);
	verbs_connect(test, v);
	expect_open(test, mr->rkey, mr->iova);
	swap(pd, v->b.pd);
	verbs_connect(test, v);
}

static void fence_F12_only_fast_registrations(struct kunit *test)
{
	struct verbs *v = test->priv;
	const u32 key = v->b.pd->local_dma_lkey;

	expect_failed(test, verbs_inv(test, &v->b, key));
	expect_bad_remote_inv(test, key);
	/* it still serves */
	verbs_recv(test, &v->b, 0, 100);
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
}

/* A region of user memory is not one either. */
static void fence_F12_not_user_memory(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = fence_user_mr(test, &v->b, 0, PART, REMOTE);

	expect_failed(test, verbs_inv(test, &v->b, mr->rkey));
	expect_bad_remote_inv(test, mr->rkey);
	expect_open(test, mr->rkey, mr->iova);
}

static void fence_F13_shut_before_the_receive_completes(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	struct verbs_op *recv;

	expect_open(test, mr->rkey, mr->iova);
	recv = verbs_recv(test, &v->b, PART, 5000);
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 5000, mr->rkey),
		      IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, recv->wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, recv->wc.ex.invalidate_rkey, mr->rkey);
	KUNIT_EXPECT_EQ(test, recv->wc.byte_len, 5000);
	expect_shut(test, mr->rkey, mr->iova);
}

/* Somebody is inside: the receive waits, and so does what the peer sends after it. */
static void fence_F13_receive_waits_for_who_is_inside(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *write, *recv, *next;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	rule = fence_hold_b(test, v, "write", 2);
	write = write_to(test, mr->rkey, mr->iova, PART);
	verbs_wait_held(test, &v->b, rule);
	recv = verbs_recv(test, &other->b, PART, 100);
	next = verbs_recv(test, &other->b, PART, 100);
	verbs_send(test, &other->a, IB_WR_SEND_WITH_INV, 0, 100, mr->rkey);
	verbs_send(test, &other->a, IB_WR_SEND, 0, 100, 0);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(recv));
	KUNIT_EXPECT_FALSE(test, verbs_completed(next));
	expect_probed(test, &v->b, mr->rkey, WARD_PROBE_WRITE, "F1");
	verbs_unrule(test, &v->b, rule);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, recv->wc.wc_flags & IB_WC_WITH_INVALIDATE);
	EXPECT_STATUS(test, next, IB_WC_SUCCESS);
	/* what was in the inbox with it may have come in with it */
	verbs_status(write);
}

/* Both sides learn of it: NAK 0x62, an event, ERR; a positive acknowledgement is never sent. */
static void fence_F14_bad_key_in_send_with_inv(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	u64 naks = verbs_counted(&v->b, WARD_CNT_NAK_ACCESS);
	struct verbs_op *recv, *send;

	recv = verbs_recv(test, &v->b, 0, 100);
	send = verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 1, mr->rkey ^ 0x100);
	EXPECT_STATUS(test, send, IB_WC_REM_ACCESS_ERR);
	EXPECT_STATUS(test, recv, IB_WC_REM_INV_REQ_ERR);
	msleep(20);
	KUNIT_EXPECT_EQ(test, verbs_counted(&v->b, WARD_CNT_NAK_ACCESS), naks + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->b.events[IB_EVENT_QP_ACCESS_ERR]), 1);
	KUNIT_EXPECT_EQ(test, state_of(test, &v->b), IB_QPS_ERR);
	verbs_connect(test, v);
	expect_open(test, mr->rkey, mr->iova);
}

/* dereg_mr returns when nobody is inside, however long that takes. */
static void fence_F19_dereg_waits(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct fence_task *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	struct verbs_op *write;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	mr = ib_alloc_mr(v->b.pd, IB_MR_TYPE_MEM_REG, VERBS_BUF / PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	verbs_map(test, mr, &v->b, 0, VERBS_BUF);
	ASSERT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	paint(v);
	rule = fence_hold_b(test, v, "write", 4);
	write = write_to(test, mr->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->b, rule);
	fence_start(test, task, fence_dereg, mr);
	fence_expect_waiting(test, task);
	verbs_unrule(test, &v->b, rule);
	fence_expect_done(test, task);
	memset(v->b.buf, 0x55, VERBS_BUF);
	/* what was in the inbox with it may have come in with it, but not after that */
	verbs_status(write);
	expect_paint(test, 0, VERBS_BUF, 0x55);
}

/* It has to wait for each: those who are inside by two queue pairs, and two who invalidate. */
static void fence_F19_all_are_waited_for(struct kunit *test)
{
	struct verbs *v = test->priv, *second, *third;
	struct verbs_op *write[2], *inv[2];
	struct ib_mr *mr;
	int rule[2], i;

	fence_patient(test);
	second = verbs_more(test, v);
	third = verbs_more(test, second);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	rule[0] = fence_hold_b(test, v, "write", 1);
	rule[1] = fence_hold_b(test, second, "write", 1);
	write[0] = write_to(test, mr->rkey, mr->iova, PART);
	write[1] = write_by(test, second, mr->rkey, mr->iova, PART);
	for (i = 0; i < 2; i++)
		verbs_wait_held(test, &v->b, rule[i]);
	for (i = 0; i < 2; i++)
		inv[i] = verbs_inv(test, &third->b, mr->rkey);
	verbs_unrule(test, &v->b, rule[0]);
	verbs_status(write[0]);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv[0]));
	verbs_unrule(test, &v->b, rule[1]);
	for (i = 0; i < 2; i++)
		EXPECT_STATUS(test, inv[i], IB_WC_SUCCESS);
	verbs_status(write[1]);
}

static void fence_F39_invalid_already(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	struct verbs_op *recv;
	int i;

	for (i = 0; i < 2; i++)
		EXPECT_STATUS(test, verbs_inv(test, &v->b, mr->rkey), IB_WC_SUCCESS);
	for (i = 0; i < 2; i++) {
		recv = verbs_recv(test, &v->b, 0, 100);
		EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 1, mr->rkey),
			      IB_WC_SUCCESS);
		EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	}
	expect_shut(test, mr->rkey, mr->iova);
}

static struct kunit_case inv_cases[] = {
	KUNIT_CASE(fence_F01_waits_for_who_is_inside),
	KUNIT_CASE(fence_F01_flood),
	KUNIT_CASE(fence_F02_waits_for_a_read),
	KUNIT_CASE(fence_F03_the_rest_of_a_write_is_refused),
	KUNIT_CASE(fence_F04_local_inv_after_earlier_work),
	KUNIT_CASE(fence_F04_waits_for_a_late_answer),
	KUNIT_CASE(fence_F05_revoked_before_it_completes),
	KUNIT_CASE(fence_F05_revoked_while_reads_go_on),
	KUNIT_CASE(fence_F11_invalidate_needs_the_same_pd),
	KUNIT_CASE(fence_F12_only_fast_registrations),
	KUNIT_CASE(fence_F12_not_user_memory),
	KUNIT_CASE(fence_F13_shut_before_the_receive_completes),
	KUNIT_CASE(fence_F13_receive_waits_for_who_is_inside),
	KUNIT_CASE(fence_F14_bad_key_in_send_with_inv),
	KUNIT_CASE(fence_F19_dereg_waits),
	KUNIT_CASE(fence_F19_all_are_waited_for),
	KUNIT_CASE(fence_F39_invalid_already),
	{}
};

FENCE_SUITES("ward-fence-inv", inv_cases);
