// SPDX-License-Identifier: GPL-2.0
/* Packets taken apart and put together. */
#include <asm/byteorder.h>
#include <kunit/test.h>
#include "../drivers/ward/proto/packet.h"
#include "random.h"
#include "spec.h"

/* Bytes as they stand on the wire, and what they say */
struct vector {
	const char *name;
	u8	bytes[WARD_MAX_HDR];
	u32	len;			/* as UDP tells it */
	struct ward_pkt pkt;		/* without op */
};

static const struct vector vectors[] = {
	{
		.name = "RC SEND Only, 5 bytes, all flags",
		.bytes = {
			0x04, 0xf0, 0xff, 0xff, 0x40, 0x12, 0x34, 0x56,
			0x80, 0xab, 0xcd, 0xef,
		},
		.len = 12 + 5 + 3 + 4,
		.pkt = {
			.opcode = 0x04, .pad = 3, .solicited = true, .ackreq = true, .mig = true,
			.becn = true, .pkey = 0xffff, .qpn = 0x123456, .psn = 0xabcdef,
			.hdr_len = 12, .len = 5,
		},
	}, {
		.name = "RC SEND Only, no flags, reserved bits set, FECN",
		.bytes = {
			0x04, 0x00, 0x80, 0x01, 0xbf, 0x00, 0x00, 0x01,
			0x7f, 0x00, 0x00, 0x02,
		},
		.len = 12 + 4,
		.pkt = {
			.opcode = 0x04, .pkey = 0x8001, .qpn = 1, .psn = 2, .hdr_len = 12,
		},
	}, {
		.name = "RC WRITE Only with Immediate",
		.bytes = {
			0x0b, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11,
			0x00, 0xff, 0xff, 0xff,
			0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
			0xa1, 0xa2, 0xa3, 0xa4, 0x00, 0x00, 0x00, 0x06,
			0xc1, 0xc2, 0xc3, 0xc4,
		},
		.len = 32 + 6 + 2 + 4,
		.pkt = {
			.opcode = 0x0b, .pad = 2, .mig = true, .pkey = 0xffff, .qpn = 0x11,
			.psn = 0xffffff, .hdr_len = 32, .len = 6, .va = 0x0102030405060708,
			.rkey = 0xa1a2a3a4, .dma_len = 6, .imm = cpu_to_be32(0xc1c2c3c4),
		},
	}, {
		.name = "RC READ response Last",
		.bytes = {
			0x0f, 0x50, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11,
			0x00, 0x00, 0x00, 0x07,
			0x1f, 0x00, 0x01, 0x02,
		},
		.len = 16 + 3 + 1 + 4,
		.pkt = {
			.opcode = 0x0f, .pad = 1, .mig = true, .pkey = 0xffff, .qpn = 0x11,
			.psn = 7, .hdr_len = 16, .len = 3, .syndrome = 0x1f, .msn = 0x102,
		},
	}, {
		.name = "RC Acknowledge, NAK",
		.bytes = {
			0x11, 0x40, 0xff, 0xff, 0x00, 0xff, 0xff, 0xfe,
			0x00, 0x00, 0x00, 0x00,
			0x62, 0xff, 0xff, 0xff,
		},
		.len = 16 + 4,
		.pkt = {
			.opcode = 0x11, .mig = true, .pkey = 0xffff, .qpn = 0xfffffe,
			.hdr_len = 16, .syndrome = 0x62, .msn = 0xffffff,
		},
	}, {
		.name = "RC ATOMIC Acknowledge",
		.bytes = {
			0x12, 0x40, 0xff, 0xff, 0x00, 0x00, 0x01, 0x00,
			0x00, 0x00, 0x00, 0x09,
			0x00, 0x00, 0x00, 0x03,
			0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
		},
		.len = 24 + 4,
		.pkt = {
			.opcode = 0x12, .mig = true, .pkey = 0xffff, .qpn = 0x100, .psn = 9,
			.hdr_len = 24, .msn = 3, .orig = 0xf1f2f3f4f5f6f7f8,
		},
	}, {
		.name = "RC CmpSwap",
		.bytes = {
			0x13, 0x40, 0xff, 0xff, 0x00, 0x00, 0x01, 0x00,
			0x80, 0x00, 0x00, 0x0a,
			0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
			0xa1, 0xa2, 0xa3, 0xa4,
			0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
			0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		},
		.len = 40 + 4,
		.pkt = {
			.opcode = 0x13, .ackreq = true, .mig = true, .pkey = 0xffff, .qpn = 0x100,
			.psn = 10, .hdr_len = 40, .va = 0x0102030405060708, .rkey = 0xa1a2a3a4,
			.swap_add = 0x1112131415161718, .compare = 0x2122232425262728,
		},
	}, {
		.name = "RC SEND Last with Invalidate",
		.bytes = {
			0x16, 0x40, 0xff, 0xff, 0x00, 0x00, 0x01, 0x00,
			0x80, 0x00, 0x00, 0x0a,
			0xe1, 0xe2, 0xe3, 0xe4,
		},
		.len = 16 + 8 + 4,
		.pkt = {
			.opcode = 0x16, .ackreq = true, .mig = true, .pkey = 0xffff, .qpn = 0x100,
			.psn = 10, .hdr_len = 16, .len = 8, .inv_rkey = 0xe1e2e3e4,
		},
	}, {
		.name = "UD SEND only with Immediate, reserved byte of the DETH set",
		.bytes = {
			0x65, 0xc0, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01,
			0x00, 0x00, 0x00, 0x00,
			0x80, 0x01, 0x00, 0x00, 0x99, 0x65, 0x43, 0x21,
			0xc1, 0xc2, 0xc3, 0xc4,
		},
		.len = 24 + 256 + 4,
		.pkt = {
			.opcode = 0x65, .solicited = true, .mig = true, .pkey = 0xffff, .qpn = 1,
			.hdr_len = 24, .len = 256, .qkey = 0x80010000, .src_qpn = 0x654321,
			.imm = cpu_to_be32(0xc1c2c3c4),
		},
	},
};

KUNIT_ARRAY_PARAM_DESC(vector, vectors, name);

static void expect_same(struct kunit *test, const struct ward_pkt *a, const struct ward_pkt *b)
{
	KUNIT_EXPECT_EQ(test, a->opcode, b->opcode);
	KUNIT_EXPECT_EQ(test, a->pad, b->pad);
	KUNIT_EXPECT_EQ(test, a->solicited, b->solicited);
	KUNIT_EXPECT_EQ(test, a->ackreq, b->ackreq);
	KUNIT_EXPECT_EQ(test, a->mig, b->mig);
	KUNIT_EXPECT_EQ(test, a->becn, b->becn);
	KUNIT_EXPECT_EQ(test, a->pkey, b->pkey);
	KUNIT_EXPECT_EQ(test, a->qpn, b->qpn);
	KUNIT_EXPECT_EQ(test, a->psn, b->psn);
	KUNIT_EXPECT_EQ(test, a->hdr_len, b->hdr_len);
	KUNIT_EXPECT_EQ(test, a->len, b->len);
	KUNIT_EXPECT_EQ(test, a->va, b->va);
	KUNIT_EXPECT_EQ(test, a->rkey, b->rkey);
	KUNIT_EXPECT_EQ(test, a->dma_len, b->dma_len);
	KUNIT_EXPECT_EQ(test, a->flush_type, b->flush_type);
	KUNIT_EXPECT_EQ(test, a->flush_level, b->flush_level);
	KUNIT_EXPECT_EQ(test, a->swap_add, b->swap_add);
	KUNIT_EXPECT_EQ(test, a->compare, b->compare);
	KUNIT_EXPECT_EQ(test, a->orig, b->orig);
	KUNIT_EXPECT_EQ(test, a->syndrome, b->syndrome);
	KUNIT_EXPECT_EQ(test, a->msn, b->msn);
	KUNIT_EXPECT_TRUE(test, a->imm == b->imm);
	KUNIT_EXPECT_EQ(test, a->inv_rkey, b->inv_rkey);
	KUNIT_EXPECT_EQ(test, a->qkey, b->qkey);
	KUNIT_EXPECT_EQ(test, a->src_qpn, b->src_qpn);
}

static void parse_reads_the_bytes(struct kunit *test)
{
	const struct vector *v = test->param_value;
	struct ward_pkt pkt = {};

	KUNIT_ASSERT_EQ(test, ward_pkt_parse(&pkt, v->bytes, v->len), WARD_PARSE_OK);
	KUNIT_EXPECT_TRUE(test, pkt.op == ward_opcode(v->pkt.opcode));
	expect_same(test, &pkt, &v->pkt);
}

static void build_writes_the_bytes(struct kunit *test)
{
	const struct vector *v = test->param_value;
	u8 want[WARD_MAX_HDR], hdr[WARD_MAX_HDR];

	/* what build leaves zero: FECN and the reserved bits of BTH and DETH */
	memcpy(want, v->bytes, sizeof(want));
	want[4] &= 0x40;
	want[8] &= 0x80;
	if (v->pkt.opcode == 0x65)
		want[16] = 0;

	memset(hdr, 0, sizeof(hdr));
	KUNIT_ASSERT_EQ(test, ward_pkt_build(&v->pkt, hdr), v->pkt.hdr_len);
	KUNIT_EXPECT_MEMEQ(test, hdr, want, sizeof(hdr));
}

KUNIT_ARRAY_PARAM_DESC(spec, ward_spec, name);

/* A packet with random content in what @s says that it carries */
static void random_pkt(struct ward_pkt *pkt, const struct ward_spec *s, u32 *seed)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = s->opcode;
	pkt->solicited = ward_random(seed) & 1;
	pkt->ackreq = ward_random(seed) & 1;
	pkt->mig = ward_random(seed) & 1;
	pkt->becn = ward_random(seed) & 1;
	pkt->pkey = ward_random(seed);
	pkt->qpn = ward_random(seed) & 0xffffff;
	pkt->psn = ward_random(seed) & 0xffffff;
	pkt->hdr_len = ward_spec_hdr(s);
	if (s->payload && (s->place == 'F' || s->place == 'M'))
		pkt->len = 256 << ward_random(seed) % 5;
	else if (s->payload)
		pkt->len = ward_random(seed) % 4097;
	pkt->pad = -pkt->len & 3;
	if (s->feth) {
		pkt->flush_type = ward_random(seed) & 0xf;
		pkt->flush_level = ward_random(seed) & 3;
	}
	if (s->reth || s->atomiceth) {
		pkt->va = (u64)ward_random(seed) << 32 | ward_random(seed);
		pkt->rkey = ward_random(seed);
	}
	if (s->reth)
		pkt->dma_len = ward_random(seed);
	if (s->atomiceth) {
		pkt->swap_add = (u64)ward_random(seed) << 32 | ward_random(seed);
		pkt->compare = (u64)ward_random(seed) << 32 | ward_random(seed);
	}
	if (s->aeth) {
		pkt->syndrome = ward_random(seed);
		pkt->msn = ward_random(seed) & 0xffffff;
	}
	if (s->atomicack)
		pkt->orig = (u64)ward_random(seed) << 32 | ward_random(seed);
	if (s->imm)
		pkt->imm = cpu_to_be32(ward_random(seed));
	if (s->ieth)
		pkt->inv_rkey = ward_random(seed);
	if (s->deth) {
		pkt->qkey = ward_random(seed);
		pkt->src_qpn = ward_random(seed) & 0xffffff;
	}
}

static void parse_undoes_build(struct kunit *test)
{
	const struct ward_spec *s = test->param_value;
	u8 *hdr = kunit_kzalloc(test, ward_spec_hdr(s), GFP_KERNEL);
	struct ward_pkt in, out = {};
	u32 seed = s->opcode;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, hdr);
	for (i = 0; i < 200; i++) {
		random_pkt(&in, s, &seed);
		KUNIT_ASSERT_EQ(test, ward_pkt_build(&in, hdr), in.hdr_len);
		KUNIT_ASSERT_EQ(test, ward_pkt_parse(&out, hdr, in.hdr_len + in.len + in.pad + 4),
				WARD_PARSE_OK);
		expect_same(test, &in, &out);
	}
}

/* Bits beyond 24, and of a pad beyond 2, must not spill into their neighbours */
static void build_masks_its_input(struct kunit *test)
{
	struct ward_pkt pkt = {
		.opcode = 0x64, .pad = 0xff, .qpn = 0xff000001, .psn = 0xff000002,
		.src_qpn = 0xff000003,
	};
	static const u8 want[] = {
		0x64, 0x30, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3,
	};
	u8 hdr[WARD_MAX_HDR];

	KUNIT_ASSERT_EQ(test, ward_pkt_build(&pkt, hdr), sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, hdr, want, sizeof(want));

	pkt = (struct ward_pkt){ .opcode = 0x11, .syndrome = 0x1f, .msn = 0xff000004 };
	KUNIT_ASSERT_EQ(test, ward_pkt_build(&pkt, hdr), 16);
	KUNIT_EXPECT_EQ(test, hdr[12], 0x1f);
	KUNIT_EXPECT_EQ(test, hdr[15], 4);
}

static void build_refuses_unknown_opcodes(struct kunit *test)
{
	u8 hdr[WARD_MAX_HDR], before[WARD_MAX_HDR];
	unsigned int opcode;

	memset(hdr, 0xa5, sizeof(hdr));
	memset(before, 0xa5, sizeof(before));
	for (opcode = 0; opcode < 256; opcode++) {
		struct ward_pkt pkt = { .opcode = opcode };

		if (ward_spec_find(opcode))
			continue;
		KUNIT_ASSERT_EQ(test, ward_pkt_build(&pkt, hdr), 0);
	}
	KUNIT_EXPECT_MEMEQ(test, hdr, before, sizeof(hdr));
}

/* The rule, said without the words of packet.c: how many bytes of payload, or -1 */
static s64 payload_of(const struct ward_spec *s, u32 len, unsigned int pad)
{
	s64 body = (s64)len - ward_spec_hdr(s) - 4;

	if (body < 0 || body % 4)
		return -1;
	if (!s->payload)
		return body || pad ? -1 : 0;
	if (s->place == 'F' || s->place == 'M')
		return pad ? -1 : body;
	if (!body && pad)
		return -1;
	return body - pad;
}

static void try_length(struct kunit *test, const struct ward_spec *s, const u8 *hdr, u32 len,
		       unsigned int pad)
{
	struct ward_pkt pkt = { .len = 0xdeadbeef };
	s64 want = payload_of(s, len, pad);
	enum ward_parse got = ward_pkt_parse(&pkt, hdr, len);

	KUNIT_ASSERT_EQ_MSG(test, got == WARD_PARSE_OK, want >= 0, "length %u pad %u", len, pad);
	if (got == WARD_PARSE_OK)
		KUNIT_ASSERT_EQ_MSG(test, (s64)pkt.len, want, "length %u pad %u", len, pad);
	else
		KUNIT_ASSERT_TRUE_MSG(test, got == WARD_PARSE_LENGTH || got == WARD_PARSE_PAD,
				      "length %u pad %u: verdict %d", len, pad, got);
}

/*
 * Short packets with forged pad bits made the payload length negative. The
 * headers lie in memory of just their length, so that a sanitizer sees any look
 * beyond.
 */
static void every_length_and_pad(struct kunit *test)
{
	static const u32 huge[] = {
		0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffc, 0xfffffffd, 0xffffffff,
	};
	const struct ward_spec *s = test->param_value;
	u8 *hdr = kunit_kzalloc(test, ward_spec_hdr(s), GFP_KERNEL);
	unsigned int pad, i;
	u32 len;

	KUNIT_ASSERT_NOT_NULL(test, hdr);
	hdr[0] = s->opcode;
	for (pad = 0; pad < 4; pad++) {
		hdr[1] = pad << 4;
		for (len = 0; len <= ward_spec_hdr(s) + WARD_MAX_MTU + 12; len++)
			try_length(test, s, hdr, len, pad);
		for (i = 0; i < ARRAY_SIZE(huge); i++)
			try_length(test, s, hdr, huge[i], pad);
	}
}

/* One byte is all that may be read of a packet whose opcode is unknown */
static void unknown_opcodes_come_first(struct kunit *test)
{
	u8 *hdr = kunit_kzalloc(test, 1, GFP_KERNEL);
	struct ward_pkt pkt;
	unsigned int opcode;
	u32 len;

	KUNIT_ASSERT_NOT_NULL(test, hdr);
	for (opcode = 0; opcode < 256; opcode++) {
		if (ward_spec_find(opcode))
			continue;
		hdr[0] = opcode;
		for (len = 0; len <= 80; len++)
			KUNIT_ASSERT_EQ(test, ward_pkt_parse(&pkt, hdr, len), WARD_PARSE_OPCODE);
		KUNIT_ASSERT_EQ(test, ward_pkt_parse(&pkt, hdr, U32_MAX), WARD_PARSE_OPCODE);
	}
}

static void other_versions_are_refused(struct kunit *test)
{
	u8 hdr[12] = { 0x04 };
	struct ward_pkt pkt;
	u8 version;

	for (version = 1; version < 16; version++) {
		hdr[1] = 0x40 | version;
		KUNIT_EXPECT_EQ(test, ward_pkt_parse(&pkt, hdr, 16), WARD_PARSE_VERSION);
		/* before any word about the length */
		KUNIT_EXPECT_EQ(test, ward_pkt_parse(&pkt, hdr, 0), WARD_PARSE_VERSION);
	}
}

struct refusal {
	const char *name;
	u8	opcode;
	u8	pad;
	u32	len;
	enum ward_parse want;
};

static const struct refusal refusals[] = {
	{ "empty datagram", 0x04, 0, 0, WARD_PARSE_LENGTH },
	{ "SEND without ICRC", 0x04, 0, 12, WARD_PARSE_LENGTH },
	{ "SEND of 3 bytes less than the ICRC", 0x04, 0, 13, WARD_PARSE_LENGTH },
	{ "SEND of no bytes", 0x04, 0, 16, WARD_PARSE_OK },
	{ "SEND of no bytes, padding announced", 0x04, 1, 16, WARD_PARSE_LENGTH },
	{ "SEND, not a multiple of 4", 0x04, 0, 17, WARD_PARSE_LENGTH },
	{ "SEND, one byte and 3 of padding", 0x04, 3, 20, WARD_PARSE_OK },
	{ "SEND First with padding", 0x00, 1, 272, WARD_PARSE_PAD },
	{ "WRITE Middle with padding", 0x07, 3, 272, WARD_PARSE_PAD },
	{ "READ response First with padding", 0x0d, 2, 276, WARD_PARSE_PAD },
	{ "READ request with padding", 0x0c, 1, 32, WARD_PARSE_PAD },
	{ "READ request with payload", 0x0c, 0, 36, WARD_PARSE_LENGTH },
	{ "Acknowledge with payload", 0x11, 0, 24, WARD_PARSE_LENGTH },
	{ "CmpSwap with half an AtomicETH", 0x13, 0, 32, WARD_PARSE_LENGTH },
	{ "FetchAdd, ICRC missing", 0x14, 0, 40, WARD_PARSE_LENGTH },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, name);

static void says_why(struct kunit *test)
{
	const struct refusal *r = test->param_value;
	u8 hdr[WARD_MAX_HDR] = { r->opcode, r->pad << 4 };
	struct ward_pkt pkt;

	KUNIT_EXPECT_EQ(test, ward_pkt_parse(&pkt, hdr, r->len), r->want);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(parse_reads_the_bytes, vector_gen_params),
	KUNIT_CASE_PARAM(build_writes_the_bytes, vector_gen_params),
	KUNIT_CASE_PARAM(parse_undoes_build, spec_gen_params),
	KUNIT_CASE(build_masks_its_input),
	KUNIT_CASE(build_refuses_unknown_opcodes),
	KUNIT_CASE_PARAM(every_length_and_pad, spec_gen_params),
	KUNIT_CASE(unknown_opcodes_come_first),
	KUNIT_CASE(other_versions_are_refused),
	KUNIT_CASE_PARAM(says_why, refusal_gen_params),
	{}
};

static struct kunit_suite ward_packet_suite = {
	.name = "ward_packet",
	.test_cases = cases,
};

kunit_test_suite(ward_packet_suite);
