// SPDX-License-Identifier: GPL-2.0
/*
 * The invariant CRC against one that is worked out here, bit by bit and by the
 * letter of Annex A17.
 */
#include <kunit/test.h>
#include "../drivers/ward/proto/icrc.h"
#include "random.h"

#define MAX_PACKET	(40 + 8 + 12 + 28 + 64 + 4)

/* The CRC register of ITU-T V.42, a bit at a time, least significant bit first */
static u32 shift_in(u32 crc, u8 byte)
{
	int i;

	for (i = 0; i < 8; i++) {
		u32 feedback = (crc ^ byte >> i) & 1;

		crc >>= 1;
		if (feedback)
			crc ^= 0xedb88320;
	}
	return crc;
}

static u32 slow_icrc(const u8 *packet, u32 len)
{
	static const u8 v4[] = { 1, 8, 10, 11, 26, 27, 32 };
	static const u8 v6[] = { 1, 2, 3, 7, 46, 47, 52 };
	const bool is_v4 = packet[0] >> 4 == 4;
	const u8 *ones = is_v4 ? v4 : v6;
	u32 crc = 0xffffffff, i, next = 0;

	for (i = 0; i < 8; i++)
		crc = shift_in(crc, 0xff);
	for (i = 0; i < len; i++) {
		u8 byte = packet[i];

		if (next < sizeof(v4) && i == ones[next]) {
			byte = 0xff;
			next++;
		} else if (!i && !is_v4) {
			byte |= 0x0f;
		}
		crc = shift_in(crc, byte);
	}
	return ~crc;
}

static u32 ip_len(const u8 *packet)
{
	return packet[0] >> 4 == 4 ? 20 : 40;
}

/* As the driver does it; @len without the ICRC */
static u32 fast_icrc(const u8 *packet, u32 len)
{
	const u8 *udp = packet + ip_len(packet), *bth = udp + 8, *rest = bth + 12;
	u32 crc = ward_icrc_begin(packet, udp, bth);

	crc = ward_crc32(crc, rest, packet + len - rest);
	return le32_to_cpu(ward_icrc_end(crc));
}

struct kind {
	const char *name;
	bool	v6;
	u32	rest;			/* extension headers, payload, padding */
};

static const struct kind kinds[] = {
	{ "IPv4, nothing after the BTH", false, 0 },
	{ "IPv4, AETH", false, 4 },
	{ "IPv4, AtomicETH", false, 28 },
	{ "IPv4, RETH and 64 bytes", false, 80 },
	{ "IPv6, nothing after the BTH", true, 0 },
	{ "IPv6, AETH", true, 4 },
	{ "IPv6, AtomicETH", true, 28 },
	{ "IPv6, RETH and 64 bytes", true, 80 },
};

KUNIT_ARRAY_PARAM_DESC(kind, kinds, name);

/* A random packet; returns its length without the ICRC */
static u32 random_packet(const struct kind *kind, u8 *packet, u32 *seed)
{
	u32 len = (kind->v6 ? 40 : 20) + 8 + 12 + kind->rest, i;

	for (i = 0; i < len; i++)
		packet[i] = ward_random(seed);
	packet[0] = kind->v6 ? 0x60 | (packet[0] & 0x0f) : 0x45;
	return len;
}

static void equals_the_slow_one(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	u8 packet[MAX_PACKET];
	u32 len, seed = kind->rest;
	int i;

	for (i = 0; i < 50; i++) {
		len = random_packet(kind, packet, &seed);
		KUNIT_EXPECT_EQ(test, fast_icrc(packet, len), slow_icrc(packet, len));
	}
}

/* The bits of a header that a router may change, and no others, do not count */
static bool may_change(const u8 *packet, u32 byte, u32 bit)
{
	const u32 ip = ip_len(packet);

	if (byte == ip + 6 || byte == ip + 7 || byte == ip + 12)
		return true;
	if (ip == 20)
		return byte == 1 || byte == 8 || byte == 10 || byte == 11;
	return (byte == 0 && bit < 4) || byte == 1 || byte == 2 || byte == 3 || byte == 7;
}

static void notices_what_must_not_change(struct kunit *test)
{
	const struct kind *kind = test->param_value;
	u8 packet[MAX_PACKET];
	u32 seed = ~kind->rest;
	u32 len = random_packet(kind, packet, &seed);
	u32 before = fast_icrc(packet, len), byte, bit;

	/* the first four bits say which IP it is; other values than 4 and 6 do not come here */
	for (byte = 0; byte < len; byte++) {
		for (bit = 0; bit < (byte ? 8 : 4); bit++) {
			packet[byte] ^= 1 << bit;
			KUNIT_EXPECT_EQ_MSG(test, fast_icrc(packet, len) == before,
					    may_change(packet, byte, bit),
					    "byte %u bit %u", byte, bit);
			packet[byte] ^= 1 << bit;
		}
	}
}

static void crc32_is_the_one_meant(struct kunit *test)
{
	static const u8 ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	/* the check value that catalogues of CRCs give */
	KUNIT_EXPECT_EQ(test, ~ward_crc32(0xffffffff, "123456789", 9), 0xcbf43926);
	KUNIT_EXPECT_EQ(test, ward_crc32(0xffffffff, ones, 8), 0xdebb20e3);
	KUNIT_EXPECT_EQ(test, ward_crc32(0x12345678, ones, 0), 0x12345678);
	KUNIT_EXPECT_EQ(test, ward_crc32(ward_crc32(0xffffffff, "1234", 4), "56789", 5),
			ward_crc32(0xffffffff, "123456789", 9));
}

static void stands_little_endian(struct kunit *test)
{
	__le32 icrc = ward_icrc_end(~0x04030201U);
	static const u8 want[] = { 1, 2, 3, 4 };

	KUNIT_EXPECT_MEMEQ(test, &icrc, want, 4);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(crc32_is_the_one_meant),
	KUNIT_CASE(stands_little_endian),
	KUNIT_CASE_PARAM(equals_the_slow_one, kind_gen_params),
	KUNIT_CASE_PARAM(notices_what_must_not_change, kind_gen_params),
	{}
};

static struct kunit_suite ward_icrc_suite = {
	.name = "ward_icrc",
	.test_cases = cases,
};

kunit_test_suite(ward_icrc_suite);
