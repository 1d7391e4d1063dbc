/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets that came too early: kept, in the order of their PSNs, until those
 * before them have come, so that one lost packet costs one retransmission.
 */
#ifndef _WARD_QP_EARLY_H
#define _WARD_QP_EARLY_H

#include <linux/skbuff.h>

#include "../net/rx.h"
#include "../proto/psn.h"

/* So many are kept; a window of the peer's at usual sizes */
#define WARD_EARLY_MAX	256

/**
 * ward_early_keep() - keep a packet
 * @q:   those that are kept
 * @skb: the packet; a reference is taken. One of which there is another copy, or for which there
 *       is no room, is not kept
 */
static inline void ward_early_keep(struct sk_buff_head *q, struct sk_buff *skb)
{
	struct sk_buff *after;

	if (skb_queue_len(q) >= WARD_EARLY_MAX)
		return;
	skb_queue_reverse_walk(q, after) {
		s32 behind = ward_psn_diff(ward_rx_cb(skb)->psn, ward_rx_cb(after)->psn);

		if (!behind)
			return;
		if (behind > 0) {
			__skb_queue_after(q, after, skb_get(skb));
			return;
		}
	}
	__skb_queue_head(q, skb_get(skb));
}

/**
 * ward_early_next() - the kept packet whose turn has come
 * @q:   those that are kept; older ones, which came again meanwhile, are dropped
 * @psn: the PSN that is expected
 *
 * Return: the packet, now the caller's, or NULL.
 */
static inline struct sk_buff *ward_early_next(struct sk_buff_head *q, u32 psn)
{
	struct sk_buff *skb;

	while ((skb = skb_peek(q))) {
		s32 behind = ward_psn_diff(ward_rx_cb(skb)->psn, psn);

		if (behind > 0)
			return NULL;
		__skb_unlink(skb, q);
		if (!behind)
			return skb;
		consume_skb(skb);
	}
	return NULL;
}

#endif /* _WARD_QP_EARLY_H */
