// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues of the kernel: whose receives they are, what is told, and how often.
 */
#include <linux/delay.h>
#include "verbs.h"

#define DEPTH	16

static struct link wire;
static int b_end;	/* the end that B is on; A is on end 0 */
static atomic_t limits;

static void srq_event(struct ib_event *event, void *context)
{
	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		atomic_inc(&limits);
}

/* B takes its receives from a shared queue, in a PD of its own or in that of B. */
static struct verbs *start(struct kunit *test, bool own_pd)
{
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[b_end], false);
	struct ib_srq_init_attr init = {
		.event_handler = srq_event,
		.attr = { .max_wr = DEPTH, .max_sge = 2 },
		.srq_type = IB_SRQT_BASIC,
	};

	atomic_set(&limits, 0);
	v->b.srq = ib_create_srq(own_pd ? verbs_pd(test, &v->b) : v->b.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(v->b.srq));
	KUNIT_EXPECT_GE(test, init.attr.max_wr, DEPTH);
	verbs_connect(test, v);
	return v;
}

static struct verbs_op *post(struct kunit *test, struct verbs *v, u32 len)
{
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = { v->b.dma, len, v->b.srq->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &op->cqe, .sg_list = &sge, .num_sge = 1 };

	KUNIT_ASSERT_EQ(test, ib_post_srq_recv(v->b.srq, &wr, NULL), 0);
	return op;
}

static int told(struct verbs_end *end, enum ib_event_type event)
{
	msleep(50);
	return atomic_read(&end->events[event]);
}

static void receives_are_used_in_order(struct kunit *test)
{
	struct verbs *v = start(test, false);
	struct verbs_op *recv[DEPTH];
	int i;

	for (i = 0; i < DEPTH; i++)
		recv[i] = post(test, v, 4000);
	for (i = 0; i < DEPTH; i++)
		ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 3000 + i, 0),
			      IB_WC_SUCCESS);
	for (i = 0; i < DEPTH; i++) {
		ASSERT_STATUS(test, recv[i], IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, recv[i]->wc.byte_len, 3000 + i);
		KUNIT_EXPECT_PTR_EQ(test, recv[i]->wc.qp, v->b.qp);
	}
}

/* A receive's key is of the PD of the shared queue, not of the queue pair (F44). */
static void pd_is_that_of_the_srq(struct kunit *test)
{
	struct verbs *v = start(test, true);
	struct verbs_op *recv = post(test, v, 4000);
	struct verbs_op *send;
	struct ib_recv_wr wr;
	struct ib_sge sge;

	ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 3000, 0), IB_WC_SUCCESS);
	ASSERT_STATUS(test, recv, IB_WC_SUCCESS);

	recv = verbs_op(test);
	sge = (struct ib_sge) { v->b.dma, 4000, v->b.pd->local_dma_lkey };
	wr = (struct ib_recv_wr) { .wr_cqe = &recv->cqe, .sg_list = &sge, .num_sge = 1 };
	KUNIT_ASSERT_EQ(test, ib_post_srq_recv(v->b.srq, &wr, NULL), 0);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 3000, 0);
	EXPECT_STATUS(test, recv, IB_WC_LOC_PROT_ERR);
	EXPECT_STATUS(test, send, IB_WC_REM_OP_ERR);
	KUNIT_EXPECT_EQ(test, told(&v->b, IB_EVENT_QP_LAST_WQE_REACHED), 1);
}

/* Into ERR: told once (F34), and what the queue pair has not taken is there for the next one. */
static void last_wqe_is_told_once(struct kunit *test)
{
	struct verbs *v = start(test, false);
	struct verbs_op *first = post(test, v, 100), *second = post(test, v, 100);

	verbs_to_error(test, &v->b);
	KUNIT_EXPECT_EQ(test, told(&v->b, IB_EVENT_QP_LAST_WQE_REACHED), 1);
	verbs_to_error(test, &v->b);
	KUNIT_EXPECT_EQ(test, told(&v->b, IB_EVENT_QP_LAST_WQE_REACHED), 1);
	KUNIT_EXPECT_FALSE(test, verbs_completed(first));
	KUNIT_EXPECT_EQ(test, told(&v->a, IB_EVENT_QP_LAST_WQE_REACHED), 0);

	verbs_connect(test, v);
	ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
	ASSERT_STATUS(test, first, IB_WC_SUCCESS);
	KUNIT_EXPECT_FALSE(test, verbs_completed(second));
}

/* The core waits a minute for the event when it does not come. */
static void drain_returns(struct kunit *test)
{
	struct verbs *v = start(test, false);
	unsigned long begin = jiffies;

	post(test, v, 100);
	ib_drain_qp(v->b.qp);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, begin + 10 * HZ));
}

static void limit_is_told_once(struct kunit *test)
{
	struct verbs *v = start(test, false);
	struct ib_srq_attr attr = { .srq_limit = 3 };
	int i;

	for (i = 0; i < 5; i++)
		post(test, v, 100);
	KUNIT_ASSERT_EQ(test, ib_modify_srq(v->b.srq, &attr, IB_SRQ_LIMIT), 0);
	for (i = 0; i < 5; i++) {
		ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 10, 0), IB_WC_SUCCESS);
		msleep(50);
		KUNIT_EXPECT_EQ(test, atomic_read(&limits), i >= 2);
	}
	KUNIT_ASSERT_EQ(test, ib_query_srq(v->b.srq, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.srq_limit, 0);
}

static void resize_keeps_receives(struct kunit *test)
{
	struct verbs *v = start(test, false);
	struct ib_srq_attr attr = {};
	struct verbs_op *recv[DEPTH];
	int i;

	for (i = 0; i < DEPTH; i++)
		recv[i] = post(test, v, 4000);
	attr.max_wr = DEPTH / 4;
	KUNIT_EXPECT_EQ(test, ib_modify_srq(v->b.srq, &attr, IB_SRQ_MAX_WR), -EINVAL);
	attr.max_wr = 4 * DEPTH;
	KUNIT_ASSERT_EQ(test, ib_modify_srq(v->b.srq, &attr, IB_SRQ_MAX_WR), 0);
	for (i = 0; i < 3 * DEPTH; i++)
		post(test, v, 4000);
	for (i = 0; i < DEPTH; i++) {
		ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 10 + i, 0),
			      IB_WC_SUCCESS);
		ASSERT_STATUS(test, recv[i], IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, recv[i]->wc.byte_len, 10 + i);
	}
}

static int srq_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	b_end = !strstr(suite->name, "local");
	if (err)
		link_down(&wire);
	return err;
}

static void srq_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(receives_are_used_in_order),
	KUNIT_CASE(pd_is_that_of_the_srq),
	KUNIT_CASE(last_wqe_is_told_once),
	KUNIT_CASE(drain_returns),
	KUNIT_CASE(limit_is_told_once),
	KUNIT_CASE(resize_keeps_receives),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "ward-srq",
	.suite_init = srq_init,
	.suite_exit = srq_exit,
	.exit = verbs_exit,
	.test_cases = srq_cases,
};

/* both ends on one device: from memory to memory */
static struct kunit_suite local_suite = {
	.name = "ward-srq-local",
	.suite_init = srq_init,
	.suite_exit = srq_exit,
	.exit = verbs_exit,
	.test_cases = srq_cases,
};

kunit_test_suites(&srq_suite, &local_suite);
