/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long peers can reach a region, who does, and how long it takes to shut them out.
 *
 * A region is *exposed* from the moment that a registration with a remote right is active until
 * the last access has left after the invalidate. The time between the two ends of that invalidate
 * is its *drain*.
 */
#ifndef _WARD_WATCH_EXPOSURE_H
#define _WARD_WATCH_EXPOSURE_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "names.h"

struct ward_access;
struct ward_mr;

/* Buckets of a histogram: bucket n counts 2^n ns and more, up to where the next one begins */
#define WARD_HIST_BUCKETS	44

/* Who puts a region out of reach: @qpn and @psn are 0 where a verb does */
struct ward_closer {
	enum ward_closed_by	by;
	u32			qpn;
	u32			psn;
};

/**
 * struct ward_exposure - of one region; under ward_mr.lock
 * @since:   ns of ktime_get_ns() since when peers can reach it; 0: they cannot
 * @closing: ns since when it is being put out of reach; 0: it is not
 * @closer:  by whom, now or the last time
 * @times:   exposures that have ended
 * @total:   ns that those lasted
 * @longest: ns that the longest of them lasted
 * @drain:   ns that the last drain took
 * @read:    bytes that peers have read
 * @written: bytes that peers have written
 * @refused: accesses that found the region and were refused
 * @when:    ns of ktime_get_ns() when the last access of a peer ended; 0: there was none
 * @peer:    GID of that peer
 * @peer_qpn: its QP
 * @qpn:     our QP
 * @op:      rights that the access took
 */
struct ward_exposure {
	u64			since;
	u64			closing;
	struct ward_closer	closer;
	u64			times;
	u64			total;
	u64			longest;
	u64			drain;
	u64			read;
	u64			written;
	u64			refused;
	u64			when;
	union ib_gid		peer;
	u32			peer_qpn;
	u32			qpn;
	int			op;
};

void ward_exposure_begin(struct ward_mr *mr);
void ward_exposure_closing(struct ward_mr *mr, const struct ward_closer *closer);
void ward_exposure_end(struct ward_mr *mr);
void ward_exposure_used(struct ward_access *a);

#endif /* _WARD_WATCH_EXPOSURE_H */
