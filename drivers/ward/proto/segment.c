// SPDX-License-Identifier: GPL-2.0
/*
 * How a message becomes packets.
 */
#include "segment.h"

/**
 * ward_seg_count() - number of packets, which is of PSNs, of a message
 * @length: bytes of the message
 * @mtu:    path MTU in bytes, not 0
 *
 * Context: Any.
 * Return: the number; a message of no bytes takes a packet, too.
 */
u32 ward_seg_count(u32 length, u32 mtu)
{
	return length ? (length - 1) / mtu + 1 : 1;
}

/* Middle, first, last, only: indexed by place() */
static const u8 send_plain[] = {
	WARD_SEND_MIDDLE, WARD_SEND_FIRST, WARD_SEND_LAST, WARD_SEND_ONLY,
};

static const u8 write_plain[] = {
	WARD_WRITE_MIDDLE, WARD_WRITE_FIRST, WARD_WRITE_LAST, WARD_WRITE_ONLY,
};

static const u8 read_resp[] = {
	WARD_READ_RESP_MIDDLE, WARD_READ_RESP_FIRST, WARD_READ_RESP_LAST, WARD_READ_RESP_ONLY,
};

static unsigned int place(bool first, bool last)
{
	return last << 1 | first;
}

/**
 * ward_seg_opcode() - the opcode of one packet of a message
 * @transport: WARD_RC, WARD_UC or WARD_UD
 * @msg:       WARD_MSG_SEND, WARD_MSG_WRITE or WARD_MSG_READ_RESP
 * @tail:      what the last packet of a SEND or WRITE brings along; of no meaning for others
 * @first:     the packet is the first of the message
 * @last:      it is the last
 *
 * Context: Any.
 * Return: the BTH opcode. Asked for what there is not (a WRITE that
 * invalidates, a UD message of several packets), an opcode that the table does
 * not implement, so that ward_pkt_build() refuses it.
 */
u8 ward_seg_opcode(u8 transport, enum ward_msg msg, enum ward_tail tail, bool first, bool last)
{
	switch (msg) {
	case WARD_MSG_SEND:
		if (!last || tail == WARD_TAIL_PLAIN)
			return transport | send_plain[place(first, last)];
		if (tail == WARD_TAIL_IMM)
			return transport | (first ? WARD_SEND_ONLY_IMM : WARD_SEND_LAST_IMM);
		return transport | (first ? WARD_SEND_ONLY_INV : WARD_SEND_LAST_INV);
	case WARD_MSG_WRITE:
		if (!last || tail == WARD_TAIL_PLAIN)
			return transport | write_plain[place(first, last)];
		if (tail == WARD_TAIL_IMM)
			return transport | (first ? WARD_WRITE_ONLY_IMM : WARD_WRITE_LAST_IMM);
		return WARD_OPCODE_NONE;
	case WARD_MSG_READ_RESP:
		return transport | read_resp[place(first, last)];
	default:
		return WARD_OPCODE_NONE;
	}
}
