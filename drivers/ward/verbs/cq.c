// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * Resizing makes a new ring, moves what has not been polled, and exchanges the
 * rings under the lock under which completions are added. Stock user space holds
 * back its own polling until it has mapped the new ring.
 */
#include <linux/minmax.h>
#include <linux/workqueue.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "cq.h"
#include "ucontext.h"

/* What libibverbs calls IBV_WC_WITH_INV. Other flags of the kernel mean nothing there */
#define USER_WC_WITH_INV	BIT(3)

static u32 user_flags(const struct ib_wc *wc)
{
	u32 flags = wc->wc_flags & (IB_WC_GRH | IB_WC_WITH_IMM);

	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		flags |= USER_WC_WITH_INV;
	return flags;
}

static void fill_user(struct ib_uverbs_wc *to, const struct ib_wc *wc)
{
	*to = (struct ib_uverbs_wc){
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		.qp_num = wc->qp->qp_num,
		.src_qp = wc->src_qp,
		.wc_flags = user_flags(wc),
		.pkey_index = wc->pkey_index,
		.slid = wc->slid,
		.sl = wc->sl,
		.dlid_path_bits = wc->dlid_path_bits,
		.port_num = wc->port_num,
	};
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE)
		to->ex.invalidate_rkey = wc->ex.invalidate_rkey;
	else
		to->ex.imm_data = wc->ex.imm_data;
}

/**
 * ward_cq_add() - add a completion
 * @cq:        the queue
 * @wc:        the completion
 * @solicited: it is an error, or the peer asked for an event
 *
 * All that the completion stands for is in place before it can be seen (F38).
 *
 * Context: any; takes cq->lock.
 * Return: whether the consumer is to be told by ward_cq_notify(), once for a batch.
 */
bool ward_cq_add(struct ward_cq *cq, const struct ib_wc *wc, bool solicited)
{
	unsigned long flags;
	bool notify = false;
	u32 next;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->overflow)
		goto out;
	next = (cq->head + 1) & cq->ring.mask;
	if (next == ward_ring_consumer(&cq->ring)) {
		cq->overflow = true;
		ibdev_warn_ratelimited(&cq->dev->ib,
				       "a completion queue of %d entries overflowed: its consumer must make it as large as all work requests that can complete into it\n",
				       cq->ib.cqe);
		queue_work(ward_wq, &cq->event_work);
		goto out;
	}
	if (cq->user)
		fill_user(ward_ring_slot(&cq->ring, cq->head), wc);
	else
		*(struct ib_wc *)ward_ring_slot(&cq->ring, cq->head) = *wc;
	cq->head = next;
	ward_ring_set_producer(&cq->ring, next);

	if (cq->armed == IB_CQ_NEXT_COMP || (cq->armed == IB_CQ_SOLICITED && solicited)) {
		cq->armed = 0;
		notify = true;
	}
out:
	spin_unlock_irqrestore(&cq->lock, flags);
	return notify;
}

/**
 * ward_cq_notify() - call the consumer's completion handler
 * @cq: the queue
 *
 * Context: softirq or BH off; no lock of ours is held.
 */
void ward_cq_notify(struct ward_cq *cq)
{
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void tell_overflow(struct work_struct *work)
{
	struct ward_cq *cq = container_of(work, struct ward_cq, event_work);
	struct ib_event event = {
		.device = &cq->dev->ib,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = &cq->ib,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, ward_cq_ctx_t *ctx)
{
	struct ib_udata *udata = ward_cq_ctx_udata(ctx);
	struct ward_cq *cq = to_ward_cq(ibcq);
	struct rxe_create_cq_resp resp = {};
	struct ib_ucontext *uctx = NULL;
	u32 size = sizeof(struct ib_wc);
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > WARD_MAX_CQE)
		return -EINVAL;
	if (udata) {
		if (udata->outlen < sizeof(resp))
			return -EINVAL;
		uctx = &rdma_udata_to_drv_context(udata, struct ward_ucontext, ib)->ib;
		size = sizeof(struct ib_uverbs_wc);
	}
	cq->dev = to_ward(ibcq->device);
	if (!atomic_add_unless(&cq->dev->num_cq, 1, WARD_MAX_CQ))
		return -ENOMEM;
	cq->user = udata;
	spin_lock_init(&cq->lock);
	INIT_WORK(&cq->event_work, tell_overflow);
	err = ward_ring_create(&cq->ring, attr->cqe, size, uctx, &resp.mi);
	if (err)
		goto err_count;
	ibcq->cqe = cq->ring.mask;
	if (udata) {
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (err)
			goto err_ring;
	}
	ward_object_add(cq->dev, &cq->entry, &cq->dev->objects.cqs);
	return 0;

err_ring:
	ward_ring_destroy(&cq->ring);
err_count:
	atomic_dec(&cq->dev->num_cq);
	return err;
}

static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct ward_cq *cq = to_ward_cq(ibcq);

	ward_object_del(cq->dev, &cq->entry);
	/* no QP uses it any more, so no event is added */
	cancel_work_sync(&cq->event_work);
	ward_ring_destroy(&cq->ring);
	atomic_dec(&cq->dev->num_cq);
	return 0;
}

/*
 * Completions that have not been polled move to another ring, in order; it gets the old one. While
 * the lock is held none is added, and a process holds back those who poll.
 */
static int swap_ring(struct ward_cq *cq, struct ward_ring *other)
{
	u32 tail, i, n;

	lockdep_assert_held(&cq->lock);
	tail = ward_ring_consumer(&cq->ring);
	n = (cq->head - tail) & cq->ring.mask;
	if (n > other->mask)
		return -EINVAL;
	for (i = 0; i < n; i++)
		memcpy(ward_ring_slot(other, i), ward_ring_slot(&cq->ring, tail + i),
		       1UL << cq->ring.log2);
	ward_ring_set_producer(other, n);
	swap(cq->ring, *other);
	cq->head = n;
	cq->tail = 0;
	cq->ib.cqe = cq->ring.mask;
	return 0;
}

static int resize_cq(struct ib_cq *ibcq, ward_resize_cqe_t cqe, struct ib_udata *udata)
{
	struct ward_cq *cq = to_ward_cq(ibcq);
	struct rxe_resize_cq_resp resp = {};
	struct ib_ucontext *uctx = NULL;
	u32 size = sizeof(struct ib_wc);
	struct ward_ring ring;
	unsigned long flags;
	int err;

	if (cqe < 1 || cqe > WARD_MAX_CQE)
		return -EINVAL;
	if (udata) {
		if (udata->outlen < sizeof(resp))
			return -EINVAL;
		uctx = &rdma_udata_to_drv_context(udata, struct ward_ucontext, ib)->ib;
		size = sizeof(struct ib_uverbs_wc);
	}
	err = ward_ring_create(&ring, cqe, size, uctx, &resp.mi);
	if (err)
		return err;
	/* before the change: a process that cannot be told keeps the old ring */
	if (udata)
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (!err) {
		spin_lock_irqsave(&cq->lock, flags);
		err = swap_ring(cq, &ring);
		spin_unlock_irqrestore(&cq->lock, flags);
	}
	/* the old ring, or the new one that was of no use */
	ward_ring_destroy(&ring);
	return err;
}

static int poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct ward_cq *cq = to_ward_cq(ibcq);
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num && cq->tail != cq->head) {
		wc[n++] = *(struct ib_wc *)ward_ring_slot(&cq->ring, cq->tail);
		cq->tail = (cq->tail + 1) & cq->ring.mask;
	}
	if (n)
		ward_ring_set_consumer(&cq->ring, cq->tail);
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags how)
{
	struct ward_cq *cq = to_ward_cq(ibcq);
	unsigned long flags;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, flags);
	/* a wish for any completion is not weakened by one for solicited ones */
	if (cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = how & IB_CQ_SOLICITED_MASK;
	if ((how & IB_CQ_REPORT_MISSED_EVENTS) && ward_ring_consumer(&cq->ring) != cq->head)
		missed = 1;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

const struct ib_device_ops ward_cq_ops = {
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,
	.ward_op_resize_cq = resize_cq,
	INIT_RDMA_OBJ_SIZE(ib_cq, ward_cq, ib),
};
