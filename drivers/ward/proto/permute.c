// SPDX-License-Identifier: GPL-2.0
/*
 * The permutation of 24-bit numbers, and its inverse.
 *
 * A round takes (left, right) to (right, left ^ F(right)), which can be undone
 * whatever F is; so the whole is a permutation for any content of the tables.
 */
#include "permute.h"

#define HALF_MASK	((1U << WARD_PERMUTE_HALF) - 1)

/**
 * ward_permute() - the number that the world sees
 * @p:    the secret
 * @slot: number of the slot; the top 8 bits are ignored
 *
 * Context: Any; the time it takes does not depend on @slot but for the caches.
 * Return: 24 bits; different slots give different numbers.
 */
u32 ward_permute(const struct ward_permute *p, u32 slot)
{
	u32 left = slot >> WARD_PERMUTE_HALF & HALF_MASK;
	u32 right = slot & HALF_MASK;
	int i;

	for (i = 0; i < WARD_PERMUTE_ROUNDS; i++) {
		u32 mixed = left ^ (p->round[i][right] & HALF_MASK);

		left = right;
		right = mixed;
	}
	return left << WARD_PERMUTE_HALF | right;
}

/**
 * ward_unpermute() - the slot behind a number
 * @p:      the secret
 * @number: as the world sees it; the top 8 bits are ignored
 *
 * Context: Any, as ward_permute().
 * Return: the slot, 24 bits. Every number has one, so whether it is in use is
 * the caller's question.
 */
u32 ward_unpermute(const struct ward_permute *p, u32 number)
{
	u32 left = number >> WARD_PERMUTE_HALF & HALF_MASK;
	u32 right = number & HALF_MASK;
	int i;

	for (i = WARD_PERMUTE_ROUNDS - 1; i >= 0; i--) {
		u32 mixed = right ^ (p->round[i][left] & HALF_MASK);

		right = left;
		left = mixed;
	}
	return left << WARD_PERMUTE_HALF | right;
}
