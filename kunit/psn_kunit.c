// SPDX-License-Identifier: GPL-2.0
/* Sequence numbers around the wrap. */
#include <kunit/test.h>
#include "../drivers/ward/proto/psn.h"

static const u32 bases[] = {
	0, 1, 2, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0xfffffd, 0xfffffe, 0xffffff,
};

static const s32 steps[] = {
	0, 1, -1, 2, -2, 255, -255, 0x3fffff, -0x3fffff, 0x7ffffe, -0x7ffffe,
	0x7fffff, -0x7fffff, -0x800000,
};

static void diff_undoes_add(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		for (j = 0; j < ARRAY_SIZE(steps); j++) {
			u32 psn = ward_psn_add(bases[i], steps[j]);

			KUNIT_EXPECT_LE(test, psn, 0xffffff);
			KUNIT_EXPECT_EQ_MSG(test, ward_psn_diff(psn, bases[i]), steps[j],
					    "from %#x", bases[i]);
			KUNIT_EXPECT_EQ_MSG(test, ward_psn_distance(bases[i], psn),
					    (u32)steps[j] & 0xffffff, "from %#x", bases[i]);
		}
	}
}

static void wraps_at_24_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ward_psn_add(0xffffff, 1), 0);
	KUNIT_EXPECT_EQ(test, ward_psn_add(0, -1), 0xffffff);
	KUNIT_EXPECT_EQ(test, ward_psn_add(0xfffff0, 0x20), 0x10);
	KUNIT_EXPECT_EQ(test, ward_psn_diff(0, 0xffffff), 1);
	KUNIT_EXPECT_EQ(test, ward_psn_diff(0xffffff, 0), -1);
	/* half the space away is before, in both directions */
	KUNIT_EXPECT_EQ(test, ward_psn_diff(0x800000, 0), -0x800000);
	KUNIT_EXPECT_EQ(test, ward_psn_diff(0, 0x800000), -0x800000);
	KUNIT_EXPECT_EQ(test, ward_psn_distance(5, 4), 0xffffff);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(diff_undoes_add),
	KUNIT_CASE(wraps_at_24_bits),
	{}
};

static struct kunit_suite ward_psn_suite = {
	.name = "ward_psn",
	.test_cases = cases,
};

kunit_test_suite(ward_psn_suite);
