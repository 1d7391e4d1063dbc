// SPDX-License-Identifier: GPL-2.0
/*
 * The completer's table. PSNs of a case count from the oldest one under way;
 * each case runs with that at several places.
 */
#include <kunit/test.h>
#include "../drivers/ward/proto/completer.h"
#include "../drivers/ward/proto/psn.h"
#include "spec.h"

#define MTU	1024

static const u32 bases[] = { 0, 1, 0x7ffffc, 0x800000, 0xfffffb, 0xfffffe, 0xffffff };

/* What is under way; @wait is 0, 'R'EAD or 'A'tomic */
struct flight_case {
	s32	nxt;
	char	wait;
	s32	resp;
	s32	resp_last;
	u32	bytes;
};

/* Ten SENDs */
#define SENDS		{ .nxt = 10 }
/* Four SENDs, a READ of 2.5 MTU of which nothing came, three SENDs */
#define READ_THREE	{ .nxt = 10, .wait = 'R', .resp = 4, .resp_last = 6, .bytes = 2560 }
/* The last 512 bytes of a READ, three SENDs */
#define READ_TAIL	{ .nxt = 4, .wait = 'R', .resp_last = 0, .bytes = 512 }
/* A READ of nothing, alone */
#define READ_EMPTY	{ .nxt = 1, .wait = 'R' }
/* The last MTU bytes of a READ, alone */
#define READ_MTU	{ .nxt = 1, .wait = 'R', .bytes = MTU }
/* A READ of exactly two packets, alone */
#define READ_TWO	{ .nxt = 2, .wait = 'R', .resp_last = 1, .bytes = 2048 }
/* Two SENDs, an atomic, two SENDs */
#define ATOMIC		{ .nxt = 5, .wait = 'A', .resp = 2, .resp_last = 2 }
/* As much as fits in 24 bits */
#define ALL		{ .nxt = 0xffffff }

struct answer_case {
	const char *name;
	struct flight_case flight;
	u8	opcode;
	s32	psn;
	u8	syndrome;
	u32	len;
	enum ward_answer want;
	s32	want_psn;		/* not looked at for DROP */
};

#define ACK(p, syn)	.opcode = 0x11, .psn = p, .syndrome = syn
#define FIRST(p, n)	.opcode = 0x0d, .psn = p, .syndrome = 0x1f, .len = n
#define MIDDLE(p, n)	.opcode = 0x0e, .psn = p, .len = n
#define LAST(p, n)	.opcode = 0x0f, .psn = p, .syndrome = 0x1f, .len = n
#define ONLY(p, n)	.opcode = 0x10, .psn = p, .syndrome = 0x1f, .len = n
#define ATOMACK(p)	.opcode = 0x12, .psn = p, .syndrome = 0x1f
#define DROPPED		.want = WARD_ANS_DROP
#define IS(a, p)	.want = WARD_ANS_##a, .want_psn = p

static const struct answer_case answers[] = {
	/* positive acknowledgements */
	{ "ACK of the oldest", SENDS, ACK(0, 0x1f), IS(ACK, 0) },
	{ "ACK of several", SENDS, ACK(5, 0x1f), IS(ACK, 5) },
	{ "ACK of the newest", SENDS, ACK(9, 0x1f), IS(ACK, 9) },
	{ "ACK with credits", SENDS, ACK(9, 0x00), IS(ACK, 9) },
	{ "ACK that came before", SENDS, ACK(-1, 0x1f), DROPPED },
	{ "ACK of long ago", SENDS, ACK(-0x800000, 0x1f), DROPPED },
	{ "ACK of what was not sent", SENDS, ACK(10, 0x1f), DROPPED },
	{ "ACK with nothing under way", {}, ACK(0, 0x1f), DROPPED },
	{ "ACK of the one before, with nothing under way", {}, ACK(-1, 0x1f), DROPPED },
	{ "ACK at the far end of 24 bits", ALL, ACK(0xfffffe, 0x1f), IS(ACK, 0xfffffe) },
	{ "ACK beyond that", ALL, ACK(0xffffff, 0x1f), DROPPED },
	{ "ACK in front of a READ", READ_THREE, ACK(3, 0x1f), IS(ACK, 3) },
	{ "ACK of a READ, no response", READ_THREE, ACK(4, 0x1f), IS(LOST, 4) },
	{ "ACK of the last PSN of a READ", READ_THREE, ACK(6, 0x1f), IS(LOST, 4) },
	{ "ACK of what follows a READ", READ_THREE, ACK(9, 0x1f), IS(LOST, 4) },
	{ "ACK of an atomic, no response", ATOMIC, ACK(2, 0x1f), IS(LOST, 2) },
	{ "ACK of what follows an atomic", ATOMIC, ACK(3, 0x1f), IS(LOST, 2) },
	{ "ACK of the rest of a READ", READ_TAIL, ACK(0, 0x1f), IS(LOST, 0) },
	{ "ACK of the part of a READ that came", READ_TAIL, ACK(-1, 0x1f), DROPPED },

	/* sequence NAKs */
	{ "sequence NAK", SENDS, ACK(5, 0x60), IS(SEQ, 5) },
	{ "sequence NAK of the oldest", SENDS, ACK(0, 0x60), IS(SEQ, 0) },
	{ "sequence NAK of the newest", SENDS, ACK(9, 0x60), IS(SEQ, 9) },
	{ "sequence NAK of what is to be sent next", SENDS, ACK(10, 0x60), DROPPED },
	{ "old sequence NAK", SENDS, ACK(-1, 0x60), DROPPED },
	{ "sequence NAK, nothing under way", {}, ACK(0, 0x60), DROPPED },
	{ "sequence NAK in front of a READ", READ_THREE, ACK(2, 0x60), IS(SEQ, 2) },
	{ "sequence NAK of a READ", READ_THREE, ACK(4, 0x60), IS(SEQ, 4) },
	{ "sequence NAK behind a READ", READ_THREE, ACK(7, 0x60), IS(LOST, 4) },
	{ "sequence NAK behind an atomic", ATOMIC, ACK(3, 0x60), IS(LOST, 2) },

	/* receiver not ready */
	{ "RNR", SENDS, ACK(3, 0x20), IS(RNR, 3) },
	{ "RNR of the oldest, longest delay", SENDS, ACK(0, 0x3f), IS(RNR, 0) },
	{ "RNR of what was not sent", SENDS, ACK(10, 0x2e), DROPPED },
	{ "old RNR", SENDS, ACK(-1, 0x2e), DROPPED },
	{ "RNR of a READ", READ_THREE, ACK(4, 0x2e), IS(RNR, 4) },
	{ "RNR behind a READ", READ_THREE, ACK(7, 0x2e), IS(LOST, 4) },

	/* the peer gives up */
	{ "invalid request", SENDS, ACK(3, 0x61), IS(FATAL, 3) },
	{ "remote access error", SENDS, ACK(0, 0x62), IS(FATAL, 0) },
	{ "remote operation error", SENDS, ACK(9, 0x63), IS(FATAL, 9) },
	{ "remote access error, not sent", SENDS, ACK(10, 0x62), DROPPED },
	{ "old remote access error", SENDS, ACK(-1, 0x62), DROPPED },
	{ "remote access error of a READ", READ_THREE, ACK(4, 0x62), IS(FATAL, 4) },
	{ "remote access error in a READ, some lost", READ_THREE, ACK(5, 0x62), IS(LOST, 4) },
	{ "remote access error in a READ, all came", READ_TAIL, ACK(0, 0x62), IS(FATAL, 0) },
	{ "remote access error of an atomic", ATOMIC, ACK(2, 0x62), IS(FATAL, 2) },
	{ "remote access error behind an atomic", ATOMIC, ACK(3, 0x62), IS(LOST, 2) },
	{ "invalid request in front of a READ", READ_THREE, ACK(1, 0x61), IS(FATAL, 1) },

	/* READ responses in order */
	{ "First", READ_THREE, FIRST(4, MTU), IS(DATA, 4) },
	{ "First, called Middle", READ_THREE, MIDDLE(4, MTU), IS(DATA, 4) },
	{ "Last of the rest", READ_TAIL, LAST(0, 512), IS(DATA, 0) },
	{ "Last of the rest, called Only", READ_TAIL, ONLY(0, 512), IS(DATA, 0) },
	{ "Only of nothing", READ_EMPTY, ONLY(0, 0), IS(DATA, 0) },
	{ "First of two", READ_TWO, FIRST(0, MTU), IS(DATA, 0) },

	/* READ responses of the wrong length */
	{ "First of MTU - 1", READ_THREE, FIRST(4, MTU - 1), IS(BAD, 4) },
	{ "First of MTU + 1", READ_THREE, FIRST(4, MTU + 1), IS(BAD, 4) },
	{ "First of nothing", READ_THREE, FIRST(4, 0), IS(BAD, 4) },
	{ "Middle of MTU - 1", READ_THREE, MIDDLE(4, MTU - 1), IS(BAD, 4) },
	{ "Only of MTU, asked for once more", READ_THREE, ONLY(4, MTU), IS(DATA, 4) },
	{ "all bytes in one packet", READ_THREE, ONLY(4, 2560), IS(BAD, 4) },
	{ "First in place of the last", READ_TAIL, FIRST(0, 512), IS(BAD, 0) },
	{ "Middle of MTU in place of the last", READ_TAIL, MIDDLE(0, MTU), IS(BAD, 0) },
	{ "Last, a byte short", READ_TAIL, LAST(0, 511), IS(BAD, 0) },
	{ "Last, a byte too many", READ_TAIL, LAST(0, 513), IS(BAD, 0) },
	{ "Last of MTU of a part", READ_TWO, LAST(0, MTU), IS(DATA, 0) },
	{ "Last of a part, a byte short", READ_TWO, LAST(0, MTU - 1), IS(BAD, 0) },
	{ "Last of MTU", READ_MTU, LAST(0, MTU), IS(DATA, 0) },
	{ "Middle in place of a last of MTU", READ_MTU, MIDDLE(0, MTU), IS(BAD, 0) },
	{ "some bytes in place of none", READ_EMPTY, ONLY(0, 4), IS(BAD, 0) },
	{ "First in place of none", READ_EMPTY, FIRST(0, MTU), IS(BAD, 0) },

	/* READ responses out of order */
	{ "second before the first", READ_THREE, MIDDLE(5, MTU), IS(LOST, 4) },
	{ "last before the first", READ_THREE, LAST(6, 512), IS(LOST, 4) },
	{ "response of a later request", READ_THREE, ONLY(8, 4), IS(LOST, 4) },
	{ "out of order and malformed", READ_THREE, LAST(6, 9999), IS(LOST, 4) },
	{ "response that came before", READ_TAIL, MIDDLE(-1, MTU), DROPPED },
	{ "response at a SEND before the READ", READ_THREE, ONLY(3, 4), DROPPED },
	{ "response to a SEND", SENDS, ONLY(3, 4), DROPPED },
	{ "response to what was not sent", READ_THREE, ONLY(10, 4), DROPPED },
	{ "response with nothing under way", {}, ONLY(0, 4), DROPPED },

	/* atomics */
	{ "atomic response", ATOMIC, ATOMACK(2), IS(DATA, 2) },
	{ "atomic response that came before", ATOMIC, ATOMACK(-1), DROPPED },
	{ "atomic response at a SEND", ATOMIC, ATOMACK(1), DROPPED },
	{ "atomic response to a later request", ATOMIC, ATOMACK(4), IS(LOST, 2) },
	{ "atomic response to what was not sent", ATOMIC, ATOMACK(5), DROPPED },
	{ "atomic response, none awaited", SENDS, ATOMACK(2), DROPPED },
	{ "READ response to an atomic", ATOMIC, ONLY(2, 8), IS(BAD, 2) },
	{ "atomic response to a READ", READ_THREE, ATOMACK(4), IS(BAD, 4) },
	{ "atomic response inside a READ", READ_THREE, ATOMACK(5), IS(BAD, 5) },
	{ "atomic response behind a READ", READ_THREE, ATOMACK(7), IS(LOST, 4) },
	{ "READ response behind an atomic", ATOMIC, ONLY(3, 8), IS(LOST, 2) },

	/* responses whose syndrome is no ACK */
	{ "READ response with a NAK", READ_THREE, .opcode = 0x0d, .psn = 4, .syndrome = 0x62,
	  .len = MTU, DROPPED },
	{ "READ response with a reserved syndrome", READ_THREE, .opcode = 0x10, .psn = 5,
	  .syndrome = 0x80, .len = 4, DROPPED },
	{ "atomic response with RNR", ATOMIC, .opcode = 0x12, .psn = 2, .syndrome = 0x20, DROPPED },
	{ "READ response Middle has no syndrome", READ_THREE, .opcode = 0x0e, .psn = 4,
	  .syndrome = 0x62, .len = MTU, IS(DATA, 4) },

	/* what is no response */
	{ "SEND", SENDS, .opcode = 0x04, .psn = 3, DROPPED },
	{ "READ request", READ_THREE, .opcode = 0x0c, .psn = 4, DROPPED },
	{ "unknown opcode", READ_THREE, .opcode = 0x1f, .psn = 4, DROPPED },
};

KUNIT_ARRAY_PARAM_DESC(answer, answers, name);

static struct ward_flight flight_at(const struct flight_case *c, u32 base)
{
	return (struct ward_flight){
		.una = base,
		.nxt = ward_psn_add(base, c->nxt),
		.resp_psn = ward_psn_add(base, c->resp),
		.resp_last = ward_psn_add(base, c->resp_last),
		.resp_wait = c->wait,
		.resp_atomic = c->wait == 'A',
		.resp_bytes = c->bytes,
		.mtu = MTU,
	};
}

static void verdict(struct kunit *test)
{
	const struct answer_case *c = test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		struct ward_flight f = flight_at(&c->flight, bases[i]);
		struct ward_pkt pkt = {
			.op = ward_opcode(c->opcode),
			.opcode = c->opcode,
			.psn = ward_psn_add(bases[i], c->psn),
			.syndrome = c->syndrome,
			.len = c->len,
		};
		struct ward_answer_at at = ward_answer_judge(&f, &pkt);

		KUNIT_EXPECT_EQ_MSG(test, at.what, c->want, "oldest PSN %#x", bases[i]);
		if (c->want == WARD_ANS_DROP)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, at.psn, ward_psn_add(bases[i], c->want_psn),
				    "oldest PSN %#x", bases[i]);
		if (c->want == WARD_ANS_RNR || c->want == WARD_ANS_FATAL)
			KUNIT_EXPECT_EQ(test, at.syndrome, c->syndrome);
	}
}

/* Every value of the syndrome, at a place where nothing is awaited */
static void syndromes(struct kunit *test)
{
	static const struct flight_case sends = SENDS;
	struct ward_flight f = flight_at(&sends, 100);
	struct ward_pkt pkt = { .op = ward_opcode(0x11), .opcode = 0x11, .psn = 103 };
	unsigned int syndrome;

	for (syndrome = 0; syndrome < 256; syndrome++) {
		enum ward_answer want = WARD_ANS_DROP;

		if (syndrome <= 0x1f)
			want = WARD_ANS_ACK;
		else if (syndrome <= 0x3f)
			want = WARD_ANS_RNR;
		else if (syndrome == 0x60)
			want = WARD_ANS_SEQ;
		else if (syndrome >= 0x61 && syndrome <= 0x63)
			want = WARD_ANS_FATAL;

		pkt.syndrome = syndrome;
		KUNIT_EXPECT_EQ_MSG(test, ward_answer_judge(&f, &pkt).what, want,
				    "syndrome %#x", syndrome);
	}
}

static void expect_inside(struct kunit *test, const struct ward_flight *f,
			  const struct ward_pkt *pkt)
{
	const u32 under_way = ward_psn_distance(f->una, f->nxt);
	struct ward_answer_at at = ward_answer_judge(f, pkt);

	if (at.what == WARD_ANS_DROP)
		return;
	KUNIT_ASSERT_TRUE(test, !(pkt->op->flags & WARD_IS_REQUEST));
	KUNIT_ASSERT_TRUE(test, ward_psn_distance(f->una, pkt->psn) < under_way);
	KUNIT_ASSERT_TRUE(test, ward_psn_distance(f->una, at.psn) < under_way);
}

/*
 * Whoever does not hit what is under way achieves nothing, and whoever does is
 * never answered with a place outside of it.
 */
static void strangers_get_nothing(struct kunit *test)
{
	static const struct flight_case flights[] = {
		{}, SENDS, READ_THREE, READ_TAIL, READ_EMPTY, READ_MTU, READ_TWO, ATOMIC,
	};
	static const u32 lengths[] = { 0, 4, 512, MTU, 2560, 0xffffffff };
	const struct ward_spec *s = test->param_value;
	struct ward_pkt pkt = { .op = ward_opcode(s->opcode), .opcode = s->opcode };
	unsigned int i, syndrome;
	s32 psn;

	for (i = 0; i < ARRAY_SIZE(flights) * ARRAY_SIZE(lengths); i++) {
		struct ward_flight f = flight_at(&flights[i / ARRAY_SIZE(lengths)], 0xfffffc);

		pkt.len = lengths[i % ARRAY_SIZE(lengths)];
		for (psn = -12; psn < 12; psn++) {
			pkt.psn = ward_psn_add(f.una, psn);
			for (syndrome = 0; syndrome < 256; syndrome++) {
				pkt.syndrome = syndrome;
				expect_inside(test, &f, &pkt);
			}
		}
	}
}

KUNIT_ARRAY_PARAM_DESC(spec, ward_spec, name);

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(verdict, answer_gen_params),
	KUNIT_CASE(syndromes),
	KUNIT_CASE_PARAM(strangers_get_nothing, spec_gen_params),
	{}
};

static struct kunit_suite ward_completer_suite = {
	.name = "ward_completer",
	.test_cases = cases,
};

kunit_test_suite(ward_completer_suite);
