// SPDX-License-Identifier: GPL-2.0
/* Packets that another driver has sent: we must understand them, and send the same. */
#include <asm/byteorder.h>
#include <kunit/test.h>
#include "../drivers/ward/proto/icrc.h"
#include "../drivers/ward/proto/packet.h"
#include "icrc_vectors.h"
#include "spec.h"

KUNIT_ARRAY_PARAM_DESC(recorded, ward_icrc_vectors, name);

static const u8 *udp_of(const struct ward_icrc_vector *v)
{
	return v->bytes + (v->bytes[0] >> 4 == 4 ? 20 : 40);
}

static void icrc_is_ours(struct kunit *test)
{
	const struct ward_icrc_vector *v = test->param_value;
	const u8 *udp = udp_of(v), *bth = udp + 8, *icrc = v->bytes + v->len - 4;
	__le32 ours;
	u32 crc;

	crc = ward_icrc_begin(v->bytes, udp, bth);
	crc = ward_crc32(crc, bth + 12, icrc - (bth + 12));
	ours = ward_icrc_end(crc);
	KUNIT_EXPECT_MEMEQ(test, icrc, &ours, 4);
}

static void build_gives_the_same_headers(struct kunit *test)
{
	const struct ward_icrc_vector *v = test->param_value;
	const u8 *bth = udp_of(v) + 8;
	const u32 len = v->bytes + v->len - bth;
	u8 hdr[WARD_MAX_HDR];
	struct ward_pkt pkt;

	/* the other driver has opcodes that we have not */
	if (!ward_spec_find(bth[0])) {
		KUNIT_EXPECT_EQ(test, ward_pkt_parse(&pkt, bth, len), WARD_PARSE_OPCODE);
		return;
	}

	KUNIT_ASSERT_EQ(test, ward_pkt_parse(&pkt, bth, len), WARD_PARSE_OK);
	KUNIT_EXPECT_EQ(test, pkt.hdr_len + pkt.len + pkt.pad + 4, len);
	KUNIT_ASSERT_EQ(test, ward_pkt_build(&pkt, hdr), pkt.hdr_len);
	KUNIT_EXPECT_MEMEQ(test, hdr, bth, pkt.hdr_len);
}

/* The recording is worth something only as long as it has each opcode, and each padding */
static void nothing_is_missing(struct kunit *test)
{
	unsigned int pads[2][4] = {}, i, j, v6;
	bool seen[2][256] = {};

	for (i = 0; i < ARRAY_SIZE(ward_icrc_vectors); i++) {
		const u8 *bytes = ward_icrc_vectors[i].bytes;
		const u8 *bth = udp_of(&ward_icrc_vectors[i]) + 8;

		v6 = bytes[0] >> 4 == 6;
		seen[v6][bth[0]] = true;
		pads[v6][bth[1] >> 4 & 3]++;
	}
	for (v6 = 0; v6 < 2; v6++) {
		for (i = 0; i < ARRAY_SIZE(ward_spec); i++) {
			/* a FLUSH was not recorded: the programs of that day could not send one */
			if (ward_spec[i].opcode == 0x1c)
				continue;
			KUNIT_EXPECT_TRUE_MSG(test, seen[v6][ward_spec[i].opcode], "%s, IPv%c",
					      ward_spec[i].name, v6 ? '6' : '4');
		}
		for (j = 0; j < 4; j++)
			KUNIT_EXPECT_TRUE_MSG(test, pads[v6][j], "padding %u, IPv%c", j,
					      v6 ? '6' : '4');
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(nothing_is_missing),
	KUNIT_CASE_PARAM(icrc_is_ours, recorded_gen_params),
	KUNIT_CASE_PARAM(build_gives_the_same_headers, recorded_gen_params),
	{}
};

static struct kunit_suite ward_recorded_suite = {
	.name = "ward_recorded",
	.test_cases = cases,
};

kunit_test_suite(ward_recorded_suite);
