/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings in the layout of <rdma/rdma_user_rxe.h>, which stock user space maps:
 * a header with the two indices, then 2^n slots of 2^m bytes.
 *
 * The contract of a ring that is shared with a process:
 * - The process can write every byte of it at any time. The kernel believes its own copies of
 *   size, mask and of its own index, reads the other side's index once per use and masks it,
 *   and copies a slot out before it looks at it.
 * - The side that fills a slot publishes its index with release semantics, the other side reads
 *   that index with acquire semantics before it reads the slot; the same the other way round for
 *   emptied slots.
 * - A ring is empty when the indices are equal and full one slot before they would be again.
 *
 * Completion and receive queues of kernel users live in rings too, which nobody maps.
 */
#ifndef _WARD_VERBS_RING_H
#define _WARD_VERBS_RING_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

struct ward_mmap;

/**
 * struct ward_ring - a ring
 * @buf:  header and slots
 * @mask: number of slots - 1
 * @log2: log2 of the size of a slot
 * @mmap: how the owning process finds it, NULL for kernel users
 */
struct ward_ring {
	struct rxe_queue_buf	*buf;
	u32			mask;
	u8			log2;
	struct ward_mmap	*mmap;
};

int ward_ring_create(struct ward_ring *ring, u32 entries, u32 entry_size,
		     struct ib_ucontext *uctx, struct mminfo *mi);
void ward_ring_destroy(struct ward_ring *ring);

/* ward_ring_slot() - the slot that index @i stands for */
static inline void *ward_ring_slot(const struct ward_ring *ring, u32 i)
{
	return ring->buf->data + ((size_t)(i & ring->mask) << ring->log2);
}

/* ward_ring_producer() - what the filling side has published; slots before it may be read */
static inline u32 ward_ring_producer(const struct ward_ring *ring)
{
	/* see the contract above */
	return smp_load_acquire(&ring->buf->producer_index) & ring->mask;
}

/* ward_ring_consumer() - what the emptying side has published; slots before it may be filled */
static inline u32 ward_ring_consumer(const struct ward_ring *ring)
{
	/* see the contract above */
	return smp_load_acquire(&ring->buf->consumer_index) & ring->mask;
}

static inline void ward_ring_set_producer(struct ward_ring *ring, u32 i)
{
	/* see the contract above */
	smp_store_release(&ring->buf->producer_index, i & ring->mask);
}

static inline void ward_ring_set_consumer(struct ward_ring *ring, u32 i)
{
	/* see the contract above */
	smp_store_release(&ring->buf->consumer_index, i & ring->mask);
}

#endif /* _WARD_VERBS_RING_H */
