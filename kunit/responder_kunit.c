// SPDX-License-Identifier: GPL-2.0
/* The responder's table. Each case runs with the expected PSN at several places. */
#include <kunit/test.h>
#include "../drivers/ward/proto/psn.h"
#include "../drivers/ward/proto/responder.h"
#include "spec.h"

#define MTU	1024
#define GB2	0x80000000U

static const u32 bases[] = { 0, 1, 0x7fffff, 0x800000, 0xfffffe, 0xffffff };

struct order_case {
	const char *name;
	/* the responder */
	u8	msg;
	u32	got;
	u32	write_len;
	bool	naked;
	/* the packet, its PSN from the expected one on */
	u8	opcode;
	s32	psn;
	u32	len;
	u32	dma_len;
	u64	va;
	enum ward_verdict want;
};

#define OP(op)		.opcode = WARD_##op
#define HALF(m, n, l)	.msg = WARD_MSG_##m, .got = n, .write_len = l

static const struct order_case orders[] = {
	/* sequence of PSNs */
	{ "next", OP(SEND_ONLY), .want = WARD_EXECUTE },
	{ "one before", OP(SEND_ONLY), .psn = -1, .want = WARD_DUPLICATE },
	{ "far before", OP(SEND_ONLY), .psn = -0x7fffff, .want = WARD_DUPLICATE },
	{ "as far before as can be", OP(SEND_ONLY), .psn = -0x800000, .want = WARD_DUPLICATE },
	{ "one after", OP(SEND_ONLY), .psn = 1, .want = WARD_NAK_SEQ },
	{ "far after", OP(SEND_ONLY), .psn = 0x7fffff, .want = WARD_NAK_SEQ },
	{ "one after, told", OP(SEND_ONLY), .psn = 1, .naked = true, .want = WARD_IGNORE },
	{ "next, after a NAK", OP(SEND_ONLY), .naked = true, .want = WARD_EXECUTE },
	{ "one before, after a NAK", OP(SEND_ONLY), .psn = -1, .naked = true,
	  .want = WARD_DUPLICATE },
	{ "malformed, but before", OP(SEND_ONLY), .psn = -1, .len = 9999, .want = WARD_DUPLICATE },
	{ "malformed, but after", OP(SEND_LAST), .psn = 1, .want = WARD_NAK_SEQ },

	/* sequence of opcodes, no message half received */
	{ "SEND First", OP(SEND_FIRST), .len = MTU, .want = WARD_EXECUTE },
	{ "SEND Middle out of nothing", OP(SEND_MIDDLE), .len = MTU, .want = WARD_INVALID },
	{ "SEND Last out of nothing", OP(SEND_LAST), .len = 1, .want = WARD_INVALID },
	{ "SEND Last INV out of nothing", OP(SEND_LAST_INV), .len = 1, .want = WARD_INVALID },
	{ "WRITE Middle out of nothing", OP(WRITE_MIDDLE), .len = MTU, .want = WARD_INVALID },
	{ "WRITE Last IMM out of nothing", OP(WRITE_LAST_IMM), .len = 1, .want = WARD_INVALID },
	{ "SEND Only INV", OP(SEND_ONLY_INV), .len = 8, .want = WARD_EXECUTE },
	{ "SEND Only IMM of nothing", OP(SEND_ONLY_IMM), .want = WARD_EXECUTE },

	/* a SEND is half received */
	{ "SEND Middle", HALF(SEND, MTU, 0), OP(SEND_MIDDLE), .len = MTU, .want = WARD_EXECUTE },
	{ "SEND Last", HALF(SEND, MTU, 0), OP(SEND_LAST), .len = 1, .want = WARD_EXECUTE },
	{ "SEND Last IMM", HALF(SEND, MTU, 0), OP(SEND_LAST_IMM), .len = MTU,
	  .want = WARD_EXECUTE },
	{ "SEND Last INV", HALF(SEND, MTU, 0), OP(SEND_LAST_INV), .len = 7, .want = WARD_EXECUTE },
	{ "SEND First in a SEND", HALF(SEND, MTU, 0), OP(SEND_FIRST), .len = MTU,
	  .want = WARD_INVALID },
	{ "SEND Only in a SEND", HALF(SEND, MTU, 0), OP(SEND_ONLY), .len = 1,
	  .want = WARD_INVALID },
	{ "WRITE Middle in a SEND", HALF(SEND, MTU, 0), OP(WRITE_MIDDLE), .len = MTU,
	  .want = WARD_INVALID },
	{ "WRITE Last in a SEND", HALF(SEND, MTU, 0), OP(WRITE_LAST), .len = 1,
	  .want = WARD_INVALID },
	{ "READ in a SEND", HALF(SEND, MTU, 0), OP(READ_REQUEST), .dma_len = 1,
	  .want = WARD_INVALID },
	{ "atomic in a SEND", HALF(SEND, MTU, 0), OP(FETCH_ADD), .want = WARD_INVALID },

	/* a WRITE is half received */
	{ "WRITE Middle", HALF(WRITE, MTU, 3 * MTU), OP(WRITE_MIDDLE), .len = MTU,
	  .want = WARD_EXECUTE },
	{ "WRITE Last", HALF(WRITE, MTU, MTU + 1), OP(WRITE_LAST), .len = 1,
	  .want = WARD_EXECUTE },
	{ "WRITE Last IMM", HALF(WRITE, MTU, 2 * MTU), OP(WRITE_LAST_IMM), .len = MTU,
	  .want = WARD_EXECUTE },
	{ "WRITE First in a WRITE", HALF(WRITE, MTU, 3 * MTU), OP(WRITE_FIRST), .len = MTU,
	  .dma_len = 2 * MTU, .want = WARD_INVALID },
	{ "WRITE Only in a WRITE", HALF(WRITE, MTU, 3 * MTU), OP(WRITE_ONLY), .len = 1,
	  .dma_len = 1, .want = WARD_INVALID },
	{ "SEND Middle in a WRITE", HALF(WRITE, MTU, 3 * MTU), OP(SEND_MIDDLE), .len = MTU,
	  .want = WARD_INVALID },
	{ "SEND Last in a WRITE", HALF(WRITE, MTU, 3 * MTU), OP(SEND_LAST), .len = 1,
	  .want = WARD_INVALID },
	{ "READ in a WRITE", HALF(WRITE, MTU, 3 * MTU), OP(READ_REQUEST), .dma_len = 1,
	  .want = WARD_INVALID },
	{ "atomic in a WRITE", HALF(WRITE, MTU, 3 * MTU), OP(COMPARE_SWAP), .want = WARD_INVALID },

	/* ATOMIC WRITE (field report 4) and FLUSH */
	{ "ATOMIC WRITE", OP(ATOMIC_WRITE), .len = 8, .dma_len = 8, .want = WARD_EXECUTE },
	{ "ATOMIC WRITE of nothing", OP(ATOMIC_WRITE), .dma_len = 8, .want = WARD_INVALID },
	{ "ATOMIC WRITE of 1", OP(ATOMIC_WRITE), .len = 1, .dma_len = 8, .want = WARD_INVALID },
	{ "ATOMIC WRITE of 7", OP(ATOMIC_WRITE), .len = 7, .dma_len = 8, .want = WARD_INVALID },
	{ "ATOMIC WRITE of 9", OP(ATOMIC_WRITE), .len = 9, .dma_len = 9, .want = WARD_INVALID },
	{ "ATOMIC WRITE of 16", OP(ATOMIC_WRITE), .len = 16, .dma_len = 16, .want = WARD_INVALID },
	{ "ATOMIC WRITE that says 0", OP(ATOMIC_WRITE), .len = 8, .want = WARD_INVALID },
	{ "ATOMIC WRITE, not aligned", OP(ATOMIC_WRITE), .va = 4, .len = 8, .dma_len = 8,
	  .want = WARD_INVALID },
	{ "ATOMIC WRITE in a SEND", HALF(SEND, MTU, 0), OP(ATOMIC_WRITE), .len = 8, .dma_len = 8,
	  .want = WARD_INVALID },
	{ "FLUSH", OP(FLUSH), .dma_len = GB2, .want = WARD_EXECUTE },
	{ "FLUSH of 2^31 + 1", OP(FLUSH), .dma_len = GB2 + 1, .want = WARD_INVALID },
	{ "FLUSH in a WRITE", HALF(WRITE, MTU, 3 * MTU), OP(FLUSH), .want = WARD_INVALID },

	/* lengths of packets */
	{ "Only of MTU - 1", OP(SEND_ONLY), .len = MTU - 1, .want = WARD_EXECUTE },
	{ "Only of MTU", OP(SEND_ONLY), .len = MTU, .want = WARD_EXECUTE },
	{ "Only of MTU + 1", OP(SEND_ONLY), .len = MTU + 1, .want = WARD_INVALID },
	{ "First of MTU - 1", OP(SEND_FIRST), .len = MTU - 1, .want = WARD_INVALID },
	{ "First of MTU + 1", OP(SEND_FIRST), .len = MTU + 1, .want = WARD_INVALID },
	{ "First of nothing", OP(SEND_FIRST), .want = WARD_INVALID },
	{ "Middle of MTU - 1", HALF(SEND, MTU, 0), OP(SEND_MIDDLE), .len = MTU - 1,
	  .want = WARD_INVALID },
	{ "Middle of MTU + 1", HALF(SEND, MTU, 0), OP(SEND_MIDDLE), .len = MTU + 1,
	  .want = WARD_INVALID },
	{ "Middle of nothing", HALF(SEND, MTU, 0), OP(SEND_MIDDLE), .want = WARD_INVALID },
	{ "Last of nothing", HALF(SEND, MTU, 0), OP(SEND_LAST), .want = WARD_INVALID },
	{ "Last of MTU", HALF(SEND, MTU, 0), OP(SEND_LAST), .len = MTU, .want = WARD_EXECUTE },
	{ "Last of MTU + 1", HALF(SEND, MTU, 0), OP(SEND_LAST), .len = MTU + 1,
	  .want = WARD_INVALID },
	{ "WRITE Last of nothing", HALF(WRITE, MTU, MTU), OP(WRITE_LAST), .want = WARD_INVALID },
	{ "WRITE First of MTU - 1", OP(WRITE_FIRST), .len = MTU - 1, .dma_len = 2 * MTU,
	  .want = WARD_INVALID },
	{ "WRITE First of MTU + 1", OP(WRITE_FIRST), .len = MTU + 1, .dma_len = 2 * MTU,
	  .want = WARD_INVALID },
	{ "WRITE Middle of MTU + 1", HALF(WRITE, MTU, 4 * MTU), OP(WRITE_MIDDLE), .len = MTU + 1,
	  .want = WARD_INVALID },

	/* the RETH length of a WRITE */
	{ "WRITE Only", OP(WRITE_ONLY), .len = 5, .dma_len = 5, .want = WARD_EXECUTE },
	{ "WRITE Only of nothing", OP(WRITE_ONLY), .want = WARD_EXECUTE },
	{ "WRITE Only IMM of nothing", OP(WRITE_ONLY_IMM), .want = WARD_EXECUTE },
	{ "WRITE Only, one byte short", OP(WRITE_ONLY), .len = 5, .dma_len = 6,
	  .want = WARD_INVALID },
	{ "WRITE Only, one byte too many", OP(WRITE_ONLY), .len = 5, .dma_len = 4,
	  .want = WARD_INVALID },
	{ "WRITE Only of MTU + 1", OP(WRITE_ONLY), .len = MTU + 1, .dma_len = MTU + 1,
	  .want = WARD_INVALID },
	{ "WRITE First, one byte to follow", OP(WRITE_FIRST), .len = MTU, .dma_len = MTU + 1,
	  .want = WARD_EXECUTE },
	{ "WRITE First, nothing to follow", OP(WRITE_FIRST), .len = MTU, .dma_len = MTU,
	  .want = WARD_INVALID },
	{ "WRITE First, beyond its length", OP(WRITE_FIRST), .len = MTU, .dma_len = MTU - 1,
	  .want = WARD_INVALID },
	{ "WRITE First of 2^31", OP(WRITE_FIRST), .len = MTU, .dma_len = GB2,
	  .want = WARD_EXECUTE },
	{ "WRITE First of 2^31 + 1", OP(WRITE_FIRST), .len = MTU, .dma_len = GB2 + 1,
	  .want = WARD_INVALID },
	{ "WRITE First of 2^32 - 1", OP(WRITE_FIRST), .len = MTU, .dma_len = 0xffffffff,
	  .want = WARD_INVALID },
	{ "WRITE Middle that leaves a byte", HALF(WRITE, MTU, 2 * MTU + 1), OP(WRITE_MIDDLE),
	  .len = MTU, .want = WARD_EXECUTE },
	{ "WRITE Middle that leaves nothing", HALF(WRITE, MTU, 2 * MTU), OP(WRITE_MIDDLE),
	  .len = MTU, .want = WARD_INVALID },
	{ "WRITE Middle beyond the length", HALF(WRITE, MTU, 2 * MTU - 1), OP(WRITE_MIDDLE),
	  .len = MTU, .want = WARD_INVALID },
	{ "WRITE that sums to RETH - 1", HALF(WRITE, MTU, 2 * MTU), OP(WRITE_LAST),
	  .len = MTU - 1, .want = WARD_INVALID },
	{ "WRITE that sums to RETH + 1", HALF(WRITE, MTU, 2 * MTU - 1), OP(WRITE_LAST),
	  .len = MTU, .want = WARD_INVALID },
	{ "last bytes of a WRITE of 2^31", HALF(WRITE, GB2 - MTU, GB2), OP(WRITE_LAST),
	  .len = MTU, .want = WARD_EXECUTE },
	{ "the RETH length is that of the message", HALF(WRITE, MTU, MTU + 4), OP(WRITE_LAST),
	  .len = 4, .dma_len = 9999, .want = WARD_EXECUTE },

	/* the total of a SEND */
	{ "last bytes of a SEND of 2^31", HALF(SEND, GB2 - MTU, 0), OP(SEND_LAST), .len = MTU,
	  .want = WARD_EXECUTE },
	{ "SEND of 2^31 + 1", HALF(SEND, GB2 - MTU + 1, 0), OP(SEND_LAST), .len = MTU,
	  .want = WARD_INVALID },
	{ "SEND Middle that leaves nothing up to 2^31", HALF(SEND, GB2 - MTU, 0), OP(SEND_MIDDLE),
	  .len = MTU, .want = WARD_INVALID },
	{ "SEND Middle before that", HALF(SEND, GB2 - 2 * MTU, 0), OP(SEND_MIDDLE), .len = MTU,
	  .want = WARD_EXECUTE },
	{ "old write_len does not bind a SEND", HALF(SEND, MTU, 5), OP(SEND_LAST), .len = MTU,
	  .want = WARD_EXECUTE },
	{ "old got does not bind a new message", HALF(NONE, GB2, 5), OP(SEND_ONLY), .len = MTU,
	  .want = WARD_EXECUTE },

	/* READ and atomics */
	{ "READ of nothing", OP(READ_REQUEST), .want = WARD_EXECUTE },
	{ "READ of 2^31", OP(READ_REQUEST), .dma_len = GB2, .want = WARD_EXECUTE },
	{ "READ of 2^31 + 1", OP(READ_REQUEST), .dma_len = GB2 + 1, .want = WARD_INVALID },
	{ "CmpSwap", OP(COMPARE_SWAP), .va = 0x1008, .want = WARD_EXECUTE },
	{ "CmpSwap, address + 1", OP(COMPARE_SWAP), .va = 0x1009, .want = WARD_INVALID },
	{ "FetchAdd, address + 4", OP(FETCH_ADD), .va = 0x1004, .want = WARD_INVALID },
	{ "FetchAdd at the end of the space", OP(FETCH_ADD), .va = 0xfffffffffffffff8,
	  .want = WARD_EXECUTE },
	{ "FetchAdd there, address + 7", OP(FETCH_ADD), .va = 0xffffffffffffffff,
	  .want = WARD_INVALID },

	/* what is no request */
	{ "Acknowledge", OP(ACKNOWLEDGE), .want = WARD_IGNORE },
	{ "READ response", OP(READ_RESP_ONLY), .len = 4, .want = WARD_IGNORE },
	{ "old Acknowledge", OP(ACKNOWLEDGE), .psn = -1, .want = WARD_IGNORE },
	{ "unknown opcode", .opcode = 0x1f, .want = WARD_IGNORE },
};

KUNIT_ARRAY_PARAM_DESC(order, orders, name);

static void judge(struct kunit *test, const struct order_case *c, u8 transport)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		struct ward_order o = {
			.epsn = bases[i],
			.mtu = MTU,
			.msg = c->msg,
			.got = c->got,
			.write_len = c->write_len,
			.naked = c->naked,
		};
		struct ward_pkt pkt = {
			.op = ward_opcode(transport | c->opcode),
			.opcode = transport | c->opcode,
			.psn = ward_psn_add(bases[i], c->psn),
			.len = c->len,
			.dma_len = c->dma_len,
			.va = c->va,
		};

		KUNIT_EXPECT_EQ_MSG(test, ward_order_judge(&o, &pkt), c->want,
				    "expected PSN %#x", bases[i]);
	}
}

static void rc_verdict(struct kunit *test)
{
	judge(test, test->param_value, WARD_RC);
}

/* What UC has in common with RC is judged alike */
static void uc_verdict(struct kunit *test)
{
	const struct order_case *c = test->param_value;

	if (ward_opcode(WARD_UC | c->opcode)->hdr_len)
		judge(test, c, WARD_UC);
}

struct uc_case {
	const char *name;
	/* the responder */
	u8	msg;
	u32	got;
	u32	write_len;
	/* the packet, its PSN from the expected one on */
	u8	opcode;
	s32	psn;
	u32	len;
	u32	dma_len;
	enum ward_verdict want;
	/* what the responder is amid of afterwards */
	u8	then;
};

#define AMID(m)		.then = WARD_MSG_##m

static const struct uc_case ucs[] = {
	{ "next Only", OP(SEND_ONLY), .len = 5, .want = WARD_EXECUTE },
	{ "Only, some are missing", OP(SEND_ONLY), .psn = 3, .len = 5, .want = WARD_EXECUTE },
	{ "Only, from before", OP(SEND_ONLY), .psn = -3, .len = 5, .want = WARD_EXECUTE },
	{ "Only, half the space away", OP(SEND_ONLY), .psn = -0x800000, .want = WARD_EXECUTE },
	{ "First, some are missing", OP(SEND_FIRST), .psn = 9, .len = MTU, .want = WARD_EXECUTE },
	{ "WRITE Only, some are missing", OP(WRITE_ONLY), .psn = 1, .len = 8, .dma_len = 8,
	  .want = WARD_EXECUTE },

	/* amid of a message */
	{ "next Middle", HALF(SEND, MTU, 0), OP(SEND_MIDDLE), .len = MTU, .want = WARD_EXECUTE,
	  AMID(SEND) },
	{ "next Last", HALF(SEND, MTU, 0), OP(SEND_LAST), .len = 1, .want = WARD_EXECUTE,
	  AMID(SEND) },
	{ "next Last of a WRITE", HALF(WRITE, MTU, MTU + 1), OP(WRITE_LAST), .len = 1,
	  .want = WARD_EXECUTE, AMID(WRITE) },
	{ "Middle, one is missing", HALF(SEND, MTU, 0), OP(SEND_MIDDLE), .psn = 1, .len = MTU,
	  .want = WARD_IGNORE },
	{ "Last, one is missing", HALF(SEND, MTU, 0), OP(SEND_LAST), .psn = 1, .len = 1,
	  .want = WARD_IGNORE },
	{ "Last, seen before", HALF(SEND, MTU, 0), OP(SEND_LAST), .psn = -1, .len = 1,
	  .want = WARD_IGNORE },
	{ "WRITE Last, one is missing", HALF(WRITE, MTU, 2 * MTU + 1), OP(WRITE_LAST), .psn = 1,
	  .len = 1, .want = WARD_IGNORE },
	{ "a message without its end, then Only", HALF(SEND, MTU, 0), OP(SEND_ONLY), .len = 1,
	  .want = WARD_EXECUTE },
	{ "a message without its end, then First", HALF(SEND, MTU, 0), OP(SEND_FIRST), .len = MTU,
	  .want = WARD_EXECUTE },
	{ "a gap, then First", HALF(WRITE, MTU, 2 * MTU), OP(SEND_FIRST), .psn = 7, .len = MTU,
	  .want = WARD_EXECUTE },
	{ "another kind of message", HALF(SEND, MTU, 0), OP(WRITE_LAST), .len = 1,
	  .want = WARD_IGNORE },

	/* the rest of a message that was given up */
	{ "Middle out of nothing", OP(SEND_MIDDLE), .len = MTU, .want = WARD_IGNORE },
	{ "Last out of nothing", OP(SEND_LAST), .len = MTU, .want = WARD_IGNORE },
	{ "WRITE Last IMM out of nothing", OP(WRITE_LAST_IMM), .len = MTU, .want = WARD_IGNORE },

	/* malformed */
	{ "Only of MTU + 1", OP(SEND_ONLY), .len = MTU + 1, .want = WARD_IGNORE },
	{ "First of MTU - 1", OP(SEND_FIRST), .len = MTU - 1, .want = WARD_IGNORE },
	{ "WRITE Only, one byte short", OP(WRITE_ONLY), .len = 5, .dma_len = 6,
	  .want = WARD_IGNORE },
	{ "WRITE beyond its length", HALF(WRITE, MTU, MTU + 1), OP(WRITE_LAST), .len = 2,
	  .want = WARD_IGNORE },
	{ "WRITE First of 2^31 + 1", OP(WRITE_FIRST), .len = MTU, .dma_len = GB2 + 1,
	  .want = WARD_IGNORE },
	{ "SEND of 2^31 + 1", HALF(SEND, GB2 - MTU + 1, 0), OP(SEND_LAST), .len = MTU,
	  .want = WARD_IGNORE },
};

KUNIT_ARRAY_PARAM_DESC(uc, ucs, name);

static void uc_goes_on_after_a_gap(struct kunit *test)
{
	const struct uc_case *c = test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		struct ward_order o = {
			.epsn = bases[i], .mtu = MTU, .msg = c->msg, .got = c->got,
			.write_len = c->write_len,
		};
		struct ward_pkt pkt = {
			.op = ward_opcode(WARD_UC | c->opcode), .opcode = WARD_UC | c->opcode,
			.psn = ward_psn_add(bases[i], c->psn), .len = c->len,
			.dma_len = c->dma_len,
		};

		KUNIT_EXPECT_EQ_MSG(test, ward_order_judge_uc(&o, &pkt), c->want,
				    "expected PSN %#x", bases[i]);
		KUNIT_EXPECT_EQ(test, o.msg, c->then);
		KUNIT_EXPECT_EQ(test, o.got, c->then ? c->got : 0);
		/* the caller moves on when it has executed */
		KUNIT_EXPECT_EQ(test, o.epsn,
				c->want == WARD_EXECUTE ? pkt.psn : ward_psn_add(pkt.psn, 1));
	}
}

/* No opcode, in no state, is anything else than executed or ignored */
static void uc_never_answers(struct kunit *test)
{
	static const u8 states[] = { WARD_MSG_NONE, WARD_MSG_SEND, WARD_MSG_WRITE };
	unsigned int opcode, i, psn;

	for (opcode = 0; opcode < 256; opcode++) {
		for (i = 0; i < ARRAY_SIZE(states); i++) {
			for (psn = 4; psn <= 6; psn++) {
				struct ward_order o = { .epsn = 5, .mtu = MTU, .msg = states[i] };
				struct ward_pkt pkt = { .op = ward_opcode(opcode), .psn = psn };
				enum ward_verdict v = ward_order_judge_uc(&o, &pkt);

				KUNIT_EXPECT_TRUE(test, v == WARD_EXECUTE || v == WARD_IGNORE);
			}
		}
	}
}

/*
 * A stranger who does not know the expected PSN must not end a connection: out of
 * order, nothing but the PSN counts.
 */
static void out_of_order_content_is_not_looked_at(struct kunit *test)
{
	static const u8 states[] = { WARD_MSG_NONE, WARD_MSG_SEND, WARD_MSG_WRITE };
	static const u32 lengths[] = { 0, 1, MTU, MTU + 1, 0xffffffff };
	const struct ward_spec *s = ward_spec;
	unsigned int i, j;

	for (; s < ward_spec + ARRAY_SIZE(ward_spec); s++) {
		struct ward_pkt pkt = { .op = ward_opcode(s->opcode), .va = 1 };
		struct ward_order o = { .mtu = MTU, .epsn = 5 };

		if (!s->request)
			continue;
		for (i = 0; i < ARRAY_SIZE(states); i++) {
			for (j = 0; j < ARRAY_SIZE(lengths); j++) {
				o.msg = states[i];
				o.naked = false;
				pkt.len = lengths[j];
				pkt.dma_len = ~lengths[j];
				pkt.psn = 4;
				KUNIT_EXPECT_EQ(test, ward_order_judge(&o, &pkt), WARD_DUPLICATE);
				pkt.psn = 6;
				KUNIT_EXPECT_EQ(test, ward_order_judge(&o, &pkt), WARD_NAK_SEQ);
				o.naked = true;
				KUNIT_EXPECT_EQ(test, ward_order_judge(&o, &pkt), WARD_IGNORE);
			}
		}
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(rc_verdict, order_gen_params),
	KUNIT_CASE_PARAM(uc_verdict, order_gen_params),
	KUNIT_CASE_PARAM(uc_goes_on_after_a_gap, uc_gen_params),
	KUNIT_CASE(uc_never_answers),
	KUNIT_CASE(out_of_order_content_is_not_looked_at),
	{}
};

static struct kunit_suite ward_responder_suite = {
	.name = "ward_responder",
	.test_cases = cases,
};

kunit_test_suite(ward_responder_suite);
