// SPDX-License-Identifier: GPL-2.0
/*
 * The responder.
 *
 * Requests execute in the order of their PSNs, as they come: a byte is written
 * when its packet is judged good, rights and range are checked before that, and
 * one acknowledgement at the end of a run stands for all of it.
 *
 * READs are answered piece by piece at the end of each run, so that a long one
 * does not keep others waiting; the key is checked again for each piece, since
 * it may have been invalidated meanwhile (F2). An acknowledgement behind a READ
 * waits for the READ's answer, because it would say that the answer was lost.
 *
 * A request that comes before an earlier one is kept (qp/early.h). Packets also
 * overtake each other without being lost: those that a QP sends from two CPUs, or
 * over two links, do. So the hole is told with a sequence NAK only when it is still
 * there after a while.
 *
 * A SEND_WITH_INV completes its receive when its region has drained (F13). Until
 * then it is *parked*, and the requests behind it wait, WARD_INBOX_MAX of them;
 * more are dropped, and the peer sends them again.
 *
 * A request that needs a page which is not there parks the whole QP, and begins
 * anew when it is (mem/paging.h): what it did before is done again, or was right.
 *
 * UC: the same without answers. A message that is incomplete, or that the peer may
 * not send, is dropped, and the receive that it has begun waits for the next one;
 * only a fault of our own takes the QP to ERR.
 *
 * All functions are the owner's.
 */
#include <linux/minmax.h>
#include <linux/slab.h>

#include "../net/path.h"
#include "../net/rx.h"
#include "../proto/psn.h"
#include "../proto/segment.h"
#include "../verbs/cq.h"
#include "../verbs/srq.h"
#include "../watch/inject.h"
#include "../watch/trace.h"
#include "../watch/violations.h"
#include "replies.h"
#include "early.h"
#include "qp.h"

/* READ response packets that one run may send */
#define READ_BURST	16

/**
 * ward_responder_setup() - begin anew (QP to RTR)
 * @qp:        the QP; nothing is under way
 * @max_reads: READ requests that the peer may have outstanding
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_responder_setup(struct ward_qp *qp, u32 max_reads)
{
	struct ward_responder *resp = &qp->resp;

	max_reads = max(max_reads, 1U);
	kfree(resp->once);
	resp->once = ward_inject_fails(qp->dev, WARD_AT_READS) ? NULL :
		     kcalloc(max_reads, sizeof(*resp->once), GFP_KERNEL);
	if (!resp->once || ward_replies_setup(&resp->replies, max_reads))
		return -ENOMEM;
	resp->once_next = 0;
	resp->order = (struct ward_order){ .epsn = qp->attr.rq_psn, .mtu = qp->mtu };
	resp->msn = 0;
	resp->ack_due = false;
	resp->established = false;
	return 0;
}

/**
 * ward_responder_exit() - free what ward_responder_setup() has made
 * @qp: the QP; its responder does not run
 */
void ward_responder_exit(struct ward_qp *qp)
{
	ward_replies_exit(&qp->resp.replies);
	kfree(qp->resp.once);
	qp->resp.once = NULL;
}

/**
 * ward_responder_forget() - drop what is half done (F32)
 * @run: the ownership
 *
 * Context: BH off.
 */
void ward_responder_forget(struct ward_run *run)
{
	struct ward_responder *resp = &run->qp->resp;

	ward_replies_forget(&resp->replies);
	resp->order.msg = WARD_MSG_NONE;
	resp->ack_due = false;
	resp->hole = false;
	resp->refused = false;
	resp->has_rwqe = false;
	__skb_queue_purge(&resp->early);
	__skb_queue_purge(&resp->waiting);
	resp->parked = false;
}

/**
 * ward_responder_wc() - complete the receive in use
 * @run: the run
 * @wc:  result; opcode and flags as they apply
 */
void ward_responder_wc(struct ward_run *run, struct ib_wc *wc)
{
	struct ward_qp *qp = run->qp;
	bool solicited = wc->status != IB_WC_SUCCESS || wc->wc_flags & WARD_WC_SOLICITED;

	wc->wr_id = qp->resp.rwqe.wr_id;
	wc->qp = qp->ib;
	wc->wc_flags &= ~WARD_WC_SOLICITED;
	qp->resp.has_rwqe = false;
	trace_ward_recv_complete(qp, wc);
	run->notify_recv |= ward_cq_add(qp->recv_cq, wc, solicited);
}

/* Give up. Nothing more is executed; the READs before are answered, and then the peer is told. */
static void refuse(struct ward_run *run, u8 syndrome, u32 psn, enum ib_wc_status recv_status)
{
	struct ward_responder *resp = &run->qp->resp;

	resp->refused = true;
	resp->syndrome = syndrome;
	resp->refused_psn = psn;
	resp->recv_status = recv_status;
}

/* Tell the peer if it is to be, the receive in use, the consumer; then all is flushed */
static void finish_refusal(struct ward_run *run, bool tell_peer)
{
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	u8 syndrome = resp->syndrome;
	bool told = resp->has_rwqe;

	switch (syndrome) {
	case WARD_NAK_INVALID:
		ward_count(qp->dev, NAK_INVALID);
		break;
	case WARD_NAK_ACCESS:
		ward_count(qp->dev, NAK_ACCESS);
		break;
	default:
		ward_count(qp->dev, NAK_OPERATION);
		break;
	}
	if (tell_peer)
		ward_ack_send(qp, syndrome, resp->refused_psn);
	if (told) {
		struct ib_wc wc = { .status = resp->recv_status, .opcode = IB_WC_RECV };

		ward_responder_wc(run, &wc);
	}
	/* F22: an error that no receive tells of is an event */
	if (!told || resp->recv_status == IB_WC_REM_INV_REQ_ERR)
		ward_qp_event(qp, syndrome == WARD_NAK_ACCESS ? IB_EVENT_QP_ACCESS_ERR :
			      syndrome == WARD_NAK_INVALID ? IB_EVENT_QP_REQ_ERR :
			      IB_EVENT_QP_FATAL);
	ward_qp_fail(run, WARD_WHY_REFUSED_PEER, syndrome);
}

/* Whether an access may not go on: it is refused, unless the packet only waits for pages */
static bool stopped(struct ward_run *run, enum ward_refusal why, u8 syndrome, u32 psn,
		    enum ib_wc_status recv_status)
{
	if (likely(!why))
		return false;
	if (why != WARD_PARKED)
		refuse(run, syndrome, psn, recv_status);
	return true;
}

/* Whether a peer may not access its memory now: all of @len, and the first @now of it at once */
static bool stopped_remote(struct ward_run *run, const struct ward_pkt *pkt, u32 rkey, u64 va,
			   u32 len, u32 now, int rights)
{
	enum ward_refusal why = ward_access_begin(&run->remote, rkey, va, len, rights);

	if (!why && now)
		why = ward_access_ready(&run->remote, va, now, len);
	return stopped(run, why, WARD_NAK_ACCESS, pkt->psn, IB_WC_LOC_ACCESS_ERR);
}

static enum ward_inject_dir dir_of(const struct ward_request *rq)
{
	return rq->skb ? WARD_INJECT_IN : WARD_INJECT_LOCAL;
}

static void invalid(struct ward_run *run, const struct ward_pkt *pkt)
{
	refuse(run, WARD_NAK_INVALID, pkt->psn, IB_WC_LOC_QP_OP_ERR);
}

/* The request is done: the next one is expected */
static void done(struct ward_qp *qp, const struct ward_pkt *pkt)
{
	struct ward_order *o = &qp->resp.order;

	/* a local step stands for several packets */
	o->epsn = ward_psn_add(o->epsn, likely(pkt->len <= qp->mtu) ? 1 :
			       ward_seg_count(pkt->len, qp->mtu));
	o->naked = false;
	if (pkt->op->flags & WARD_IS_LAST) {
		o->msg = WARD_MSG_NONE;
		o->got = 0;
		qp->resp.msn = (qp->resp.msn + 1) & WARD_24BITS;
	} else {
		o->msg = pkt->op->msg;
		o->got += pkt->len;
	}
	/* the last packet always is, or the peer would wait in vain for its timer */
	if (pkt->ackreq)
		qp->resp.ack_due = true;
}

/**
 * ward_responder_next_receive() - take the oldest receive, from the QP's queue or the shared one
 * @qp:  the QP; resp.rwqe becomes the receive
 * @bad: returns whether it is nonsense
 *
 * Context: BH off.
 * Return: false when there is none.
 */
bool ward_responder_next_receive(struct ward_qp *qp, bool *bad)
{
	struct ward_responder *resp = &qp->resp;

	if (qp->srq)
		resp->has_rwqe = ward_srq_take(qp->srq, &resp->rwqe, bad);
	else
		resp->has_rwqe = ward_recvq_take(&qp->rq, &resp->rwqe, bad);
	return resp->has_rwqe;
}

/* Have the peer wait, and send again from @psn on */
static void not_ready(struct ward_qp *qp, u8 syndrome, u32 psn)
{
	ward_qp_count(qp, SENT_RNR);
	ward_ack_send(qp, syndrome, psn);
	/* what follows is early until this one comes again */
	qp->resp.order.naked = true;
	qp->resp.hole = false;
	qp->resp.ack_due = false;
}

/* Take a receive. False when there is none, and the peer has been told to wait, or UC drops it. */
static bool need_receive(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	struct ward_qp *qp = run->qp;
	bool bad;

	if (qp->resp.has_rwqe)
		return true;
	if (!ward_responder_next_receive(qp, &bad)) {
		if (qp->transport == WARD_UC) {
			ward_count(qp->dev, DROP_NO_RECV);
			ward_order_give_up(&qp->resp.order, pkt);
			return false;
		}
		rq->outcome = WARD_STEP_RNR;
		if (rq->skb)
			not_ready(qp, WARD_AETH_RNR | qp->attr.min_rnr_timer, pkt->psn);
		return false;
	}
	if (bad) {
		ward_count(qp->dev, REFUSED_RECV);
		refuse(run, WARD_NAK_OPERATION, pkt->psn, IB_WC_LOC_QP_OP_ERR);
		return false;
	}
	return true;
}

/* An incoming invalidate is legal: whether it is finished */
static bool begin_invalidate(struct ward_run *run, const struct ward_pkt *pkt)
{
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	struct ward_mr *mr = ward_mr_find(qp->dev, pkt->inv_rkey);
	struct ward_closer closer = {
		.by = WARD_BY_REMOTE, .qpn = qp->qpn, .psn = pkt->psn,
	};

	/* or it would wait for ourselves */
	ward_run_leave(run);
	kref_get(&qp->ref);
	resp->draining = true;
	if (!ward_mr_invalidate(mr, &resp->drain, &closer)) {
		resp->parked = true;
		resp->parked_pkt = *pkt;
		return false;
	}
	resp->draining = false;
	ward_qp_put(qp);
	return true;
}

/* All of a SEND is in place */
static void complete_send(struct ward_run *run, const struct ward_pkt *pkt)
{
	struct ward_qp *qp = run->qp;
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = qp->resp.order.got + pkt->len,
		.src_qp = qp->attr.dest_qp_num,
		.port_num = 1,
	};

	if (pkt->op->flags & WARD_HAS_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	}
	if (pkt->op->flags & WARD_HAS_IETH) {
		wc.wc_flags |= IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = pkt->inv_rkey;
		ward_count(qp->dev, MR_REMOTE_INV);
	}
	if (pkt->solicited)
		wc.wc_flags |= WARD_WC_SOLICITED;
	ward_qp_count(qp, RDMA_RECVS);
	ward_responder_wc(run, &wc);
	done(qp, pkt);
}

static void take_send(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	struct ward_rwqe *rwqe = &resp->rwqe;
	bool last = pkt->op->flags & WARD_IS_LAST;
	enum ward_refusal why;

	if (!need_receive(run, rq))
		return;
	if (resp->order.got + pkt->len > rwqe->length) {
		ward_count(qp->dev, REFUSED_LENGTH);
		refuse(run, WARD_NAK_INVALID, pkt->psn, IB_WC_LOC_LEN_ERR);
		return;
	}
	ward_inject_arm(run, &run->recv, dir_of(rq), pkt->opcode, pkt->psn);
	why = ward_sges_write(&run->recv, rwqe->sge, rwqe->num_sge, &rwqe->cur, resp->order.got,
			      &rq->src, pkt->len, last);
	if (rq->src.why ||
	    stopped(run, why, WARD_NAK_OPERATION, pkt->psn, IB_WC_LOC_PROT_ERR))
		return;
	if (!last) {
		done(qp, pkt);
		rq->outcome = WARD_STEP_DONE;
		return;
	}
	if (pkt->op->flags & WARD_HAS_IETH) {
		why = ward_mr_may_invalidate(ward_mr_find(qp->dev, pkt->inv_rkey), qp->pd,
					     qp->qpn, pkt->inv_rkey, true);
		if (why) {
			ward_violation_add(&run->remote, pkt->inv_rkey, 0, 0, WARD_OP_INVALIDATE,
					   why);
			refuse(run, WARD_NAK_ACCESS, pkt->psn, IB_WC_REM_INV_REQ_ERR);
			return;
		}
		/* one of an earlier life of the QP is still draining: the peer sends it again */
		if (resp->draining)
			return;
		if (!begin_invalidate(run, pkt)) {
			rq->outcome = WARD_STEP_DRAINS;
			return;
		}
	}
	complete_send(run, pkt);
	rq->outcome = WARD_STEP_DONE;
}

static void take_write(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	struct ward_order *o = &resp->order;
	bool last = pkt->op->flags & WARD_IS_LAST;
	u64 va;

	if (pkt->op->flags & WARD_IS_FIRST) {
		if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE)) {
			ward_count(qp->dev, REFUSED_OP);
			invalid(run, pkt);
			return;
		}
		resp->va = pkt->va;
		resp->rkey = pkt->rkey;
		o->write_len = pkt->dma_len;
		/* all of it, before any byte moves; no key is looked at for none (F24) */
		if (o->write_len &&
		    stopped_remote(run, pkt, pkt->rkey, pkt->va, pkt->dma_len, pkt->len,
				   IB_ACCESS_REMOTE_WRITE))
			return;
	}
	if ((pkt->op->flags & WARD_HAS_IMM) && !need_receive(run, rq))
		return;
	if (pkt->len) {
		va = resp->va + o->got;
		if (stopped_remote(run, pkt, resp->rkey, va, pkt->len, pkt->len,
				   IB_ACCESS_REMOTE_WRITE))
			return;
		ward_inject_arm(run, &run->remote, dir_of(rq), pkt->opcode, pkt->psn);
		if (!ward_access_write(&run->remote, va, &rq->src, pkt->len, last))
			return;
	}
	if (pkt->op->flags & WARD_HAS_IMM) {
		struct ib_wc wc = {
			.status = IB_WC_SUCCESS,
			.opcode = IB_WC_RECV_RDMA_WITH_IMM,
			.byte_len = o->got + pkt->len,
			.src_qp = qp->attr.dest_qp_num,
			.wc_flags = IB_WC_WITH_IMM | (pkt->solicited ? WARD_WC_SOLICITED : 0),
			.ex.imm_data = pkt->imm,
			.port_num = 1,
		};

		ward_responder_wc(run, &wc);
	}
	done(qp, pkt);
	rq->outcome = WARD_STEP_DONE;
}

static struct ward_reply answer_read(const struct ward_responder *resp,
				     const struct ward_pkt *pkt, bool fresh)
{
	return (struct ward_reply){
		.first = true,
		.fresh = fresh,
		.psn = pkt->psn,
		.msn = resp->msn,
		.va = pkt->va,
		.rkey = pkt->rkey,
		.left = pkt->dma_len,
	};
}

/* The answer to what is executed once only: an atomic, or an empty one to the others */
static struct ward_reply answer_once(const struct ward_responder *resp,
				     const struct ward_pkt *pkt, u64 orig, bool fresh)
{
	return (struct ward_reply){
		.atomic = pkt->op->msg == WARD_MSG_ATOMIC,
		.first = true,
		.fresh = fresh,
		.psn = pkt->psn,
		.msn = resp->msn,
		.orig = orig,
	};
}

/* May the peer have one more answer outstanding? */
static bool may_answer(struct ward_run *run, const struct ward_pkt *pkt, int right)
{
	struct ward_qp *qp = run->qp;

	if ((qp->attr.qp_access_flags & right) != right)
		ward_count(qp->dev, REFUSED_OP);
	else if (ward_replies_full(&qp->resp.replies))
		ward_count(qp->dev, REFUSED_DEPTH);
	else
		return true;
	invalid(run, pkt);
	return false;
}

/* What is answered is done. The answer to a local step needs no sending. */
static void answer_it(struct ward_qp *qp, struct ward_request *rq, const struct ward_reply *answer,
		      u32 psns)
{
	struct ward_responder *resp = &qp->resp;

	resp->order.epsn = ward_psn_add(rq->pkt.psn, psns);
	resp->order.naked = false;
	rq->orig = answer->orig;
	rq->outcome = WARD_STEP_DONE;
	if (rq->skb)
		ward_replies_add(&resp->replies, answer);
}

/* Answer a local READ at once. False when it may not be, or not yet. */
static bool copy_read(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	struct ward_sink *to = &rq->sink;
	struct ward_sge from = { .addr = pkt->va, .length = pkt->dma_len, .lkey = pkt->rkey };
	struct ward_source src = {
		.access = &run->remote, .rights = IB_ACCESS_REMOTE_READ, .sge = &from, .num_sge = 1,
	};
	enum ward_refusal why;

	ward_inject_arm(run, &run->remote, dir_of(rq), pkt->opcode, pkt->psn);
	why = ward_sges_write(to->access, to->sge, to->num_sge, to->cur, to->pos, &src,
			      pkt->dma_len, to->last);
	/* the region may have been invalidated meanwhile (F2) */
	if (src.why)
		stopped(run, src.why, WARD_NAK_ACCESS, pkt->psn, IB_WC_LOC_ACCESS_ERR);
	else if (why && why != WARD_PARKED)
		rq->outcome = WARD_STEP_NO_MEMORY;
	return !why;
}

static void take_read(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	struct ward_reply answer;

	if (!may_answer(run, pkt, IB_ACCESS_REMOTE_READ))
		return;
	if (pkt->dma_len && stopped_remote(run, pkt, pkt->rkey, pkt->va, pkt->dma_len, 0,
					   IB_ACCESS_REMOTE_READ))
		return;
	if (!rq->skb && !copy_read(run, rq))
		return;
	resp->msn = (resp->msn + 1) & WARD_24BITS;
	answer = answer_read(resp, pkt, true);
	answer_it(qp, rq, &answer, ward_seg_count(pkt->dma_len, qp->mtu));
}

/* Something that must not be executed twice is done: answer, and remember the answer */
static void done_once(struct ward_qp *qp, struct ward_request *rq, u64 orig)
{
	const struct ward_pkt *pkt = &rq->pkt;
	struct ward_responder *resp = &qp->resp;
	struct ward_reply answer;

	resp->once[resp->once_next] = (struct ward_once){
		.valid = true, .psn = pkt->psn, .orig = orig,
	};
	resp->once_next = (resp->once_next + 1) % resp->replies.max;
	resp->msn = (resp->msn + 1) & WARD_24BITS;
	answer = answer_once(resp, pkt, orig, true);
	answer_it(qp, rq, &answer, 1);
}

static void take_atomic(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	u64 orig;

	if (!may_answer(run, pkt, IB_ACCESS_REMOTE_ATOMIC))
		return;
	if (stopped_remote(run, pkt, pkt->rkey, pkt->va, sizeof(u64), sizeof(u64),
			   IB_ACCESS_REMOTE_ATOMIC))
		return;
	ward_inject_arm(run, &run->remote, dir_of(rq), pkt->opcode, pkt->psn);
	if (ward_access_atomic(&run->remote, pkt->va, (pkt->opcode & 0x1f) == WARD_COMPARE_SWAP,
			       pkt->compare, pkt->swap_add, &orig)) {
		ward_count(run->qp->dev, REFUSED_ALIGN);
		invalid(run, pkt);
		return;
	}
	done_once(run->qp, rq, orig);
}

static void take_atomic_write(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	u64 value;

	if (!may_answer(run, pkt, IB_ACCESS_REMOTE_WRITE))
		return;
	if (stopped_remote(run, pkt, pkt->rkey, pkt->va, sizeof(value), sizeof(value),
			   IB_ACCESS_REMOTE_WRITE))
		return;
	ward_inject_arm(run, &run->remote, dir_of(rq), pkt->opcode, pkt->psn);
	/* bytes, not a number: they land as they are in the packet */
	if (!ward_source_read(&rq->src, &value, sizeof(value)))
		return;
	if (ward_access_store(&run->remote, pkt->va, value)) {
		ward_count(run->qp->dev, REFUSED_ALIGN);
		invalid(run, pkt);
		return;
	}
	done_once(run->qp, rq, 0);
}

static void take_flush(struct ward_run *run, struct ward_request *rq)
{
	const struct ward_pkt *pkt = &rq->pkt;
	int right = 0;

	if (pkt->flush_type & WARD_FLUSH_GLOBAL)
		right |= WARD_ACCESS_FLUSH_GLOBAL;
	if (pkt->flush_type & WARD_FLUSH_PERSISTENT)
		right |= WARD_ACCESS_FLUSH_PERSISTENT;
	if (!right) {
		ward_count(run->qp->dev, REFUSED_ORDER);
		invalid(run, pkt);
		return;
	}
	if (!may_answer(run, pkt, right))
		return;
	if (ward_access_flush(&run->remote, pkt->rkey, pkt->va, pkt->dma_len,
			      pkt->flush_level == WARD_FLUSH_MR, right)) {
		refuse(run, WARD_NAK_ACCESS, pkt->psn, IB_WC_LOC_ACCESS_ERR);
		return;
	}
	done_once(run->qp, rq, 0);
}

static const struct ward_once *find_once(const struct ward_responder *resp, u32 psn)
{
	u32 i;

	for (i = 0; i < resp->replies.max; i++)
		if (resp->once[i].valid && resp->once[i].psn == psn)
			return &resp->once[i];
	return NULL;
}

/*
 * Seen before. SENDs and WRITEs are not executed again (F30), only acknowledged;
 * what is executed once is answered as it was; a READ, which may ask for a part
 * of what the first one asked for, is executed with all its checks (F31).
 */
static void take_duplicate(struct ward_run *run, const struct ward_pkt *pkt)
{
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	const struct ward_once *once;
	struct ward_reply answer;
	u32 last;

	ward_qp_count(qp, DUPLICATE);
	switch (pkt->op->msg) {
	case WARD_MSG_READ:
		/* such a READ has not been seen before */
		if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_READ) ||
		    pkt->dma_len > WARD_MAX_MSG)
			return;
		last = ward_psn_add(pkt->psn, ward_seg_count(pkt->dma_len, qp->mtu) - 1);
		if (ward_psn_diff(last, resp->order.epsn) >= 0)
			return;
		answer = answer_read(resp, pkt, false);
		break;
	case WARD_MSG_ATOMIC:
	case WARD_MSG_ATOMIC_WRITE:
	case WARD_MSG_FLUSH:
		once = find_once(resp, pkt->psn);
		/* too old to be anybody's: its answer is long past the peer's window */
		if (!once)
			return;
		answer = answer_once(resp, pkt, once->orig, false);
		break;
	default:
		if (pkt->psn == resp->told_psn)
			ward_qp_wait_longer(qp);
		resp->ack_due = true;
		return;
	}
	ward_replies_add(&resp->replies, &answer);
}

static void execute(struct ward_run *run, struct ward_request *rq)
{
	struct ward_qp *qp = run->qp;

	if (!qp->resp.established) {
		qp->resp.established = true;
		/* for consumers whose RTU was lost */
		if (qp->state == IB_QPS_RTR)
			ward_qp_event(qp, IB_EVENT_COMM_EST);
	}
	switch (rq->pkt.op->msg) {
	case WARD_MSG_SEND:
		take_send(run, rq);
		break;
	case WARD_MSG_WRITE:
		take_write(run, rq);
		break;
	case WARD_MSG_READ:
		take_read(run, rq);
		break;
	case WARD_MSG_ATOMIC:
		take_atomic(run, rq);
		break;
	case WARD_MSG_ATOMIC_WRITE:
		take_atomic_write(run, rq);
		break;
	case WARD_MSG_FLUSH:
		take_flush(run, rq);
		break;
	default:
		ward_count(qp->dev, REFUSED_ORDER);
		invalid(run, &rq->pkt);
		break;
	}
}

static void take_uc(struct ward_run *run, struct ward_request *rq, u32 mtu)
{
	const struct ward_pkt *pkt = &rq->pkt;
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	enum ward_verdict verdict;

	resp->order.mtu = mtu;
	verdict = ward_order_judge_uc(&resp->order, pkt);
	resp->order.mtu = qp->mtu;
	if (verdict != WARD_EXECUTE) {
		ward_count(qp->dev, DROP_MESSAGE);
		return;
	}
	execute(run, rq);
	if (!resp->refused)
		return;
	resp->refused = false;
	ward_count(qp->dev, DROP_MESSAGE);
	if (resp->syndrome == WARD_NAK_OPERATION) {
		struct ib_wc wc = { .status = resp->recv_status, .opcode = IB_WC_RECV };

		ward_responder_wc(run, &wc);
		ward_qp_fail(run, WARD_WHY_RECV_FAILED, resp->recv_status);
		return;
	}
	ward_order_give_up(&resp->order, pkt);
}

/* A rule of the fault injector may have the request refused */
static bool refused_by_rule(struct ward_run *run, const struct ward_pkt *pkt)
{
	struct ward_responder *resp = &run->qp->resp;
	u8 syndrome = ward_inject_nak(run->qp, pkt);

	if (!syndrome)
		return false;
	if (syndrome == WARD_NAK_SEQUENCE) {
		/* what follows is early until this one comes again */
		resp->order.naked = true;
		resp->hole = false;
		ward_ack_send(run->qp, syndrome, pkt->psn);
	} else if ((syndrome & WARD_AETH_TYPE_MASK) == WARD_AETH_RNR) {
		not_ready(run->qp, syndrome, pkt->psn);
	} else {
		refuse(run, syndrome, pkt->psn, IB_WC_LOC_QP_OP_ERR);
	}
	return true;
}

/* Requests from the expected one on are missing */
static void begin_hole(struct ward_qp *qp)
{
	struct ward_responder *resp = &qp->resp;

	resp->order.naked = true;
	resp->hole = true;
	resp->hole_psn = resp->order.epsn;
	resp->hole_at = ktime_add_ns(ktime_get(), qp->hole_ns);
	if (resp->timed)
		return;
	resp->timed = true;
	hrtimer_start(&qp->nak_timer, qp->hole_ns, HRTIMER_MODE_REL_SOFT);
}

static void take_request(struct ward_run *run, struct ward_request *rq)
{
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;

	run->remote.psn = rq->pkt.psn;
	if (qp->transport == WARD_UD) {
		ward_datagram_take(run, rq->skb, &rq->pkt);
		return;
	}
	if (qp->transport == WARD_UC) {
		take_uc(run, rq, qp->mtu);
		return;
	}
	switch (ward_order_judge(&resp->order, &rq->pkt)) {
	case WARD_DUPLICATE:
		take_duplicate(run, &rq->pkt);
		return;
	case WARD_NAK_SEQ:
		begin_hole(qp);
		fallthrough;
	case WARD_IGNORE:
		ward_qp_count(qp, OUT_OF_SEQ);
		ward_early_keep(&resp->early, rq->skb);
		return;
	case WARD_INVALID:
		ward_count(qp->dev, REFUSED_ORDER);
		invalid(run, &rq->pkt);
		return;
	case WARD_EXECUTE:
		if (!ward_injecting() || !refused_by_rule(run, &rq->pkt))
			execute(run, rq);
		break;
	}
}

/**
 * ward_responder_step() - execute a local step
 * @run: the run; it owes nothing, is not parked, and expects the PSN of this unless it is UC
 * @rq:  the step; its outcome is returned
 *
 * A step is judged and executed as a packet of a path whose MTU is WARD_STEP.
 *
 * Context: under RCU with BH off.
 */
void ward_responder_step(struct ward_run *run, struct ward_request *rq)
{
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	struct ward_order order = resp->order;

	run->remote.psn = rq->pkt.psn;
	order.mtu = WARD_STEP;
	if (qp->transport == WARD_UC) {
		take_uc(run, rq, WARD_STEP);
	} else if (ward_order_judge(&order, &rq->pkt) == WARD_EXECUTE) {
		execute(run, rq);
	} else {
		ward_count(qp->dev, REFUSED_ORDER);
		invalid(run, &rq->pkt);
	}
	if (rq->src.why && rq->src.why != WARD_PARKED)
		rq->outcome = WARD_STEP_NO_MEMORY;
	if (resp->refused) {
		rq->outcome = WARD_STEP_REFUSED;
		finish_refusal(run, false);
	}
	/* of UC it was dropped, if not for pages, which is all the same to the requester */
	if (qp->transport == WARD_UC && rq->outcome == WARD_STEP_LATER && !rq->src.why &&
	    !qp->fault.parked) {
		rq->outcome = WARD_STEP_DONE;
		resp->order.epsn = ward_psn_add(rq->pkt.psn,
						ward_seg_count(rq->pkt.len, qp->mtu));
	}
}

/* The next request to look at: one that was early and is not any more, or the next that came */
static struct sk_buff *next_request(struct ward_responder *resp)
{
	if (resp->parked || resp->refused)
		return NULL;
	return ward_early_next(&resp->early, resp->order.epsn) ?: __skb_dequeue(&resp->waiting);
}

/* Execute what waits until something parks */
static void take_waiting(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct sk_buff *skb;

	while (!qp->fault.parked && (skb = next_request(&qp->resp))) {
		struct ward_request rq = { .skb = skb };

		ward_rx_parse(skb, &rq.pkt);
		rq.src.skb = skb;
		rq.src.off = ward_rx_cb(skb)->bth + rq.pkt.hdr_len;
		if (ward_qp_receives(qp->state))
			take_request(run, &rq);
		else
			ward_count(qp->dev, DROP_STATE);
		/* it begins anew when the pages are there */
		if (qp->fault.parked)
			__skb_queue_head(&qp->resp.waiting, skb);
		else
			consume_skb(skb);
	}
}

/**
 * ward_responder_resume() - go on with what waits, after the QP was parked for pages
 * @run: the run
 *
 * Context: under RCU with BH off.
 */
void ward_responder_resume(struct ward_run *run)
{
	take_waiting(run);
}

/**
 * ward_responder_take() - take a request
 * @run: the run
 * @skb: the packet; taken over
 *
 * Context: under RCU with BH off.
 */
void ward_responder_take(struct ward_run *run, struct sk_buff *skb)
{
	struct ward_responder *resp = &run->qp->resp;

	if (skb_queue_len(&resp->waiting) >= WARD_INBOX_MAX) {
		ward_count(run->qp->dev, DROP_BACKLOG);
		kfree_skb(skb);
		return;
	}
	__skb_queue_tail(&resp->waiting, skb);
	take_waiting(run);
}

static void region_drained(struct ward_drain *drain)
{
	struct ward_qp *qp = container_of(drain, struct ward_qp, resp.drain);

	ward_qp_kick(qp, WARD_EV_RQ_DRAINED);
	ward_qp_put(qp);
}

/**
 * ward_responder_init() - once for each QP
 * @qp: the QP
 */
void ward_responder_init(struct ward_qp *qp)
{
	__skb_queue_head_init(&qp->resp.early);
	skb_queue_head_init(&qp->resp.waiting);
	qp->resp.drain.done = region_drained;
}

/**
 * ward_responder_drained() - the region of the parked SEND_WITH_INV is out of reach
 * @run: the run
 *
 * Context: under RCU with BH off.
 */
void ward_responder_drained(struct ward_run *run)
{
	struct ward_responder *resp = &run->qp->resp;

	resp->draining = false;
	/* the QP may have failed in between */
	if (!resp->parked)
		return;
	resp->parked = false;
	complete_send(run, &resp->parked_pkt);
	take_waiting(run);
}

/**
 * ward_responder_nak_timer() - the NAK timer has fired
 * @qp: the QP
 *
 * It may have been set for an earlier hole: then it is set again for what is left.
 */
void ward_responder_nak_timer(struct ward_qp *qp)
{
	struct ward_responder *resp = &qp->resp;
	ktime_t left = ktime_sub(resp->hole_at, ktime_get());

	resp->timed = resp->hole && resp->hole_psn == resp->order.epsn && left > 0;
	if (resp->timed)
		hrtimer_start(&qp->nak_timer, left, HRTIMER_MODE_REL_SOFT);
}

/* Whether to tell of a hole now */
static bool nak_is_due(struct ward_qp *qp)
{
	struct ward_responder *resp = &qp->resp;

	if (!resp->hole)
		return false;
	/* it was closed */
	if (!resp->order.naked || resp->hole_psn != resp->order.epsn) {
		resp->hole = false;
		return false;
	}
	return ktime_compare(ktime_get(), resp->hole_at) >= 0;
}

/**
 * ward_responder_run() - answer READs, then acknowledge
 * @run: the run
 *
 * Context: under RCU with BH off.
 */
void ward_responder_run(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct ward_responder *resp = &qp->resp;
	int burst = READ_BURST;
	u32 psn;

	if (qp->transport != WARD_RC || !ward_qp_receives(qp->state))
		return;
	while (resp->replies.num && burst--) {
		switch (ward_replies_send(run, &psn)) {
		case WARD_REPLIED:
			break;
		case WARD_REPLY_LATER:
			run->again = true;
			return;
		case WARD_REPLY_PARKED:
			return;
		case WARD_REPLY_REFUSED:
			refuse(run, WARD_NAK_ACCESS, psn, IB_WC_LOC_ACCESS_ERR);
			break;
		}
	}
	if (resp->replies.num) {
		if (resp->ack_due)
			ward_count(qp->dev, ACK_DEFERRED);
		run->again = true;
		return;
	}
	if (resp->refused) {
		finish_refusal(run, true);
		return;
	}
	/* another hole, behind the one that was closed */
	if (!resp->order.naked && !resp->parked && !skb_queue_empty(&resp->early))
		begin_hole(qp);
	if (nak_is_due(qp)) {
		resp->hole = false;
		resp->told_psn = resp->hole_psn;
		ward_ack_send(qp, WARD_NAK_SEQUENCE, resp->order.epsn);
	} else if (resp->ack_due) {
		ward_ack_send(qp, WARD_AETH_NO_CREDIT, ward_psn_add(resp->order.epsn, -1));
	}
	resp->ack_due = false;
}
