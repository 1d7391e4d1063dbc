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
 * A SEND_WITH_INV whose region must drain is parked at the peer. It has executed,
 * and its PSNs are under way until the peer has moved on, as if an acknowledgement
 * were awaited. When the peer is gone meanwhile, it ends as if none had come.
 *
 * UC knows no answers: a step that the peer drops is as good as done. And there is no
 * way back from packets, as nobody knows when they have arrived.
 *
 * A region with on-demand paging may park either QP; the step begins anew when the
 * pages are there. The fault injector holds steps; when it has rules that are about
 * packets only, there are packets.
 *
 * All functions are the owner's.
 */
#include <linux/minmax.h>
#include <linux/rculist.h>

#include "../net/inside.h"
#include "../net/net.h"
#include "../net/path.h"
#include "../proto/psn.h"
#include "../proto/segment.h"
#include "../watch/inject.h"
#include "../watch/trace.h"
#include "local.h"
#include "qp.h"

/*
 * Would the peer take packets from us, and answer them? Sure only when the peer is owned. Returns
 * the path back, if so, good under RCU.
 */
static struct ward_path *way_back(const struct ward_qp *qp, const struct ward_qp *peer)
{
	struct ward_path *back = rcu_dereference(peer->path);

	if (back && peer != qp && peer->transport == qp->transport &&
	    ward_qp_receives(READ_ONCE(peer->state)) &&
	    READ_ONCE(peer->attr.dest_qp_num) == qp->qpn && READ_ONCE(peer->mtu) == qp->mtu &&
	    ward_path_is_back(back, ward_qp_path(qp)))
		return back;
	return NULL;
}

/* The QP that packets would find, if it would take them; under RCU */
static struct ward_qp *find_peer(const struct ward_qp *qp)
{
	const u32 qpn = qp->attr.dest_qp_num;
	struct ward_net *wn = qp->net;
	struct ward_qp *peer;

	peer = xa_load(&wn->qps, qp->dest_slot);
	if (peer && way_back(qp, peer))
		return peer;
	/* what has begun comes to its end, whatever the option says by now */
	if (ward_option(qp->dev, PATH) != WARD_PATH_ACROSS && !qp->req.drains)
		return NULL;
	list_for_each_entry_rcu(wn, &ward_nets, all) {
		peer = xa_load(&wn->qps, ward_unpermute(&wn->qpn, qpn));
		if (peer && way_back(qp, peer))
			return peer;
	}
	return NULL;
}

/* Is there a rule of the fault injector that a step would escape? */
static bool injected(const struct ward_run *run, struct ward_device *dev)
{
	const struct ward_rules *rules = &dev->inject.rules;

	return READ_ONCE(rules->packets) || (READ_ONCE(rules->holds) && !run->may_sleep);
}

static bool allows(const struct ward_device *dev, const struct ward_device *other)
{
	u32 path = ward_option(dev, PATH);

	return path == WARD_PATH_ACROSS || (path == WARD_PATH_AUTO && dev->net == other->net);
}

static bool may_be_local(const struct ward_run *run, const struct ward_qp *peer)
{
	const struct ward_qp *qp = run->qp;
	struct ward_path *back = way_back(qp, peer);
	bool inside;

	if (!back || !allows(qp->dev, peer->dev) || !allows(peer->dev, qp->dev))
		return false;
	if (ward_injecting() && (injected(run, qp->dev) || injected(run, peer->dev)))
		return false;
	/* the peer is not owned yet, and may let go of it */
	if (!ward_path_try_get(back))
		return false;
	inside = ward_paths_are_inside(ward_qp_path(qp), back);
	ward_path_put(back);
	return inside;
}

/* Have this run come again when somebody has let go of the peer after this */
static void wait_for(struct ward_qp *qp, struct ward_qp *peer)
{
	u32 other = xchg(&peer->waiter, qp->qpn);

	/* one of another life of the peer: it will see */
	if (other != qp->qpn)
		ward_qp_kick_number(other);
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
	partner->may_sleep = run->may_sleep;
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

/**
 * ward_local_resume() - see what has become of the SEND_WITH_INV that the peer has parked
 * @run: the run; there is one
 *
 * Context: under RCU with BH off.
 */
void ward_local_resume(struct ward_run *run)
{
	struct ward_qp *qp = run->qp, *peer = find_peer(qp);
	struct ward_requester *req = &qp->req;

	if (peer) {
		if (!own(run, peer))
			return;
		if (peer->resp.parked) {
			wait_for(qp, peer);
			return;
		}
	}
	req->drains = false;
	/* packets may have followed it, and nothing was awaited so far */
	ward_requester_progress(qp);
	if (peer && way_back(qp, peer) &&
	    ward_psn_diff(peer->resp.order.epsn, req->drains_end) >= 0) {
		/* packets that have followed it may have been answered */
		if (ward_psn_diff(req->una, req->drains_end) < 0)
			req->una = req->drains_end;
		return;
	}
	ward_count(qp->dev, RETRY_EXC);
	ward_sendq_at(&qp->sq, req->drains_index)->status = IB_WC_RETRY_EXC_ERR;
}

static u32 step_len(const struct ward_qp *qp, const struct ward_swqe *wqe)
{
	if (ward_swqe_single_op(wqe))
		return sizeof(u64);
	return min_t(u32, wqe->length - (wqe->started ? qp->req.offset : 0), WARD_STEP);
}

static bool is_atomic(const struct ward_swqe *wqe)
{
	return wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP || wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/* Its answer goes to several regions, and may be held up in between; it is executed once only */
static bool spread_atomic(const struct ward_swqe *wqe)
{
	return is_atomic(wqe) && wqe->num_sge > 1;
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
	if ((wqe->started && !wqe->local) || qp->req.sends_packets)
		return WARD_PACKETS;
	if (ward_option(qp->dev, PATH) == WARD_PATH_PACKET || spread_atomic(wqe))
		goto packets;
	if (!peer)
		peer = find_peer(qp);
	if (!peer || !may_be_local(run, peer))
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
	if (resp->replies.num || resp->draining || resp->refused || peer->fault.parked) {
		wait_for(qp, peer);
		return WARD_WAIT;
	}
	/* it may have changed before it was owned */
	if (way_back(qp, peer) &&
	    (resp->order.epsn == qp->req.nxt || qp->transport == WARD_UC)) {
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
		pkt->opcode = ward_seg_opcode(qp->transport, ward_swqe_is_write(wqe) ?
					      WARD_MSG_WRITE : WARD_MSG_SEND, ward_swqe_tail(wqe),
					      !offset, last);
		pkt->solicited = last && (wqe->flags & IB_SEND_SOLICITED);
		pkt->imm = wqe->imm;
		pkt->inv_rkey = wqe->inv_key;
	}
	pkt->op = ward_opcode(pkt->opcode);
}

/* What the requester does with its own memory is judged before the peer does anything */
static enum ward_refusal check_memory(const struct ward_swqe *wqe, const struct ward_request *rq)
{
	struct ward_source into = rq->src;

	if (rq->pkt.len)
		return ward_source_check(&rq->src, rq->pkt.len);
	if (!is_atomic(wqe))
		return WARD_GRANTED;
	into.rights = IB_ACCESS_LOCAL_WRITE;
	into.bytes = NULL;
	return ward_source_check(&into, sizeof(rq->orig));
}

/* The step has been executed; its PSNs stay under way when it @drains */
static void advance(struct ward_qp *qp, struct ward_swqe *wqe, u32 len, bool drains)
{
	bool single = ward_swqe_single_op(wqe);
	struct ward_requester *req = &qp->req;

	req->nxt = ward_psn_add(req->nxt, single ? 1 : ward_seg_count(len, qp->mtu));
	req->offset = single ? wqe->length : req->offset + len;
	req->since_ackreq = 0;
	if (!drains)
		req->una = req->nxt;
	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
	ward_count(qp->dev, LOCAL_STEPS);
	ward_count_add(qp->dev, LOCAL_BYTES, len);
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
	enum ward_refusal why;

	describe(run, wqe, len, &rq);
	why = check_memory(wqe, &rq);
	if (why) {
		if (why == WARD_PARKED)
			return false;
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	trace_ward_local_step(qp, rq.pkt.opcode, rq.pkt.psn, len);
	ward_responder_step(run->partner, &rq);
	run->copied += len;

	switch (rq.outcome) {
	case WARD_STEP_DONE:
		break;
	case WARD_STEP_DRAINS:
		advance(qp, wqe, len, true);
		req->drains = true;
		req->drains_index = qp->sq.exec;
		req->drains_end = req->nxt;
		wait_for(qp, peer);
		return true;
	case WARD_STEP_LATER:
		/* our own pages bring a run by themselves */
		if (!qp->fault.parked)
			wait_for(qp, peer);
		return false;
	case WARD_STEP_RNR:
		if (ward_completer_rnr(run, WARD_AETH_RNR | peer->attr.min_rnr_timer))
			return false;
		wqe->status = IB_WC_RNR_RETRY_EXC_ERR;
		return true;
	case WARD_STEP_REFUSED:
		ward_qp_count(qp, RCVD_NAK);
		wqe->status = ward_nak_status(peer->resp.syndrome);
		return true;
	case WARD_STEP_NO_MEMORY:
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	if (is_atomic(wqe) &&
	    ward_sges_store(&run->local, wqe->sge, wqe->num_sge, &rq.orig, sizeof(rq.orig))) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	if (rq.pkt.len)
		wqe->cur = rq.src.cur;
	advance(qp, wqe, len, false);
	return true;
}
