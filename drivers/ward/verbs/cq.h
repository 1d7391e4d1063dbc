/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queues.
 */
#ifndef _WARD_VERBS_CQ_H
#define _WARD_VERBS_CQ_H

#include "device.h"
#include "ring.h"

/**
 * struct ward_cq - a completion queue
 * @ib:       the core's part
 * @dev:      device
 * @entry:    in ward_device.objects.cqs
 * @lock:     all below; taken with interrupts off
 * @ring:     struct ib_wc slots for kernel consumers, struct ib_uverbs_wc for processes
 * @user:     belongs to a process
 * @head:     next slot to fill
 * @tail:     kernel consumers: next slot to empty
 * @armed:    the consumer wants to be told: IB_CQ_NEXT_COMP, IB_CQ_SOLICITED or 0
 * @overflow: a completion found no room: it was told, and no more are added
 * @event_work: tells it, in process context
 */
struct ward_cq {
	struct ib_cq		ib;
	struct ward_device	*dev;
	struct list_head	entry;
	spinlock_t		lock;	/* all that follows */
	struct ward_ring	ring;
	bool			user;
	u32			head;
	u32			tail;
	u8			armed;
	bool			overflow;
	struct work_struct	event_work;
};

static inline struct ward_cq *to_ward_cq(struct ib_cq *ib)
{
	return container_of(ib, struct ward_cq, ib);
}

bool ward_cq_add(struct ward_cq *cq, const struct ib_wc *wc, bool solicited);
void ward_cq_notify(struct ward_cq *cq);

extern const struct ib_device_ops ward_cq_ops;

#endif /* _WARD_VERBS_CQ_H */
