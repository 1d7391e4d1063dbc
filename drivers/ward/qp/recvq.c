// SPDX-License-Identifier: GPL-2.0
/*
 * Receive queues.
 */
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <ward/wire.h>

#include "recvq.h"

static u32 slot_size(u32 max_sge)
{
	return struct_size((struct rxe_recv_wqe *)NULL, dma.sge, max_sge);
}

/**
 * ward_recvq_create() - make an empty receive queue
 * @rq:      filled in
 * @depth:   work requests that it shall hold
 * @max_sge: pieces of one work request
 * @uctx:    as in ward_ring_create()
 * @mi:      as in ward_ring_create()
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_recvq_create(struct ward_recvq *rq, u32 depth, u32 max_sge,
		      struct ib_ucontext *uctx, struct mminfo *mi)
{
	int err = ward_ring_create(&rq->ring, depth, slot_size(max_sge), uctx, mi);

	if (err)
		return err;
	spin_lock_init(&rq->lock);
	rq->head = 0;
	rq->tail = 0;
	rq->depth = rq->ring.mask;
	rq->max_sge = max_sge;
	return 0;
}

/**
 * ward_recvq_destroy() - free a receive queue
 * @rq: from ward_recvq_create(), or all zero
 */
void ward_recvq_destroy(struct ward_recvq *rq)
{
	ward_ring_destroy(&rq->ring);
}

/**
 * ward_recvq_reset() - forget what is posted (QP to RESET)
 * @rq: the queue, or all zero; the responder does not run
 */
void ward_recvq_reset(struct ward_recvq *rq)
{
	if (!rq->ring.buf)
		return;
	rq->tail = ward_ring_producer(&rq->ring);
	ward_ring_set_consumer(&rq->ring, rq->tail);
}

/* 0, -EINVAL for too many pieces, -ENOMEM when the queue is full */
static int post(struct ward_recvq *rq, const struct ib_recv_wr *wr)
{
	struct rxe_recv_wqe *slot = ward_ring_slot(&rq->ring, rq->head);
	u32 next = (rq->head + 1) & rq->ring.mask;
	int i;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (next == ward_ring_consumer(&rq->ring))
		return -ENOMEM;
	slot->wr_id = wr->wr_id;
	slot->dma.num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++)
		slot->dma.sge[i] = (struct rxe_sge){
			.addr = wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
		};
	rq->head = next;
	ward_ring_set_producer(&rq->ring, next);
	return 0;
}

/**
 * ward_recvq_post_list() - post work requests of a kernel consumer
 * @rq:  the queue
 * @wr:  the work requests
 * @bad: returns the first that was not posted
 *
 * Context: any; takes rq->lock.
 * Return: 0, -EINVAL for too many pieces, -ENOMEM when the queue is full.
 */
int ward_recvq_post_list(struct ward_recvq *rq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&rq->lock, flags);
	for (; wr; wr = wr->next) {
		err = post(rq, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return err;
}

/**
 * ward_recvq_len() - how many work requests are posted
 * @rq: the queue
 *
 * Context: whoever may call ward_recvq_take().
 * Return: the number; of a process's queue what it claims, at most the depth.
 */
u32 ward_recvq_len(const struct ward_recvq *rq)
{
	return (ward_ring_producer(&rq->ring) - rq->tail) & rq->ring.mask;
}

/**
 * ward_recvq_swap() - move what is posted to another ring, and exchange the rings
 * @rq:    the queue
 * @other: an empty queue for as many pieces; gets the old ring
 *
 * Context: whoever may call ward_recvq_take(); takes rq->lock. A process does not post meanwhile,
 * or it loses what it posts.
 * Return: 0, or -EINVAL when it does not fit.
 */
int ward_recvq_swap(struct ward_recvq *rq, struct ward_recvq *other)
{
	unsigned long flags;
	u32 i, n;

	spin_lock_irqsave(&rq->lock, flags);
	n = ward_recvq_len(rq);
	if (n > other->depth) {
		spin_unlock_irqrestore(&rq->lock, flags);
		return -EINVAL;
	}
	/* as they are: they are looked at when they are taken */
	for (i = 0; i < n; i++)
		memcpy(ward_ring_slot(&other->ring, i), ward_ring_slot(&rq->ring, rq->tail + i),
		       1UL << rq->ring.log2);
	ward_ring_set_producer(&other->ring, n);
	swap(rq->ring, other->ring);
	swap(rq->depth, other->depth);
	rq->head = n;
	rq->tail = 0;
	spin_unlock_irqrestore(&rq->lock, flags);
	return 0;
}

/**
 * ward_recvq_take() - take the oldest work request
 * @rq:   the queue
 * @rwqe: returns a checked copy of it
 * @bad:  returns whether the slot held nonsense, which only a process can have put there; then
 *        @rwqe has the wr_id and no pieces
 *
 * Context: one caller at a time: the owner of the QP, or under the lock of the shared queue.
 * Return: false when there is none.
 */
bool ward_recvq_take(struct ward_recvq *rq, struct ward_rwqe *rwqe, bool *bad)
{
	struct rxe_recv_wqe *slot = ward_ring_slot(&rq->ring, rq->tail);
	u64 length = 0;
	u32 i;

	if (rq->tail == ward_ring_producer(&rq->ring))
		return false;
	*bad = false;
	rwqe->wr_id = READ_ONCE(slot->wr_id);
	rwqe->num_sge = READ_ONCE(slot->dma.num_sge);
	rwqe->cur = (struct ward_cursor){};
	if (rwqe->num_sge > rq->max_sge) {
		rwqe->num_sge = 0;
		*bad = true;
	}
	for (i = 0; i < rwqe->num_sge; i++) {
		const struct rxe_sge *sge = &slot->dma.sge[i];

		rwqe->sge[i] = (struct ward_sge){
			.addr = READ_ONCE(sge->addr),
			.length = READ_ONCE(sge->length),
			.lkey = READ_ONCE(sge->lkey),
		};
		length += rwqe->sge[i].length;
	}
	if (length > WARD_MAX_MSG) {
		rwqe->num_sge = 0;
		length = 0;
		*bad = true;
	}
	rwqe->length = length;
	rq->tail = (rq->tail + 1) & rq->ring.mask;
	ward_ring_set_consumer(&rq->ring, rq->tail);
	return true;
}
