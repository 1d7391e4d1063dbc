// SPDX-License-Identifier: GPL-2.0
/*
 * The last accesses that were refused.
 */
#include <linux/mm.h>

#include "../mem/copy.h"
#include "../verbs/device.h"
#include "trace.h"
#include "violations.h"

/**
 * ward_violations_init() - an empty list
 * @dev: of this device; freed by kvfree(dev->violations)
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_violations_init(struct ward_device *dev)
{
	dev->violations = kvzalloc(sizeof(*dev->violations), GFP_KERNEL);
	if (!dev->violations)
		return -ENOMEM;
	spin_lock_init(&dev->violations->lock);
	return 0;
}

static void count(struct ward_device *dev, enum ward_refusal why)
{
	switch (why) {
	case WARD_GRANTED:
	case WARD_PARKED:
		break;
	case WARD_REFUSED_KEY:
		ward_count(dev, REFUSED_KEY);
		break;
	case WARD_REFUSED_STATE:
		ward_count(dev, REFUSED_STATE);
		break;
	case WARD_REFUSED_PD:
		ward_count(dev, REFUSED_PD);
		break;
	case WARD_REFUSED_QP:
		ward_count(dev, REFUSED_QP);
		break;
	case WARD_REFUSED_RIGHTS:
		ward_count(dev, REFUSED_RIGHTS);
		break;
	case WARD_REFUSED_RANGE:
		ward_count(dev, REFUSED_RANGE);
		break;
	}
}

/* The region that the key found counts it too */
static void blame(struct ward_device *dev, u32 key)
{
	struct ward_mr *mr = ward_mr_find(dev, key);

	if (!mr)
		return;
	spin_lock_bh(&mr->lock);
	mr->exposure.refused++;
	spin_unlock_bh(&mr->lock);
}

/**
 * ward_violation_add() - an access is refused: count it, and remember it
 * @a:   whose access
 * @key: lkey or R_key
 * @va:  first address
 * @len: bytes
 * @op:  the rights that it takes, or WARD_OP_INVALIDATE
 * @why: enum ward_refusal
 *
 * Context: under RCU with BH off; not inside a guard's lock.
 */
void ward_violation_add(const struct ward_access *a, u32 key, u64 va, u64 len, int op, int why)
{
	struct ward_device *dev = a->who.dev;
	struct ward_violations *list = dev->violations;
	bool remote = op == WARD_OP_INVALIDATE || (op & WARD_REMOTE_RIGHTS);
	struct ward_violation v = {
		.peer_qpn = remote ? a->who.peer_qpn : 0,
		.qpn = a->who.qpn,
		.psn = remote ? a->psn : 0,
		.key = key,
		.va = va,
		.len = len,
		.op = op,
		.why = why,
	};
	unsigned long flags;

	count(dev, why);
	blame(dev, key);
	trace_ward_refused(a, key, va, len, op, why);
	ktime_get_real_ts64(&v.when);
	if (remote && a->who.peer)
		v.peer = *a->who.peer;
	spin_lock_irqsave(&list->lock, flags);
	list->ring[list->num++ % WARD_VIOLATIONS] = v;
	spin_unlock_irqrestore(&list->lock, flags);
}
