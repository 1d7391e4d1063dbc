/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that come again with the same seed. */
#ifndef _WARD_KUNIT_RANDOM_H
#define _WARD_KUNIT_RANDOM_H

#include <linux/types.h>

static inline u32 ward_random(u32 *seed)
{
	u32 x = *seed += 0x9e3779b9;

	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	return x ^ x >> 16;
}

#endif /* _WARD_KUNIT_RANDOM_H */
