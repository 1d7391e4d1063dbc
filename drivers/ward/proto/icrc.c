// SPDX-License-Identifier: GPL-2.0
/*
 * What the invariant CRC says of the headers in front of the payload.
 *
 * Annex A17 puts 8 bytes of ones in front, in the place of InfiniBand's local
 * route header, and reads as ones what a router may change: traffic class, flow
 * label and hop limit of IPv6; type of service, time to live and checksum of
 * IPv4; the UDP checksum; and the byte of the BTH with the congestion bits.
 *
 * The masked copy of the headers is contiguous, so that one call covers it.
 */
#include <linux/string.h>
#include <ward/wire.h>
#include "icrc.h"

/* CRC of 8 bytes of ones, begun with ones: where every packet starts */
#define ICRC_SEED	0xdebb20e3U

#define IPV4_LEN	20
#define IPV6_LEN	40
#define UDP_LEN		8
#define BTH_LEN		sizeof(struct ward_bth)

/**
 * ward_icrc_begin() - CRC of the headers from the IP header to the end of the BTH
 * @ip:  IP header; the first four bits tell IPv4, of 20 bytes without options, from IPv6,
 *       of 40 bytes without extension headers; the caller has refused other packets
 * @udp: UDP header, 8 bytes
 * @bth: BTH, 12 bytes
 *
 * Lengths, addresses, ports and the IPv4 identification count as they are, so
 * they must stand in the headers as the wire will show them.
 *
 * Context: Any.
 * Return: the running CRC. Go on with extension headers, payload and padding
 * through ward_crc32(), then ward_icrc_end() gives the four bytes.
 */
u32 ward_icrc_begin(const void *ip, const void *udp, const void *bth)
{
	u8 masked[IPV6_LEN + UDP_LEN + BTH_LEN];
	u8 *p = masked;

	if (*(const u8 *)ip >> 4 == 4) {
		memcpy(p, ip, IPV4_LEN);
		p[1] = 0xff;			/* type of service */
		p[8] = 0xff;			/* time to live */
		p[10] = 0xff;			/* checksum */
		p[11] = 0xff;
		p += IPV4_LEN;
	} else {
		memcpy(p, ip, IPV6_LEN);
		p[0] |= 0x0f;			/* traffic class and flow label */
		p[1] = 0xff;
		p[2] = 0xff;
		p[3] = 0xff;
		p[7] = 0xff;			/* hop limit */
		p += IPV6_LEN;
	}

	memcpy(p, udp, UDP_LEN);
	p[6] = 0xff;				/* checksum */
	p[7] = 0xff;
	p += UDP_LEN;

	memcpy(p, bth, BTH_LEN);
	p[4] = 0xff;				/* FECN, BECN, reserved */
	p += BTH_LEN;

	return ward_crc32(ICRC_SEED, masked, p - masked);
}
