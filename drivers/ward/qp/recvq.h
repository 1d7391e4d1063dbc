/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive queues: filled by the consumer, emptied by the responder.
 */
#ifndef _WARD_QP_RECVQ_H
#define _WARD_QP_RECVQ_H

#include "../mem/copy.h"
#include "../verbs/device.h"
#include "../verbs/ring.h"

/**
 * struct ward_rwqe - a receive work request, taken out of the ring and checked
 * @wr_id:   the consumer's
 * @length:  bytes in all pieces
 * @num_sge: pieces
 * @cur:     where the next byte goes
 * @sge:     the pieces
 */
struct ward_rwqe {
	u64			wr_id;
	u32			length;
	u32			num_sge;
	struct ward_cursor	cur;
	struct ward_sge		sge[WARD_MAX_SGE];
};

/**
 * struct ward_recvq - a receive queue
 * @ring:    struct rxe_recv_wqe slots; shared when it belongs to a process
 * @lock:    kernel consumers: @head, and which @ring it is. Taken with interrupts off
 * @head:    kernel consumers: next slot to fill
 * @tail:    next slot to empty; the responder's, or under the lock of a shared receive queue
 * @depth:   work requests that it holds, as told to the consumer
 * @max_sge: pieces of one work request
 */
struct ward_recvq {
	struct ward_ring	ring;
	spinlock_t		lock;	/* posting */
	u32			head;
	u32			tail;
	u32			depth;
	u32			max_sge;
};

int ward_recvq_create(struct ward_recvq *rq, u32 depth, u32 max_sge,
		      struct ib_ucontext *uctx, struct mminfo *mi);
void ward_recvq_destroy(struct ward_recvq *rq);
void ward_recvq_reset(struct ward_recvq *rq);
int ward_recvq_post_list(struct ward_recvq *rq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad);
u32 ward_recvq_len(const struct ward_recvq *rq);
int ward_recvq_swap(struct ward_recvq *rq, struct ward_recvq *other);
bool ward_recvq_take(struct ward_recvq *rq, struct ward_rwqe *rwqe, bool *bad);

#endif /* _WARD_QP_RECVQ_H */
