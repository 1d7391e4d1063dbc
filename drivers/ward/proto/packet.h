/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet in host byte order, and the way from and to the bytes on the wire.
 */
#ifndef _WARD_PROTO_PACKET_H
#define _WARD_PROTO_PACKET_H

#include <linux/types.h>
#include "opcode.h"

/**
 * struct ward_pkt - a packet, taken apart
 * @op:        row of the opcode table
 * @opcode:    BTH opcode
 * @pad:       padding bytes, 0 to 3
 * @solicited: BTH solicited event bit
 * @ackreq:    BTH acknowledge request bit
 * @mig:       BTH MigReq bit; hardware sends 1, either value is taken
 * @becn:      BTH backward congestion bit
 * @pkey:      partition key
 * @qpn:       destination QP
 * @psn:       sequence number
 * @hdr_len:   bytes from BTH to the payload
 * @len:       payload bytes, without padding and ICRC
 * @va:        RETH, AtomicETH: address
 * @rkey:      RETH, AtomicETH: R_key
 * @dma_len:   RETH: length of the message
 * @flush_type: FETH: WARD_FLUSH_GLOBAL, _PERSISTENT or both
 * @flush_level: FETH: WARD_FLUSH_RANGE or _MR
 * @swap_add:  AtomicETH
 * @compare:   AtomicETH
 * @orig:      AtomicAckETH
 * @syndrome:  AETH
 * @msn:       AETH
 * @imm:       ImmDt, as on the wire
 * @inv_rkey:  IETH
 * @qkey:      DETH
 * @src_qpn:   DETH
 *
 * Only what @op says that the packet carries has a meaning.
 */
struct ward_pkt {
	const struct ward_opcode *op;
	u8	opcode;
	u8	pad;
	bool	solicited;
	bool	ackreq;
	bool	mig;
	bool	becn;
	u16	pkey;
	u32	qpn;
	u32	psn;
	u32	hdr_len;
	u32	len;
	u64	va;
	u32	rkey;
	u32	dma_len;
	u8	flush_type;
	u8	flush_level;
	u64	swap_add;
	u64	compare;
	u64	orig;
	u8	syndrome;
	u32	msn;
	__be32	imm;
	u32	inv_rkey;
	u32	qkey;
	u32	src_qpn;
};

/* Why a packet was not understood */
enum ward_parse {
	WARD_PARSE_OK,
	WARD_PARSE_OPCODE,	/* not implemented */
	WARD_PARSE_LENGTH,	/* shorter than headers, padding and ICRC, or not a multiple of 4 */
	WARD_PARSE_PAD,		/* padding without payload, or more than the opcode allows */
	WARD_PARSE_VERSION,	/* BTH transport version not 0 */
};

enum ward_parse ward_pkt_parse(struct ward_pkt *pkt, const u8 *hdr, u32 len);
u32 ward_pkt_build(const struct ward_pkt *pkt, u8 *hdr);

#endif /* _WARD_PROTO_PACKET_H */
