// SPDX-License-Identifier: GPL-2.0
/*
 * State transitions of a QP.
 *
 * ward_qp_modify() is the verb: it judges first and changes then, as the owner.
 * ward_qp_fail() is the transition to ERR, by the verb or by an error, and
 * ward_qp_fail_sends() the one to SQE.
 */
#include <rdma/ib_addr.h>

#include "../net/net.h"
#include "../net/path.h"
#include "../proto/psn.h"
#include "../verbs/cq.h"
#include "../watch/trace.h"
#include "fence.h"
#include "qp.h"

/**
 * ward_qp_set_state() - a QP comes to a state
 * @qp:     the QP, owned
 * @state:  the state, which may be that in which it is
 * @why:    what brings it there
 * @detail: a completion status or an AETH syndrome, as @why says
 *
 * Context: any.
 */
void ward_qp_set_state(struct ward_qp *qp, enum ib_qp_state state, enum ward_why why, u32 detail)
{
	if (qp->state != state) {
		trace_ward_qp_state(qp, qp->state, state, why, detail);
		qp->since = ktime_get_ns();
		qp->why = why;
		qp->why_detail = detail;
	}
	WRITE_ONCE(qp->state, state);
}

/**
 * ward_qp_forget() - drop all packets and timers of the requester
 * @qp: the QP, owned
 *
 * Context: any but hard interrupt.
 */
void ward_qp_forget(struct ward_qp *qp)
{
	ward_requester_forget(qp);
	/* one that is firing now finds nothing under way */
	if (hrtimer_try_to_cancel(&qp->ack_timer) >= 0)
		qp->req.armed = false;
	hrtimer_try_to_cancel(&qp->rnr_timer);
	/* pages on their way come to nobody */
	qp->fault.parked = false;
	if (!qp->fault.busy)
		qp->fault.err = 0;
}

static void flush_sends(struct ward_run *run)
{
	struct ward_sendq *sq = &run->qp->sq;

	/* pairs with the release of whoever has posted */
	while (sq->tail != smp_load_acquire(&sq->head))
		ward_completer_finish(run, IB_WC_WR_FLUSH_ERR);
}

/**
 * ward_qp_flush() - complete all that is posted with a flush error
 * @run: the run; the QP is in ERR, or in SQE, where only sends are flushed
 *
 * Context: BH off.
 */
void ward_qp_flush(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	/* a process may post as fast as we flush: then there is another run */
	int left = qp->rq.ring.mask + 1;
	bool bad;

	if (qp->fencing)
		return;
	flush_sends(run);
	if (qp->state == IB_QPS_SQE)
		return;
	/* what is in a shared queue is for other QPs */
	while (qp->resp.has_rwqe ||
	       (!qp->srq && left-- > 0 && ward_recvq_take(&qp->rq, &qp->resp.rwqe, &bad))) {
		struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV };

		ward_responder_wc(run, &wc);
	}
	if (left < 0)
		run->again = true;
	/* it holds no receive any more, and takes none (F34) */
	if (qp->tell_last) {
		qp->tell_last = false;
		ward_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
	}
}

/**
 * ward_qp_fail() - to ERR: nothing is executed any more, and all that is posted flushes (F32)
 * @run:    the run
 * @why:    for those who watch
 * @detail: a completion status or an AETH syndrome, as @why says
 *
 * Context: BH off.
 */
void ward_qp_fail(struct ward_run *run, enum ward_why why, u32 detail)
{
	struct ward_qp *qp = run->qp;
	bool first = qp->state != IB_QPS_ERR;

	ward_qp_set_state(qp, IB_QPS_ERR, why, detail);
	/* pairs with the barrier in post_recv() */
	smp_mb();
	ward_run_leave(run);
	if (qp->resp.has_rwqe) {
		struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR, .opcode = IB_WC_RECV };

		ward_responder_wc(run, &wc);
	}
	ward_qp_forget(qp);
	ward_responder_forget(run);
	if (first) {
		qp->tell_last = qp->srq;
		ward_fence_begin(qp);
	}
	ward_qp_flush(run);
}

/**
 * ward_qp_fail_sends() - to SQE: what is posted to send flushes, receives go on
 * @run:    the run of a UC or UD QP, on which a send has failed and is complete
 * @status: with this
 *
 * Context: BH off.
 */
void ward_qp_fail_sends(struct ward_run *run, enum ib_wc_status status)
{
	struct ward_qp *qp = run->qp;

	ward_qp_set_state(qp, IB_QPS_SQE, WARD_WHY_SEND_FAILED, status);
	/* of the message that failed half way */
	qp->req.offset = 0;
	flush_sends(run);
}

/* To RESET: as if nothing had ever been posted, and without completions */
static void reset(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct ward_path *path = ward_qp_path(qp);
	unsigned long flags;

	ward_qp_set_state(qp, IB_QPS_RESET, WARD_WHY_MODIFIED, 0);
	ward_fence_wait(qp);
	ward_fence_now(qp);
	qp->fencing = false;
	qp->tell_last = false;
	clear_bit(WARD_EV_FENCED, &qp->events);
	ward_qp_forget(qp);
	local_bh_disable();
	ward_responder_forget(run);
	local_bh_enable();
	spin_lock_irqsave(&qp->sq.lock, flags);
	ward_sendq_reset(&qp->sq);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	ward_recvq_reset(&qp->rq);
	rcu_assign_pointer(qp->path, NULL);
	if (path)
		ward_path_put(path);
}

static int check_limits(const struct ward_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if ((mask & IB_QP_PORT) && attr->port_num != 1)
		return -EINVAL;
	if ((mask & IB_QP_PKEY_INDEX) && attr->pkey_index)
		return -EINVAL;
	if ((mask & IB_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > WARD_MAX_RD_ATOMIC)
		return -EINVAL;
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > WARD_MAX_RD_ATOMIC)
		return -EINVAL;
	if ((mask & IB_QP_TIMEOUT) && attr->timeout > 31)
		return -EINVAL;
	if ((mask & IB_QP_RETRY_CNT) && attr->retry_cnt > 7)
		return -EINVAL;
	if ((mask & IB_QP_RNR_RETRY) && attr->rnr_retry > 7)
		return -EINVAL;
	if ((mask & IB_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31)
		return -EINVAL;
	if ((mask & IB_QP_PATH_MTU) &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096))
		return -EINVAL;
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)) {
		/* there is one path, and it does not migrate */
		if (mask & IB_QP_ALT_PATH || attr->path_mig_state != IB_MIG_MIGRATED)
			return -EINVAL;
	}
	return 0;
}

/* Take over what @mask names; ib_modify_qp_is_ok() has seen that it may be changed now */
static void take_attr(struct ward_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct ib_qp_attr *to = &qp->attr;

	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_PKEY_INDEX)
		to->pkey_index = attr->pkey_index;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_QKEY) {
		to->qkey = attr->qkey;
		qp->qkey = attr->qkey;
	}
	if (mask & IB_QP_AV) {
		to->ah_attr = attr->ah_attr;
		/* the path holds the reference */
		to->ah_attr.grh.sgid_attr = NULL;
	}
	if (mask & IB_QP_PATH_MTU) {
		to->path_mtu = attr->path_mtu;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	}
	if (mask & IB_QP_DEST_QPN) {
		to->dest_qp_num = attr->dest_qp_num & WARD_24BITS;
		qp->dest_slot = ward_unpermute(&qp->net->qpn, to->dest_qp_num);
	}
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn & WARD_24BITS;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn & WARD_24BITS;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT) {
		to->retry_cnt = attr->retry_cnt;
		qp->req.retries = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		to->rnr_retry = attr->rnr_retry;
		qp->req.rnr_retries = attr->rnr_retry;
	}
}

static int to_rtr(struct ward_qp *qp)
{
	if (qp->transport != WARD_UD)
		return ward_responder_setup(qp, qp->attr.max_dest_rd_atomic);
	/* a datagram fills at most the largest MTU; a path that is narrower drops it */
	qp->mtu = WARD_MAX_MTU;
	return 0;
}

static int modify(struct ward_run *run, struct ib_qp_attr *attr, int mask)
{
	struct ward_qp *qp = run->qp;
	enum ib_qp_state cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;
	struct ward_path *path = NULL;
	int err;

	if (cur != qp->state || !ib_modify_qp_is_ok(cur, next, qp->ib->qp_type, mask))
		return -EINVAL;
	/* a resource of the running responder (field report: it was freed under it) */
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && next != IB_QPS_RTR)
		return -EINVAL;
	/* packets under way were made for the old path */
	if ((mask & IB_QP_AV) && cur == IB_QPS_SQD && !ward_requester_drained(qp))
		return -EINVAL;
	err = check_limits(qp, attr, mask);
	if (err)
		return err;
	if (mask & IB_QP_AV) {
		if (rdma_is_multicast_addr((struct in6_addr *)attr->ah_attr.grh.dgid.raw))
			return -EINVAL;
		path = ward_path_create(qp->dev, &attr->ah_attr, qp->qpn,
					mask & IB_QP_DEST_QPN ? attr->dest_qp_num :
					qp->attr.dest_qp_num, GFP_KERNEL);
		if (IS_ERR(path))
			return PTR_ERR(path);
	}

	take_attr(qp, attr, mask);
	if (path) {
		struct ward_path *old = ward_qp_path(qp);

		rcu_assign_pointer(qp->path, path);
		if (old)
			ward_path_put(old);
	}
	if (next == IB_QPS_ERR) {
		local_bh_disable();
		ward_qp_fail(run, WARD_WHY_MODIFIED, 0);
		local_bh_enable();
		return 0;
	}
	if (next == cur)
		return 0;
	switch (next) {
	case IB_QPS_RESET:
		reset(run);
		return 0;
	case IB_QPS_RTR:
		err = to_rtr(qp);
		if (err)
			return err;
		break;
	case IB_QPS_RTS:
		if (cur == IB_QPS_RTR)
			ward_requester_reset(qp);
		run->again = true;
		break;
	case IB_QPS_SQD:
		/* work requests that have begun go on; a consumer is told when they are complete */
		qp->req.tell_drained = (mask & IB_QP_EN_SQD_ASYNC_NOTIFY) &&
				       attr->en_sqd_async_notify;
		run->again = true;
		break;
	default:
		break;
	}
	ward_qp_set_state(qp, next, WARD_WHY_MODIFIED, 0);
	return 0;
}

/**
 * ward_qp_modify() - the modify_qp verb
 * @qp:   the QP
 * @attr: attributes
 * @mask: which of them are given
 *
 * A fence when the QP goes to ERR or RESET, or is in ERR already (F32): when this returns, nothing
 * that arrived on the QP touches memory any more.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno; then the state has not changed.
 */
int ward_qp_modify(struct ward_qp *qp, struct ib_qp_attr *attr, int mask)
{
	struct ward_run run;
	int err;

	ward_qp_own(qp, &run);
	err = modify(&run, attr, mask);
	ward_qp_disown(&run);
	if (!err && (mask & IB_QP_STATE) && attr->qp_state == IB_QPS_ERR)
		ward_fence_wait(qp);
	return err;
}
