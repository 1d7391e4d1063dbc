// SPDX-License-Identifier: GPL-2.0
/*
 * The opcode table.
 *
 * Rows that are not named stay all zero, and a header length of zero is how the
 * rest of ward knows an opcode that it must not touch. Nothing may be computed
 * from the length of a packet before that was asked.
 */
#include "opcode.h"

#define WARD_HAS_NONE		0

#define LEN_NONE		0
#define LEN_DETH		sizeof(struct ward_deth)
#define LEN_FETH		sizeof(struct ward_feth)
#define LEN_RETH		sizeof(struct ward_reth)
#define LEN_ATOMICETH		sizeof(struct ward_atomiceth)
#define LEN_AETH		sizeof(struct ward_aeth)
#define LEN_ATOMICACK		sizeof(struct ward_atomicacketh)
#define LEN_IMM			sizeof(struct ward_immdt)
#define LEN_IETH		sizeof(struct ward_ieth)

/* Up to two extension headers follow a BTH. Naming them once gives flag and length. */
#define ROW(transport, op, kind, properties, ext1, ext2)				\
	[WARD_##transport | WARD_##op] = {						\
		.name		= #transport " " #op,					\
		.flags		= (properties) | WARD_HAS_##ext1 | WARD_HAS_##ext2,	\
		.msg		= WARD_MSG_##kind,					\
		.hdr_len	= sizeof(struct ward_bth) + LEN_##ext1 + LEN_##ext2,	\
	}

#define REQUEST		WARD_IS_REQUEST
#define ONLY		(WARD_IS_FIRST | WARD_IS_LAST)
/* What carries payload: its place in the message */
#define P_FIRST		(WARD_HAS_PAYLOAD | WARD_IS_FIRST)
#define P_MIDDLE	WARD_HAS_PAYLOAD
#define P_LAST		(WARD_HAS_PAYLOAD | WARD_IS_LAST)
#define P_ONLY		(WARD_HAS_PAYLOAD | ONLY)

static const struct ward_opcode opcodes[256] = {
	ROW(RC, SEND_FIRST,       SEND,       REQUEST | P_FIRST,  NONE,      NONE),
	ROW(RC, SEND_MIDDLE,      SEND,       REQUEST | P_MIDDLE, NONE,      NONE),
	ROW(RC, SEND_LAST,        SEND,       REQUEST | P_LAST,   NONE,      NONE),
	ROW(RC, SEND_LAST_IMM,    SEND,       REQUEST | P_LAST,   IMM,       NONE),
	ROW(RC, SEND_LAST_INV,    SEND,       REQUEST | P_LAST,   IETH,      NONE),
	ROW(RC, SEND_ONLY,        SEND,       REQUEST | P_ONLY,   NONE,      NONE),
	ROW(RC, SEND_ONLY_IMM,    SEND,       REQUEST | P_ONLY,   IMM,       NONE),
	ROW(RC, SEND_ONLY_INV,    SEND,       REQUEST | P_ONLY,   IETH,      NONE),
	ROW(RC, WRITE_FIRST,      WRITE,      REQUEST | P_FIRST,  RETH,      NONE),
	ROW(RC, WRITE_MIDDLE,     WRITE,      REQUEST | P_MIDDLE, NONE,      NONE),
	ROW(RC, WRITE_LAST,       WRITE,      REQUEST | P_LAST,   NONE,      NONE),
	ROW(RC, WRITE_LAST_IMM,   WRITE,      REQUEST | P_LAST,   IMM,       NONE),
	ROW(RC, WRITE_ONLY,       WRITE,      REQUEST | P_ONLY,   RETH,      NONE),
	ROW(RC, WRITE_ONLY_IMM,   WRITE,      REQUEST | P_ONLY,   RETH,      IMM),
	ROW(RC, READ_REQUEST,     READ,       REQUEST | ONLY,     RETH,      NONE),
	ROW(RC, COMPARE_SWAP,     ATOMIC,     REQUEST | ONLY,     ATOMICETH, NONE),
	ROW(RC, FETCH_ADD,        ATOMIC,     REQUEST | ONLY,     ATOMICETH, NONE),
	ROW(RC, FLUSH,            FLUSH,      REQUEST | ONLY,     FETH,      RETH),
	ROW(RC, ATOMIC_WRITE,     ATOMIC_WRITE, REQUEST | P_ONLY, RETH,      NONE),
	ROW(RC, READ_RESP_FIRST,  READ_RESP,  P_FIRST,            AETH,      NONE),
	ROW(RC, READ_RESP_MIDDLE, READ_RESP,  P_MIDDLE,           NONE,      NONE),
	ROW(RC, READ_RESP_LAST,   READ_RESP,  P_LAST,             AETH,      NONE),
	ROW(RC, READ_RESP_ONLY,   READ_RESP,  P_ONLY,             AETH,      NONE),
	ROW(RC, ACKNOWLEDGE,      ACK,        ONLY,               AETH,      NONE),
	ROW(RC, ATOMIC_ACK,       ATOMIC_ACK, ONLY,               AETH,      ATOMICACK),

	ROW(UC, SEND_FIRST,       SEND,       REQUEST | P_FIRST,  NONE,      NONE),
	ROW(UC, SEND_MIDDLE,      SEND,       REQUEST | P_MIDDLE, NONE,      NONE),
	ROW(UC, SEND_LAST,        SEND,       REQUEST | P_LAST,   NONE,      NONE),
	ROW(UC, SEND_LAST_IMM,    SEND,       REQUEST | P_LAST,   IMM,       NONE),
	ROW(UC, SEND_ONLY,        SEND,       REQUEST | P_ONLY,   NONE,      NONE),
	ROW(UC, SEND_ONLY_IMM,    SEND,       REQUEST | P_ONLY,   IMM,       NONE),
	ROW(UC, WRITE_FIRST,      WRITE,      REQUEST | P_FIRST,  RETH,      NONE),
	ROW(UC, WRITE_MIDDLE,     WRITE,      REQUEST | P_MIDDLE, NONE,      NONE),
	ROW(UC, WRITE_LAST,       WRITE,      REQUEST | P_LAST,   NONE,      NONE),
	ROW(UC, WRITE_LAST_IMM,   WRITE,      REQUEST | P_LAST,   IMM,       NONE),
	ROW(UC, WRITE_ONLY,       WRITE,      REQUEST | P_ONLY,   RETH,      NONE),
	ROW(UC, WRITE_ONLY_IMM,   WRITE,      REQUEST | P_ONLY,   RETH,      IMM),

	ROW(UD, SEND_ONLY,        SEND,       REQUEST | P_ONLY,   DETH,      NONE),
	ROW(UD, SEND_ONLY_IMM,    SEND,       REQUEST | P_ONLY,   DETH,      IMM),
};

/**
 * ward_opcode() - look up what an opcode carries
 * @opcode: BTH opcode, any byte
 *
 * Context: Any.
 * Return: the row of @opcode, never NULL. Its hdr_len is 0 when ward does not
 * implement the opcode: drop such a packet before any other look at it.
 */
const struct ward_opcode *ward_opcode(u8 opcode)
{
	return &opcodes[opcode];
}
