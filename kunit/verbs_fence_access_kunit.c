// SPDX-License-Identifier: GPL-2.0
/*
 * Who may touch what: rights, domains, ranges; and in which order bytes become visible.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include "../drivers/ward/qp/qp.h"
#include "../drivers/ward/verbs/cq.h"
#include "verbs_fence.h"

static void fence_F20_rights(struct kunit *test)
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

static void fence_F20_queue_pair_without_the_right(struct kunit *test)
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

static void fence_F21_lkey_of_another_pd(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	struct ib_pd *other = verbs_pd(test, &v->a);

	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       other->local_dma_lkey, 9, mr->iova, mr->rkey),
		      IB_WC_LOC_PROT_ERR);
}

/* Nobody has posted a receive that could tell: an event does, once, and ERR follows. */
static void fence_F22_refusals_are_told(struct kunit *test)
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

static void fence_F24_no_bytes_no_key(struct kunit *test)
{
	EXPECT_STATUS(test, write_to(test, 0xdeadbeef, 0x1234, 0), IB_WC_SUCCESS);
	EXPECT_STATUS(test, read_from(test, 0xdeadbeef, 0x1234, 0), IB_WC_SUCCESS);
}

static void fence_F25_ranges(struct kunit *test)
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

/* A refused WRITE of many packets is refused as a whole, before its first byte. */
static void fence_F25_before_any_byte(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);

	paint(v);
	EXPECT_STATUS(test, write_to(test, mr->rkey, mr->iova, PART + 1), IB_WC_REM_ACCESS_ERR);
	expect_paint(test, 0, VERBS_BUF, 0x55);
}

/* Programs poll the last word of a message: it comes after all the rest. */
static void fence_F37_last_word_comes_last(struct kunit *test)
{
	static const u32 lens[] = { 8, 9, 1000, 1024, 1032, 5000, 8191 };
	struct verbs *v = test->priv;
	struct verbs_op *write;
	struct ib_mr *mr;
	int i, rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		u32 word = ALIGN_DOWN(lens[i] - 1, 8);

		paint(v);
		rule = verbs_rule(test, &v->b, "hold-last op=write");
		write = write_to(test, mr->rkey, mr->iova, lens[i]);
		verbs_wait_held(test, &v->b, rule);
		expect_paint(test, 0, word, 0xaa);
		expect_paint(test, word, VERBS_BUF - word, 0x55);
		verbs_unrule(test, &v->b, rule);
		EXPECT_STATUS(test, write, IB_WC_SUCCESS);
		expect_paint(test, 0, lens[i], 0xaa);
	}
}

/* What has come when the consumer is told: all of it */
struct checked {
	struct verbs_op	op;
	const u8	*at;
	u8		colour;
	u32		len;
	bool		right;
};

static void check_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct checked *c = container_of(wc->wr_cqe, struct checked, op.cqe);

	c->op.wc = *wc;
	c->right = !memchr_inv(c->at, c->colour, c->len);
	complete(&c->op.done);
}

static void fence_F38_data_before_its_completion(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct checked *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct ib_sge sge = { v->b.dma, VERBS_BUF, v->b.pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &c->op.cqe, .sg_list = &sge, .num_sge = 1 };
	int i;

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->op.cqe.done = check_done;
	c->at = v->b.buf;
	for (i = 0; i < 30; i++) {
		memset(v->a.buf, i, VERBS_BUF);
		memset(v->b.buf, 0xee, VERBS_BUF);
		c->colour = i;
		c->len = 1 + i * 2000;
		init_completion(&c->op.done);
		KUNIT_ASSERT_EQ(test, ib_post_recv(v->b.qp, &wr, NULL), 0);
		EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, c->len, 0),
			      IB_WC_SUCCESS);
		EXPECT_STATUS(test, &c->op, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, c->right);
	}
}

/* Nor does the completion queue have an entry while the last packet is not copied. */
static void fence_F38_no_entry_while_held(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ward_cq *cq;
	struct verbs_op *recv, *send, *read;
	struct ib_mr *mr;
	u32 head;
	int rule;

	fence_patient(test);
	mr = verbs_region(test, &v->b, 0, PART, REMOTE);
	recv = verbs_recv(test, &v->b, 0, PART);
	cq = to_ward_cq(v->b.cq);
	head = READ_ONCE(cq->head);
	rule = fence_hold_b(test, v, "send", 3);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 3 * FENCE_MTU, 0);
	verbs_wait_held(test, &v->b, rule);
	KUNIT_EXPECT_EQ(test, READ_ONCE(cq->head), head);
	verbs_unrule(test, &v->b, rule);
	EXPECT_STATUS(test, send, IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);

	cq = to_ward_cq(v->a.cq);
	head = READ_ONCE(cq->head);
	rule = verbs_rule(test, &v->a, fence_is_local ? "hold op=read" :
			  "hold dir=in op=response nth=3");
	read = read_from(test, mr->rkey, mr->iova, 3 * FENCE_MTU);
	verbs_wait_held(test, &v->a, rule);
	KUNIT_EXPECT_EQ(test, READ_ONCE(cq->head), head);
	verbs_unrule(test, &v->a, rule);
	EXPECT_STATUS(test, read, IB_WC_SUCCESS);
}

/* The key of all memory opens it for the kernel, and not for a process of the same domain. */
static void fence_F43_all_memory_for_the_kernel_only(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ward_asker who = {
		.dev = to_ward(v->b.link->ibdev), .pd = v->b.pd, .qpn = v->b.qp->qp_num,
	};
	int user;

	for (user = 0; user < 2; user++) {
		who.user = user;
		local_bh_disable();
		rcu_read_lock();
		KUNIT_EXPECT_EQ(test, ward_mr_probe(&who, v->b.pd->local_dma_lkey, v->b.dma, 8,
						    IB_ACCESS_LOCAL_WRITE),
				user ? WARD_REFUSED_KEY : WARD_GRANTED);
		rcu_read_unlock();
		local_bh_enable();
	}
	/* peers never had it */
	expect_shut(test, v->b.pd->local_dma_lkey, v->b.dma);
}

/* A receive's key is of the PD of the shared queue, not of the queue pair. */
static void fence_F44_receives_of_the_srqs_pd(struct kunit *test)
{
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 2 }, .srq_type = IB_SRQT_BASIC,
	};
	struct verbs *v = test->priv;
	struct ib_pd *pd = verbs_pd(test, &v->b);
	struct verbs_op *recv, *send;
	int own;

	v->b.srq = ib_create_srq(pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(v->b.srq));
	for (own = 1; own >= 0; own--) {
		struct ib_sge sge = {
			v->b.dma, 4000, own ? pd->local_dma_lkey : v->b.pd->local_dma_lkey,
		};
		struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

		verbs_connect(test, v);
		recv = verbs_op(test);
		wr.wr_cqe = &recv->cqe;
		KUNIT_ASSERT_EQ(test, ib_post_srq_recv(v->b.srq, &wr, NULL), 0);
		send = verbs_send(test, &v->a, IB_WR_SEND, 0, 3000, 0);
		EXPECT_STATUS(test, recv, own ? IB_WC_SUCCESS : IB_WC_LOC_PROT_ERR);
		EXPECT_STATUS(test, send, own ? IB_WC_SUCCESS : IB_WC_REM_OP_ERR);
	}
}

static struct kunit_case access_cases[] = {
	KUNIT_CASE(fence_F20_rights),
	KUNIT_CASE(fence_F20_queue_pair_without_the_right),
	KUNIT_CASE(fence_F21_lkey_of_another_pd),
	KUNIT_CASE(fence_F22_refusals_are_told),
	KUNIT_CASE(fence_F24_no_bytes_no_key),
	KUNIT_CASE(fence_F25_ranges),
	KUNIT_CASE(fence_F25_before_any_byte),
	KUNIT_CASE(fence_F37_last_word_comes_last),
	KUNIT_CASE(fence_F38_data_before_its_completion),
	KUNIT_CASE(fence_F38_no_entry_while_held),
	KUNIT_CASE(fence_F43_all_memory_for_the_kernel_only),
	KUNIT_CASE(fence_F44_receives_of_the_srqs_pd),
	{}
};

FENCE_SUITES("ward-fence-access", access_cases);
