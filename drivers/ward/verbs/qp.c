// SPDX-License-Identifier: GPL-2.0
/*
 * The queue pair verbs.
 */
#include <rdma/uverbs_ioctl.h>

#include "../net/path.h"
#include "../qp/qp.h"
#include "qp.h"
#include "ucontext.h"

static int check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->create_flags || init->xrcd || init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (init->qp_type != IB_QPT_RC && init->qp_type != IB_QPT_UC &&
	    init->qp_type != IB_QPT_UD && init->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	if (init->srq && init->qp_type == IB_QPT_GSI)
		return -EINVAL;
	if (cap->max_send_wr > WARD_MAX_QP_WR || cap->max_recv_wr > WARD_MAX_QP_WR ||
	    cap->max_send_sge > WARD_MAX_SGE || cap->max_recv_sge > WARD_MAX_SGE ||
	    cap->max_inline_data > WARD_MAX_INLINE)
		return -EINVAL;
	return 0;
}

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct ib_ucontext *uctx = NULL;
	struct rxe_create_qp_resp resp = {};
	struct ib_qp_cap *cap = &init->cap;
	struct ward_qp *qp;
	int err = check_init(init);

	if (err)
		return err;
	if (udata) {
		if (udata->outlen < sizeof(resp))
			return -EINVAL;
		uctx = &rdma_udata_to_drv_context(udata, struct ward_ucontext, ib)->ib;
	}
	qp = ward_qp_create(to_ward(ibqp->device), ibqp, init);
	if (!qp)
		return -ENOMEM;
	container_of(ibqp, struct ward_ibqp, ib)->qp = qp;

	err = -ENOMEM;
	if (ward_inject_fails(qp->dev, WARD_AT_QUEUE))
		goto err_qp;
	err = ward_sendq_create(&qp->sq, cap->max_send_wr, max(cap->max_send_sge, 1U),
				cap->max_inline_data, uctx, &resp.sq_mi);
	if (err)
		goto err_qp;
	if (!qp->srq) {
		err = ward_recvq_create(&qp->rq, cap->max_recv_wr, max(cap->max_recv_sge, 1U),
					uctx, &resp.rq_mi);
		if (err)
			goto err_qp;
	}
	if (udata) {
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
		if (err)
			goto err_qp;
	}
	err = ward_qp_publish(qp);
	if (err)
		goto err_qp;

	ibqp->qp_num = qp->qpn;
	cap->max_send_wr = uctx ? qp->sq.user.mask : qp->sq.mask + 1;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_inline_data = qp->sq.max_inline;
	cap->max_recv_wr = qp->rq.depth;
	cap->max_recv_sge = qp->rq.max_sge;
	return 0;

err_qp:
	ward_qp_destroy(qp);
	return err;
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	ward_qp_destroy(to_ward_qp(ibqp));
	return 0;
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata)
{
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	return ward_qp_modify(to_ward_qp(ibqp), attr, mask);
}

static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct ward_qp *qp = to_ward_qp(ibqp);
	struct ward_run run;

	/* as the owner, so that what is told belongs together */
	ward_qp_own(qp, &run);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->sq_psn = qp->req.nxt;
	attr->rq_psn = qp->resp.order.epsn;
	attr->sq_draining = qp->state == IB_QPS_SQD && !ward_requester_drained(qp);
	if (ward_qp_path(qp))
		ward_path_query(ward_qp_path(qp), &attr->ah_attr);
	attr->cap = (struct ib_qp_cap){
		.max_send_wr = qp->sq.user.buf ? qp->sq.user.mask : qp->sq.mask + 1,
		.max_recv_wr = qp->rq.depth,
		.max_send_sge = qp->sq.max_sge,
		.max_recv_sge = qp->rq.max_sge,
		.max_inline_data = qp->sq.max_inline,
	};
	ward_qp_disown(&run);

	*init = (struct ib_qp_init_attr){
		.event_handler = ibqp->event_handler,
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.srq = ibqp->srq,
		.cap = attr->cap,
		.sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR,
		.qp_type = ibqp->qp_type,
		.port_num = 1,
	};
	return 0;
}

static bool may_post_send(enum ib_qp_state state)
{
	return state == IB_QPS_RTS || state == IB_QPS_SQD || state == IB_QPS_SQE ||
	       state == IB_QPS_ERR;
}

static int post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad)
{
	struct ward_qp *qp = to_ward_qp(ibqp);
	unsigned long flags;
	int err = 0;

	if (!may_post_send(READ_ONCE(qp->state))) {
		*bad = wr;
		return -EINVAL;
	}
	/* a process has put its work requests in the shared ring and rings the bell */
	if (qp->user) {
		ward_sendq_pull(qp);
		goto kick;
	}
	spin_lock_irqsave(&qp->sq.lock, flags);
	for (; wr; wr = wr->next) {
		err = ward_sendq_post(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
kick:
	ward_qp_kick_here(qp, WARD_EV_WORK);
	return err;
}

static int post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct ward_qp *qp = to_ward_qp(ibqp);
	int err;

	if (READ_ONCE(qp->state) == IB_QPS_RESET || qp->user || qp->srq) {
		*bad = wr;
		return -EINVAL;
	}
	err = ward_recvq_post_list(&qp->rq, wr, bad);
	/* pairs with the barrier in ward_qp_fail(): either it flushes this, or we see ERR */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		ward_qp_kick_here(qp, WARD_EV_WORK);
	return err;
}

const struct ib_device_ops ward_qp_ops = {
	.create_qp = create_qp,
	.destroy_qp = destroy_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.post_send = post_send,
	.post_recv = post_recv,
	INIT_RDMA_OBJ_SIZE(ib_qp, ward_ibqp, ib),
};
