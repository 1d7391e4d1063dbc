// SPDX-License-Identifier: GPL-2.0
/*
 * The requester.
 *
 * Normal operation: work requests execute in order. A message is cut into
 * packets; each byte is read once, into a packet that is kept until it is
 * acknowledged. A work request has executed when its last packet is built, and
 * the next one executes then, not when this one is acknowledged.
 *
 * A READ asks for its data in parts that fit into the window, each a READ
 * request of its own on the wire, so that its answers are paced as sends are,
 * and a lost part is asked for without the rest.
 *
 * Recovery: whatever tells of a loss (a sequence NAK, a missing READ answer, time)
 * has the oldest packet sent again, as a *probe*. A peer that keeps what comes
 * early then acknowledges more than the probe. One that does not acknowledges
 * just the probe, and only then all the rest is sent again (go-back): nothing
 * new is built until that is done. Local operations are no packets, so they are
 * never done twice (F29).
 *
 * UC has nothing of that: a packet is forgotten when it has been sent, and a work
 * request is complete when its last packet has.
 *
 * All functions are the owner's.
 */
#include <linux/minmax.h>
#include <linux/sizes.h>

#include "../net/path.h"
#include "../net/rx.h"
#include "../proto/psn.h"
#include "../proto/segment.h"
#include "../watch/inject.h"
#include "../watch/trace.h"
#include "local.h"
#include "qp.h"
#include "txpkt.h"

/* Where an allocation failed, or the stack has no room, sending goes on after this */
#define STALL_NS	NSEC_PER_MSEC

/* A retransmission timer shorter than a softirq may take tells nothing */
#define MIN_TIMEOUT_NS	(4 * NSEC_PER_MSEC)

/**
 * ward_requester_reset() - begin anew (QP to RTS)
 * @qp: the QP; nothing is under way
 */
void ward_requester_reset(struct ward_qp *qp)
{
	struct ward_requester *req = &qp->req;

	req->nxt = qp->attr.sq_psn;
	req->una = qp->attr.sq_psn;
	req->offset = 0;
	req->since_ackreq = 0;
	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
	req->rnr_wait = false;
	req->lost = false;
	req->probed = false;
	req->rtt_from = 0;
	req->rtt_ns = 0;
	req->tell_drained = false;
	req->drains = false;
	req->sends_packets = false;
}

/**
 * ward_requester_forget() - drop all packets that are kept (F33, F35)
 * @qp: the QP
 */
void ward_requester_forget(struct ward_qp *qp)
{
	struct ward_requester *req = &qp->req;
	struct ward_txpkt *tx, *next;

	list_for_each_entry_safe(tx, next, &req->sent, entry)
		ward_txpkt_free(tx);
	INIT_LIST_HEAD(&req->sent);
	req->resend = NULL;
	req->reads = 0;
	req->rnr_wait = false;
	req->drains = false;
	req->awaits_peer = false;
	req->una = req->nxt;
	__skb_queue_purge(&req->early);
}

/*
 * The timeout of a connection is often seconds long, and a lost last packet or acknowledgement
 * is noticed by nothing else. So the oldest packet is sent again much earlier, after some round
 * trips, as a question: where are you? It uses up no retry.
 */
#define MIN_PROBE_NS	(10 * NSEC_PER_MSEC)
#define PROBE_RTTS	8

static u64 timeout_ns(const struct ward_qp *qp)
{
	return max_t(u64, 4096ULL << qp->attr.timeout, MIN_TIMEOUT_NS);
}

/* When to ask, if nothing comes: never on a QP that has no timeout */
static ktime_t probe_time(const struct ward_qp *qp, ktime_t now)
{
	return qp->attr.timeout ? ktime_add_ns(now, qp->req.probe_ns) : KTIME_MAX;
}

/**
 * ward_requester_arm() - have the retransmission timer run while an answer is awaited
 * @qp: the QP
 *
 * The timer is not moved when there is progress: when it fires too early, it is set again for
 * what is left. At the end of each run.
 */
void ward_requester_arm(struct ward_qp *qp)
{
	struct ward_requester *req = &qp->req;
	ktime_t when = min(req->deadline, req->probe_at);

	/* what drains at the peer is under way, but not as packets */
	if (req->una == req->nxt || req->drains || req->rnr_wait || when == KTIME_MAX ||
	    req->armed ||
	    (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD))
		return;
	req->armed = true;
	hrtimer_start(&qp->ack_timer,
		      max_t(ktime_t, ktime_sub(when, ktime_get()), NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * ward_requester_progress() - an answer has come, or the first packet goes
 * @qp: the QP
 *
 * From now on the peer has the whole timeout.
 */
void ward_requester_progress(struct ward_qp *qp)
{
	struct ward_requester *req = &qp->req;
	ktime_t now = ktime_get();

	if (req->rtt_from && ward_psn_diff(req->una, req->rtt_psn) > 0) {
		u64 sample = ktime_to_ns(ktime_sub(now, req->rtt_from));

		req->rtt_ns = req->rtt_ns ? (7 * req->rtt_ns + sample) / 8 : sample;
		req->rtt_from = 0;
	}
	req->deadline = qp->attr.timeout ? ktime_add_ns(now, timeout_ns(qp)) : KTIME_MAX;
	req->probe_ns = max_t(u64, PROBE_RTTS * req->rtt_ns, MIN_PROBE_NS);
	req->probe_at = probe_time(qp, now);
	req->probed = false;
}

static void stall(struct ward_qp *qp)
{
	qp->req.armed = true;
	hrtimer_start(&qp->ack_timer, STALL_NS, HRTIMER_MODE_REL_SOFT);
}

/**
 * ward_requester_go_back() - send again from the oldest unacknowledged packet on
 * @qp:  the QP
 * @why: for those who watch
 */
void ward_requester_go_back(struct ward_qp *qp, enum ward_resend why)
{
	qp->req.resend_why = why;
	qp->req.resend = list_first_entry_or_null(&qp->req.sent, struct ward_txpkt, entry);
}

/*
 * A READ that was answered in part asks for the rest only, or for the hole in
 * front of the answers that came early.
 */
static void trim_read(struct ward_qp *qp, struct ward_txpkt *tx)
{
	struct ward_requester *req = &qp->req;
	s32 done = ward_psn_diff(req->una, tx->psn);
	const struct sk_buff *early;
	struct ward_pkt pkt;
	u32 len;

	if (!tx->read)
		return;
	if (done > 0) {
		tx->pos += done * qp->mtu;
		tx->va += done * qp->mtu;
		tx->bytes -= done * qp->mtu;
		tx->psn = req->una;
	}
	len = tx->bytes;
	early = skb_peek(&req->early);
	if (early) {
		s32 hole = ward_psn_diff(ward_rx_cb(early)->psn, tx->psn);

		if (hole > 0 && hole < len / qp->mtu)
			len = hole * qp->mtu;
	}
	ward_pkt_parse(&pkt, tx->buf, tx->len);
	if (pkt.psn == tx->psn && pkt.dma_len == len)
		return;
	pkt.psn = tx->psn;
	pkt.va = tx->va;
	pkt.dma_len = len;
	ward_pkt_build(&pkt, tx->buf);
	ward_txpkt_seal(tx, ward_qp_path(qp));
}

static void send_again(struct ward_qp *qp, struct ward_txpkt *tx, enum ward_resend why)
{
	trim_read(qp, tx);
	ward_qp_count(qp, RETRANSMITTED);
	trace_ward_retransmit(qp, tx, why);
	ward_txpkt_send(qp, tx, ward_qp_path(qp));
	/* its acknowledgement may be that of the first time */
	qp->req.rtt_from = 0;
}

/**
 * ward_requester_probe() - send the oldest packet again, and find out where the peer is
 * @qp:  the QP; something is under way
 * @why: for those who watch
 *
 * A peer that has it acknowledges all that it has; one that has not, and acknowledges just that
 * one, has lost the rest too.
 */
void ward_requester_probe(struct ward_qp *qp, enum ward_resend why)
{
	struct ward_requester *req = &qp->req;
	struct ward_txpkt *tx;

	/* what went without packets is not sent again, whatever a packet says */
	tx = list_first_entry_or_null(&req->sent, struct ward_txpkt, entry);
	if (!tx)
		return;
	send_again(qp, tx, why);
	req->probed = true;
	req->probe_psn = tx->last_psn;
	req->probe_ns *= 2;
	req->probe_at = probe_time(qp, ktime_get());
}

/**
 * ward_requester_probe_soon() - likewise, unless there is progress in a moment
 * @qp: the QP; something is under way
 *
 * For answers that are missing: others may only have overtaken them.
 */
void ward_requester_probe_soon(struct ward_qp *qp)
{
	struct ward_requester *req = &qp->req;

	req->probe_at = ktime_add_ns(ktime_get(), qp->hole_ns);
	req->armed = true;
	hrtimer_start(&qp->ack_timer, qp->hole_ns, HRTIMER_MODE_REL_SOFT);
}

static bool resend(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;

	while (req->resend) {
		struct ward_txpkt *tx = req->resend;

		if (run->budget-- <= 0) {
			run->again = true;
			return false;
		}
		send_again(qp, tx, req->resend_why);
		req->resend = list_is_last(&tx->entry, &req->sent) ? NULL :
			      list_next_entry(tx, entry);
	}
	return true;
}

/* In packets, 4 at least */
static u32 window(const struct ward_qp *qp)
{
	return min_t(u32, ward_option(qp->dev, WINDOW) * SZ_1K / qp->mtu, WARD_WINDOW_PKTS);
}

/* Room for @pkts more packets? When nothing is under way there always is. */
static bool window_has_room(const struct ward_qp *qp, u32 pkts)
{
	u32 under_way = ward_psn_diff(qp->req.nxt, qp->req.una);

	return !under_way || under_way + pkts <= window(qp);
}

static u32 window_quarter(const struct ward_qp *qp)
{
	return window(qp) / 4;
}

static void go(struct ward_qp *qp, struct ward_txpkt *tx)
{
	struct ward_requester *req = &qp->req;

	if (qp->transport == WARD_UC) {
		req->nxt = ward_psn_add(tx->last_psn, 1);
		req->una = req->nxt;
		req->sends_packets = true;
		ward_txpkt_send(qp, tx, ward_qp_path(qp));
		ward_txpkt_free(tx);
		return;
	}
	if (req->una == req->nxt)
		ward_requester_progress(qp);
	if (!req->rtt_from) {
		req->rtt_psn = tx->last_psn;
		req->rtt_from = ktime_get();
	}
	list_add_tail(&tx->entry, &req->sent);
	req->nxt = ward_psn_add(tx->last_psn, 1);
	/* when the stack does not take it, it is lost, and resent like any that is */
	ward_txpkt_send(qp, tx, ward_qp_path(qp));
}

static bool build_read(struct ward_qp *qp, struct ward_swqe *wqe)
{
	struct ward_requester *req = &qp->req;
	u32 part = min_t(u32, wqe->length - req->offset,
			 window_quarter(qp) * 2 * qp->mtu);
	struct ward_pkt pkt = {
		.opcode = WARD_RC | WARD_READ_REQUEST,
		.mig = true,
		.ackreq = true,
		.pkey = WARD_DEFAULT_PKEY,
		.qpn = qp->attr.dest_qp_num,
		.psn = req->nxt,
		.va = wqe->va + req->offset,
		.rkey = wqe->rkey,
		.dma_len = part,
	};
	struct ward_txpkt *tx = ward_txpkt_alloc(qp->dev);

	if (!tx || !ward_txpkt_begin(tx, &pkt)) {
		if (tx)
			ward_txpkt_free(tx);
		stall(qp);
		return false;
	}
	tx->wqe = qp->sq.exec;
	tx->awaits = true;
	tx->read = true;
	tx->pos = req->offset;
	tx->bytes = part;
	tx->va = pkt.va;
	tx->last_psn = ward_psn_add(tx->psn, ward_seg_count(part, qp->mtu) - 1);
	ward_txpkt_seal(tx, ward_qp_path(qp));
	req->reads++;
	req->offset += part;
	go(qp, tx);
	return true;
}

static enum ward_refusal read_source(struct ward_run *run, struct ward_swqe *wqe, u8 *to, u32 len)
{
	if (wqe->flags & IB_SEND_INLINE) {
		memcpy(to, wqe->inline_data + wqe->cur.pos, len);
		wqe->cur.pos += len;
		return WARD_GRANTED;
	}
	return ward_sges_read(&run->local, wqe->sge, wqe->num_sge, &wqe->cur, 0, to, len);
}

/* ward_swqe_single_op() - the operation of a request of one packet answered by one, else 0 */
u8 ward_swqe_single_op(const struct ward_swqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return WARD_COMPARE_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return WARD_FETCH_ADD;
	case WARD_IB_WR_ATOMIC_WRITE:
		return WARD_ATOMIC_WRITE;
	case WARD_IB_WR_FLUSH:
		return WARD_FLUSH;
	default:
		return 0;
	}
}

/* Answered by a response: what the fence flag waits for (F27) */
static bool awaits_data(const struct ward_swqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_READ || ward_swqe_single_op(wqe);
}

static bool build_single(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;
	bool write = wqe->opcode == WARD_IB_WR_ATOMIC_WRITE;
	struct ward_pkt pkt = {
		.opcode = WARD_RC | ward_swqe_single_op(wqe),
		.len = write ? wqe->length : 0,
		.dma_len = wqe->length,
		.flush_type = wqe->flush_type,
		.flush_level = wqe->flush_level,
		.mig = true,
		.ackreq = true,
		.pkey = WARD_DEFAULT_PKEY,
		.qpn = qp->attr.dest_qp_num,
		.psn = req->nxt,
		.va = wqe->va,
		.rkey = wqe->rkey,
		.swap_add = wqe->swap_add,
		.compare = wqe->compare,
	};
	struct ward_txpkt *tx = ward_txpkt_alloc(qp->dev);
	u8 *payload = tx ? ward_txpkt_begin(tx, &pkt) : NULL;

	if (!payload) {
		if (tx)
			ward_txpkt_free(tx);
		stall(qp);
		return false;
	}
	if (write)
		ward_inject_arm(run, &run->local, WARD_INJECT_OUT, pkt.opcode, pkt.psn);
	if (write && read_source(run, wqe, payload, wqe->length)) {
		/* they are in the work request itself, so the QP is not parked for them */
		ward_txpkt_free(tx);
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	tx->wqe = qp->sq.exec;
	tx->awaits = true;
	tx->atomic = wqe->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
		     wqe->opcode == IB_WR_ATOMIC_FETCH_AND_ADD;
	ward_txpkt_seal(tx, ward_qp_path(qp));
	req->reads++;
	req->offset = wqe->length;
	go(qp, tx);
	return true;
}

/* ward_swqe_tail() - what the last packet of a SEND or WRITE brings along */
enum ward_tail ward_swqe_tail(const struct ward_swqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return WARD_TAIL_IMM;
	case IB_WR_SEND_WITH_INV:
		return WARD_TAIL_INV;
	default:
		return WARD_TAIL_PLAIN;
	}
}

/* ward_swqe_is_write() - whether it is an RDMA WRITE */
bool ward_swqe_is_write(const struct ward_swqe *wqe)
{
	return wqe->opcode == IB_WR_RDMA_WRITE || wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* Build and send the next packet of a SEND or WRITE */
static bool build_data(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;
	u32 len = min(wqe->length - req->offset, qp->mtu);
	bool first = !req->offset, last = req->offset + len == wqe->length;
	enum ward_msg msg = ward_swqe_is_write(wqe) ? WARD_MSG_WRITE : WARD_MSG_SEND;
	struct ward_pkt pkt = {
		.opcode = ward_seg_opcode(qp->transport, msg, ward_swqe_tail(wqe), first, last),
		.pad = -len & 3,
		.mig = true,
		.solicited = last && (wqe->flags & IB_SEND_SOLICITED),
		.ackreq = qp->transport == WARD_RC &&
			  (last || ++req->since_ackreq >= window_quarter(qp)),
		.pkey = WARD_DEFAULT_PKEY,
		.qpn = qp->attr.dest_qp_num,
		.psn = req->nxt,
		.len = len,
		.va = wqe->va,
		.rkey = wqe->rkey,
		.dma_len = wqe->length,
		.imm = wqe->imm,
		.inv_rkey = wqe->inv_key,
	};
	struct ward_txpkt *tx = ward_txpkt_alloc(qp->dev);
	u8 *payload = tx ? ward_txpkt_begin(tx, &pkt) : NULL;
	enum ward_refusal why;

	if (!payload) {
		if (tx)
			ward_txpkt_free(tx);
		stall(qp);
		return false;
	}
	ward_inject_arm(run, &run->local, WARD_INJECT_OUT, pkt.opcode, pkt.psn);
	why = read_source(run, wqe, payload, len);
	if (why) {
		ward_txpkt_free(tx);
		if (why == WARD_PARKED)
			return false;
		wqe->status = IB_WC_LOC_PROT_ERR;
		return true;
	}
	if (pkt.ackreq)
		req->since_ackreq = 0;
	tx->wqe = qp->sq.exec;
	ward_txpkt_seal(tx, ward_qp_path(qp));
	req->offset += len;
	go(qp, tx);
	return true;
}

static void region_drained(struct ward_drain *drain)
{
	struct ward_qp *qp = container_of(drain, struct ward_qp, req.drain);

	ward_qp_kick(qp, WARD_EV_SQ_DRAINED);
	ward_qp_put(qp);
}

/* Does an earlier READ, still to be answered, write through this key? */
static bool reads_pending_into(const struct ward_qp *qp, u32 key)
{
	const struct ward_txpkt *tx;
	u32 i;

	if (!qp->req.reads)
		return false;
	list_for_each_entry(tx, &qp->req.sent, entry) {
		const struct ward_swqe *wqe = ward_sendq_at(&qp->sq, tx->wqe);

		if (!tx->awaits)
			continue;
		for (i = 0; i < wqe->num_sge; i++)
			if (wqe->sge[i].lkey == key)
				return true;
	}
	return false;
}

/*
 * Put a region out of reach. False when somebody is inside: then the send queue
 * waits, and this is called again for the same work request, and true then.
 */
static bool drain(struct ward_run *run, struct ward_mr *mr, const struct ward_closer *closer)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;

	/* or it would wait for ourselves */
	ward_run_leave(run);
	req->drain.done = region_drained;
	kref_get(&qp->ref);
	req->draining = true;
	req->drained = false;
	req->drain_index = qp->sq.exec;
	if (!ward_mr_invalidate(mr, &req->drain, closer))
		return false;
	req->draining = false;
	ward_qp_put(qp);
	return true;
}

/* The region that this very work request has waited for is out of reach */
static bool has_drained(struct ward_qp *qp)
{
	return qp->req.drained && qp->req.drain_index == qp->sq.exec;
}

/*
 * LOCAL_INV. Peers are shut out as it executes (F5); own READs into the region
 * that are under way come to their end first (F4); then it is done when nobody
 * is inside the guard any more (F1).
 */
static bool execute_inv(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp;
	struct ward_closer closer = {
		.by = WARD_BY_LOCAL, .qpn = qp->qpn, .psn = qp->req.nxt,
	};
	struct ward_mr *mr;

	if (!has_drained(qp)) {
		mr = ward_mr_find(qp->dev, wqe->inv_key);
		if (ward_mr_may_invalidate(mr, qp->pd, qp->qpn, wqe->inv_key, false)) {
			wqe->status = IB_WC_LOC_QP_OP_ERR;
			return true;
		}
		ward_mr_close_to_peers(mr, &closer);
		if (reads_pending_into(qp, wqe->inv_key) || !drain(run, mr, &closer))
			return false;
	}
	qp->req.drained = false;
	ward_count(qp->dev, MR_LOCAL_INV);
	return true;
}

/* BIND_MW. A window that is bound is out of reach before it is bound elsewhere (F40). */
static bool execute_bind(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp;
	struct ward_mr *mw = ward_window_judge(&wqe->bind, &run->local.who);
	struct ward_closer closer = {
		.by = WARD_BY_BIND, .qpn = qp->qpn, .psn = qp->req.nxt,
	};

	if (mw) {
		if (!has_drained(qp) && !drain(run, mw, &closer))
			return false;
		qp->req.drained = false;
	}
	if (!mw || ward_window_bind(mw, &wqe->bind, &run->local.who))
		wqe->status = IB_WC_MW_BIND_ERR;
	trace_ward_bind(qp, wqe, wqe->status);
	return true;
}

/* A local operation: true when it is done, or cannot be */
static bool execute_local(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp;

	switch (wqe->opcode) {
	case IB_WR_REG_MR:
		wqe->status = ward_reg_execute(&wqe->reg, &run->local.who);
		break;
	case IB_WR_LOCAL_INV:
		if (!execute_inv(run, wqe))
			return false;
		break;
	default:
		if (!execute_bind(run, wqe))
			return false;
		break;
	}
	wqe->executed = true;
	wqe->last_psn = qp->req.nxt;
	trace_ward_wr_execute(qp, qp->sq.exec, wqe->status);
	return true;
}

static bool is_local(const struct ward_swqe *wqe)
{
	return wqe->opcode == IB_WR_REG_MR || wqe->opcode == IB_WR_LOCAL_INV ||
	       wqe->opcode == IB_WR_BIND_MW;
}

/* Do one step of the work request at sq.exec. False when nothing more can be done now. */
static bool step(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp;
	struct ward_requester *req = &qp->req;
	enum ward_way way;

	if (!wqe->started && (wqe->flags & IB_SEND_FENCE) && req->reads)
		return false;

	if (is_local(wqe)) {
		if (!execute_local(run, wqe))
			return false;
		if (wqe->status == IB_WC_SUCCESS)
			qp->sq.exec++;
		return true;
	}

	way = ward_local_way(run, wqe);
	if (way == WARD_WAIT)
		return false;
	if (way == WARD_LOCAL) {
		/* the window is that of packets */
	} else if (awaits_data(wqe)) {
		u32 part = ward_swqe_single_op(wqe) ? 0 :
			   min_t(u32, wqe->length - req->offset, window_quarter(qp) * 2 * qp->mtu);

		if (req->reads >= max_t(u32, qp->attr.max_rd_atomic, 1) ||
		    !window_has_room(qp, ward_seg_count(part, qp->mtu)))
			return false;
	} else if (!window_has_room(qp, 1)) {
		return false;
	}

	if (!wqe->started) {
		wqe->started = true;
		wqe->first_psn = req->nxt;
		req->offset = 0;
		if (!ward_swqe_is_write(wqe) && !awaits_data(wqe))
			ward_qp_count(qp, RDMA_SENDS);
	}
	run->budget--;
	if (way == WARD_LOCAL) {
		if (!ward_local_step(run, wqe))
			return false;
	} else if (wqe->opcode == IB_WR_RDMA_READ) {
		if (!build_read(qp, wqe))
			return false;
	} else if (ward_swqe_single_op(wqe)) {
		if (!build_single(run, wqe))
			return false;
	} else if (!build_data(run, wqe)) {
		return false;
	}
	if (wqe->status == IB_WC_SUCCESS && req->offset == wqe->length) {
		wqe->last_psn = ward_psn_add(req->nxt, -1);
		trace_ward_wr_execute(qp, qp->sq.exec, wqe->status);
		qp->sq.exec++;
		req->offset = 0;
	}
	return true;
}

/* Whether the work request at sq.exec has been executed in part */
static bool has_begun(const struct ward_qp *qp, const struct ward_swqe *wqe)
{
	const struct ward_requester *req = &qp->req;

	return wqe->started ||
	       ((req->draining || req->drained) && req->drain_index == qp->sq.exec);
}

/**
 * ward_requester_drained() - whether all that has begun is complete
 * @qp: the QP, owned
 *
 * Return: whether it is; what is posted and has not begun does not count.
 */
bool ward_requester_drained(const struct ward_qp *qp)
{
	const struct ward_sendq *sq = &qp->sq;
	/* pairs with the release of whoever has posted */
	u32 head = smp_load_acquire(&sq->head);

	return sq->tail == sq->exec &&
	       (sq->exec == head || !has_begun(qp, ward_sendq_at(sq, sq->exec)));
}

static void execute(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct ward_sendq *sq = &qp->sq;
	struct ward_requester *req = &qp->req;

	if ((qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) || req->rnr_wait ||
	    qp->fault.parked || !resend(run))
		return;
	/* pairs with the release of whoever has posted */
	while (sq->exec != smp_load_acquire(&sq->head)) {
		struct ward_swqe *wqe = ward_sendq_at(sq, sq->exec);

		/* it fails when its turn comes; nothing after it executes */
		if (wqe->status != IB_WC_SUCCESS)
			return;
		if (qp->state == IB_QPS_SQD && !has_begun(qp, wqe))
			return;
		if (run->budget <= 0) {
			run->again = true;
			return;
		}
		if (qp->transport == WARD_UD) {
			run->budget--;
			if (!ward_datagram_send(run, wqe))
				return;
			trace_ward_wr_execute(qp, sq->exec, wqe->status);
			if (wqe->status != IB_WC_SUCCESS)
				return;
			sq->exec++;
			continue;
		}
		if (req->draining || !step(run, wqe))
			return;
	}
}

/**
 * ward_requester_run() - send what can be sent; in SQD only what has begun
 * @run: the run
 *
 * Context: under RCU with BH off.
 */
void ward_requester_run(struct ward_run *run)
{
	struct ward_run peer;

	peer.qp = NULL;
	run->partner = &peer;
	run->qp->req.awaits_peer = false;
	if (unlikely(run->qp->req.drains))
		ward_local_resume(run);
	execute(run);
	ward_local_end(run);
	run->partner = NULL;
}
