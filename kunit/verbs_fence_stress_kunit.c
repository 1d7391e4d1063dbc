// SPDX-License-Identifier: GPL-2.0
/*
 * Fences under load, and numbers that cannot be guessed.
 */
#include <linux/random.h>
#include <ward/wire.h>
#include "verbs_fence.h"

#define SLOTS	8
#define PAIRS	4

/* Pairs write all the time, regions come and go: no byte strays into one that is gone. */
static void fence_stress(struct kunit *test)
{
	struct verbs *v = test->priv, *pair[PAIRS] = { v }, *p;
	const u32 len = VERBS_BUF / SLOTS;
	struct ib_mr *mr[SLOTS];
	u32 posted[PAIRS] = {}, invalidated = 0, i, n, s, key;
	bool valid[SLOTS] = {};
	struct verbs_op *op;

	for (i = 1; i < PAIRS; i++)
		pair[i] = verbs_more(test, v);
	for (s = 0; s < SLOTS; s++)
		mr[s] = verbs_mr(test, &v->b, len / PAGE_SIZE + 1);
	paint(v);
	for (n = 0; n < 800; n++) {
		i = get_random_u32_below(PAIRS);
		s = get_random_u32_below(SLOTS);
		p = pair[i];
		if (state_of(test, &p->a) == IB_QPS_ERR || state_of(test, &p->b) == IB_QPS_ERR) {
			verbs_connect(test, p);
			posted[i] = 0;
		}
		key = mr[s]->rkey;
		if (!valid[s]) {
			expect_paint(test, s * len, len, 0x55);
			ib_update_fast_reg_key(mr[s], n);
			verbs_map(test, mr[s], &v->b, s * len, len);
			op = verbs_reg(test, &p->b, mr[s], mr[s]->rkey, REMOTE);
			valid[s] = !strcmp(verbs_status(op), ib_wc_status_msg(IB_WC_SUCCESS));
		} else if (get_random_u32_below(4)) {
			op = write_by(test, p, key, mr[s]->iova, len);
			if (++posted[i] % 16 == 0)
				verbs_status(op);
		} else {
			op = verbs_inv(test, &p->b, key);
			if (strcmp(verbs_status(op), ib_wc_status_msg(IB_WC_SUCCESS)))
				continue;
			memset(v->b.buf + s * len, 0x55, len);
			valid[s] = false;
			invalidated++;
			/* somebody has not heard of it */
			if (!get_random_u32_below(4))
				write_by(test, pair[(i + 1) % PAIRS], key, mr[s]->iova, len);
		}
	}
	KUNIT_EXPECT_GT(test, invalidated, 20);
	for (i = 0; i < PAIRS; i++) {
		verbs_to_error(test, &pair[i]->a);
		verbs_to_error(test, &pair[i]->b);
	}
	for (s = 0; s < SLOTS; s++)
		if (!valid[s])
			expect_paint(test, s * len, len, 0x55);
}

#define NUMBERS	500

/* Numbers of queue pairs, one after the other: none comes back soon, or follows from others. */
static void fence_queue_pair_numbers(struct kunit *test)
{
	struct verbs *v = test->priv;
	u32 *number = kunit_kcalloc(test, NUMBERS, sizeof(*number), GFP_KERNEL);
	struct ib_qp_init_attr init = {
		.send_cq = v->b.cq, .recv_cq = v->b.cq, .qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};
	u32 i, j, again = 0, steps = 0;

	KUNIT_ASSERT_NOT_NULL(test, number);
	for (i = 0; i < NUMBERS; i++) {
		struct ib_qp *qp = ib_create_qp(v->b.pd, &init);

		KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
		number[i] = qp->qp_num;
		KUNIT_EXPECT_GT(test, number[i], 1);
		ib_destroy_qp(qp);
		for (j = 0; j < i; j++)
			again += number[j] == number[i];
		for (j = 1; i && j < i; j++)
			steps += ((number[j] - number[j - 1]) & WARD_24BITS) ==
				 ((number[i] - number[i - 1]) & WARD_24BITS);
	}
	KUNIT_EXPECT_EQ(test, again, 0);
	/* of 125,000 pairs of differences one in 16 million would be equal by chance */
	KUNIT_EXPECT_LE(test, steps, 1);
}

static struct kunit_case stress_cases[] = {
	KUNIT_CASE(fence_stress),
	KUNIT_CASE(fence_queue_pair_numbers),
	{}
};

FENCE_SUITES("ward-fence-stress", stress_cases);
