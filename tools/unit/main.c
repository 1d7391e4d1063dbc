// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the suites that were linked in: a line for each case, then the sum.
 *
 *	unit [WORD]	only cases whose SUITE.CASE contains WORD
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <kunit/test.h>
#include "../../drivers/ward/proto/icrc.h"

static struct kunit_suite *suites[32];
static size_t nr_suites;

void unit_add(struct kunit_suite *suite)
{
	if (nr_suites == ARRAY_SIZE(suites))
		abort();
	suites[nr_suites++] = suite;
}

const void *unit_next_param(const void *prev, char *desc, const void *array, size_t size,
			    size_t element, size_t name_at)
{
	const char *next = prev ? (const char *)prev + element : array;

	if (next == (const char *)array + size)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", *(const char *const *)(next + name_at));
	return next;
}

void *kunit_kzalloc(struct kunit *test, size_t size, int gfp)
{
	size_t i;

	(void)gfp;
	for (i = 0; i < ARRAY_SIZE(test->allocated); i++) {
		if (!test->allocated[i])
			return test->allocated[i] = calloc(1, size);
	}
	return NULL;
}

void unit_fail(struct kunit *test, bool end, const char *file, int line, const char *fmt, ...)
{
	va_list args;
	int n;

	if (!test->why[0]) {
		n = snprintf(test->why, sizeof(test->why), "%s%s:%d: ", test->param, file, line);
		va_start(args, fmt);
		if (n > 0 && (size_t)n < sizeof(test->why))
			vsnprintf(test->why + n, sizeof(test->why) - n, fmt, args);
		va_end(args);
	}
	if (end)
		longjmp(test->end, 1);
}

/* CRC-32 a byte at a time, what the driver gets from the kernel */
u32 ward_crc32(u32 crc, const void *p, size_t len)
{
	static u32 table[256];
	const u8 *byte = p;
	u32 i, j;

	for (i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (j = 0; j < 8; j++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320U : 0);
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *byte++) & 0xff];
	return crc;
}

static void run_once(struct kunit *test, const struct kunit_suite *suite,
		     const struct kunit_case *c)
{
	size_t i;

	if (!setjmp(test->end)) {
		if (suite->init && suite->init(test))
			unit_fail(test, true, suite->name, 0, "init failed");
		c->run_case(test);
	}
	if (suite->exit)
		suite->exit(test);
	for (i = 0; i < ARRAY_SIZE(test->allocated); i++) {
		free(test->allocated[i]);
		test->allocated[i] = NULL;
	}
}

static bool run_case(const struct kunit_suite *suite, const struct kunit_case *c)
{
	static struct kunit test;
	char desc[KUNIT_PARAM_DESC_SIZE];

	memset(&test, 0, sizeof(test));
	if (c->generate_params) {
		while ((test.param_value = c->generate_params(test.param_value, desc))) {
			snprintf(test.param, sizeof(test.param), "[%.*s] ",
				 (int)sizeof(test.param) - 4, desc);
			run_once(&test, suite, c);
		}
	} else {
		run_once(&test, suite, c);
	}

	if (test.why[0])
		printf("not ok %s.%s - %s\n", suite->name, c->name, test.why);
	else
		printf("ok %s.%s\n", suite->name, c->name);
	return !test.why[0];
}

int main(int argc, char **argv)
{
	const struct kunit_case *c;
	int passed = 0, failed = 0;
	char name[256];
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < nr_suites; i++) {
		for (c = suites[i]->test_cases; c->run_case; c++) {
			snprintf(name, sizeof(name), "%s.%s", suites[i]->name, c->name);
			if (argc > 1 && !strstr(name, argv[1]))
				continue;
			if (run_case(suites[i], c))
				passed++;
			else
				failed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed || !passed;
}
