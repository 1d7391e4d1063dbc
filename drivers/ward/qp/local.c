// SPDX-License-Identifier: GPL-2.0
/*
 * Local steps: work requests to a QP of this host, without packets.
 *
 * The two ends are where packets would have brought them after each step: PSNs,
 * MSN, the message half received. So a step may follow packets when all of them
 * are acknowledged, and packets may follow a step, even within a message. Whether
 * it is a step or packets is decided for each step anew: it is a step when both
 * devices allow it, the peer is the one that packets would find, and packets would
 * pass nothing on their way but the stack (net/inside.h).
 *
 * Owning two QPs. A run never waits for the peer: when it is owned, by a run on
 * another CPU or by a verb that sleeps, the number of the requester is left in its
 * @waiter, and whoever lets go of the peer has the requester run again. A number and
 * no pointer, so nothing is held. Of two QPs that want each other at the same time the
 * one with the lower number is kicked first, and the other when that one is done.
 *
 * A step is judged and executed by the responder's own functions. Its bytes are
 * read when it executes and never again (F35); what is checked for each packet is
 * checked for each step. After WARD_STEP bytes the run ends, and leaves the guards.
 *
 * A SEND_WITH_INV whose region must drain is parked at the peer. The requester
 * waits as for an acknowledgement, but does not execute what comes behind. When
 * the peer is gone meanwhile, it ends as if no acknowledgement had come.
 *
 * All functions are the owner's.
 */
#include <linux/minmax.h>

#include "../net/inside.h"
#include "../net/net.h"
#include "../net/path.h"
#include "../proto/psn.h"
#include "../proto/segment.h"
#include "local.h"
#include "qp.h"

/* The QP that packets would find; under RCU */
static struct ward_qp *find_peer(const struct ward_qp *qp)
{
	struct ward_net *wn = qp->net;

	return xa_load(&wn->qps, ward_unpermute(&wn->qpn, qp->attr.dest_qp_num));
}

/*
 * Would the peer take packets from us, and answer them? Sure only when the peer is owned. Returns
 * the path back, if so, good under RCU.
 */
static struct ward_path *way_back(const struct ward_qp *qp, const struct ward_qp *peer)
{
	struct ward_path *back = rcu_dereference(peer->path);

	if (back && peer != qp && peer->transport == WARD_RC &&
	    ward_qp_receives(READ_ONCE(peer->state)) &&
	    READ_ONCE(peer->attr.dest_qp_num) == qp->qpn && READ_ONCE(peer->mtu) == qp->mtu &&
	    ward_path_is_back(back, ward_qp_path(qp)))
		return back;
	return NULL;
}

static bool may_be_local(const struct ward_qp *qp, const struct ward_qp *peer)
{
	struct ward_path *back = way_back(qp, peer);

	return back && ward_option(qp->dev, PATH) == WARD_PATH_AUTO &&
	       ward_option(peer->dev, PATH) == WARD_PATH_AUTO &&
	       ward_paths_are_inside(ward_qp_path(qp), back);
}

/* Have this run come again when somebody has let go of the peer after this */
static void wait_for(struct ward_qp *qp, struct ward_qp *peer)
{
	u32 other = xchg(&peer->waiter, qp->qpn);
	struct ward_qp *displaced;

	/* not a peer of both of us, or it is of another life: it will see */
	if (!other || other == qp->qpn)
		return;
	displaced = xa_load(&qp->net->qps, ward_unpermute(&qp->net->qpn, other));
	if (displaced && kref_get_unless_zero(&displaced->ref)) {
		ward_qp_kick(displaced, WARD_EV_WORK);
		ward_qp_put(displaced);
	}
}

/* Own the peer. False: a run will come when that can be tried again. */
static bool own(struct ward_run *run, struct ward_qp *peer)
{
	struct ward_run *partner = run->partner;
	struct ward_qp *qp = run->qp;

	if (partner->qp)
		return true;
	/* it is being destroyed: packets tell what that comes to, once it cannot be found */
	if (!kref_get_unless_zero(&peer->ref)) {
		run->again = true;
		return false;
	}
	if (!ward_qp_try_own(peer, partner)) {
		wait_for(qp, peer);
		/* the barrier in xchg() pairs with that in release_ownership() */
		if (!ward_qp_try_own(peer, partner)) {
			qp->req.awaits_peer = true;
			ward_qp_put(peer);
			return false;
		}
	}
	partner->partner = run;
	return true;
}

/**
 * ward_local_end() - let go of the peer, if it is owned
 * @run: the run
 *
 * Its consumers are told, after the guards of both QPs are left.
 *
 * Context: under RCU with BH off.
 */
void ward_local_end(struct ward_run *run)
{
	struct ward_qp *peer = run->partner->qp;

	if (!peer)
		return;
	ward_qp_let_go(run->partner);
	ward_qp_put(peer);
}

/* A SEND_WITH_INV of ours waits at the peer */
static enum ward_way way_of_parked(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp, *peer = find_peer(qp);
	struct ward_requester *req = &qp->req;

	if (peer && way_back(qp, peer)) {
		if (!own(run, peer))
			return WARD_WAIT;
		if (peer->resp.parked) {
			wait_for(qp, peer);
			return WARD_WAIT;
		}
		if (way_back(qp, peer) &&
		    peer->resp.order.epsn == ward_psn_add(req->nxt, req->parked_psns))
			return WARD_LOCAL;
	}
	req->parked = false;
	ward_count(qp->dev, RETRY_EXC);
	wqe->status = IB_WC_RETRY_EXC_ERR;
	return WARD_LOCAL;
}

static u32 step_len(const struct ward_qp *qp, const struct ward_swqe *wqe)
{
	if (ward_swqe_single_op(wqe))
		return sizeof(u64);
	return min_t(u32, wqe->length - (wqe->started ? qp->req.offset : 0), WARD_STEP);
}

/**
 * ward_local_way() - decide how the next bytes of a work request go
 * @run: the run
 * @wqe: the work request at sq.exec
 *
 * Context: under RCU with BH off.
 * Return: the decision; for WARD_LOCAL, ward_local_step() is to be called.
 */
enum ward_way ward_local_way(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp, *peer = run->partner->qp;
	const struct ward_responder *resp;

	/* one that has begun with packets, or has gone over to them, goes on with packets */
	if (qp->transport != WARD_RC || (wqe->started && !wqe->local))
		return WARD_PACKETS;
	if (unlikely(qp->req.parked))
		return way_of_parked(run, wqe);
	if (!peer)
		peer = find_peer(qp);
	if (!peer || !may_be_local(qp, peer))
		goto packets;
	/* what went as packets is answered first; an answer brings the next run */
	if (qp->req.una != qp->req.nxt)
		return WARD_WAIT;
	if (run->copied && run->copied + step_len(qp, wqe) > WARD_STEP) {
		run->again = true;
		return WARD_WAIT;
	}
	if (!own(run, peer))
		return WARD_WAIT;
	resp = &peer->resp;
	if (resp->replies.num || resp->draining || resp->refused) {
		wait_for(qp, peer);
		return WARD_WAIT;
	}
	/* it may have changed before it was owned */
	if (way_back(qp, peer) && resp->order.epsn == qp->req.nxt) {
		wqe->local = true;
		return WARD_LOCAL;
	}
packets:
	wqe->local = false;
	ward_local_end(run);
	return WARD_PACKETS;
}

/* The step in the shape of a packet, and where its bytes are */
static void describe(struct ward_run *run, struct ward_swqe *wqe, u32 len, struct ward_request *rq)
{
	struct ward_qp *qp = run->qp;
	u32 offset = qp->req.offset;
	bool last = offset + len == wqe->length;
	struct ward_pkt *pkt = &rq->pkt;
	u8 op = ward_swqe_single_op(wqe);

	*rq = (struct ward_request){
		.pkt = {
			.psn = qp->req.nxt,
			.len = len,
			.va = wqe->va,
			.rkey = wqe->rkey,
			.dma_len = wqe->length,
		},
		.src = {
			.access = &run->local,
			.sge = wqe->sge,
			.num_sge = wqe->num_sge,
			.cur = wqe->cur,
			.bytes = wqe->flags & IB_SEND_INLINE ? wqe->inline_data : NULL,
		},
	};
	if (wqe->opcode == IB_WR_RDMA_READ) {
		pkt->opcode = WARD_RC | WARD_READ_REQUEST;
		pkt->len = 0;
		pkt->va = wqe->va + offset;
		pkt->dma_len = len;
		rq->sink = (struct ward_sink){
			.access = &run->local,
			.sge = wqe->sge,
			.num_sge = wqe->num_sge,
			.cur = &wqe->cur,
			.pos = offset,
			.last = last,
		};
	} else if (op) {
		pkt->opcode = WARD_RC | op;
		pkt->len = op == WARD_ATOMIC_WRITE ? len : 0;
		pkt->flush_type = wqe->flush_type;
		pkt->flush_level = wqe->flush_level;
		/* these lie where the others are */
		if (op == WARD_COMPARE_SWAP || op == WARD_FETCH_ADD) {
			pkt->swap_add = wqe->swap_add;
			pkt->compare = wqe->compare;
		}
	} else {
		pkt->opcode = ward_seg_opcode(WARD_RC, ward_swqe_is_write(wqe) ? WARD_MSG_WRITE :
					      WARD_MSG_SEND, ward_swqe_tail(wqe), !offset, last);
		pkt->solicited = last && (wqe->flags & IB_SEND_SOLICITED);
		pkt->imm = wqe->imm;
		pkt->inv_rkey = wqe->inv_key;
	}
	pkt->op = ward_opcode(pkt->opcode);
}

/* The step is done at both ends */
static void advance(struct ward_qp *qp, u32 psns)
{
	struct ward_requester *req = &qp->req;

	req->nxt = ward_psn_add(req->nxt, psns);
	req->una = req->nxt;
	req->since_ackreq = 0;
	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
}

/**
 * ward_local_step() - execute the next step of a work request
 * @run: the run, for which ward_local_way() has said WARD_LOCAL
 * @wqe: the work request at sq.exec; @wqe->status tells when it fails
 *
 * Context: under RCU with BH off.
 * Return: false when nothing more can be done now.
 */
bool ward_local_step(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp, *peer = run->partner->qp;
	struct ward_requester *req = &qp->req;
	u32 len = step_len(qp, wqe);
	struct ward_request rq;

	if (wqe->status != IB_WC_SUCCESS)
		return true;
	if (req->parked) {
		req->parked = false;
		advance(qp, req->parked_psns);
		return true;
	}
	describe(run, wqe, len, &rq);
	if (rq.pkt.len && !ward_source_check(&rq.src, rq.pkt.len)) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	ward_responder_step(run->partner, &rq);
	run->copied += len;

	switch (rq.outcome) {
	case WARD_DONE:
		break;
	case WARD_PARKED:
		req->parked = true;
		req->parked_psns = ward_seg_count(len, qp->mtu);
		req->offset += len;
		fallthrough;
	case WARD_LATER:
		wait_for(qp, peer);
		return false;
	case WARD_NO_RECEIVE:
		if (ward_completer_rnr(run, WARD_AETH_RNR | peer->attr.min_rnr_timer))
			return false;
		wqe->status = IB_WC_RNR_RETRY_EXC_ERR;
		return true;
	case WARD_REFUSED:
		ward_count(qp->dev, RCVD_NAK);
		wqe->status = ward_nak_status(peer->resp.syndrome);
		return true;
	case WARD_NO_MEMORY:
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	ward_count(qp->dev, LOCAL_STEPS);
	ward_count_add(qp->dev, LOCAL_BYTES, len);
	if (rq.pkt.op->msg == WARD_MSG_ATOMIC &&
	    ward_sges_store(&run->local, wqe->sge, wqe->num_sge, &rq.orig, sizeof(rq.orig))) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	if (rq.pkt.len)
		wqe->cur = rq.src.cur;
	advance(qp, ward_swqe_single_op(wqe) ? 1 : ward_seg_count(len, qp->mtu));
	req->offset = ward_swqe_single_op(wqe) ? wqe->length : req->offset + len;
	return true;
}
