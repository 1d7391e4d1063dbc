/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The invariant CRC of RoCEv2: CRC-32 of the packet from the IP header on, with
 * every field that a router may change read as ones.
 */
#ifndef _WARD_PROTO_ICRC_H
#define _WARD_PROTO_ICRC_H

#include <linux/types.h>
#include <asm/byteorder.h>

/*
 * ward_crc32() - CRC-32, little-endian, neither inverted before nor after.
 * Given by the world around proto/: in the kernel the fastest routine there is.
 */
u32 ward_crc32(u32 crc, const void *p, size_t len);

u32 ward_icrc_begin(const void *ip, const void *udp, const void *bth);

/* ward_icrc_end() - the four bytes that follow the padding, from the running @crc */
static inline __le32 ward_icrc_end(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* _WARD_PROTO_ICRC_H */
