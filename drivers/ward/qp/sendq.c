// SPDX-License-Identifier: GPL-2.0
/*
 * Send queues.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "../mem/pages.h"
#include "../net/path.h"
#include "../verbs/ah.h"
#include "../watch/trace.h"
#include "qp.h"
#include "sendq.h"

/* What each work request opcode is to us. ops: bit per transport that may post it */
#define ON_RC		BIT(0)
#define ON_UC		BIT(1)
#define ON_UD		BIT(2)
#define KERNEL_ONLY	BIT(3)
#define USER_ONLY	BIT(4)	/* the kernel has no verb for windows */
/* RC, on kernels that have it */
#define PLACEMENT	(WARD_HAS_PLACEMENT ? ON_RC : 0)

static const struct {
	u8			ops;
	enum ib_wc_opcode	wc;
} wr_ops[] = {
	[IB_WR_SEND]			= { ON_RC | ON_UC | ON_UD, IB_WC_SEND },
	[IB_WR_SEND_WITH_IMM]		= { ON_RC | ON_UC | ON_UD, IB_WC_SEND },
	[IB_WR_SEND_WITH_INV]		= { ON_RC, IB_WC_SEND },
	[IB_WR_RDMA_WRITE]		= { ON_RC | ON_UC, IB_WC_RDMA_WRITE },
	[IB_WR_RDMA_WRITE_WITH_IMM]	= { ON_RC | ON_UC, IB_WC_RDMA_WRITE },
	[IB_WR_RDMA_READ]		= { ON_RC, IB_WC_RDMA_READ },
	[IB_WR_LOCAL_INV]		= { ON_RC, IB_WC_LOCAL_INV },
	[IB_WR_REG_MR]			= { ON_RC | KERNEL_ONLY, IB_WC_REG_MR },
	[IB_WR_ATOMIC_CMP_AND_SWP]	= { ON_RC, IB_WC_COMP_SWAP },
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= { ON_RC, IB_WC_FETCH_ADD },
	[WARD_IB_WR_FLUSH]		= { PLACEMENT | USER_ONLY, WARD_IB_WC_FLUSH },
	[WARD_IB_WR_ATOMIC_WRITE]	= { PLACEMENT, WARD_IB_WC_ATOMIC_WRITE },
	[IB_WR_BIND_MW]			= { ON_RC | USER_ONLY, IB_WC_BIND_MW },
};

/**
 * ward_wc_opcode() - the completion opcode of a work request
 * @wr_opcode: enum ib_wr_opcode, or any number that a process wrote
 *
 * Return: the opcode; IB_WC_SEND for what is no work request.
 */
enum ib_wc_opcode ward_wc_opcode(u32 wr_opcode)
{
	if (wr_opcode >= ARRAY_SIZE(wr_ops))
		return IB_WC_SEND;
	return wr_ops[array_index_nospec(wr_opcode, ARRAY_SIZE(wr_ops))].wc;
}

static bool may_post(const struct ward_qp *qp, u32 opcode)
{
	u8 ops;

	if (opcode >= ARRAY_SIZE(wr_ops))
		return false;
	ops = wr_ops[array_index_nospec(opcode, ARRAY_SIZE(wr_ops))].ops;
	if (ops & (qp->user ? KERNEL_ONLY : USER_ONLY))
		return false;
	return ops & (qp->transport == WARD_UD ? ON_UD :
		      qp->transport == WARD_UC ? ON_UC : ON_RC);
}

/**
 * ward_sendq_create() - make an empty send queue
 * @sq:         filled in
 * @depth:      work requests that it shall hold
 * @max_sge:    pieces of one
 * @max_inline: bytes of inline data of one
 * @uctx:       as in ward_ring_create()
 * @mi:         as in ward_ring_create()
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_sendq_create(struct ward_sendq *sq, u32 depth, u32 max_sge, u32 max_inline,
		      struct ib_ucontext *uctx, struct mminfo *mi)
{
	size_t tail = max_t(size_t, array_size(max_sge, sizeof(struct ward_sge)), max_inline);
	u32 slots = roundup_pow_of_two(max(depth, 1U));

	sq->stride = ALIGN(sizeof(struct ward_swqe) + tail, 8);
	if (uctx) {
		size_t size = offsetof(struct rxe_send_wqe, dma.sge) + tail;
		int err = ward_ring_create(&sq->user, depth, size, uctx, mi);

		if (err)
			return err;
		/* the process may fill all but one of its slots */
		slots = sq->user.mask + 1;
	}
	sq->ring = kvcalloc(slots, sq->stride, GFP_KERNEL);
	if (!sq->ring) {
		ward_ring_destroy(&sq->user);
		return -ENOMEM;
	}
	sq->mask = slots - 1;
	sq->max_sge = max_sge;
	sq->max_inline = max_inline;
	spin_lock_init(&sq->lock);
	return 0;
}

static void release(struct ward_swqe *wqe)
{
	if (wqe->opcode == IB_WR_REG_MR) {
		ward_pages_put(wqe->reg.pages);
		wqe->reg.pages = NULL;
	} else if (wqe->flags & WARD_SWQE_HAS_PATH) {
		ward_path_put(wqe->path);
		wqe->flags &= ~WARD_SWQE_HAS_PATH;
	}
}

/**
 * ward_sendq_pop() - the oldest work request is complete
 * @sq: the queue
 *
 * Context: the owner of the QP.
 */
void ward_sendq_pop(struct ward_sendq *sq)
{
	release(ward_sendq_at(sq, sq->tail));
	if (sq->exec == sq->tail)
		sq->exec++;
	/* pairs with the acquire in is_full(): the slot may be filled again */
	smp_store_release(&sq->tail, sq->tail + 1);
	if (sq->user.buf)
		ward_ring_set_consumer(&sq->user, ++sq->user_tail);
}

/**
 * ward_sendq_reset() - forget what is posted (QP to RESET)
 * @sq: the queue; nobody posts and the requester does not run
 */
void ward_sendq_reset(struct ward_sendq *sq)
{
	while (sq->tail != sq->head)
		ward_sendq_pop(sq);
	if (sq->user.buf) {
		sq->user_head = ward_ring_producer(&sq->user);
		sq->user_tail = sq->user_head;
		ward_ring_set_consumer(&sq->user, sq->user_tail);
	}
}

/**
 * ward_sendq_destroy() - free a send queue
 * @sq: from ward_sendq_create(), or all zero
 */
void ward_sendq_destroy(struct ward_sendq *sq)
{
	if (!sq->ring)
		return;
	ward_sendq_reset(sq);
	ward_ring_destroy(&sq->user);
	kvfree(sq->ring);
	sq->ring = NULL;
}

static bool is_full(const struct ward_sendq *sq)
{
	/* pairs with the release in ward_sendq_pop() */
	return sq->head - smp_load_acquire(&sq->tail) > sq->mask;
}

static void init_swqe(struct ward_swqe *wqe, u64 wr_id, u32 opcode, u32 flags)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr_id;
	wqe->opcode = opcode;
	wqe->posted = jiffies;
	wqe->flags = flags & ~WARD_SWQE_HAS_PATH;
	wqe->status = IB_WC_SUCCESS;
}

static void set_path(struct ward_swqe *wqe, struct ward_path *path)
{
	wqe->path = path;
	wqe->flags |= WARD_SWQE_HAS_PATH;
}

/**
 * ward_sendq_post() - post one work request of a kernel consumer
 * @qp: the QP
 * @wr: the work request
 *
 * Context: any; sq->lock held.
 * Return: 0, -EINVAL for a work request that the QP cannot take, -ENOMEM when the queue is full.
 */
int ward_sendq_post(struct ward_qp *qp, const struct ib_send_wr *wr)
{
	struct ward_sendq *sq = &qp->sq;
	struct ward_swqe *wqe = ward_sendq_at(sq, sq->head);
	u64 length = 0;
	int i, err;

	if (!may_post(qp, wr->opcode) || wr->num_sge < 0 || wr->num_sge > sq->max_sge ||
	    (wr->send_flags & IB_SEND_INLINE))
		return -EINVAL;
	if (is_full(sq))
		return -ENOMEM;

	init_swqe(wqe, wr->wr_id, wr->opcode, wr->send_flags);
	for (i = 0; i < wr->num_sge; i++) {
		wqe->sge[i] = (struct ward_sge){
			.addr = wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
		};
		length += wr->sg_list[i].length;
	}
	if (length > WARD_MAX_MSG || (wr->opcode == WARD_IB_WR_ATOMIC_WRITE && length != 8))
		return -EINVAL;
	wqe->num_sge = wr->num_sge;
	wqe->length = length;
	wqe->imm = wr->ex.imm_data;

	/* as a number, for kernels whose enum lacks some of them */
	switch ((u32)wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case WARD_IB_WR_ATOMIC_WRITE:
		wqe->va = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		wqe->compare = atomic_wr(wr)->compare_add;
		wqe->swap_add = atomic_wr(wr)->swap;
		wqe->va = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->swap_add = atomic_wr(wr)->compare_add;
		wqe->va = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		break;
	case IB_WR_REG_MR:
		err = ward_reg_post(&wqe->reg, to_ward_mr(reg_wr(wr)->mr), reg_wr(wr)->key,
				    reg_wr(wr)->access);
		if (err)
			return err;
		break;
	default:
		break;
	}
	if (qp->transport == WARD_UD) {
		set_path(wqe, ward_ah_get_path(to_ward_ah(ud_wr(wr)->ah)));
		if (ud_wr(wr)->ah->pd != qp->pd)
			wqe->status = IB_WC_LOC_QP_OP_ERR;
		wqe->qpn = ud_wr(wr)->remote_qpn;
		wqe->qkey = ud_wr(wr)->remote_qkey;
	}
	trace_ward_wr_post(qp, sq->head, 0);
	/* pairs with the acquire of the run that executes it */
	smp_store_release(&sq->head, sq->head + 1);
	return 0;
}

/* rxe_send_wr.wr.flush of the user ABI, which kernel headers have since 6.2 */
struct user_flush {
	u64	remote_addr;
	u32	length;
	u32	rkey;
	u8	type;
	u8	level;
};

static void copy_user_flush(struct ward_swqe *wqe, const struct user_flush *flush)
{
	wqe->va = READ_ONCE(flush->remote_addr);
	wqe->rkey = READ_ONCE(flush->rkey);
	wqe->length = READ_ONCE(flush->length);
	wqe->flush_type = READ_ONCE(flush->type) & WARD_FETH_TYPE_MASK;
	wqe->flush_level = READ_ONCE(flush->level) & WARD_FETH_LEVEL_MASK;
}

/* Copy one slot of the shared ring. What is wrong with it becomes the status of its completion. */
static void copy_user_wqe(struct ward_qp *qp, const struct rxe_send_wqe *slot,
			  struct ward_swqe *wqe)
{
	struct ward_sendq *sq = &qp->sq;
	u32 opcode = READ_ONCE(slot->wr.opcode);
	u32 num_sge = READ_ONCE(slot->dma.num_sge);
	u64 length = 0;
	u32 i;

	init_swqe(wqe, READ_ONCE(slot->wr.wr_id), opcode, READ_ONCE(slot->wr.send_flags));
	wqe->imm = READ_ONCE(slot->wr.ex.imm_data);
	if (!may_post(qp, opcode))
		goto bad;

	if (opcode == WARD_IB_WR_ATOMIC_WRITE) {
		/* librxe puts the 8 bytes in the work request, without saying inline */
		wqe->flags |= IB_SEND_INLINE;
		wqe->length = sizeof(u64);
		memcpy(wqe->inline_data, slot->dma.inline_data, sizeof(u64));
	} else if (wqe->flags & IB_SEND_INLINE) {
		wqe->length = READ_ONCE(slot->dma.length);
		if (wqe->length > sq->max_inline)
			goto bad;
		memcpy(wqe->inline_data, slot->dma.inline_data, wqe->length);
	} else {
		if (num_sge > sq->max_sge)
			goto bad;
		for (i = 0; i < num_sge; i++) {
			wqe->sge[i] = (struct ward_sge){
				.addr = READ_ONCE(slot->dma.sge[i].addr),
				.length = READ_ONCE(slot->dma.sge[i].length),
				.lkey = READ_ONCE(slot->dma.sge[i].lkey),
			};
			length += wqe->sge[i].length;
		}
		if (length > WARD_MAX_MSG)
			goto bad;
		wqe->num_sge = num_sge;
		wqe->length = length;
	}

	if (qp->transport == WARD_UD) {
		struct ward_path *path = ward_ah_path(qp->dev, READ_ONCE(slot->wr.wr.ud.ah_num),
						      qp->pd);

		if (!path)
			goto bad;
		set_path(wqe, path);
		wqe->qpn = READ_ONCE(slot->wr.wr.ud.remote_qpn) & WARD_24BITS;
		wqe->qkey = READ_ONCE(slot->wr.wr.ud.remote_qkey);
		return;
	}
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case WARD_IB_WR_ATOMIC_WRITE:
		wqe->va = READ_ONCE(slot->wr.wr.rdma.remote_addr);
		wqe->rkey = READ_ONCE(slot->wr.wr.rdma.rkey);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		wqe->compare = READ_ONCE(slot->wr.wr.atomic.compare_add);
		wqe->swap_add = READ_ONCE(slot->wr.wr.atomic.swap);
		wqe->va = READ_ONCE(slot->wr.wr.atomic.remote_addr);
		wqe->rkey = READ_ONCE(slot->wr.wr.atomic.rkey);
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->swap_add = READ_ONCE(slot->wr.wr.atomic.compare_add);
		wqe->va = READ_ONCE(slot->wr.wr.atomic.remote_addr);
		wqe->rkey = READ_ONCE(slot->wr.wr.atomic.rkey);
		break;
	case WARD_IB_WR_FLUSH:
		copy_user_flush(wqe, (const void *)&slot->wr.wr);
		break;
	case IB_WR_BIND_MW:
		wqe->bind = (struct ward_bind){
			.mw_key = READ_ONCE(slot->wr.wr.mw.mw_rkey),
			.key = READ_ONCE(slot->wr.wr.mw.rkey),
			.lkey = READ_ONCE(slot->wr.wr.mw.mr_lkey),
			.addr = READ_ONCE(slot->wr.wr.mw.addr),
			.length = READ_ONCE(slot->wr.wr.mw.length),
			.access = READ_ONCE(slot->wr.wr.mw.access),
		};
		break;
	default:
		break;
	}
	return;
bad:
	wqe->num_sge = 0;
	wqe->length = 0;
	wqe->status = IB_WC_LOC_QP_OP_ERR;
}

/**
 * ward_sendq_pull() - take over what a process has posted in the shared ring
 * @qp: the QP
 *
 * Context: process; takes sq->lock.
 */
void ward_sendq_pull(struct ward_qp *qp)
{
	struct ward_sendq *sq = &qp->sq;
	unsigned long flags;

	spin_lock_irqsave(&sq->lock, flags);
	while (!is_full(sq) && sq->user_head != ward_ring_producer(&sq->user)) {
		copy_user_wqe(qp, ward_ring_slot(&sq->user, sq->user_head),
			      ward_sendq_at(sq, sq->head));
		sq->user_head = (sq->user_head + 1) & sq->user.mask;
		trace_ward_wr_post(qp, sq->head, ward_sendq_at(sq, sq->head)->status);
		/* pairs with the acquire of the run that executes it */
		smp_store_release(&sq->head, sq->head + 1);
	}
	spin_unlock_irqrestore(&sq->lock, flags);
}
