/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a message becomes packets.
 */
#ifndef _WARD_PROTO_SEGMENT_H
#define _WARD_PROTO_SEGMENT_H

#include <linux/types.h>
#include "opcode.h"

/* What the last packet of a SEND or WRITE brings along */
enum ward_tail {
	WARD_TAIL_PLAIN,
	WARD_TAIL_IMM,
	WARD_TAIL_INV,
};

u32 ward_seg_count(u32 length, u32 mtu);
u8 ward_seg_opcode(u8 transport, enum ward_msg msg, enum ward_tail tail, bool first, bool last);

#endif /* _WARD_PROTO_SEGMENT_H */
