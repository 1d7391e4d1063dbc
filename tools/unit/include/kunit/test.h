/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of KUnit as the suites of proto/ use, so that the same files also run
 * in user space, under the sanitizers. A failed expectation notes the first
 * reason, a failed assertion also ends the case.
 */
#ifndef _UNIT_KUNIT_TEST_H
#define _UNIT_KUNIT_TEST_H

#include <linux/types.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define GFP_KERNEL			0
#define KUNIT_PARAM_DESC_SIZE		128

struct kunit {
	const void	*param_value;
	char		param[KUNIT_PARAM_DESC_SIZE];
	char		why[512];
	jmp_buf		end;
	void		*allocated[16];
};

struct kunit_case {
	void		(*run_case)(struct kunit *test);
	const char	*name;
	const void	*(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char	*name;
	int		(*init)(struct kunit *test);
	void		(*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(test)		{ .run_case = test, .name = #test }
#define KUNIT_CASE_SLOW(test)		KUNIT_CASE(test)
#define KUNIT_CASE_PARAM(test, gen)	\
	{ .run_case = test, .name = #test, .generate_params = gen }

#define KUNIT_ARRAY_PARAM_DESC(name, array, member)				\
	static const void *name##_gen_params(const void *prev, char *desc)	\
	{									\
		typeof(array) *all = &(array);					\
										\
		return unit_next_param(prev, desc, *all, sizeof(*all), sizeof((*all)[0]), \
				       offsetof(typeof((*all)[0]), member));	\
	}

const void *unit_next_param(const void *prev, char *desc, const void *array, size_t size,
			    size_t element, size_t name_at);

void unit_add(struct kunit_suite *suite);

#define kunit_test_suite(suite)						\
	static void __attribute__((constructor)) unit_add_##suite(void)	\
	{								\
		unit_add(&(suite));					\
	}

void *kunit_kzalloc(struct kunit *test, size_t size, int gfp);

void __printf(5, 6)
unit_fail(struct kunit *test, bool end, const char *file, int line, const char *fmt, ...);

#define UNIT_CHECK(test, end, ok, ...)						\
	do {									\
		if (!(ok))							\
			unit_fail(test, end, __FILE__, __LINE__, __VA_ARGS__);	\
	} while (0)

#define UNIT_CMP(test, end, left, op, right, fmt, ...)				\
	do {									\
		const typeof(left) l_ = (left);					\
		const typeof(right) r_ = (right);				\
										\
		UNIT_CHECK(test, end, l_ op r_,					\
			   #left " " #op " " #right ": %#llx, %#llx " fmt,	\
			   (unsigned long long)l_, (unsigned long long)r_,	\
			   ##__VA_ARGS__);					\
	} while (0)

#define KUNIT_FAIL(test, ...)		UNIT_CHECK(test, false, false, __VA_ARGS__)
#define KUNIT_FAIL_AND_ABORT(test, ...)	UNIT_CHECK(test, true, false, __VA_ARGS__)

#define KUNIT_EXPECT_TRUE(test, c)		UNIT_CHECK(test, false, c, #c)
#define KUNIT_EXPECT_FALSE(test, c)		UNIT_CHECK(test, false, !(c), "not " #c)
#define KUNIT_EXPECT_EQ(test, l, r)		UNIT_CMP(test, false, l, ==, r, "")
#define KUNIT_EXPECT_NE(test, l, r)		UNIT_CMP(test, false, l, !=, r, "")
#define KUNIT_EXPECT_LE(test, l, r)		UNIT_CMP(test, false, l, <=, r, "")
#define KUNIT_EXPECT_LT(test, l, r)		UNIT_CMP(test, false, l, <, r, "")
#define KUNIT_EXPECT_EQ_MSG(test, l, r, ...)	UNIT_CMP(test, false, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_TRUE_MSG(test, c, ...)	UNIT_CHECK(test, false, c, __VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ(test, l, r, size)	\
	UNIT_CHECK(test, false, !memcmp(l, r, size), #l " and " #r " differ")
#define KUNIT_EXPECT_NOT_NULL(test, p)		UNIT_CHECK(test, false, p, #p " is NULL")
#define KUNIT_ASSERT_TRUE(test, c)		UNIT_CHECK(test, true, c, #c)
#define KUNIT_ASSERT_EQ(test, l, r)		UNIT_CMP(test, true, l, ==, r, "")
#define KUNIT_ASSERT_EQ_MSG(test, l, r, ...)	UNIT_CMP(test, true, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_TRUE_MSG(test, c, ...)	UNIT_CHECK(test, true, c, __VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL(test, p)		UNIT_CHECK(test, true, p, #p " is NULL")

#endif
