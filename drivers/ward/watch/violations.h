/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last accesses that were refused.
 */
#ifndef _WARD_WATCH_VIOLATIONS_H
#define _WARD_WATCH_VIOLATIONS_H

#include <linux/spinlock.h>
#include <linux/ktime.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct ward_access;
struct ward_device;

#define WARD_VIOLATIONS	256

/**
 * struct ward_violation - a refused access
 * @when:     wall clock
 * @peer:     GID of the peer; all zero for an access of our own
 * @peer_qpn: its QP, 0 for an access of our own
 * @qpn:      our QP
 * @psn:      of the packet; 0 for an access of our own
 * @key:      lkey or R_key
 * @va:       first address
 * @len:      bytes
 * @op:       rights that it took, or WARD_OP_INVALIDATE
 * @why:      enum ward_refusal
 */
struct ward_violation {
	struct timespec64	when;
	union ib_gid		peer;
	u32			peer_qpn;
	u32			qpn;
	u32			psn;
	u32			key;
	u64			va;
	u64			len;
	int			op;
	int			why;
};

/**
 * struct ward_violations - the last WARD_VIOLATIONS of a device
 * @lock: all of it; interrupts off
 * @num:  refusals so far; the last one is at (@num - 1) % WARD_VIOLATIONS
 * @ring: see @num
 */
struct ward_violations {
	spinlock_t		lock;	/* see above */
	u64			num;
	struct ward_violation	ring[WARD_VIOLATIONS];
};

int ward_violations_init(struct ward_device *dev);
void ward_violation_add(const struct ward_access *a, u32 key, u64 va, u64 len, int op, int why);

#endif /* _WARD_WATCH_VIOLATIONS_H */
