// SPDX-License-Identifier: GPL-2.0
/*
 * What people read for numbers. None of these names is ever NULL or has a blank in it, so that
 * each is one column.
 */
#include <rdma/ib_verbs.h>
#include <ward/wire.h>

#include "../mem/region.h"
#include "names.h"

#define CASE(number, name) case number: return name;

#define NAMES(function, type, list) \
const char *function(type number) \
{ \
	switch (number) { \
	list(CASE, CASE) \
	} \
	return "?"; \
}

NAMES(ward_name_qp_state, int, WARD_QP_STATES)
NAMES(ward_name_wr, u32, WARD_WR_OPCODES)
NAMES(ward_name_why, int, WARD_WHYS)
NAMES(ward_name_refusal, int, WARD_REFUSALS)
NAMES(ward_name_closed_by, int, WARD_CLOSED_BYS)
NAMES(ward_name_kind, int, WARD_KINDS)
NAMES(ward_name_region_state, int, WARD_REGION_STATES)

/**
 * ward_name_wire() - a BTH opcode
 * @opcode: all 8 bits; those of the transport are not shown
 *
 * Return: the name.
 */
const char *ward_name_wire(u8 opcode)
{
	switch (opcode & 0x1f) {
	WARD_WIRE_OPCODES(CASE, CASE)
	}
	return "?";
}

/**
 * ward_name_qp_type() - the transport of a QP
 * @transport: WARD_RC, WARD_UC or WARD_UD
 *
 * Return: the name.
 */
const char *ward_name_qp_type(int transport)
{
	return transport == WARD_RC ? "RC" : transport == WARD_UC ? "UC" : "UD";
}

/**
 * ward_name_nak() - an AETH syndrome
 * @syndrome: the syndrome
 *
 * Return: the name.
 */
const char *ward_name_nak(u8 syndrome)
{
	switch (syndrome & WARD_AETH_TYPE_MASK) {
	case WARD_AETH_ACK:
		return "ack";
	case WARD_AETH_RNR:
		return "rnr";
	}
	switch (syndrome) {
	case WARD_NAK_SEQUENCE:
		return "sequence";
	case WARD_NAK_INVALID:
		return "invalid-request";
	case WARD_NAK_ACCESS:
		return "access";
	case WARD_NAK_OPERATION:
		return "operation";
	}
	return "?";
}

/**
 * ward_name_op() - what an access does, by the rights that it takes
 * @rights: IB_ACCESS_*, 0 for a local read; or WARD_OP_INVALIDATE
 *
 * Return: the name.
 */
const char *ward_name_op(int rights)
{
	if (rights == WARD_OP_INVALIDATE)
		return "invalidate";
	if (rights & IB_ACCESS_REMOTE_WRITE)
		return "write";
	if (rights & IB_ACCESS_REMOTE_READ)
		return "read";
	if (rights & IB_ACCESS_REMOTE_ATOMIC)
		return "atomic";
	if (rights & (WARD_ACCESS_FLUSH_GLOBAL | WARD_ACCESS_FLUSH_PERSISTENT))
		return "flush";
	return rights & IB_ACCESS_LOCAL_WRITE ? "local-write" : "local-read";
}

/**
 * ward_name_rights() - a set of rights, a letter for each
 * @rights: IB_ACCESS_*
 * @text:   l local write, r remote read, w remote write, a remote atomic, b windows may be bound,
 *          f flush to visibility, p flush to persistence; "-" for none
 */
void ward_name_rights(int rights, char text[WARD_RIGHTS_TEXT])
{
	static const struct {
		int	right;
		char	letter;
	} letters[] = {
		{ IB_ACCESS_LOCAL_WRITE, 'l' },
		{ IB_ACCESS_REMOTE_READ, 'r' },
		{ IB_ACCESS_REMOTE_WRITE, 'w' },
		{ IB_ACCESS_REMOTE_ATOMIC, 'a' },
		{ IB_ACCESS_MW_BIND, 'b' },
		{ WARD_ACCESS_FLUSH_GLOBAL, 'f' },
		{ WARD_ACCESS_FLUSH_PERSISTENT, 'p' },
	};
	char *to = text;
	int i;

	for (i = 0; i < ARRAY_SIZE(letters); i++)
		if (rights & letters[i].right)
			*to++ = letters[i].letter;
	if (to == text)
		*to++ = '-';
	*to = 0;
}
