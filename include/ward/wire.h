/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 headers as they stand on the wire, big endian, and the constants in them.
 *
 * A packet is IP, UDP (destination port 4791), BTH, the extension headers that
 * the opcode asks for, payload, 0 to 3 bytes of padding, and a 4-byte ICRC.
 */
#ifndef _WARD_WIRE_H
#define _WARD_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define WARD_UDP_PORT		4791
#define WARD_ICRC_SIZE		4
#define WARD_GRH_SIZE		40
#define WARD_MIN_MTU		256
#define WARD_MAX_MTU		4096
#define WARD_MAX_MSG		0x80000000U
#define WARD_DEFAULT_PKEY	0xffff
#define WARD_MULTICAST_QPN	0xffffff
#define WARD_GSI_QPN		1

/* Base transport header */
struct ward_bth {
	__u8	opcode;
	__u8	flags;		/* WARD_BTH_SE | _MIG | pad << 4 | version */
	__be16	pkey;
	__be32	qpn;		/* WARD_BTH_FECN | _BECN | 24 bits */
	__be32	apsn;		/* WARD_BTH_ACK | 24 bits */
} __packed;

#define WARD_BTH_SE		0x80
#define WARD_BTH_MIG		0x40
#define WARD_BTH_PAD_SHIFT	4
#define WARD_BTH_PAD_MASK	0x30
#define WARD_BTH_VERSION_MASK	0x0f
#define WARD_BTH_FECN		0x80000000U
#define WARD_BTH_BECN		0x40000000U
#define WARD_BTH_ACK		0x80000000U
#define WARD_24BITS		0x00ffffffU

/* RDMA extended transport header */
struct ward_reth {
	__be64	va;
	__be32	rkey;
	__be32	length;
} __packed;

/* Flush: what is to be reached, and how much is flushed */
struct ward_feth {
	__be32	bits;
} __packed;

#define WARD_FETH_TYPE_MASK	0x0f	/* WARD_FLUSH_GLOBAL | _PERSISTENT */
#define WARD_FETH_LEVEL_SHIFT	4
#define WARD_FETH_LEVEL_MASK	0x03
#define WARD_FLUSH_GLOBAL	0x1
#define WARD_FLUSH_PERSISTENT	0x2
#define WARD_FLUSH_RANGE	0
#define WARD_FLUSH_MR		1

/* Acknowledge: syndrome in the top byte, MSN below */
struct ward_aeth {
	__be32	smsn;
} __packed;

#define WARD_AETH_SYN_SHIFT	24
#define WARD_AETH_TYPE_MASK	0xe0
#define WARD_AETH_VALUE_MASK	0x1f
#define WARD_AETH_ACK		0x00
#define WARD_AETH_RNR		0x20
#define WARD_AETH_NAK		0x60
#define WARD_AETH_NO_CREDIT	0x1f	/* "credits are not counted" */
#define WARD_NAK_SEQUENCE	0x60
#define WARD_NAK_INVALID	0x61
#define WARD_NAK_ACCESS		0x62
#define WARD_NAK_OPERATION	0x63

struct ward_immdt {
	__be32	imm;
} __packed;

struct ward_ieth {
	__be32	rkey;
} __packed;

/* Datagram extended transport header */
struct ward_deth {
	__be32	qkey;
	__be32	src_qpn;
} __packed;

struct ward_atomiceth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

struct ward_atomicacketh {
	__be64	orig;
} __packed;

static_assert(sizeof(struct ward_bth) == 12);
static_assert(sizeof(struct ward_reth) == 16);
static_assert(sizeof(struct ward_feth) == 4);
static_assert(sizeof(struct ward_aeth) == 4);
static_assert(sizeof(struct ward_deth) == 8);
static_assert(sizeof(struct ward_atomiceth) == 28);
static_assert(sizeof(struct ward_atomicacketh) == 8);

/* The longest BTH and extension headers of one packet: RC atomic */
#define WARD_MAX_HDR		(12 + 28)

/* Transport service: the three top bits of the opcode */
#define WARD_RC			0x00
#define WARD_UC			0x20
#define WARD_UD			0x60

/* Operation: the five low bits */
#define WARD_SEND_FIRST			0x00
#define WARD_SEND_MIDDLE		0x01
#define WARD_SEND_LAST			0x02
#define WARD_SEND_LAST_IMM		0x03
#define WARD_SEND_ONLY			0x04
#define WARD_SEND_ONLY_IMM		0x05
#define WARD_WRITE_FIRST		0x06
#define WARD_WRITE_MIDDLE		0x07
#define WARD_WRITE_LAST			0x08
#define WARD_WRITE_LAST_IMM		0x09
#define WARD_WRITE_ONLY			0x0a
#define WARD_WRITE_ONLY_IMM		0x0b
#define WARD_READ_REQUEST		0x0c
#define WARD_READ_RESP_FIRST		0x0d
#define WARD_READ_RESP_MIDDLE		0x0e
#define WARD_READ_RESP_LAST		0x0f
#define WARD_READ_RESP_ONLY		0x10
#define WARD_ACKNOWLEDGE		0x11
#define WARD_ATOMIC_ACK			0x12
#define WARD_COMPARE_SWAP		0x13
#define WARD_FETCH_ADD			0x14
#define WARD_SEND_LAST_INV		0x16
#define WARD_SEND_ONLY_INV		0x17
#define WARD_FLUSH			0x1c
#define WARD_ATOMIC_WRITE		0x1d

#endif /* _WARD_WIRE_H */
