// SPDX-License-Identifier: GPL-2.0
/* The opcode table against the specification. */
#include <kunit/test.h>
#include "../drivers/ward/proto/opcode.h"
#include "spec.h"

KUNIT_ARRAY_PARAM_DESC(spec, ward_spec, name);

static void carries_what_the_specification_says(struct kunit *test)
{
	const struct ward_spec *s = test->param_value;
	const struct ward_opcode *op = ward_opcode(s->opcode);

	KUNIT_ASSERT_EQ(test, op->hdr_len, ward_spec_hdr(s));
	KUNIT_EXPECT_LE(test, op->hdr_len, WARD_MAX_HDR);
	KUNIT_EXPECT_NOT_NULL(test, op->name);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_IS_REQUEST), s->request);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_PAYLOAD), s->payload);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_DETH), s->deth);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_FETH), s->feth);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_RETH), s->reth);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_ATOMICETH), s->atomiceth);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_AETH), s->aeth);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_ATOMICACK), s->atomicack);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_IMM), s->imm);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_HAS_IETH), s->ieth);
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_IS_FIRST), s->place == 'F' || s->place == 'O');
	KUNIT_EXPECT_EQ(test, !!(op->flags & WARD_IS_LAST), s->place == 'L' || s->place == 'O');
}

static u8 kind_of(u8 operation)
{
	switch (operation) {
	case 0x00 ... 0x05:
	case 0x16:
	case 0x17:
		return WARD_MSG_SEND;
	case 0x06 ... 0x0b:
		return WARD_MSG_WRITE;
	case 0x0c:
		return WARD_MSG_READ;
	case 0x0d ... 0x10:
		return WARD_MSG_READ_RESP;
	case 0x11:
		return WARD_MSG_ACK;
	case 0x12:
		return WARD_MSG_ATOMIC_ACK;
	case 0x13:
	case 0x14:
		return WARD_MSG_ATOMIC;
	case 0x1c:
		return WARD_MSG_FLUSH;
	case 0x1d:
		return WARD_MSG_ATOMIC_WRITE;
	}
	return WARD_MSG_NONE;
}

static void belongs_to_its_kind_of_message(struct kunit *test)
{
	const struct ward_spec *s = test->param_value;

	KUNIT_EXPECT_EQ(test, ward_opcode(s->opcode)->msg, kind_of(s->opcode & 0x1f));
}

/* An unknown opcode whose header length was taken for one took machines down */
static void unknown_opcodes_have_no_header(struct kunit *test)
{
	unsigned int opcode, known = 0;

	for (opcode = 0; opcode < 256; opcode++) {
		const struct ward_opcode *op = ward_opcode(opcode);

		if (ward_spec_find(opcode)) {
			known++;
			continue;
		}
		KUNIT_EXPECT_EQ_MSG(test, op->hdr_len, 0, "opcode %#x", opcode);
		KUNIT_EXPECT_EQ_MSG(test, op->flags, 0, "opcode %#x", opcode);
		KUNIT_EXPECT_EQ_MSG(test, op->msg, WARD_MSG_NONE, "opcode %#x", opcode);
	}
	KUNIT_EXPECT_EQ(test, known, ARRAY_SIZE(ward_spec));
	KUNIT_EXPECT_EQ(test, ward_opcode(WARD_OPCODE_NONE)->hdr_len, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(carries_what_the_specification_says, spec_gen_params),
	KUNIT_CASE_PARAM(belongs_to_its_kind_of_message, spec_gen_params),
	KUNIT_CASE(unknown_opcodes_have_no_header),
	{}
};

static struct kunit_suite ward_opcode_suite = {
	.name = "ward_opcode",
	.test_cases = cases,
};

kunit_test_suite(ward_opcode_suite);
