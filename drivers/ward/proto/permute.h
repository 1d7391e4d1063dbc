/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A secret permutation of 24-bit numbers: the allocation slot of a key or of a
 * QP goes in, the number that the world sees comes out, and back.
 *
 * It is a Feistel network over two halves of 12 bits whose round functions are
 * tables of random numbers, so nothing about the order of allocation, or about
 * other numbers, can be told from the numbers seen.
 *
 * Six rounds are the fewest for that, because an unprivileged user can see
 * millions of keys. With five rounds or fewer, the tables can be worked out from
 * about 2^24 pairs of slot and number or fewer; with six, the shortest way known
 * takes 2^(12 * 2^11) steps (Biryukov, Leurent, Perrin: Cryptanalysis of Feistel
 * Networks with Secret Round Functions, 2015).
 */
#ifndef _WARD_PROTO_PERMUTE_H
#define _WARD_PROTO_PERMUTE_H

#include <linux/types.h>

#define WARD_PERMUTE_ROUNDS	6
#define WARD_PERMUTE_HALF	12

/**
 * struct ward_permute - the secret
 * @round: a random function of 12 bits for each round, filled by the owner from a CSPRNG;
 *         the top four bits of each entry are ignored
 */
struct ward_permute {
	u16	round[WARD_PERMUTE_ROUNDS][1 << WARD_PERMUTE_HALF];
};

u32 ward_permute(const struct ward_permute *p, u32 slot);
u32 ward_unpermute(const struct ward_permute *p, u32 number);

#endif /* _WARD_PROTO_PERMUTE_H */
