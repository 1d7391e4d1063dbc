// SPDX-License-Identifier: GPL-2.0
/*
 * When memory is open to a peer and when not: the rules of Documentation/fences, by their
 * numbers, as far as one kernel client can see them without holding packets back.
 */
#include "../drivers/ward/verbs/options.h"
#include "verbs.h"

#define REMOTE		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)
#define PART		8192	/* the buffer is used in parts of two pages */

static struct link wire;

static int fence_test_init(struct kunit *test)
{
	verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);
	return 0;
}

/* Both ends on one device: from memory to memory ... */
static int local_test_init(struct kunit *test)
{
	link_use(&wire.end[0], WARD_PATH_AUTO);
	verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[0], false);
	return 0;
}

/* ... and by packets */
static int packet_test_init(struct kunit *test)
{
	link_use(&wire.end[0], WARD_PATH_PACKET);
	verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[0], false);
	return 0;
}

static struct verbs_op *write_to(struct kunit *test, u32 key, u64 addr, u32 len)
{
	struct verbs *v = test->priv;

	return verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma, v->a.pd->local_dma_lkey, len,
			  addr, key);
}

static struct verbs_op *read_from(struct kunit *test, u32 key, u64 addr, u32 len)
{
	struct verbs *v = test->priv;

	return verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma, v->a.pd->local_dma_lkey, len,
			  addr, key);
}

/* The peer's WRITE is let in ... */
static void expect_open(struct kunit *test, u32 key, u64 addr)
{
	EXPECT_STATUS(test, write_to(test, key, addr, 100), IB_WC_SUCCESS);
}

/* ... or refused, which costs both queue pairs: new ones follow. */
static void expect_shut(struct kunit *test, u32 key, u64 addr)
{
	EXPECT_STATUS(test, write_to(test, key, addr, 100), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, test->priv);
}

/* An error of its own, not that of a queue pair that was in ERR already */
static void expect_failed(struct kunit *test, struct verbs_op *op)
{
	const char *status = verbs_status(op);

	KUNIT_EXPECT_STRNEQ(test, status, "no completion at all");
	KUNIT_EXPECT_STRNEQ(test, status, ib_wc_status_msg(IB_WC_SUCCESS));
	KUNIT_EXPECT_STRNEQ(test, status, ib_wc_status_msg(IB_WC_WR_FLUSH_ERR));
	verbs_connect(test, test->priv);
}

/* SEND with invalidate of a key that cannot be invalidated (F14) */
static void expect_bad_remote_inv(struct kunit *test, u32 key)
{
	struct verbs *v = test->priv;
	struct verbs_op *recv = verbs_recv(test, &v->b, 0, 100);
	struct verbs_op *send = verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 1, key);

	EXPECT_STATUS(test, send, IB_WC_REM_ACCESS_ERR);
	EXPECT_STATUS(test, recv, IB_WC_REM_INV_REQ_ERR);
	verbs_connect(test, v);
}

static void paint(struct verbs *v)
{
	memset(v->a.buf, 0xaa, VERBS_BUF);
	memset(v->b.buf, 0x55, VERBS_BUF);
}

static void expect_paint(struct kunit *test, u32 offset, u32 len, u8 colour)
{
	struct verbs *v = test->priv;

	KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf + offset, colour, len));
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

static void f1_nothing_written_after_local_inv(struct kunit *test)
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

static void f4_local_inv_after_earlier_work(struct kunit *test)
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

/* A region is not open before its REG_MR has been posted, and is so afterwards. */
static void f6_open_from_reg_mr(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_mr(test, &v->b, 4);
	struct verbs_op *reg;

	verbs_map(test, mr, &v->b, 0, PART);
	expect_shut(test, mr->rkey, mr->iova);
	reg = verbs_reg(test, &v->b, mr, mr->rkey, REMOTE);
	EXPECT_STATUS(test, reg, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, reg->wc.opcode, IB_WC_REG_MR);
	expect_open(test, mr->rkey, mr->iova);
}

static void f7_staging_leaves_the_active_one_alone(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	const u32 key = mr->rkey;
	const u64 addr = mr->iova;

	paint(v);
	verbs_map(test, mr, &v->b, PART, PART);
	ib_update_fast_reg_key(mr, (key & 0xff) + 1);
	KUNIT_ASSERT_NE(test, mr->rkey, key);

	EXPECT_STATUS(test, write_to(test, key, addr, PART), IB_WC_SUCCESS);
	expect_paint(test, 0, PART, 0xaa);
	expect_paint(test, PART, PART, 0x55);
	expect_shut(test, mr->rkey, mr->iova);
	expect_open(test, key, addr);

	/* in force from its own REG_MR on, after an invalidate of the old one */
	EXPECT_STATUS(test, verbs_inv(test, &v->b, key), IB_WC_SUCCESS);
	EXPECT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	paint(v);
	EXPECT_STATUS(test, write_to(test, mr->rkey, mr->iova, PART), IB_WC_SUCCESS);
	expect_paint(test, 0, PART, 0x55);
	expect_paint(test, PART, PART, 0xaa);
	expect_shut(test, key, addr);
}

static void f8_reg_mr_again_without_a_map(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);

	EXPECT_STATUS(test, verbs_inv(test, &v->b, mr->rkey), IB_WC_SUCCESS);
	expect_shut(test, mr->rkey, mr->iova);
	EXPECT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	expect_open(test, mr->rkey, mr->iova);
}

static void f9_all_bits_of_a_key_count(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	int bit;

	for (bit = 0; bit < 32; bit++)
		expect_shut(test, mr->rkey ^ BIT(bit), mr->iova);
	for (bit = 0; bit < 32; bit += 3) {
		expect_failed(test, verbs_inv(test, &v->b, mr->rkey ^ BIT(bit)));
		expect_bad_remote_inv(test, mr->rkey ^ BIT(bit));
	}
	expect_open(test, mr->rkey, mr->iova);
}

static void f9_reg_mr_keeps_the_index(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_mr(test, &v->b, 4);

	verbs_map(test, mr, &v->b, 0, PART);
	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey ^ 0x100, REMOTE));
	expect_shut(test, mr->rkey, mr->iova);
	expect_shut(test, mr->rkey ^ 0x100, mr->iova);
	EXPECT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey ^ 1, REMOTE), IB_WC_SUCCESS);
	expect_open(test, mr->rkey ^ 1, mr->iova);
}

static void f10_reg_mr_on_a_valid_region(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);

	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE));
	expect_open(test, mr->rkey, mr->iova);
}

/* A region of @pd that maps the first part of B's buffer */
static struct ib_mr *foreign_mr(struct kunit *test, struct ib_pd *pd)
{
	struct verbs *v = test->priv;
	struct verbs_end other = v->b;
	struct ib_mr *mr;

	other.pd = pd;
	mr = verbs_mr(test, &other, 4);
	verbs_map(test, mr, &other, 0, PART);
	return mr;
}

static void f10_reg_mr_of_another_pd(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = foreign_mr(test, verbs_pd(test, &v->b));

	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE));
}

static void f10_remote_write_needs_local_write(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_mr(test, &v->b, 4);

	verbs_map(test, mr, &v->b, 0, PART);
	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, IB_ACCESS_REMOTE_WRITE));
	expect_shut(test, mr->rkey, mr->iova);
}

/* A queue pair of another PD registers; neither B's LOCAL_INV nor A's SEND may end that. */
static void f11_invalidate_needs_the_same_pd(struct kunit *test)
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

static void f12_only_fast_registrations_are_invalidated(struct kunit *test)
{
	struct verbs *v = test->priv;
	const u32 key = v->b.pd->local_dma_lkey;

	expect_failed(test, verbs_inv(test, &v->b, key));
	expect_bad_remote_inv(test, key);
	/* it still serves */
	verbs_recv(test, &v->b, 0, 100);
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
}

static void f13_shut_before_the_receive_completes(struct kunit *test)
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

static void f20_rights(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *readable = verbs_region(test, &v->b, 0, PART, IB_ACCESS_REMOTE_READ);
	struct ib_mr *writable = verbs_region(test, &v->b, PART, PART,
					      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	struct ib_mr *local = verbs_region(test, &v->b, 2 * PART, PART, IB_ACCESS_LOCAL_WRITE);
	struct ib_mr *source;

	expect_shut(test, readable->rkey, readable->iova);
	EXPECT_STATUS(test, read_from(test, readable->rkey, readable->iova, 9), IB_WC_SUCCESS);
	EXPECT_STATUS(test, read_from(test, writable->rkey, writable->iova, 9),
		      IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, v);
	expect_open(test, writable->rkey, writable->iova);
	expect_shut(test, local->rkey, local->iova);
	EXPECT_STATUS(test, read_from(test, local->rkey, local->iova, 9), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, v);

	/* a READ stores into local memory */
	source = verbs_region(test, &v->a, 0, PART, IB_ACCESS_REMOTE_READ);
	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_READ, source->iova, source->lkey, 9,
				       readable->iova, readable->rkey), IB_WC_LOC_PROT_ERR);
}

static void f20_queue_pair_without_the_right(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	struct ib_qp_attr attr = { .qp_access_flags = IB_ACCESS_REMOTE_READ };

	KUNIT_ASSERT_EQ(test, ib_modify_qp(v->b.qp, &attr, IB_QP_ACCESS_FLAGS), 0);
	EXPECT_STATUS(test, read_from(test, mr->rkey, mr->iova, 9), IB_WC_SUCCESS);
	EXPECT_STATUS(test, write_to(test, mr->rkey, mr->iova, 9), IB_WC_REM_INV_REQ_ERR);
	verbs_connect(test, v);
	attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE;
	KUNIT_ASSERT_EQ(test, ib_modify_qp(v->b.qp, &attr, IB_QP_ACCESS_FLAGS), 0);
	EXPECT_STATUS(test, read_from(test, mr->rkey, mr->iova, 9), IB_WC_REM_INV_REQ_ERR);
}

static void f21_lkey_of_another_pd(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	struct ib_pd *other = verbs_pd(test, &v->a);

	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       other->local_dma_lkey, 9, mr->iova, mr->rkey),
		      IB_WC_LOC_PROT_ERR);
}

static enum ib_qp_state state_of(struct kunit *test, struct verbs_end *end)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	KUNIT_ASSERT_EQ(test, ib_query_qp(end->qp, &attr, IB_QP_STATE, &init), 0);
	return attr.qp_state;
}

/* Nobody has posted a receive that could tell: an event does, once, and ERR follows. */
static void f22_refusals_are_told(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	struct ib_qp_attr attr = { .qp_access_flags = IB_ACCESS_REMOTE_READ };

	EXPECT_STATUS(test, write_to(test, mr->rkey ^ 1, mr->iova, 9), IB_WC_REM_ACCESS_ERR);
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->b.events[IB_EVENT_QP_ACCESS_ERR]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->b.events[IB_EVENT_QP_REQ_ERR]), 0);
	KUNIT_EXPECT_EQ(test, state_of(test, &v->b), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, state_of(test, &v->a), IB_QPS_ERR);
	verbs_connect(test, v);

	KUNIT_ASSERT_EQ(test, ib_modify_qp(v->b.qp, &attr, IB_QP_ACCESS_FLAGS), 0);
	EXPECT_STATUS(test, write_to(test, mr->rkey, mr->iova, 9), IB_WC_REM_INV_REQ_ERR);
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->b.events[IB_EVENT_QP_ACCESS_ERR]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&v->b.events[IB_EVENT_QP_REQ_ERR]), 1);
	KUNIT_EXPECT_EQ(test, state_of(test, &v->b), IB_QPS_ERR);
	KUNIT_EXPECT_EQ(test, state_of(test, &v->a), IB_QPS_ERR);
}

static void f24_no_bytes_no_key(struct kunit *test)
{
	EXPECT_STATUS(test, write_to(test, 0xdeadbeef, 0x1234, 0), IB_WC_SUCCESS);
	EXPECT_STATUS(test, read_from(test, 0xdeadbeef, 0x1234, 0), IB_WC_SUCCESS);
}

static void f25_ranges(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 100, PART, REMOTE);
	const struct {
		u64 addr;
		u32 len;
	} bad[] = {
		{ mr->iova - 1, 1 }, { mr->iova - 1, 2 }, { mr->iova - 1, PART },
		{ mr->iova + PART, 1 }, { mr->iova + PART - 1, 2 }, { mr->iova, PART + 1 },
		{ U64_MAX, 1 }, { U64_MAX, 2 }, { U64_MAX - 4095, 4097 }, { 0, 1 },
		{ mr->iova + (1ULL << 32), 1 }, { mr->iova ^ (1ULL << 63), 1 },
	};
	int i;

	paint(v);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_STATUS(test, write_to(test, mr->rkey, bad[i].addr, bad[i].len),
			      IB_WC_REM_ACCESS_ERR);
		verbs_connect(test, v);
		EXPECT_STATUS(test, read_from(test, mr->rkey, bad[i].addr, bad[i].len),
			      IB_WC_REM_ACCESS_ERR);
		verbs_connect(test, v);
	}
	expect_paint(test, 0, VERBS_BUF, 0x55);
	memset(v->a.buf, 0xaa, VERBS_BUF);
	EXPECT_STATUS(test, write_to(test, mr->rkey, mr->iova, PART), IB_WC_SUCCESS);
	expect_paint(test, 0, 100, 0x55);
	expect_paint(test, 100, PART, 0xaa);
	expect_paint(test, 100 + PART, VERBS_BUF - PART - 100, 0x55);
}

static void f39_invalid_already(struct kunit *test)
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

/* After ib_drain_qp nothing arrives by that queue pair any more, whatever is under way. */
static void f32_nothing_written_after_drain(struct kunit *test)
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

static int fence_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	if (err)
		link_down(&wire);
	return err;
}

static void fence_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case fence_cases[] = {
	KUNIT_CASE(f1_nothing_written_after_local_inv),
	KUNIT_CASE(f4_local_inv_after_earlier_work),
	KUNIT_CASE(f6_open_from_reg_mr),
	KUNIT_CASE(f7_staging_leaves_the_active_one_alone),
	KUNIT_CASE(f8_reg_mr_again_without_a_map),
	KUNIT_CASE(f9_all_bits_of_a_key_count),
	KUNIT_CASE(f9_reg_mr_keeps_the_index),
	KUNIT_CASE(f10_reg_mr_on_a_valid_region),
	KUNIT_CASE(f10_reg_mr_of_another_pd),
	KUNIT_CASE(f10_remote_write_needs_local_write),
	KUNIT_CASE(f11_invalidate_needs_the_same_pd),
	KUNIT_CASE(f12_only_fast_registrations_are_invalidated),
	KUNIT_CASE(f13_shut_before_the_receive_completes),
	KUNIT_CASE(f20_rights),
	KUNIT_CASE(f20_queue_pair_without_the_right),
	KUNIT_CASE(f21_lkey_of_another_pd),
	KUNIT_CASE(f22_refusals_are_told),
	KUNIT_CASE(f24_no_bytes_no_key),
	KUNIT_CASE(f25_ranges),
	KUNIT_CASE(f32_nothing_written_after_drain),
	KUNIT_CASE(f39_invalid_already),
	{}
};

static struct kunit_suite fence_suite = {
	.name = "ward-fences",
	.suite_init = fence_init,
	.suite_exit = fence_exit,
	.init = fence_test_init,
	.exit = verbs_exit,
	.test_cases = fence_cases,
};

static struct kunit_suite local_suite = {
	.name = "ward-fences-local",
	.suite_init = fence_init,
	.suite_exit = fence_exit,
	.init = local_test_init,
	.exit = verbs_exit,
	.test_cases = fence_cases,
};

static struct kunit_suite packet_suite = {
	.name = "ward-fences-packet",
	.suite_init = fence_init,
	.suite_exit = fence_exit,
	.init = packet_test_init,
	.exit = verbs_exit,
	.test_cases = fence_cases,
};

kunit_test_suites(&fence_suite, &local_suite, &packet_suite);
