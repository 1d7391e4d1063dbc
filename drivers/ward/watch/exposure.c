// SPDX-License-Identifier: GPL-2.0
/*
 * How long peers can reach a region.
 */
#include <linux/log2.h>
#include <linux/ktime.h>

#include "../mem/copy.h"
#include "../verbs/device.h"
#include "exposure.h"
#include "trace.h"

static int bucket(u64 ns)
{
	return min(ilog2(ns | 1), WARD_HIST_BUCKETS - 1);
}

/**
 * ward_exposure_begin() - a registration becomes active
 * @mr: the region
 *
 * Context: mr->lock held.
 */
void ward_exposure_begin(struct ward_mr *mr)
{
	struct ward_exposure *e = &mr->exposure;

	lockdep_assert_held(&mr->lock);
	e->closing = 0;
	trace_ward_mr_register(mr);
	if (!(mr->access & WARD_REMOTE_RIGHTS))
		return;
	e->since = ktime_get_ns();
	trace_ward_mr_expose(mr);
}

/**
 * ward_exposure_closing() - a region is being put out of reach
 * @mr:     the region; when several do, the first one counts
 * @closer: who does
 *
 * Context: mr->lock held.
 */
void ward_exposure_closing(struct ward_mr *mr, const struct ward_closer *closer)
{
	struct ward_exposure *e = &mr->exposure;

	lockdep_assert_held(&mr->lock);
	if (e->closing)
		return;
	e->closing = ktime_get_ns();
	e->closer = *closer;
	trace_ward_mr_invalidate(mr);
}

/**
 * ward_exposure_end() - nobody reaches a region any more
 * @mr: the region
 *
 * Context: mr->lock held; once for each ward_exposure_begin().
 */
void ward_exposure_end(struct ward_mr *mr)
{
	struct ward_exposure *e = &mr->exposure;
	struct ward_counters __percpu *c = mr->dev->counters;
	u64 now = ktime_get_ns(), lasted = 0;

	lockdep_assert_held(&mr->lock);
	e->drain = now - e->closing;
	if (e->since) {
		lasted = now - e->since;
		e->since = 0;
		e->times++;
		e->total += lasted;
		e->longest = max(e->longest, lasted);
		this_cpu_inc(c->exposure[bucket(lasted)]);
		this_cpu_inc(c->drain[bucket(e->drain)]);
	}
	trace_ward_mr_invalidated(mr, e->drain, lasted);
	e->closing = 0;
}

/**
 * ward_exposure_used() - a peer's accesses come to their end
 * @a: whose; it is inside the guard of a->mr, and a->read and a->written say how much
 *
 * Once for each batch that a run works off, so it costs little.
 *
 * Context: BH off.
 */
void ward_exposure_used(struct ward_access *a)
{
	struct ward_exposure *e = &a->mr->exposure;
	u64 now = ktime_get_ns();

	spin_lock_bh(&a->mr->lock);
	e->read += a->read;
	e->written += a->written;
	e->when = now;
	if (a->who.peer)
		e->peer = *a->who.peer;
	e->peer_qpn = a->who.peer_qpn;
	e->qpn = a->who.qpn;
	e->op = a->rights;
	spin_unlock_bh(&a->mr->lock);
}
