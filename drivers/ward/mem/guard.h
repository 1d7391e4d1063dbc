/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guard: counts those who touch a piece of memory right now, and lets a
 * fence wait for the last of them.
 *
 * One signed number holds both the state and the count:
 *
 *	n >= 0			open, n users
 *	GUARD_SHUT + n		shut, n users still inside
 *	GUARD_SHUT		shut and drained
 *
 * Whoever enters does so only while the guard is open, in one atomic step. So
 * once it is shut the count can only fall, and the one who takes it to
 * GUARD_SHUT, be it the last user or the one who shut it, knows that nobody is
 * inside any more.
 */
#ifndef _WARD_MEM_GUARD_H
#define _WARD_MEM_GUARD_H

#include <linux/atomic.h>
#include <linux/limits.h>

#define GUARD_SHUT	INT_MIN

struct ward_guard {
	atomic_t n;
};

/* ward_guard_init() - a guard starts shut and drained */
static inline void ward_guard_init(struct ward_guard *g)
{
	atomic_set(&g->n, GUARD_SHUT);
}

/*
 * ward_guard_open() - let users in. The caller made sure that the guard is drained
 * and has written what the guard protects; that is visible to whoever enters.
 */
static inline void ward_guard_open(struct ward_guard *g)
{
	atomic_set_release(&g->n, 0);
}

/* ward_guard_enter() - true when the caller is inside now and must leave again. Any context. */
static inline bool ward_guard_enter(struct ward_guard *g)
{
	return atomic_inc_unless_negative(&g->n);
}

/* ward_guard_leave() - true when the guard is shut and the caller was the last one inside */
static inline bool ward_guard_leave(struct ward_guard *g)
{
	return atomic_dec_return(&g->n) == GUARD_SHUT;
}

/*
 * ward_guard_shut() - let nobody in any more. True when nobody is inside. Called once
 * for each ward_guard_open().
 */
static inline bool ward_guard_shut(struct ward_guard *g)
{
	return atomic_add_return(GUARD_SHUT, &g->n) == GUARD_SHUT;
}

#endif /* _WARD_MEM_GUARD_H */
