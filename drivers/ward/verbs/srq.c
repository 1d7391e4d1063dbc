// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues.
 *
 * Any number of QPs take receives from one, each in its own run, hence the lock.
 * A receive belongs to the QP from the moment it is taken: it completes into the
 * QP's receive CQ, and flushes with the QP. What has not been taken stays, for
 * whichever QP comes next.
 *
 * The core lets an SRQ be destroyed only when no QP uses it.
 */
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

#include "srq.h"
#include "ucontext.h"

static void tell_limit(struct work_struct *work)
{
	struct ward_srq *srq = container_of(work, struct ward_srq, event_work);
	struct ib_event event = {
		.device = &srq->dev->ib,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
		.element.srq = &srq->ib,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

/* Told once: the consumer arms the limit again when it wants to hear of it again */
static void check_limit(struct ward_srq *srq)
{
	lockdep_assert_held(&srq->lock);
	if (!srq->limit || ward_recvq_len(&srq->rq) >= srq->limit)
		return;
	srq->limit = 0;
	queue_work(ward_wq, &srq->event_work);
}

/**
 * ward_srq_take() - take the oldest receive
 * @srq:  the queue
 * @rwqe: as in ward_recvq_take()
 * @bad:  as in ward_recvq_take()
 *
 * Context: BH off; takes srq->lock.
 * Return: false when there is none.
 */
bool ward_srq_take(struct ward_srq *srq, struct ward_rwqe *rwqe, bool *bad)
{
	bool taken;

	spin_lock(&srq->lock);
	taken = ward_recvq_take(&srq->rq, rwqe, bad);
	if (taken)
		check_limit(srq);
	spin_unlock(&srq->lock);
	return taken;
}

static int create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct ward_device *dev = to_ward(ibsrq->device);
	struct ward_srq *srq = to_ward_srq(ibsrq);
	struct rxe_create_srq_resp resp = {};
	struct ib_ucontext *uctx = NULL;
	int err;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > WARD_MAX_SRQ_WR ||
	    init->attr.max_sge > WARD_MAX_SGE)
		return -EINVAL;
	if (udata) {
		if (udata->outlen < sizeof(resp))
			return -EINVAL;
		uctx = &rdma_udata_to_drv_context(udata, struct ward_ucontext, ib)->ib;
	}
	srq->dev = dev;
	srq->user = udata;
	spin_lock_init(&srq->lock);
	INIT_WORK(&srq->event_work, tell_limit);

	err = ida_alloc_range(&dev->srqs, 1, WARD_MAX_SRQ, GFP_KERNEL);
	if (err < 0)
		return -ENOMEM;
	srq->num = err;
	err = ward_recvq_create(&srq->rq, init->attr.max_wr, max(init->attr.max_sge, 1U), uctx,
				&resp.mi);
	if (err)
		goto err_num;
	if (udata) {
		resp.srq_num = srq->num;
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (err)
			goto err_rq;
	}
	init->attr.max_wr = srq->rq.depth;
	init->attr.max_sge = srq->rq.max_sge;
	srq->pd_id = ibsrq->pd->res.id;
	ward_object_add(dev, &srq->entry, &dev->objects.srqs);
	return 0;

err_rq:
	ward_recvq_destroy(&srq->rq);
err_num:
	ida_free(&dev->srqs, srq->num);
	return err;
}

static int destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct ward_srq *srq = to_ward_srq(ibsrq);

	ward_object_del(srq->dev, &srq->entry);
	/* no QP uses it any more, so no event is added */
	cancel_work_sync(&srq->event_work);
	ward_recvq_destroy(&srq->rq);
	ida_free(&srq->dev->srqs, srq->num);
	return 0;
}

/* Where a process wants to read what it needs to map the new ring. */
static int tell_mmap(struct ib_udata *udata, const struct mminfo *mi)
{
	struct rxe_modify_srq_cmd cmd;

	if (ib_copy_from_udata(&cmd, udata, sizeof(cmd)))
		return -EFAULT;
	return copy_to_user(u64_to_user_ptr(cmd.mmap_info_addr), mi, sizeof(*mi)) ? -EFAULT : 0;
}

/* Exchange the ring. What is posted moves over; -EINVAL when it does not fit. */
static int resize(struct ward_srq *srq, u32 depth, u32 limit, bool set_limit,
		  struct ib_udata *udata)
{
	struct ib_ucontext *uctx = NULL;
	struct mminfo mi = {};
	struct ward_recvq new;
	int err;

	if (udata) {
		if (udata->inlen < sizeof(struct rxe_modify_srq_cmd))
			return -EINVAL;
		uctx = &rdma_udata_to_drv_context(udata, struct ward_ucontext, ib)->ib;
	}
	err = ward_recvq_create(&new, depth, srq->rq.max_sge, uctx, &mi);
	if (err)
		return err;
	/* before the change: a process that cannot be told keeps the old ring */
	if (udata)
		err = tell_mmap(udata, &mi);
	if (!err) {
		spin_lock_bh(&srq->lock);
		if (!set_limit && srq->limit > new.depth)
			err = -EINVAL;
		else
			err = ward_recvq_swap(&srq->rq, &new);
		if (!err && set_limit) {
			srq->limit = limit;
			check_limit(srq);
		}
		spin_unlock_bh(&srq->lock);
	}
	/* the old ring, or the new one that was of no use */
	ward_recvq_destroy(&new);
	return err;
}

static int modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		      struct ib_udata *udata)
{
	struct ward_srq *srq = to_ward_srq(ibsrq);
	int err = 0;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (mask & IB_SRQ_MAX_WR) {
		if (!attr->max_wr || attr->max_wr > WARD_MAX_SRQ_WR)
			return -EINVAL;
		if ((mask & IB_SRQ_LIMIT) && attr->srq_limit > attr->max_wr)
			return -EINVAL;
		return resize(srq, attr->max_wr, attr->srq_limit, mask & IB_SRQ_LIMIT, udata);
	}
	if (mask & IB_SRQ_LIMIT) {
		spin_lock_bh(&srq->lock);
		if (attr->srq_limit > srq->rq.depth) {
			err = -EINVAL;
		} else {
			srq->limit = attr->srq_limit;
			/* so few are left already: nobody might take one any more */
			check_limit(srq);
		}
		spin_unlock_bh(&srq->lock);
	}
	return err;
}

static int query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct ward_srq *srq = to_ward_srq(ibsrq);

	spin_lock_bh(&srq->lock);
	attr->max_wr = srq->rq.depth;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

static int post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	struct ward_srq *srq = to_ward_srq(ibsrq);

	/* a process posts in the shared ring */
	if (srq->user) {
		*bad = wr;
		return -EINVAL;
	}
	return ward_recvq_post_list(&srq->rq, wr, bad);
}

const struct ib_device_ops ward_srq_ops = {
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.modify_srq = modify_srq,
	.query_srq = query_srq,
	.post_srq_recv = post_srq_recv,
	INIT_RDMA_OBJ_SIZE(ib_srq, ward_srq, ib),
};
