// SPDX-License-Identifier: GPL-2.0
/* The permutation of keys and QP numbers. */
#include <kunit/test.h>
#include <ward/wire.h>
#include "../drivers/ward/proto/permute.h"
#include "random.h"

#define NUMBERS		(WARD_24BITS + 1)

static struct ward_permute *secret(struct kunit *test, u32 seed)
{
	struct ward_permute *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	unsigned int i, j;

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < WARD_PERMUTE_ROUNDS; i++) {
		for (j = 0; j < ARRAY_SIZE(p->round[i]); j++)
			p->round[i][j] = ward_random(&seed);
	}
	return p;
}

static void every_number_comes_once(struct kunit *test)
{
	struct ward_permute *p = secret(test, 1);
	u8 *seen = kunit_kzalloc(test, NUMBERS / 8, GFP_KERNEL);
	u32 slot, number;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (slot = 0; slot < NUMBERS; slot++) {
		number = ward_permute(p, slot);
		if (number >= NUMBERS || seen[number / 8] & 1 << number % 8 ||
		    ward_unpermute(p, number) != slot)
			break;
		seen[number / 8] |= 1 << number % 8;
	}
	KUNIT_EXPECT_EQ(test, slot, NUMBERS);
}

/* It must be a permutation whatever the tables hold */
static void any_table_will_do(struct kunit *test)
{
	struct ward_permute *p = secret(test, 2);
	u32 slot, fill, seed = 3;

	for (fill = 0; fill < 4; fill++) {
		memset(p, (int)(fill * 0x55), sizeof(*p));
		for (slot = 0; slot < 1000; slot++) {
			u32 s = ward_random(&seed) % NUMBERS;

			KUNIT_EXPECT_EQ(test, ward_unpermute(p, ward_permute(p, s)), s);
		}
	}
}

static void high_bits_do_not_matter(struct kunit *test)
{
	struct ward_permute *p = secret(test, 4), *q = secret(test, 4);
	unsigned int i, j;

	for (i = 0; i < WARD_PERMUTE_ROUNDS; i++) {
		for (j = 0; j < ARRAY_SIZE(q->round[i]); j++)
			q->round[i][j] ^= 0xf000;
	}
	KUNIT_EXPECT_EQ(test, ward_permute(p, 0xff123456), ward_permute(p, 0x123456));
	KUNIT_EXPECT_EQ(test, ward_permute(p, 0x123456), ward_permute(q, 0x123456));
	KUNIT_EXPECT_EQ(test, ward_unpermute(p, 0xff123456), ward_unpermute(p, 0x123456));
	KUNIT_EXPECT_EQ(test, ward_unpermute(p, 0x123456), ward_unpermute(q, 0x123456));
}

/*
 * Keys could be guessed from their predecessors. Over slots in a row: no difference
 * comes often, and each bit of the difference is set about half of the time.
 */
static void neighbours_are_strangers(struct kunit *test)
{
	struct ward_permute *p = secret(test, 5);
	u8 *seen = kunit_kzalloc(test, NUMBERS / 8, GFP_KERNEL);
	unsigned int bits[24] = {};
	unsigned int i, most = 0;
	u32 slot;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (slot = 0; slot < 100000; slot++) {
		u32 a = ward_permute(p, slot), b = ward_permute(p, slot + 1);
		u32 diff = (b - a) & (NUMBERS - 1);

		/* a byte for eight of them, because memory in one piece is dear */
		if (++seen[diff / 8] > most)
			most = seen[diff / 8];
		for (i = 0; i < 24; i++)
			bits[i] += (a ^ b) >> i & 1;
	}
	/* chance alone, of 100000 in two million places, hardly brings one eight times */
	KUNIT_EXPECT_LE(test, most, 7);
	for (i = 0; i < 24; i++) {
		KUNIT_EXPECT_TRUE_MSG(test, bits[i] > 48000 && bits[i] < 52000,
				      "bit %u changes %u times in 100000", i, bits[i]);
	}
}

static void secrets_differ(struct kunit *test)
{
	struct ward_permute *p = secret(test, 6), *q = secret(test, 7);
	unsigned int same = 0;
	u32 slot;

	for (slot = 0; slot < 100000; slot++)
		same += ward_permute(p, slot) == ward_permute(q, slot);
	KUNIT_EXPECT_LE(test, same, 3);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_SLOW(every_number_comes_once),
	KUNIT_CASE(any_table_will_do),
	KUNIT_CASE(high_bits_do_not_matter),
	KUNIT_CASE(neighbours_are_strangers),
	KUNIT_CASE(secrets_differ),
	{}
};

static struct kunit_suite ward_permute_suite = {
	.name = "ward_permute",
	.test_cases = cases,
};

kunit_test_suite(ward_permute_suite);
