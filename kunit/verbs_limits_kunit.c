// SPDX-License-Identifier: GPL-2.0
/*
 * What a device offers at most: past it is -ENOMEM, and freeing one makes room for one. Objects of
 * all but one kind are counted, so the test only says that there are many of them already.
 */
#include "../drivers/ward/verbs/device.h"
#include "verbs.h"

static struct link wire;

/**
 * struct kind - a kind of object
 * @count:  where a device counts them
 * @max:    its limit
 * @create: makes one
 * @destroy: and undoes it
 */
struct kind {
	size_t	count;
	int	max;
	void	*(*create)(struct verbs_end *end);
	void	(*destroy)(void *obj);
};

static void *create_pd(struct verbs_end *end)
{
	return ib_alloc_pd(end->link->ibdev, 0);
}

static void destroy_pd(void *obj)
{
	ib_dealloc_pd(obj);
}

static void *create_cq(struct verbs_end *end)
{
	return ib_alloc_cq(end->link->ibdev, NULL, 1, 0, IB_POLL_DIRECT);
}

static void destroy_cq(void *obj)
{
	ib_free_cq(obj);
}

static void *create_qp(struct verbs_end *end)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .send_cq = end->cq, .recv_cq = end->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ib_create_qp(end->pd, &init);
}

static void destroy_qp(void *obj)
{
	ib_destroy_qp(obj);
}

static void *create_mr(struct verbs_end *end)
{
	return ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, 1);
}

static void destroy_mr(void *obj)
{
	ib_dereg_mr(obj);
}

static void *create_ah(struct verbs_end *end)
{
	struct rdma_ah_attr attr;

	verbs_path(end, end, &attr);
	return rdma_create_ah(end->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

static void destroy_ah(void *obj)
{
	rdma_destroy_ah(obj, 0);
}

static void counted(struct kunit *test, const struct kind *kind)
{
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);
	atomic_t *count = (void *)to_ward(v->a.link->ibdev) + kind->count;
	int before, more;
	void *obj;

	verbs_connect(test, v);
	before = atomic_read(count);
	more = kind->max - 1 - before;
	atomic_add(more, count);

	obj = kind->create(&v->a);
	KUNIT_EXPECT_FALSE(test, IS_ERR(obj));
	KUNIT_EXPECT_PTR_EQ(test, kind->create(&v->a), ERR_PTR(-ENOMEM));
	KUNIT_EXPECT_PTR_EQ(test, kind->create(&v->a), ERR_PTR(-ENOMEM));
	if (!IS_ERR(obj))
		kind->destroy(obj);
	obj = kind->create(&v->a);
	KUNIT_EXPECT_FALSE(test, IS_ERR(obj));
	if (!IS_ERR(obj))
		kind->destroy(obj);

	atomic_sub(more, count);
	KUNIT_EXPECT_EQ(test, atomic_read(count), before);
}

static void pds(struct kunit *test)
{
	const struct kind kind = {
		offsetof(struct ward_device, num_pd), WARD_MAX_PD, create_pd, destroy_pd
	};

	counted(test, &kind);
}

static void cqs(struct kunit *test)
{
	const struct kind kind = {
		offsetof(struct ward_device, num_cq), WARD_MAX_CQ, create_cq, destroy_cq
	};

	counted(test, &kind);
}

static void qps(struct kunit *test)
{
	const struct kind kind = {
		offsetof(struct ward_device, num_qps), WARD_MAX_QP, create_qp, destroy_qp
	};

	counted(test, &kind);
}

static void mrs(struct kunit *test)
{
	const struct kind kind = {
		offsetof(struct ward_device, keys.num_mr), WARD_MAX_MR, create_mr, destroy_mr
	};

	counted(test, &kind);
}

static void ahs(struct kunit *test)
{
	const struct kind kind = {
		offsetof(struct ward_device, num_ah), WARD_MAX_AH, create_ah, destroy_ah
	};

	counted(test, &kind);
}

/* These have numbers of their own, which are all given out */
static void srqs(struct kunit *test)
{
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);
	struct ward_device *dev = to_ward(v->a.link->ibdev);
	struct ib_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ib_srq *srq;
	int i, n = 0;

	verbs_connect(test, v);
	while (ida_alloc_range(&dev->srqs, 1, WARD_MAX_SRQ, GFP_KERNEL) > 0)
		n++;
	KUNIT_EXPECT_EQ(test, n, WARD_MAX_SRQ);
	KUNIT_EXPECT_PTR_EQ(test, (void *)ib_create_srq(v->a.pd, &init), ERR_PTR(-ENOMEM));
	ida_free(&dev->srqs, 77);
	srq = ib_create_srq(v->a.pd, &init);
	KUNIT_EXPECT_FALSE(test, IS_ERR(srq));
	KUNIT_EXPECT_PTR_EQ(test, (void *)ib_create_srq(v->a.pd, &init), ERR_PTR(-ENOMEM));
	if (!IS_ERR(srq))
		ib_destroy_srq(srq);
	for (i = 1; i <= WARD_MAX_SRQ; i++)
		if (i != 77)
			ida_free(&dev->srqs, i);
}

static int qp_with(struct verbs_end *end, u32 wr, u32 sge)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .send_cq = end->cq, .recv_cq = end->cq,
		.cap = { .max_send_wr = wr, .max_recv_wr = wr, .max_send_sge = sge,
			 .max_recv_sge = sge },
	};
	struct ib_qp *qp = ib_create_qp(end->pd, &init);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	ib_destroy_qp(qp);
	/* what was asked for, at least */
	return init.cap.max_send_wr < wr || init.cap.max_recv_wr < wr ? -ERANGE : 0;
}

static void queues(struct kunit *test)
{
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);
	struct ib_device_attr *attrs = &v->a.link->ibdev->attrs;

	verbs_connect(test, v);
	KUNIT_EXPECT_GE(test, attrs->max_qp_wr, 16 * 1024);
	KUNIT_EXPECT_GE(test, attrs->max_send_sge, 32);
	KUNIT_EXPECT_EQ(test, qp_with(&v->a, attrs->max_qp_wr, 1), 0);
	KUNIT_EXPECT_EQ(test, qp_with(&v->a, 1, attrs->max_send_sge), 0);
	KUNIT_EXPECT_LT(test, qp_with(&v->a, attrs->max_qp_wr + 1, 1), 0);
	KUNIT_EXPECT_LT(test, qp_with(&v->a, 1, attrs->max_send_sge + 1), 0);
	KUNIT_EXPECT_LT(test, qp_with(&v->a, U32_MAX, 1), 0);
	KUNIT_EXPECT_LT(test, qp_with(&v->a, 1, U32_MAX), 0);
}

/* A message of 2 GiB is the largest there is; one byte more is refused when it is posted */
static void messages(struct kunit *test)
{
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);
	struct ib_sge sge[] = {
		{ .addr = 0, .length = 0x80000000, .lkey = 1 },
		{ .addr = 0, .length = 1, .lkey = 1 },
	};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2 };

	verbs_connect(test, v);
	KUNIT_EXPECT_EQ(test, ib_post_send(v->a.qp, &wr, NULL), -EINVAL);
	/* whose key is wrong, but that is found out later */
	wr.num_sge = 1;
	KUNIT_EXPECT_EQ(test, ib_post_send(v->a.qp, &wr, NULL), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(pds),
	KUNIT_CASE(cqs),
	KUNIT_CASE(qps),
	KUNIT_CASE(srqs),
	KUNIT_CASE(mrs),
	KUNIT_CASE(ahs),
	KUNIT_CASE(queues),
	KUNIT_CASE(messages),
	{}
};

static int suite_init(struct kunit_suite *suite)
{
	return link_up(&wire);
}

static void suite_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_suite suite = {
	.name = "ward-limits",
	.suite_init = suite_init,
	.suite_exit = suite_exit,
	.exit = verbs_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
