// SPDX-License-Identifier: GPL-2.0
/*
 * Rings.
 */
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>

#include "ring.h"
#include "ucontext.h"

/**
 * ward_ring_create() - make an empty ring
 * @ring:       filled in
 * @entries:    so many entries must fit at once
 * @entry_size: bytes of one
 * @uctx:       the context of the process that may map it, NULL for kernel users
 * @mi:         with @uctx: returns what the process needs to map it
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_ring_create(struct ward_ring *ring, u32 entries, u32 entry_size,
		     struct ib_ucontext *uctx, struct mminfo *mi)
{
	u32 slots = roundup_pow_of_two(entries + 1);
	u8 log2 = order_base_2(entry_size);
	size_t size = size_add(sizeof(*ring->buf), size_mul(slots, 1UL << log2));

	*ring = (struct ward_ring){ .mask = slots - 1, .log2 = log2 };
	/* zeroed either way: what a process maps tells it nothing */
	ring->buf = uctx ? vmalloc_user(size) : vzalloc(size);
	if (!ring->buf)
		return -ENOMEM;
	ring->buf->log2_elem_size = log2;
	ring->buf->index_mask = ring->mask;
	if (!uctx)
		return 0;

	ring->mmap = ward_mmap_create(uctx, ring->buf, size);
	if (!ring->mmap) {
		vfree(ring->buf);
		ring->buf = NULL;
		return -ENOMEM;
	}
	*mi = (struct mminfo){
		.offset = rdma_user_mmap_get_offset(&ring->mmap->entry),
		.size = size,
	};
	return 0;
}

/**
 * ward_ring_destroy() - free a ring
 * @ring: from ward_ring_create(), or all zero
 *
 * Context: may sleep.
 */
void ward_ring_destroy(struct ward_ring *ring)
{
	if (ring->mmap)
		ward_mmap_destroy(ring->mmap);
	else
		vfree(ring->buf);
	*ring = (struct ward_ring){};
}
