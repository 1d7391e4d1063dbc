/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packet sequence numbers: 24 bits, compared in a window of half the space.
 */
#ifndef _WARD_PROTO_PSN_H
#define _WARD_PROTO_PSN_H

#include <linux/types.h>
#include <ward/wire.h>

/* ward_psn_add() - the PSN @n packets after @psn; @n may be negative */
static inline u32 ward_psn_add(u32 psn, s32 n)
{
	return (psn + n) & WARD_24BITS;
}

/* ward_psn_diff() - how far @a lies behind @b, negative when it lies before: -2^23 to 2^23 - 1 */
static inline s32 ward_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/*
 * ward_psn_distance() - how many packets after @from @to comes: 0 to 2^24 - 1
 *
 * For a place inside what is known to lie after @from; where either may lie
 * before the other, ward_psn_diff().
 */
static inline u32 ward_psn_distance(u32 from, u32 to)
{
	return (to - from) & WARD_24BITS;
}

#endif /* _WARD_PROTO_PSN_H */
