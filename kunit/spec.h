/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The opcodes that ward implements, as the InfiniBand Architecture Specification
 * lists them, in plain numbers: nothing here comes from wire.h or opcode.c, which
 * are measured against it.
 */
#ifndef _WARD_KUNIT_SPEC_H
#define _WARD_KUNIT_SPEC_H

#include <linux/types.h>

/**
 * struct ward_spec - an opcode
 * @name:    as the specification calls it
 * @opcode:  its number
 * @place:   'F'irst, 'M'iddle, 'L'ast or 'O'nly packet of its message
 * @request: goes from requester to responder
 * @payload: may carry payload
 * @deth: carries this header, and so on
 * @feth: FETH
 * @reth: RETH
 * @atomiceth: AtomicETH
 * @aeth: AETH
 * @atomicack: AtomicAckETH
 * @imm: ImmDt
 * @ieth: IETH
 */
struct ward_spec {
	const char *name;
	u8	opcode;
	char	place;
	bool	request;
	bool	payload;
	bool	deth;
	bool	feth;
	bool	reth;
	bool	atomiceth;
	bool	aeth;
	bool	atomicack;
	bool	imm;
	bool	ieth;
};

#define SPEC_DATA	.request = true, .payload = true
#define SPEC_RESP	.payload = true

static const struct ward_spec ward_spec[] = {
	{ "RC SEND First", 0x00, 'F', SPEC_DATA },
	{ "RC SEND Middle", 0x01, 'M', SPEC_DATA },
	{ "RC SEND Last", 0x02, 'L', SPEC_DATA },
	{ "RC SEND Last with Immediate", 0x03, 'L', SPEC_DATA, .imm = true },
	{ "RC SEND Only", 0x04, 'O', SPEC_DATA },
	{ "RC SEND Only with Immediate", 0x05, 'O', SPEC_DATA, .imm = true },
	{ "RC RDMA WRITE First", 0x06, 'F', SPEC_DATA, .reth = true },
	{ "RC RDMA WRITE Middle", 0x07, 'M', SPEC_DATA },
	{ "RC RDMA WRITE Last", 0x08, 'L', SPEC_DATA },
	{ "RC RDMA WRITE Last with Immediate", 0x09, 'L', SPEC_DATA, .imm = true },
	{ "RC RDMA WRITE Only", 0x0a, 'O', SPEC_DATA, .reth = true },
	{ "RC RDMA WRITE Only with Immediate", 0x0b, 'O', SPEC_DATA, .reth = true, .imm = true },
	{ "RC RDMA READ Request", 0x0c, 'O', .request = true, .reth = true },
	{ "RC RDMA READ response First", 0x0d, 'F', SPEC_RESP, .aeth = true },
	{ "RC RDMA READ response Middle", 0x0e, 'M', SPEC_RESP },
	{ "RC RDMA READ response Last", 0x0f, 'L', SPEC_RESP, .aeth = true },
	{ "RC RDMA READ response Only", 0x10, 'O', SPEC_RESP, .aeth = true },
	{ "RC Acknowledge", 0x11, 'O', .aeth = true },
	{ "RC ATOMIC Acknowledge", 0x12, 'O', .aeth = true, .atomicack = true },
	{ "RC CmpSwap", 0x13, 'O', .request = true, .atomiceth = true },
	{ "RC FetchAdd", 0x14, 'O', .request = true, .atomiceth = true },
	{ "RC SEND Last with Invalidate", 0x16, 'L', SPEC_DATA, .ieth = true },
	{ "RC FLUSH", 0x1c, 'O', .request = true, .feth = true, .reth = true },
	{ "RC ATOMIC WRITE", 0x1d, 'O', SPEC_DATA, .reth = true },
	{ "RC SEND Only with Invalidate", 0x17, 'O', SPEC_DATA, .ieth = true },
	{ "UC SEND First", 0x20, 'F', SPEC_DATA },
	{ "UC SEND Middle", 0x21, 'M', SPEC_DATA },
	{ "UC SEND Last", 0x22, 'L', SPEC_DATA },
	{ "UC SEND Last with Immediate", 0x23, 'L', SPEC_DATA, .imm = true },
	{ "UC SEND Only", 0x24, 'O', SPEC_DATA },
	{ "UC SEND Only with Immediate", 0x25, 'O', SPEC_DATA, .imm = true },
	{ "UC RDMA WRITE First", 0x26, 'F', SPEC_DATA, .reth = true },
	{ "UC RDMA WRITE Middle", 0x27, 'M', SPEC_DATA },
	{ "UC RDMA WRITE Last", 0x28, 'L', SPEC_DATA },
	{ "UC RDMA WRITE Last with Immediate", 0x29, 'L', SPEC_DATA, .imm = true },
	{ "UC RDMA WRITE Only", 0x2a, 'O', SPEC_DATA, .reth = true },
	{ "UC RDMA WRITE Only with Immediate", 0x2b, 'O', SPEC_DATA, .reth = true, .imm = true },
	{ "UD SEND only", 0x64, 'O', SPEC_DATA, .deth = true },
	{ "UD SEND only with Immediate", 0x65, 'O', SPEC_DATA, .deth = true, .imm = true },
};

/* Bytes of BTH and extension headers */
static inline u32 ward_spec_hdr(const struct ward_spec *s)
{
	return 12 + s->deth * 8 + s->feth * 4 + s->reth * 16 + s->atomiceth * 28 + s->aeth * 4 +
	       s->atomicack * 8 + s->imm * 4 + s->ieth * 4;
}

/* The row of @opcode, or NULL */
static inline const struct ward_spec *ward_spec_find(unsigned int opcode)
{
	const struct ward_spec *s = ward_spec;

	for (; s < ward_spec + ARRAY_SIZE(ward_spec); s++) {
		if (s->opcode == opcode)
			return s;
	}
	return NULL;
}

#endif /* _WARD_KUNIT_SPEC_H */
