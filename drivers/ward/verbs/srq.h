/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared receive queues.
 */
#ifndef _WARD_VERBS_SRQ_H
#define _WARD_VERBS_SRQ_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../qp/recvq.h"
#include "device.h"

/**
 * struct ward_srq - a shared receive queue
 * @ib:    the core's part
 * @dev:   device
 * @entry: in ward_device.objects.srqs
 * @pd_id: number of its PD
 * @num:   its number
 * @user:  belongs to a process
 * @lock:  the emptying side of @rq, @limit; taken with BH off, outside of rq.lock
 * @rq:    the receives
 * @limit: the consumer wants to be told, once, when fewer receives than this are left; 0: no
 * @event_work: tells it, in process context
 */
struct ward_srq {
	struct ib_srq		ib;
	struct ward_device	*dev;
	struct list_head	entry;
	u32			pd_id;
	u32			num;
	bool			user;
	spinlock_t		lock;	/* see above */
	struct ward_recvq	rq;
	u32			limit;
	struct work_struct	event_work;
};

static inline struct ward_srq *to_ward_srq(struct ib_srq *ib)
{
	return container_of(ib, struct ward_srq, ib);
}

bool ward_srq_take(struct ward_srq *srq, struct ward_rwqe *rwqe, bool *bad);

extern const struct ib_device_ops ward_srq_ops;

#endif /* _WARD_VERBS_SRQ_H */
