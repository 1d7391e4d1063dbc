// SPDX-License-Identifier: GPL-2.0
/*
 * The completer: takes the peer's answers, and completes work requests in
 * order. All functions are the owner's.
 */
#include "../net/path.h"
#include "../net/rx.h"
#include "../proto/completer.h"
#include "../proto/psn.h"
#include "../proto/segment.h"
#include "../verbs/cq.h"
#include "../watch/inject.h"
#include "../watch/trace.h"
#include "early.h"
#include "qp.h"
#include "txpkt.h"

/* RNR NAK timer codes in microseconds */
static const u32 rnr_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880,
	163840, 245760, 327680, 491520,
};

/**
 * ward_completer_finish() - complete the oldest work request, and tell of it if that is wanted
 * @run:    the run
 * @status: result
 *
 * The place in the queue is free before anybody can see the completion: whoever sees it may post
 * at once, on another CPU, to a queue that has no other place.
 */
void ward_completer_finish(struct ward_run *run, enum ib_wc_status status)
{
	struct ward_qp *qp = run->qp;
	u32 index = qp->sq.tail;
	const struct ward_swqe *wqe = ward_sendq_at(&qp->sq, index);
	bool told = status != IB_WC_SUCCESS || qp->sig_all || (wqe->flags & IB_SEND_SIGNALED);
	struct ib_wc wc = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = ward_wc_opcode(wqe->opcode),
		.qp = qp->ib,
	};

	qp->done++;
	trace_ward_wr_complete(qp, index, status);
	if (wqe->opcode == IB_WR_RDMA_READ || wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	    wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
		wc.byte_len = wqe->length;
	ward_sendq_pop(&qp->sq);
	if (told)
		run->notify_send |= ward_cq_add(qp->send_cq, &wc, status != IB_WC_SUCCESS);
}

/* All before @psn is acknowledged */
static void advance(struct ward_qp *qp, u32 psn)
{
	struct ward_requester *req = &qp->req;
	struct ward_txpkt *tx, *next;

	if (req->una == psn)
		return;
	req->una = psn;
	list_for_each_entry_safe(tx, next, &req->sent, entry) {
		if (ward_psn_diff(tx->last_psn, psn) >= 0)
			break;
		if (req->resend == tx)
			req->resend = list_is_last(&tx->entry, &req->sent) ? NULL :
				      list_next_entry(tx, entry);
		list_del(&tx->entry);
		if (tx->awaits)
			req->reads--;
		ward_txpkt_free(tx);
	}
	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
	req->lost = false;
	/* the probe was news to the peer, so what was sent after it first has not arrived */
	if (req->probed && psn == ward_psn_add(req->probe_psn, 1) && !req->resend)
		ward_requester_go_back(qp, WARD_RESEND_REST);
	ward_requester_progress(qp);
}

/* The work request that the packet with @psn belongs to fails, once all before it are complete */
static void fail_at(struct ward_run *run, u32 psn, enum ib_wc_status status)
{
	struct ward_requester *req = &run->qp->req;
	struct ward_txpkt *tx;

	list_for_each_entry(tx, &req->sent, entry) {
		if (ward_psn_diff(tx->last_psn, psn) >= 0) {
			ward_sendq_at(&run->qp->sq, tx->wqe)->status = status;
			return;
		}
	}
}

static struct ward_txpkt *first_awaiting(const struct ward_requester *req)
{
	struct ward_txpkt *tx;

	if (req->reads)
		list_for_each_entry(tx, &req->sent, entry)
			if (tx->awaits)
				return tx;
	return NULL;
}

static void take_data(struct ward_run *run, struct sk_buff *skb, const struct ward_pkt *pkt,
		      struct ward_txpkt *tx)
{
	struct ward_qp *qp = run->qp;
	struct ward_swqe *wqe = ward_sendq_at(&qp->sq, tx->wqe);
	struct ward_source src = { .skb = skb, .off = ward_rx_cb(skb)->bth + pkt->hdr_len };
	enum ward_refusal why;
	u32 pos = tx->pos + ward_psn_diff(pkt->psn, tx->psn) * qp->mtu;
	bool last = pos + pkt->len == wqe->length;

	ward_inject_arm(run, &run->local, WARD_INJECT_IN, pkt->opcode, pkt->psn);
	if (tx->atomic)
		why = ward_sges_store(&run->local, wqe->sge, wqe->num_sge, &pkt->orig,
				      sizeof(pkt->orig));
	else
		why = ward_sges_write(&run->local, wqe->sge, wqe->num_sge, &wqe->cur, pos, &src,
				      pkt->len, last);
	if (why) {
		if (why != WARD_PARKED)
			wqe->status = IB_WC_LOC_PROT_ERR;
		return;
	}
	advance(qp, ward_psn_add(pkt->psn, 1));
}

/**
 * ward_nak_status() - how a work request ends that the peer refuses
 * @syndrome: WARD_NAK_*
 */
enum ib_wc_status ward_nak_status(u8 syndrome)
{
	switch (syndrome) {
	case WARD_NAK_INVALID:
		return IB_WC_REM_INV_REQ_ERR;
	case WARD_NAK_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	default:
		return IB_WC_REM_OP_ERR;
	}
}

/**
 * ward_completer_rnr() - the peer has no receive: wait as long as it says
 * @run:      the run
 * @syndrome: its AETH syndrome
 *
 * Context: BH off.
 * Return: false when it was told so once too often.
 */
bool ward_completer_rnr(struct ward_run *run, u8 syndrome)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;

	ward_qp_count(qp, RCVD_RNR);
	trace_ward_rnr_received(qp, req->una, syndrome, 0);
	if (qp->attr.rnr_retry != 7) {
		if (!req->rnr_retries) {
			ward_count(qp->dev, RNR_EXC);
			return false;
		}
		req->rnr_retries--;
	}
	/* an answer it is: the retransmission timer has nothing to find out */
	req->retries = qp->attr.retry_cnt;
	req->rnr_wait = true;
	ward_requester_go_back(qp, WARD_RESEND_RNR);
	hrtimer_start(&qp->rnr_timer,
		      rnr_us[syndrome & WARD_AETH_VALUE_MASK] * NSEC_PER_USEC,
		      HRTIMER_MODE_REL_SOFT);
	return true;
}

/* Answers from the next one on are missing */
static void begin_hole(struct ward_qp *qp)
{
	qp->req.lost = true;
	if (!qp->req.resend)
		ward_requester_probe_soon(qp);
}

static void take(struct ward_run *run, struct sk_buff *skb, const struct ward_pkt *pkt)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;
	struct ward_txpkt *tx = first_awaiting(req);
	struct ward_flight flight = { .una = req->una, .nxt = req->nxt, .mtu = qp->mtu };
	struct ward_answer_at at;

	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) {
		ward_count(qp->dev, DROP_STATE);
		return;
	}
	if (tx) {
		s32 done = max(ward_psn_diff(req->una, tx->psn), 0);

		flight.resp_wait = true;
		flight.resp_atomic = tx->atomic;
		flight.resp_psn = ward_psn_add(tx->psn, done);
		flight.resp_last = tx->last_psn;
		flight.resp_bytes = tx->bytes - done * qp->mtu;
	}
	at = ward_answer_judge(&flight, pkt);

	switch (at.what) {
	case WARD_ANS_DROP:
		if (pkt->op->msg == WARD_MSG_READ_RESP && ward_psn_diff(pkt->psn, req->una) < 0)
			ward_qp_wait_longer(qp);
		ward_count(qp->dev, DROP_RESPONSE);
		break;
	case WARD_ANS_ACK:
		trace_ward_ack_received(qp, at.psn, pkt->syndrome, pkt->msn);
		advance(qp, ward_psn_add(at.psn, 1));
		break;
	case WARD_ANS_DATA:
		advance(qp, at.psn);
		take_data(run, skb, pkt, tx);
		break;
	case WARD_ANS_LOST:
		advance(qp, at.psn);
		if (pkt->op->msg == WARD_MSG_READ_RESP)
			ward_early_keep(&req->early, skb);
		if (!req->lost)
			begin_hole(qp);
		break;
	case WARD_ANS_RNR:
		advance(qp, at.psn);
		if (!req->rnr_wait && !ward_completer_rnr(run, at.syndrome))
			fail_at(run, req->una, IB_WC_RNR_RETRY_EXC_ERR);
		break;
	case WARD_ANS_SEQ:
		ward_qp_count(qp, RCVD_SEQ);
		trace_ward_nak_received(qp, at.psn, WARD_NAK_SEQUENCE, pkt->msn);
		advance(qp, at.psn);
		/* told once is enough while it is being done */
		if (!req->resend && !req->rnr_wait && req->una != req->nxt)
			ward_requester_probe(qp, WARD_RESEND_HOLE);
		break;
	case WARD_ANS_FATAL:
		ward_qp_count(qp, RCVD_NAK);
		trace_ward_nak_received(qp, at.psn, at.syndrome, pkt->msn);
		advance(qp, at.psn);
		fail_at(run, at.psn, ward_nak_status(at.syndrome));
		break;
	case WARD_ANS_BAD:
		fail_at(run, at.psn, IB_WC_BAD_RESP_ERR);
		break;
	}
}

/**
 * ward_completer_take() - take an answer
 * @run: the run
 * @skb: the packet; stays the caller's
 * @pkt: the packet, taken apart
 *
 * Context: under RCU with BH off.
 * Return: false when it has parked the QP, and is to come again.
 */
bool ward_completer_take(struct ward_run *run, struct sk_buff *skb, const struct ward_pkt *pkt)
{
	take(run, skb, pkt);
	if (run->qp->fault.parked)
		return false;
	/* if this one closed the hole in front of them; they may park the QP, too */
	ward_completer_resume(run);
	return true;
}

/**
 * ward_completer_resume() - take answers that were early, and are not any more
 * @run: the run
 *
 * Context: under RCU with BH off.
 */
void ward_completer_resume(struct ward_run *run)
{
	struct ward_requester *req = &run->qp->req;
	struct sk_buff *skb;
	struct ward_pkt next;

	while ((skb = ward_early_next(&req->early, req->una))) {
		ward_rx_parse(skb, &next);
		take(run, skb, &next);
		if (run->qp->fault.parked)
			ward_early_keep(&req->early, skb);
		consume_skb(skb);
		if (run->qp->fault.parked)
			return;
	}
	/* another hole, behind the one that was closed */
	if (!skb_queue_empty(&req->early) && !req->lost)
		begin_hole(run->qp);
}

/**
 * ward_completer_timeout() - the retransmission timer has fired
 * @run: the run
 *
 * Context: BH off.
 */
void ward_completer_timeout(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;
	ktime_t now = ktime_get();
	bool hole;

	/* it may have been set for an earlier packet: ward_requester_arm() sets it for the rest */
	if ((qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) || req->una == req->nxt ||
	    req->drains || req->rnr_wait)
		return;
	hole = req->lost && !req->probed;
	/* a timer that comes late is no reason to doubt a peer which has answered */
	if (ktime_before(now, req->deadline) || hole) {
		if (ktime_before(now, req->probe_at) || req->resend)
			return;
		if (hole)
			ward_qp_count(qp, RESP_LOST);
		ward_requester_probe(qp, hole ? WARD_RESEND_HOLE : WARD_RESEND_EARLY);
		return;
	}
	ward_qp_count(qp, TIMEOUTS);
	if (!req->retries) {
		ward_count(qp->dev, RETRY_EXC);
		fail_at(run, req->una, IB_WC_RETRY_EXC_ERR);
		return;
	}
	req->retries--;
	req->lost = false;
	ward_requester_progress(qp);
	if (!req->resend)
		ward_requester_probe(qp, WARD_RESEND_TIMEOUT);
}

/* Whether the oldest work request is complete */
static bool is_complete(const struct ward_qp *qp, const struct ward_swqe *wqe)
{
	const struct ward_sendq *sq = &qp->sq;

	if (sq->tail == sq->exec)
		return false;
	return wqe->executed || ward_psn_diff(qp->req.una, wqe->last_psn) > 0;
}

/**
 * ward_completer_retire() - complete, in order, what is complete
 * @run: the run
 *
 * The first work request that has failed takes the QP to ERR, or to SQE where nobody but the
 * consumer needs to know (UC, UD).
 *
 * Context: BH off.
 */
void ward_completer_retire(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct ward_sendq *sq = &qp->sq;

	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		return;
	/* pairs with the release of whoever has posted */
	while (sq->tail != smp_load_acquire(&sq->head)) {
		struct ward_swqe *wqe = ward_sendq_at(sq, sq->tail);

		if (wqe->status != IB_WC_SUCCESS) {
			enum ib_wc_status status = wqe->status;

			ward_completer_finish(run, status);
			if (qp->transport == WARD_RC)
				ward_qp_fail(run, WARD_WHY_SEND_FAILED, status);
			else
				ward_qp_fail_sends(run, status);
			return;
		}
		if (!is_complete(qp, wqe))
			return;
		ward_completer_finish(run, IB_WC_SUCCESS);
	}
}
