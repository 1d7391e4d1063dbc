// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows. The kernel has no verbs for them, so the driver's own functions stand in for the
 * ring of a process: from where the doorbell has copied a bind, all is as it is for a process.
 */
#include <linux/delay.h>
#include "../drivers/ward/mem/window.h"
#include "../drivers/ward/verbs/mw.h"
#include "verbs_fence.h"

#define BINDABLE	(REMOTE | IB_ACCESS_MW_BIND)
#define RIGHTS		(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

static struct ib_mw *bound(struct kunit *test, struct ib_mr *mr, enum ib_mw_type type)
{
	struct verbs *v = test->priv;
	struct ib_mw *mw = fence_mw(test, &v->b, type);

	ASSERT_STATUS(test, fence_bind(test, &v->b, mw, mr, mr->iova, PART, RIGHTS),
		      IB_WC_SUCCESS);
	return mw;
}

/* Two SENDs that invalidate the same window: the second one is an error, and harmless. */
static void fence_F15_invalidating_an_invalid_window(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = fence_user_mr(test, &v->b, 0, PART, BINDABLE);
	struct ib_mw *mw = bound(test, mr, IB_MW_TYPE_2);
	struct verbs_op *recv = verbs_recv(test, &v->b, PART, 100);

	expect_open(test, mw->rkey, mr->iova);
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 1, mw->rkey),
		      IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	expect_bad_remote_inv(test, mw->rkey);
	expect_failed(test, verbs_inv(test, &v->b, mw->rkey));
	expect_shut(test, mw->rkey, mr->iova);
	expect_open(test, mr->rkey, mr->iova);
	ASSERT_STATUS(test, fence_bind(test, &v->b, mw, mr, mr->iova, PART, RIGHTS),
		      IB_WC_SUCCESS);
	expect_open(test, mw->rkey, mr->iova);
}

/* Type 2: by the queue pair that has bound it only. Type 1: by any of the domain. */
static void fence_F16_bound_to_a_queue_pair(struct kunit *test)
{
	struct verbs *v = test->priv, *other = verbs_more(test, v);
	struct ib_mr *mr = fence_user_mr(test, &v->b, 0, PART, BINDABLE);
	struct ib_mw *mw = bound(test, mr, IB_MW_TYPE_2);
	struct verbs_op *recv;

	expect_probed(test, &other->b, mw->rkey, WARD_PROBE_WRITE, "F16");
	EXPECT_STATUS(test, write_by(test, other, mw->rkey, mr->iova, 9), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, other);
	recv = verbs_recv(test, &other->b, PART, 100);
	EXPECT_STATUS(test, verbs_send(test, &other->a, IB_WR_SEND_WITH_INV, 0, 1, mw->rkey),
		      IB_WC_REM_ACCESS_ERR);
	EXPECT_STATUS(test, recv, IB_WC_REM_INV_REQ_ERR);
	verbs_connect(test, other);
	EXPECT_STATUS(test, verbs_inv(test, &other->b, mw->rkey), IB_WC_LOC_QP_OP_ERR);
	verbs_connect(test, other);
	expect_open(test, mw->rkey, mr->iova);
	EXPECT_STATUS(test, verbs_inv(test, &v->b, mw->rkey), IB_WC_SUCCESS);

	mw = bound(test, mr, IB_MW_TYPE_1);
	EXPECT_STATUS(test, write_by(test, other, mw->rkey, mr->iova, 9), IB_WC_SUCCESS);
	/* it is unbound by a bind of no bytes, not by an invalidate */
	expect_failed(test, verbs_inv(test, &v->b, mw->rkey));
	expect_open(test, mw->rkey, mr->iova);
}

/* Every combination of what a bind may ask for */
static void fence_F17_what_may_be_bound(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_pd *other = verbs_pd(test, &v->b);
	struct verbs_end foreign = v->b;
	struct ib_mr *mr, *fast, *elsewhere;
	struct ib_mw *mw[2], *foreign_mw;
	u64 at;
	int type, i;

	foreign.pd = other;
	mr = fence_user_mr(test, &v->b, 0, PART, BINDABLE);
	at = mr->iova;
	fast = verbs_region(test, &v->b, 0, PART, REMOTE);
	elsewhere = fence_user_mr(test, &foreign, 0, PART, BINDABLE);
	foreign_mw = fence_mw(test, &foreign, IB_MW_TYPE_2);
	mw[0] = fence_mw(test, &v->b, IB_MW_TYPE_1);
	mw[1] = fence_mw(test, &v->b, IB_MW_TYPE_2);
	for (type = 0; type < 2; type++) {
		const struct {
			struct ib_mr *mr;
			u64 addr;
			u64 len;
			int access;
			bool ok;
		} bind[] = {
			{ mr, at - 1, 2, RIGHTS },
			{ mr, at, PART + 1, RIGHTS },
			{ mr, at + PART, 1, RIGHTS },
			{ mr, U64_MAX, 2, RIGHTS },
			{ mr, at + 1, U64_MAX, RIGHTS },
			{ mr, at, PART, RIGHTS | IB_ACCESS_MW_BIND },
			{ mr, at, PART, RIGHTS | IB_ZERO_BASED },
			{ fast, fast->iova, PART, RIGHTS },
			{ elsewhere, at, PART, RIGHTS },
			{ fence_user_mr(test, &v->b, 0, PART, REMOTE), at, PART, RIGHTS },
			{ fence_user_mr(test, &v->b, 0, PART, IB_ACCESS_MW_BIND), at, PART,
			  IB_ACCESS_REMOTE_WRITE },
			{ fence_user_mr(test, &v->b, 0, PART, IB_ACCESS_MW_BIND), at, PART,
			  IB_ACCESS_REMOTE_ATOMIC },
			{ fence_user_mr(test, &v->b, 0, PART, IB_ACCESS_MW_BIND), at, PART,
			  IB_ACCESS_REMOTE_READ, true },
			{ mr, at + PART - 1, 1, RIGHTS, true },
			{ mr, at, PART, 0, true },
			{ mr, at, 0, RIGHTS, !type },
		};

		for (i = 0; i < ARRAY_SIZE(bind); i++) {
			struct verbs_op *op = fence_bind(test, &v->b, mw[type], bind[i].mr,
							 bind[i].addr, bind[i].len,
							 bind[i].access);

			KUNIT_EXPECT_STREQ_MSG(test, verbs_status(op),
					       ib_wc_status_msg(bind[i].ok ? IB_WC_SUCCESS :
								IB_WC_MW_BIND_ERR),
					       "type %d, bind %d", type + 1, i);
			if (!bind[i].ok)
				verbs_connect(test, v);
			else if (type)
				EXPECT_STATUS(test, verbs_inv(test, &v->b, mw[1]->rkey),
					      IB_WC_SUCCESS);
		}
	}
	/* a window of another domain */
	EXPECT_STATUS(test, fence_bind(test, &v->b, foreign_mw, mr, at, PART, RIGHTS),
		      IB_WC_MW_BIND_ERR);
	verbs_connect(test, v);
	/* type 2 only when it is invalid, type 1 at any time */
	for (type = 0; type < 2; type++) {
		for (i = 0; i < 2; i++)
			EXPECT_STATUS(test, fence_bind(test, &v->b, mw[type], mr, at, PART, RIGHTS),
				      i && type ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS);
	}
}

/* Two binds of one window by two queue pairs: to the later one it is not free any more. */
static void fence_F17_one_of_two_binds(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = fence_user_mr(test, &v->b, 0, PART, BINDABLE);
	struct ward_asker who = {
		.dev = to_ward(v->b.link->ibdev), .pd = v->b.pd, .qpn = v->b.qp->qp_num,
	};
	int type;

	for (type = IB_MW_TYPE_1; type <= IB_MW_TYPE_2; type++) {
		struct ib_mw *mw = bound(test, mr, type);
		struct ward_mr *region = container_of(mw, struct ward_mw, ib)->region;
		struct ward_bind bind = {
			.mw_key = mw->rkey, .key = mw->rkey + 1, .lkey = mr->lkey,
			.addr = mr->iova, .length = PART, .access = RIGHTS,
		};

		local_bh_disable();
		rcu_read_lock();
		KUNIT_EXPECT_EQ(test, ward_window_bind(region, &bind, &who), -EAGAIN);
		bind.length = 0;
		KUNIT_EXPECT_EQ(test, ward_window_bind(region, &bind, &who), -EAGAIN);
		rcu_read_unlock();
		local_bh_enable();
		KUNIT_EXPECT_EQ(test, to_ward_mr(mr)->windows, 1);
		expect_open(test, mw->rkey, mr->iova);
		KUNIT_EXPECT_EQ(test, fence_free_mw(mw), 0);
		KUNIT_EXPECT_EQ(test, to_ward_mr(mr)->windows, 0);
	}
}

static void fence_F18_within_the_window(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = fence_user_mr(test, &v->b, 0, 2 * PART, BINDABLE);
	struct ib_mw *mw = fence_mw(test, &v->b, IB_MW_TYPE_1);
	u64 at = mr->iova + 5000;

	paint(v);
	ASSERT_STATUS(test, fence_bind(test, &v->b, mw, mr, at, 1000, IB_ACCESS_REMOTE_WRITE),
		      IB_WC_SUCCESS);
	EXPECT_STATUS(test, write_to(test, mw->rkey, at, 1000), IB_WC_SUCCESS);
	EXPECT_STATUS(test, write_to(test, mw->rkey, at + 1, 1000), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, v);
	EXPECT_STATUS(test, write_to(test, mw->rkey, at - 1, 1), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, v);
	EXPECT_STATUS(test, read_from(test, mw->rkey, at, 1), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, v);
	expect_probed(test, &v->b, mw->rkey, WARD_PROBE_LOCAL_READ, "F20");
	expect_paint(test, 0, 5000, 0x55);
	expect_paint(test, 5000, 1000, 0xaa);
	expect_paint(test, 6000, 2 * PART - 6000, 0x55);
}

/* While windows are bound to it, a region is not deregistered. */
static void fence_F19_not_under_a_window(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = fence_user_mr(test, &v->b, 0, PART, BINDABLE);
	const struct ib_device_ops *ops = &v->b.link->ibdev->ops;
	struct ib_mw *mw = bound(test, mr, IB_MW_TYPE_2);

	KUNIT_EXPECT_EQ(test, ops->dereg_mr(mr, NULL), -EBUSY);
	expect_open(test, mr->rkey, mr->iova);
	expect_open(test, mw->rkey, mr->iova);
}

/* The ways to end the exposure of a window are fences: they wait for who is inside. */
static const struct end_of {
	const char *name;
	enum ib_mw_type type;
	bool bind;
	u32 len;
} endings[] = {
	{ "unbind", IB_MW_TYPE_1, true, 0 }, { "rebind", IB_MW_TYPE_1, true, PART },
	{ "dealloc of type 1", IB_MW_TYPE_1 }, { "dealloc of type 2", IB_MW_TYPE_2 },
};

KUNIT_ARRAY_PARAM_DESC(end_of, endings, name);

static void fence_F40_the_end_of_a_window(struct kunit *test)
{
	const struct end_of *end_of = test->param_value;
	struct verbs *v = test->priv, *other;
	struct fence_task *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	struct verbs_op *write, *op;
	struct ib_mr *mr;
	struct ib_mw *mw;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = fence_user_mr(test, &v->b, 0, VERBS_BUF, BINDABLE);
	mw = fence_mw(test, &v->b, end_of->type);
	ASSERT_STATUS(test, fence_bind(test, &v->b, mw, mr, mr->iova, VERBS_BUF, RIGHTS),
		      IB_WC_SUCCESS);
	paint(v);
	rule = fence_hold_b(test, v, "write", 3);
	write = write_to(test, mw->rkey, mr->iova, VERBS_BUF);
	verbs_wait_held(test, &v->b, rule);
	if (end_of->bind) {
		op = fence_bind(test, &other->b, mw, mr, mr->iova + VERBS_BUF - PART, end_of->len,
				RIGHTS);
		msleep(50);
		KUNIT_EXPECT_FALSE(test, verbs_completed(op));
		verbs_unrule(test, &v->b, rule);
		EXPECT_STATUS(test, op, IB_WC_SUCCESS);
	} else {
		fence_start(test, task, fence_free_mw, mw);
		fence_expect_waiting(test, task);
		verbs_unrule(test, &v->b, rule);
		fence_expect_done(test, task);
	}
	memset(v->b.buf, 0x55, VERBS_BUF);
	verbs_status(write);
	msleep(20);
	expect_paint(test, 0, VERBS_BUF - PART, 0x55);
}

static struct kunit_case windows_cases[] = {
	KUNIT_CASE(fence_F15_invalidating_an_invalid_window),
	KUNIT_CASE(fence_F16_bound_to_a_queue_pair),
	KUNIT_CASE(fence_F17_what_may_be_bound),
	KUNIT_CASE(fence_F17_one_of_two_binds),
	KUNIT_CASE(fence_F18_within_the_window),
	KUNIT_CASE(fence_F19_not_under_a_window),
	KUNIT_CASE_PARAM(fence_F40_the_end_of_a_window, end_of_gen_params),
	{}
};

FENCE_SUITES("ward-fence-windows", windows_cases);
