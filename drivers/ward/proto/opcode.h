/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The opcode table: what each opcode that ward implements carries. Everything
 * that parses, builds or judges packets asks this table.
 */
#ifndef _WARD_PROTO_OPCODE_H
#define _WARD_PROTO_OPCODE_H

#include <linux/types.h>
#include <ward/wire.h>

/* Extension headers, in the order in which they follow the BTH */
#define WARD_HAS_DETH		0x0001
#define WARD_HAS_RETH		0x0002
#define WARD_HAS_ATOMICETH	0x0004
#define WARD_HAS_AETH		0x0008
#define WARD_HAS_ATOMICACK	0x0010
#define WARD_HAS_IMM		0x0020
#define WARD_HAS_IETH		0x0040
/* Properties */
#define WARD_HAS_PAYLOAD	0x0080
#define WARD_IS_FIRST		0x0100	/* an ONLY packet is first and last */
#define WARD_IS_LAST		0x0200
#define WARD_HAS_FETH		0x0800
#define WARD_IS_REQUEST		0x0400	/* goes to the responder, else to the completer */

/* An opcode of the manufacturer's range, which ward will never implement */
#define WARD_OPCODE_NONE	0xff

/* The kind of message a packet belongs to */
enum ward_msg {
	WARD_MSG_NONE,
	WARD_MSG_SEND,
	WARD_MSG_WRITE,
	WARD_MSG_READ,
	WARD_MSG_ATOMIC,
	WARD_MSG_ATOMIC_WRITE,
	WARD_MSG_FLUSH,
	WARD_MSG_READ_RESP,
	WARD_MSG_ACK,
	WARD_MSG_ATOMIC_ACK,
};

/**
 * struct ward_opcode - one row of the table
 * @name:    for people
 * @flags:   WARD_HAS_* and WARD_IS_*
 * @msg:     kind of message
 * @hdr_len: bytes of BTH and extension headers, 0 for an opcode that ward does not implement
 */
struct ward_opcode {
	const char	*name;
	u16		flags;
	u8		msg;
	u8		hdr_len;
};

const struct ward_opcode *ward_opcode(u8 opcode);

#endif /* _WARD_PROTO_OPCODE_H */
