// SPDX-License-Identifier: GPL-2.0
/*
 * The fault injector: what a rule says happens, to those that it names, and ends with it.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/workqueue.h>
#include "verbs.h"

#define PART	8192

static struct link wire;

static int inject_test_init(struct kunit *test)
{
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);

	get_random_bytes(v->a.buf, VERBS_BUF);
	return 0;
}

static struct verbs_op *write_to(struct kunit *test, struct verbs *v, struct ib_mr *mr, u32 len)
{
	return verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma, v->a.pd->local_dma_lkey, len,
			  mr->iova, mr->rkey);
}

static struct verbs_op *read_from(struct kunit *test, struct verbs *v, struct ib_mr *mr, u32 len)
{
	return verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma, v->a.pd->local_dma_lkey, len,
			  mr->iova, mr->rkey);
}

static struct ib_mr *region(struct kunit *test, struct verbs *v)
{
	return verbs_region(test, &v->b, 0, VERBS_BUF,
			    IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			    IB_ACCESS_REMOTE_READ);
}

/* A rule at an end, the counter that tells of it, and the end that counts */
static const struct fault {
	const char		*rule;
	bool			at_b;
	enum ward_counter	counter;
	bool			counted_at_b;
} faults[] = {
	{ "drop dir=out op=write nth=2", false, WARD_CNT_OUT_OF_SEQ, true },
	{ "drop dir=in op=write nth=3", true, WARD_CNT_OUT_OF_SEQ, true },
	{ "drop dir=in op=ack nth=1", false, WARD_CNT_RETRANSMITTED, false },
	{ "drop dir=out op=response nth=2", true, WARD_CNT_RESP_LOST, false },
	{ "duplicate dir=out op=write", false, WARD_CNT_DUPLICATE, true },
	{ "duplicate=20 dir=out op=write nth=1", false, WARD_CNT_INJECTED, false },
	{ "duplicate dir=in op=write nth=4", true, WARD_CNT_DUPLICATE, true },
	{ "delay=30 dir=out op=write nth=2", false, WARD_CNT_OUT_OF_SEQ, true },
	{ "delay=30 dir=in op=write nth=2", true, WARD_CNT_OUT_OF_SEQ, true },
	{ "reorder dir=out op=write nth=5", false, WARD_CNT_OUT_OF_SEQ, true },
	{ "reorder dir=in op=write nth=5", true, WARD_CNT_OUT_OF_SEQ, true },
	{ "corrupt=icrc dir=out op=write nth=2", false, WARD_CNT_DROP_ICRC, true },
	{ "corrupt=payload dir=out op=write nth=2", false, WARD_CNT_DROP_ICRC, true },
	{ "corrupt=header dir=out op=write nth=2", false, WARD_CNT_DROP_ICRC, true },
	{ "corrupt=icrc dir=in op=write nth=2", true, WARD_CNT_DROP_ICRC, true },
	{ "corrupt=payload dir=in op=response nth=2", false, WARD_CNT_DROP_ICRC, false },
	{ "corrupt=header dir=in op=ack nth=1", false, WARD_CNT_DROP_ICRC, false },
	{ "nak=sequence op=write nth=2", true, WARD_CNT_RCVD_SEQ, false },
	{ "rnr op=write nth=2", true, WARD_CNT_RCVD_RNR, false },
	{ "rnr=1 op=read nth=1", true, WARD_CNT_RCVD_RNR, false },
	{ "fail=packet nth=2", false, WARD_CNT_INJECTED, false },
	{ "fail=skb nth=2", false, WARD_CNT_SEND_ERR, false },
	{ "fail=reply nth=2", true, WARD_CNT_INJECTED, true },
};

static void fault_desc(const struct fault *f, char *desc)
{
	strscpy(desc, f->rule, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fault, faults, fault_desc);

/* Data comes to where it belongs, whatever happens on the way. */
static void data_survives(struct kunit *test)
{
	const struct fault *f = test->param_value;
	struct verbs *v = test->priv;
	struct ib_mr *mr = region(test, v);
	struct verbs_end *end = f->at_b ? &v->b : &v->a;
	struct verbs_end *counts = f->counted_at_b ? &v->b : &v->a;
	u64 before = verbs_counted(counts, f->counter);
	u64 injected = verbs_counted(end, WARD_CNT_INJECTED);
	int rule = verbs_rule(test, end, f->rule);

	EXPECT_STATUS(test, write_to(test, v, mr, VERBS_BUF), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);
	get_random_bytes(v->b.buf, VERBS_BUF);
	EXPECT_STATUS(test, read_from(test, v, mr, VERBS_BUF), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);

	KUNIT_EXPECT_GT(test, verbs_hits(test, end, rule), 0);
	KUNIT_EXPECT_EQ(test, verbs_counted(end, WARD_CNT_INJECTED) - injected,
			verbs_hits(test, end, rule));
	KUNIT_EXPECT_GT(test, verbs_counted(counts, f->counter), before);
}

static void naks(struct kunit *test)
{
	static const struct {
		const char *rule;
		enum ib_wc_status status;
	} nak[] = {
		{ "nak=invalid op=write", IB_WC_REM_INV_REQ_ERR },
		{ "nak=access op=write", IB_WC_REM_ACCESS_ERR },
		{ "nak=operation op=write", IB_WC_REM_OP_ERR },
	};
	struct verbs *v = test->priv;
	struct ib_mr *mr = region(test, v);
	int i;

	for (i = 0; i < ARRAY_SIZE(nak); i++) {
		verbs_rule(test, &v->b, nak[i].rule);
		EXPECT_STATUS(test, write_to(test, v, mr, PART), nak[i].status);
		verbs_unrule(test, &v->b, 0);
		verbs_connect(test, v);
	}
	EXPECT_STATUS(test, write_to(test, v, mr, PART), IB_WC_SUCCESS);
}

/* Which request is held, and where */
static const struct held {
	const char *rule;
	bool at_b;
	bool read;
} helds[] = {
	{ "hold dir=in op=write nth=3", true, false },
	{ "hold dir=out op=write nth=3", false, false },
	{ "hold dir=out op=response nth=3", true, true },
	{ "hold dir=in op=response nth=3", false, true },
};

static void held_desc(const struct held *h, char *desc)
{
	strscpy(desc, h->rule, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(held, helds, held_desc);

/* The one queue pair stands still, others of the same devices do not. */
static void hold_parks_one(struct kunit *test)
{
	const struct held *h = test->param_value;
	struct verbs *v = test->priv, *other;
	struct verbs_end *end = h->at_b ? &v->b : &v->a;
	struct verbs_op *op;
	struct ib_mr *mr;
	int rule;

	v->timeout = VERBS_NO_TIMEOUT;
	verbs_connect(test, v);
	other = verbs_more(test, v);
	mr = region(test, v);
	get_random_bytes(v->b.buf, VERBS_BUF);
	rule = verbs_rule(test, end, h->rule);
	op = h->read ? read_from(test, v, mr, VERBS_BUF) : write_to(test, v, mr, VERBS_BUF);
	verbs_wait_held(test, end, rule);
	EXPECT_STATUS(test, write_to(test, other, mr, 100), IB_WC_SUCCESS);
	EXPECT_STATUS(test, read_from(test, other, mr, 100), IB_WC_SUCCESS);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, verbs_completed(op));
	KUNIT_EXPECT_NE(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);
	verbs_unrule(test, end, rule);
	EXPECT_STATUS(test, op, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);
}

static void hold_ends_in_time(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = region(test, v);
	int rule;

	v->timeout = VERBS_NO_TIMEOUT;
	verbs_connect(test, v);
	rule = verbs_rule(test, &v->b, "hold=30 op=write nth=1");
	EXPECT_STATUS(test, write_to(test, v, mr, PART), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, verbs_hits(test, &v->b, rule), 1);
	verbs_unrule(test, &v->b, rule);
	/* so does the rule itself */
	verbs_rule(test, &v->b, "hold op=write for=50");
	EXPECT_STATUS(test, write_to(test, v, mr, PART), IB_WC_SUCCESS);
}

/* Something that may take long, in a task of its own */
struct task {
	struct work_struct	work;
	struct ib_qp		*qp;
	struct completion	done;
};

static void to_error(struct work_struct *work)
{
	struct task *task = container_of(work, struct task, work);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(task->qp, &attr, IB_QP_STATE);
	complete(&task->done);
}

/* Whoever unregisters the device has this lock; nobody has to clear a rule first. */
static void hold_ends_with_the_device(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = region(test, v);
	struct task task = { .qp = v->b.qp };
	struct verbs_op *op;
	int rule;

	rule = verbs_rule(test, &v->b, "hold dir=in op=write");
	op = write_to(test, v, mr, PART);
	verbs_wait_held(test, &v->b, rule);
	init_completion(&task.done);
	INIT_WORK_ONSTACK(&task.work, to_error);
	schedule_work(&task.work);
	msleep(200);
	KUNIT_EXPECT_FALSE(test, completion_done(&task.done));
	mutex_lock(&wire.end[1].ibdev->unregistration_lock);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&task.done, 10 * HZ), 0);
	mutex_unlock(&wire.end[1].ibdev->unregistration_lock);
	flush_work(&task.work);
	destroy_work_on_stack(&task.work);
	verbs_unrule(test, &v->b, 0);
	verbs_to_error(test, &v->a);
	verbs_status(op);
}

static void verbs_fail_as_told(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr;
	int i;

	/* one for the region, two for its page lists */
	for (i = 1; i <= 4; i++) {
		char rule[32];
		int id;

		snprintf(rule, sizeof(rule), "fail nth=%d", i);
		id = verbs_rule(test, &v->b, rule);
		mr = ib_alloc_mr(v->b.pd, IB_MR_TYPE_MEM_REG, 4);
		if (i <= 3) {
			KUNIT_EXPECT_PTR_EQ(test, mr, ERR_PTR(-ENOMEM));
		} else {
			KUNIT_EXPECT_FALSE(test, IS_ERR(mr));
			KUNIT_EXPECT_EQ(test, verbs_hits(test, &v->b, id), 0);
		}
		if (!IS_ERR(mr))
			ib_dereg_mr(mr);
		verbs_unrule(test, &v->b, id);
	}
}

static void filters(struct kunit *test)
{
	struct verbs *v = test->priv, *other = verbs_more(test, v);
	struct ib_mr *mr = region(test, v);
	char text[64];
	int i, rule[8];

	snprintf(text, sizeof(text), "duplicate dir=in qp=%u", other->b.qp->qp_num);
	rule[0] = verbs_rule(test, &v->b, text);
	rule[1] = verbs_rule(test, &v->b, "duplicate peer=10.77.0.3");
	rule[2] = verbs_rule(test, &v->b, "duplicate op=11");	/* no WRITE_ONLY is opcode 11 */
	rule[3] = verbs_rule(test, &v->b, "duplicate dir=in psn=0x100-0x200");
	rule[4] = verbs_rule(test, &v->b, "duplicate prob=0");
	rule[5] = verbs_rule(test, &v->b, "duplicate dir=in psn=0xfffff0-0 times=1 peer=10.77.0.1");
	rule[6] = verbs_rule(test, &v->b, "duplicate dir=in op=10 nth=2");
	EXPECT_STATUS(test, write_to(test, v, mr, 100), IB_WC_SUCCESS);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ_MSG(test, verbs_hits(test, &v->b, rule[i]), 0, "rule %d", i);
	KUNIT_EXPECT_EQ(test, verbs_hits(test, &v->b, rule[5]), 1);
	EXPECT_STATUS(test, write_to(test, v, mr, 100), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, verbs_hits(test, &v->b, rule[5]), 1);
	EXPECT_STATUS(test, write_to(test, v, mr, 100), IB_WC_SUCCESS);
	EXPECT_STATUS(test, write_to(test, v, mr, 100), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, verbs_hits(test, &v->b, rule[6]), 1);
	EXPECT_STATUS(test, write_to(test, other, mr, 100), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, verbs_hits(test, &v->b, rule[0]), 1);
}

/* What one seed chooses, it chooses again. */
static void chance_is_repeated(struct kunit *test)
{
	struct ward_happening at = { .dir = WARD_INJECT_IN };
	struct ward_rules *rules;
	u64 chosen[3] = {};
	enum ward_injection fault;
	int i, j;
	u32 arg;

	rules = kunit_kzalloc(test, sizeof(*rules), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rules);
	ward_rules_init(rules);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_GT(test, ward_rules_add(rules, i == 2 ? "drop prob=50 seed=2" :
						     "drop seed=1 prob=50"), 0);
		for (j = 0; j < 64; j++)
			if (ward_rules_match(rules, ~0UL, &at, &fault, &arg))
				chosen[i] |= BIT_ULL(j);
		KUNIT_EXPECT_EQ(test, ward_rules_clear(rules, 0), 1);
	}
	KUNIT_EXPECT_EQ(test, chosen[0], chosen[1]);
	KUNIT_EXPECT_NE(test, chosen[0], chosen[2]);
	KUNIT_EXPECT_GT(test, hweight64(chosen[0]), 15);
	KUNIT_EXPECT_LT(test, hweight64(chosen[0]), 49);
}

static void nonsense_is_refused(struct kunit *test)
{
	static const char *const nonsense[] = {
		"lose", "dir=in", "drop drop", "drop dir=up", "drop dir", "drop dir=", "drop=1",
		"drop nth=0", "drop nth=x", "drop nth=-1", "drop prob=101", "drop psn=0x1000000",
		"drop psn=1-", "drop qp=0", "drop peer=10.77.0", "drop op=sent", "drop op=256",
		"drop for=0", "drop dir=local", "delay", "delay=", "delay=x", "corrupt",
		"corrupt=tail", "nak", "nak=0x61", "nak=access dir=out", "rnr=32", "hold=x",
		"fail=nothing", "fail qp=1", "fail dir=in", "drop frequently", "drop nth=1x",
		"clear x", "clear 0", "clear 1 2", "clearly", "drop for=99999999999",
	};
	struct verbs *v = test->priv;
	struct ward_device *dev = to_ward(v->a.link->ibdev);
	char line[200];
	int i;

	for (i = 0; i < ARRAY_SIZE(nonsense); i++) {
		strscpy(line, nonsense[i], sizeof(line));
		KUNIT_EXPECT_EQ_MSG(test, ward_inject_line(dev, line), -EINVAL, "%s", nonsense[i]);
	}
	KUNIT_EXPECT_EQ(test, dev->inject.rules.num, 0);
	KUNIT_EXPECT_NE(test, dev->inject.rules.error[0], 0);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	KUNIT_EXPECT_EQ(test, ward_inject_line(dev, line), -EINVAL);
	strscpy(line, "clear 1", sizeof(line));
	KUNIT_EXPECT_EQ(test, ward_inject_line(dev, line), -ENOENT);
	for (i = 0; i < 3; i++) {
		strscpy(line, i == 0 ? "" : i == 1 ? "# drop" : "  clear  ", sizeof(line));
		KUNIT_EXPECT_EQ(test, ward_inject_line(dev, line), 0);
	}
	KUNIT_EXPECT_EQ(test, dev->inject.rules.num, 0);
}

static int inject_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	if (err)
		link_down(&wire);
	return err;
}

static void inject_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case inject_cases[] = {
	KUNIT_CASE_PARAM(data_survives, fault_gen_params),
	KUNIT_CASE(naks),
	KUNIT_CASE_PARAM(hold_parks_one, held_gen_params),
	KUNIT_CASE(hold_ends_in_time),
	KUNIT_CASE(hold_ends_with_the_device),
	KUNIT_CASE(verbs_fail_as_told),
	KUNIT_CASE(filters),
	KUNIT_CASE(chance_is_repeated),
	KUNIT_CASE(nonsense_is_refused),
	{}
};

static struct kunit_suite inject_suite = {
	.name = "ward-inject",
	.suite_init = inject_init,
	.suite_exit = inject_exit,
	.init = inject_test_init,
	.exit = verbs_exit,
	.test_cases = inject_cases,
};

kunit_test_suite(inject_suite);
