// SPDX-License-Identifier: GPL-2.0
/*
 * What a registration opens, from when on, and under which key.
 */
#include <linux/vmalloc.h>
#include "verbs_fence.h"

/* A region is not open before its REG_MR has been posted, and is so afterwards. */
static void fence_F06_open_from_reg_mr(struct kunit *test)
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

/* The SEND in front of it does not get on, so REG_MR has not executed: nothing is open. */
static void fence_F06_shut_until_its_turn(struct kunit *test)
{
	struct verbs *v = test->priv, *other;
	struct verbs_op *send, *reg;
	struct ib_mr *mr;
	int rule;

	fence_patient(test);
	other = verbs_more(test, v);
	mr = verbs_mr(test, &v->b, 4);
	verbs_map(test, mr, &v->b, 0, PART);
	verbs_recv(test, &v->a, 0, 100);
	rule = verbs_rule(test, &v->b, "hold dir=out op=send");
	send = verbs_send(test, &v->b, IB_WR_SEND, 0, 100, 0);
	verbs_wait_held(test, &v->b, rule);
	reg = verbs_reg(test, &v->b, mr, mr->rkey, REMOTE);
	expect_probed(test, &other->b, mr->rkey, WARD_PROBE_WRITE, "F1");
	EXPECT_STATUS(test, write_by(test, other, mr->rkey, mr->iova, 100), IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_FALSE(test, verbs_completed(reg));
	verbs_unrule(test, &v->b, rule);
	EXPECT_STATUS(test, send, IB_WC_SUCCESS);
	EXPECT_STATUS(test, reg, IB_WC_SUCCESS);
	expect_open(test, mr->rkey, mr->iova);
}

static void fence_F07_staging_leaves_the_active_one_alone(struct kunit *test)
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

static void fence_F08_reg_mr_again_without_a_map(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);

	EXPECT_STATUS(test, verbs_inv(test, &v->b, mr->rkey), IB_WC_SUCCESS);
	expect_shut(test, mr->rkey, mr->iova);
	EXPECT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	expect_open(test, mr->rkey, mr->iova);
}

static void fence_F09_all_bits_of_a_key_count(struct kunit *test)
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

static void fence_F09_reg_mr_keeps_the_index(struct kunit *test)
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

static void fence_F10_reg_mr_on_a_valid_region(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PART, REMOTE);

	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE));
	expect_open(test, mr->rkey, mr->iova);
}

static void fence_F10_reg_mr_of_another_pd(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = foreign_mr(test, verbs_pd(test, &v->b));

	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE));
}

static void fence_F10_remote_write_needs_local_write(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_mr(test, &v->b, 4);

	verbs_map(test, mr, &v->b, 0, PART);
	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, IB_ACCESS_REMOTE_WRITE));
	expect_shut(test, mr->rkey, mr->iova);
}

/* A fast registration grants neither atomics nor windows. */
static void fence_F10_legal_rights_only(struct kunit *test)
{
	static const int bad[] = {
		IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC, IB_ACCESS_MW_BIND,
		IB_ZERO_BASED, BIT(15),
	};
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_mr(test, &v->b, 4);
	int i;

	verbs_map(test, mr, &v->b, 0, PART);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, bad[i]));
		expect_probed(test, &v->b, mr->rkey, WARD_PROBE_LOCAL_READ, "F1");
	}
	/* nor does it register what no map_mr_sg has given it */
	mr = verbs_mr(test, &v->b, 4);
	expect_failed(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE));
}

/* The consumer sets the address to 0: peers name bytes by their offset. */
static void fence_F26_zero_based(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = verbs_mr(test, &v->b, 4);

	paint(v);
	verbs_map(test, mr, &v->b, PART, PART);
	mr->iova = 0;
	ASSERT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	EXPECT_STATUS(test, write_to(test, mr->rkey, 5000, 100), IB_WC_SUCCESS);
	expect_paint(test, 0, PART + 5000, 0x55);
	expect_paint(test, PART + 5000, 100, 0xaa);
	expect_paint(test, PART + 5100, PART, 0x55);
	expect_shut(test, mr->rkey, v->b.dma + PART);
	expect_shut(test, mr->rkey, PART);
}

/* One slot would have the index 0, and with the low bits 0 the key that ULPs take for none. */
static void fence_F46_no_key_is_0(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ward_keys *keys = &to_ward(v->b.link->ibdev)->keys;
	struct ib_mr *mr;
	int i;

	for (i = 0; i < 3; i++) {
		keys->next = ward_unpermute(keys->index, 0);
		mr = verbs_mr(test, &v->b, 1);
		KUNIT_EXPECT_NE(test, mr->rkey >> 8, 0);
	}
}

#define KEYS	100000

/* Chi-square of 256 equally likely bytes: 255 on average, above 400 in one of 10^7 cases. */
static void expect_even(struct kunit *test, const u32 *count, const char *what)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < 256; i++) {
		s64 off = (s64)count[i] * 256 - KEYS;

		sum += off * off;
	}
	KUNIT_EXPECT_LT_MSG(test, div_u64(sum, KEYS * 256ULL), 420, "%s", what);
}

/* Many registrations, one after the other: no key is 0, comes back soon, or follows from others. */
static void fence_F46_keys(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ward_device *dev = to_ward(v->b.link->ibdev);
	u32 (*count)[256] = kunit_kcalloc(test, 5, sizeof(*count), GFP_KERNEL);
	unsigned long *seen = vzalloc(BIT(24) / 8);
	u32 zeros = 0, again = 0, last = 0;
	struct ward_mr *mr;
	int i, j;

	KUNIT_ASSERT_NOT_NULL(test, count);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < KEYS; i++) {
		mr = ward_mr_create(dev, v->b.pd, WARD_KIND_FASTREG);
		if (!mr || ward_mr_publish(mr)) {
			KUNIT_FAIL(test, "no memory");
			kfree(mr);
			break;
		}
		zeros += !mr->key;
		again += __test_and_set_bit(mr->key >> 8, seen);
		for (j = 0; j < 4; j++)
			count[j][(mr->key >> 8 * j) & 0xff]++;
		/* of serial differences, the middle says enough */
		count[4][((mr->key - last) >> 16) & 0xff]++;
		last = mr->key;
		ward_mr_destroy(mr);
		if (!(i % 1000))
			cond_resched();
	}
	vfree(seen);
	KUNIT_EXPECT_EQ(test, zeros, 0);
	KUNIT_EXPECT_EQ(test, again, 0);
	for (j = 0; j < 4; j++)
		expect_even(test, count[j], "a byte of the keys");
	expect_even(test, count[4], "differences");
}

static struct kunit_case reg_cases[] = {
	KUNIT_CASE(fence_F06_open_from_reg_mr),
	KUNIT_CASE(fence_F06_shut_until_its_turn),
	KUNIT_CASE(fence_F07_staging_leaves_the_active_one_alone),
	KUNIT_CASE(fence_F08_reg_mr_again_without_a_map),
	KUNIT_CASE(fence_F09_all_bits_of_a_key_count),
	KUNIT_CASE(fence_F09_reg_mr_keeps_the_index),
	KUNIT_CASE(fence_F10_reg_mr_on_a_valid_region),
	KUNIT_CASE(fence_F10_reg_mr_of_another_pd),
	KUNIT_CASE(fence_F10_remote_write_needs_local_write),
	KUNIT_CASE(fence_F10_legal_rights_only),
	KUNIT_CASE(fence_F26_zero_based),
	KUNIT_CASE(fence_F46_no_key_is_0),
	KUNIT_CASE(fence_F46_keys),
	{}
};

FENCE_SUITES("ward-fence-reg", reg_cases);
