// SPDX-License-Identifier: GPL-2.0
/*
 * The link option fence_on_error.
 *
 * Waiting for regions takes a process, so a QP that fails in softirq leaves it to a work item,
 * and does not flush until that is done. Nothing keeps the regions: the consumer may invalidate,
 * register and deregister them meanwhile. So each is judged again under its lock, and only
 * invalidated if it is this QP's registration still (F39).
 */
#include <linux/completion.h>

#include "../verbs/device.h"
#include "fence.h"
#include "qp.h"

struct waiter {
	struct ward_drain	drain;
	struct completion	done;
};

static void drained(struct ward_drain *drain)
{
	complete(&container_of(drain, struct waiter, drain)->done);
}

/**
 * ward_fence_now() - put out of reach what was registered through a QP
 * @qp: the QP; it executes nothing any more
 *
 * Does nothing without the option.
 *
 * Context: may sleep.
 */
void ward_fence_now(struct ward_qp *qp)
{
	struct ward_keys *keys = &qp->dev->keys;
	unsigned long slot;
	struct waiter w;
	struct ward_mr *mr;

	/* without a number it has registered nothing, and 0 would stand for whoever has */
	if (qp->transport != WARD_RC || !qp->qpn || !ward_option(qp->dev, FENCE_ON_ERROR))
		return;
	w.drain.done = drained;
	/* all of them first, so that none stays open while another one drains */
	rcu_read_lock();
	xa_for_each(&keys->regions, slot, mr)
		ward_mr_invalidate_via(mr, qp->qpn, NULL);
	rcu_read_unlock();
	rcu_read_lock();
	xa_for_each(&keys->regions, slot, mr) {
		init_completion(&w.done);
		if (ward_mr_invalidate_via(mr, qp->qpn, &w.drain))
			continue;
		/* the region may be freed meanwhile, but not before we are told */
		rcu_read_unlock();
		wait_for_completion(&w.done);
		rcu_read_lock();
	}
	rcu_read_unlock();
}

static void fence_work(struct work_struct *work)
{
	struct ward_qp *qp = container_of(work, struct ward_qp, fence_work);

	ward_fence_now(qp);
	ward_qp_kick(qp, WARD_EV_FENCED);
	ward_qp_put(qp);
}

/**
 * ward_fence_init() - once for each QP
 * @qp: the QP
 */
void ward_fence_init(struct ward_qp *qp)
{
	INIT_WORK(&qp->fence_work, fence_work);
}

/**
 * ward_fence_begin() - a QP fails: fence before it flushes, if the option says so
 * @qp: the QP, owned, in ERR; qp->fencing until WARD_EV_FENCED
 *
 * Context: any but hard interrupt.
 */
void ward_fence_begin(struct ward_qp *qp)
{
	if (qp->transport != WARD_RC || !ward_option(qp->dev, FENCE_ON_ERROR))
		return;
	qp->fencing = true;
	kref_get(&qp->ref);
	if (!queue_work(ward_wq, &qp->fence_work))
		ward_qp_put(qp);
}

/**
 * ward_fence_wait() - wait until a fence that has begun is done
 * @qp: the QP
 *
 * Context: may sleep.
 */
void ward_fence_wait(struct ward_qp *qp)
{
	flush_work(&qp->fence_work);
}
