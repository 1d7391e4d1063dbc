// SPDX-License-Identifier: GPL-2.0
/* Messages cut into packets. */
#include <kunit/test.h>
#include "../drivers/ward/proto/segment.h"

struct count {
	const char *name;
	u32	length;
	u32	mtu;
	u32	want;
};

static const struct count counts[] = {
	{ "nothing", 0, 1024, 1 },
	{ "one byte", 1, 1024, 1 },
	{ "MTU - 1", 1023, 1024, 1 },
	{ "MTU", 1024, 1024, 1 },
	{ "MTU + 1", 1025, 1024, 2 },
	{ "2 MTU", 2048, 1024, 2 },
	{ "2 MTU + 1", 2049, 1024, 3 },
	{ "smallest MTU - 1", 255, 256, 1 },
	{ "smallest MTU + 1", 257, 256, 2 },
	{ "largest MTU", 4096, 4096, 1 },
	{ "largest MTU + 1", 4097, 4096, 2 },
	{ "longest message, smallest MTU", 0x80000000, 256, 0x800000 },
	{ "longest message, largest MTU", 0x80000000, 4096, 0x80000 },
	{ "one byte less than that", 0x7fffffff, 4096, 0x80000 },
	{ "all bits, which no message has", 0xffffffff, 256, 0x1000000 },
};

KUNIT_ARRAY_PARAM_DESC(count, counts, name);

static void counts_packets(struct kunit *test)
{
	const struct count *c = test->param_value;

	KUNIT_EXPECT_EQ(test, ward_seg_count(c->length, c->mtu), c->want);
}

struct choice {
	const char *name;
	u8	transport;
	enum ward_msg msg;
	enum ward_tail tail;
	u8	want[4];		/* first, middle, last, only */
};

static const struct choice choices[] = {
	{ "RC SEND", 0x00, WARD_MSG_SEND, WARD_TAIL_PLAIN, { 0x00, 0x01, 0x02, 0x04 } },
	{ "RC SEND IMM", 0x00, WARD_MSG_SEND, WARD_TAIL_IMM, { 0x00, 0x01, 0x03, 0x05 } },
	{ "RC SEND INV", 0x00, WARD_MSG_SEND, WARD_TAIL_INV, { 0x00, 0x01, 0x16, 0x17 } },
	{ "RC WRITE", 0x00, WARD_MSG_WRITE, WARD_TAIL_PLAIN, { 0x06, 0x07, 0x08, 0x0a } },
	{ "RC WRITE IMM", 0x00, WARD_MSG_WRITE, WARD_TAIL_IMM, { 0x06, 0x07, 0x09, 0x0b } },
	{ "UC SEND", 0x20, WARD_MSG_SEND, WARD_TAIL_PLAIN, { 0x20, 0x21, 0x22, 0x24 } },
	{ "UC SEND IMM", 0x20, WARD_MSG_SEND, WARD_TAIL_IMM, { 0x20, 0x21, 0x23, 0x25 } },
	{ "UC WRITE", 0x20, WARD_MSG_WRITE, WARD_TAIL_PLAIN, { 0x26, 0x27, 0x28, 0x2a } },
	{ "UC WRITE IMM", 0x20, WARD_MSG_WRITE, WARD_TAIL_IMM, { 0x26, 0x27, 0x29, 0x2b } },
	{ "READ response", 0x00, WARD_MSG_READ_RESP, WARD_TAIL_PLAIN, { 0x0d, 0x0e, 0x0f, 0x10 } },
	{ "READ response has no tail", 0x00, WARD_MSG_READ_RESP, WARD_TAIL_IMM,
	  { 0x0d, 0x0e, 0x0f, 0x10 } },
};

KUNIT_ARRAY_PARAM_DESC(choice, choices, name);

static void chooses_opcodes(struct kunit *test)
{
	const struct choice *c = test->param_value;

	KUNIT_EXPECT_EQ(test, ward_seg_opcode(c->transport, c->msg, c->tail, true, false),
			c->want[0]);
	KUNIT_EXPECT_EQ(test, ward_seg_opcode(c->transport, c->msg, c->tail, false, false),
			c->want[1]);
	KUNIT_EXPECT_EQ(test, ward_seg_opcode(c->transport, c->msg, c->tail, false, true),
			c->want[2]);
	KUNIT_EXPECT_EQ(test, ward_seg_opcode(c->transport, c->msg, c->tail, true, true),
			c->want[3]);
}

static void ud_has_one_packet_only(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ward_seg_opcode(WARD_UD, WARD_MSG_SEND, WARD_TAIL_PLAIN, true, true),
			0x64);
	KUNIT_EXPECT_EQ(test, ward_seg_opcode(WARD_UD, WARD_MSG_SEND, WARD_TAIL_IMM, true, true),
			0x65);
}

/* Whatever is asked for in vain, the answer is an opcode that can not be built */
static void what_there_is_not(struct kunit *test)
{
	static const struct {
		u8	transport;
		enum ward_msg msg;
		enum ward_tail tail;
		bool	first;
		bool	last;
	} asked[] = {
		{ WARD_RC, WARD_MSG_WRITE, WARD_TAIL_INV, true, true },
		{ WARD_RC, WARD_MSG_WRITE, WARD_TAIL_INV, false, true },
		{ WARD_UC, WARD_MSG_SEND, WARD_TAIL_INV, true, true },
		{ WARD_UC, WARD_MSG_SEND, WARD_TAIL_INV, false, true },
		{ WARD_UC, WARD_MSG_READ_RESP, WARD_TAIL_PLAIN, true, true },
		{ WARD_UD, WARD_MSG_SEND, WARD_TAIL_PLAIN, true, false },
		{ WARD_UD, WARD_MSG_SEND, WARD_TAIL_PLAIN, false, false },
		{ WARD_UD, WARD_MSG_SEND, WARD_TAIL_PLAIN, false, true },
		{ WARD_UD, WARD_MSG_SEND, WARD_TAIL_IMM, false, true },
		{ WARD_UD, WARD_MSG_SEND, WARD_TAIL_INV, true, true },
		{ WARD_UD, WARD_MSG_WRITE, WARD_TAIL_PLAIN, true, true },
		{ WARD_RC, WARD_MSG_ATOMIC, WARD_TAIL_PLAIN, true, true },
		{ WARD_RC, WARD_MSG_NONE, WARD_TAIL_PLAIN, true, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		u8 opcode = ward_seg_opcode(asked[i].transport, asked[i].msg, asked[i].tail,
					    asked[i].first, asked[i].last);

		KUNIT_EXPECT_EQ_MSG(test, ward_opcode(opcode)->hdr_len, 0, "question %u", i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(counts_packets, count_gen_params),
	KUNIT_CASE_PARAM(chooses_opcodes, choice_gen_params),
	KUNIT_CASE(ud_has_one_packet_only),
	KUNIT_CASE(what_there_is_not),
	{}
};

static struct kunit_suite ward_segment_suite = {
	.name = "ward_segment",
	.test_cases = cases,
};

kunit_test_suite(ward_segment_suite);
