/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites about fences share. A tries to reach B's buffer; @v is the pair that a test is
 * about, verbs_more() makes others of the same PDs.
 */
#ifndef _WARD_KUNIT_VERBS_FENCE_H
#define _WARD_KUNIT_VERBS_FENCE_H

#include "../drivers/ward/watch/probe.h"
#include "verbs.h"

#define REMOTE		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)
#define PART		8192	/* the buffer is used in parts of two pages */
#define FENCE_MTU	1024	/* what verbs_connect() makes it */

extern struct link fence_wire;
extern bool fence_is_local;

int fence_suite_init(struct kunit_suite *suite);
void fence_suite_exit(struct kunit_suite *suite);
int fence_test_init(struct kunit *test);

#define FENCE_SUITE(variable, _name, cases)					\
	static struct kunit_suite variable = {					\
		.name = _name,							\
		.suite_init = fence_suite_init,					\
		.suite_exit = fence_suite_exit,					\
		.init = fence_test_init,					\
		.exit = verbs_exit,						\
		.test_cases = cases,						\
	}

/* Across a wire, and between queue pairs of one device, without packets where rules allow it */
#define FENCE_SUITES(name, cases)						\
	FENCE_SUITE(wire_suite, name, cases);					\
	FENCE_SUITE(local_suite, name "-local", cases);				\
	kunit_test_suites(&wire_suite, &local_suite)

void paint(struct verbs *v);
void expect_paint(struct kunit *test, u32 offset, u32 len, u8 colour);
struct verbs_op *write_by(struct kunit *test, struct verbs *v, u32 key, u64 addr, u32 len);
struct verbs_op *read_by(struct kunit *test, struct verbs *v, u32 key, u64 addr, u32 len);
struct verbs_op *write_to(struct kunit *test, u32 key, u64 addr, u32 len);
struct verbs_op *read_from(struct kunit *test, u32 key, u64 addr, u32 len);
void expect_open(struct kunit *test, u32 key, u64 addr);
void expect_shut(struct kunit *test, u32 key, u64 addr);
void expect_failed(struct kunit *test, struct verbs_op *op);
void expect_bad_remote_inv(struct kunit *test, u32 key);
void expect_probed(struct kunit *test, struct verbs_end *end, u32 key, u32 right,
		   const char *rule);
int fence_hold_b(struct kunit *test, struct verbs *v, const char *op, int nth);
void fence_patient(struct kunit *test);
void fence_wait_counted(struct kunit *test, struct verbs_end *end, enum ward_counter id, u64 n);
enum ib_qp_state state_of(struct kunit *test, struct verbs_end *end);
struct ib_mr *foreign_mr(struct kunit *test, struct ib_pd *pd);

/**
 * struct fence_task - something that may take long, in a task of its own
 * @fn:   what, called with @arg
 * @arg:  see @fn
 * @err:  what it returned
 * @done: it has
 */
struct fence_task {
	int			(*fn)(void *arg);
	void			*arg;
	int			err;
	struct completion	done;
	struct work_struct	work;
};

void fence_start(struct kunit *test, struct fence_task *task, int (*fn)(void *arg), void *arg);
void fence_expect_waiting(struct kunit *test, struct fence_task *task);
void fence_expect_done(struct kunit *test, struct fence_task *task);
int fence_dereg(void *mr);
int fence_to_error(void *qp);

/* Windows, and regions of user memory, for which the kernel has no verbs */
struct ib_mr *fence_user_mr(struct kunit *test, struct verbs_end *end, u32 offset, u32 len,
			    int access);
struct ib_mw *fence_mw(struct kunit *test, struct verbs_end *end, enum ib_mw_type type);
struct verbs_op *fence_bind(struct kunit *test, struct verbs_end *end, struct ib_mw *mw,
			    struct ib_mr *mr, u64 addr, u64 len, int access);
int fence_free_mw(void *mw);

#endif /* _WARD_KUNIT_VERBS_FENCE_H */
