// SPDX-License-Identifier: GPL-2.0
/*
 * Answers and acknowledgements. None of these packets is kept: when one is lost,
 * the peer asks again. All functions are the owner's.
 */
#include <linux/minmax.h>
#include <linux/slab.h>

#include "../net/path.h"
#include "../proto/psn.h"
#include "../proto/segment.h"
#include "../watch/inject.h"
#include "../watch/trace.h"
#include "replies.h"
#include "qp.h"
#include "txpkt.h"

static u32 room(const struct ward_replies *a)
{
	return 2 * a->max;
}

/**
 * ward_replies_setup() - make an empty queue
 * @a:   the queue, empty or all zero
 * @max: requests that the peer may have outstanding, at least 1
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_replies_setup(struct ward_replies *a, u32 max)
{
	ward_replies_exit(a);
	a->max = max;
	a->ring = kcalloc(room(a), sizeof(*a->ring), GFP_KERNEL);
	return a->ring ? 0 : -ENOMEM;
}

/**
 * ward_replies_exit() - free the queue
 * @a: the queue
 */
void ward_replies_exit(struct ward_replies *a)
{
	kfree(a->ring);
	*a = (struct ward_replies){};
}

/**
 * ward_replies_forget() - owe nothing any more
 * @a: the queue
 */
void ward_replies_forget(struct ward_replies *a)
{
	a->num = 0;
	a->num_new = 0;
}

static bool is_owed(const struct ward_replies *a, u32 psn)
{
	u32 i;

	for (i = 0; i < a->num; i++) {
		const struct ward_reply *owed = &a->ring[(a->head + i) % room(a)];

		if (owed->psn == psn && owed->first)
			return true;
	}
	return false;
}

/**
 * ward_replies_add() - owe one more
 * @a:      the queue
 * @answer: the answer; when it is fresh, ward_replies_full() was false
 *
 * Return: false when it is not added: it will be sent anyway, or the peer asks faster than it is
 * answered, and will ask again.
 */
bool ward_replies_add(struct ward_replies *a, const struct ward_reply *answer)
{
	if (!answer->fresh && (a->num == room(a) || is_owed(a, answer->psn)))
		return false;
	/* repetitions leave room for all that may come for the first time */
	if (!answer->fresh && a->num - a->num_new == a->max)
		return false;
	a->ring[(a->head + a->num++) % room(a)] = *answer;
	a->num_new += answer->fresh;
	return true;
}

static u8 *begin(struct ward_qp *qp, struct ward_txpkt *tx, struct ward_pkt *pkt)
{
	pkt->opcode |= WARD_RC;
	pkt->pad = -pkt->len & 3;
	pkt->mig = true;
	pkt->pkey = WARD_DEFAULT_PKEY;
	pkt->qpn = qp->attr.dest_qp_num;
	if (ward_inject_fails(qp->dev, WARD_AT_REPLY))
		return NULL;
	return ward_txpkt_begin(tx, pkt);
}

static void finish(struct ward_qp *qp, struct ward_txpkt *tx)
{
	ward_txpkt_seal(tx, ward_qp_path(qp));
	ward_txpkt_send(qp, tx, ward_qp_path(qp));
	ward_txpkt_drop_buf(tx);
}

static void trace(struct ward_qp *qp, u32 psn, u8 syndrome)
{
	switch (syndrome & WARD_AETH_TYPE_MASK) {
	case WARD_AETH_ACK:
		trace_ward_ack_sent(qp, psn, syndrome, qp->resp.msn);
		break;
	case WARD_AETH_RNR:
		trace_ward_rnr_sent(qp, psn, syndrome, qp->resp.msn);
		break;
	default:
		trace_ward_nak_sent(qp, psn, syndrome, qp->resp.msn);
		qp->nak_sent = syndrome;
		qp->nak_psn = psn;
		break;
	}
}

/**
 * ward_ack_send() - send an acknowledgement
 * @qp:       the QP
 * @syndrome: AETH syndrome
 * @psn:      of what it is about; all before it is acknowledged
 *
 * Context: BH off.
 */
void ward_ack_send(struct ward_qp *qp, u8 syndrome, u32 psn)
{
	struct ward_txpkt tx = {};
	struct ward_pkt pkt = {
		.opcode = WARD_ACKNOWLEDGE,
		.psn = psn,
		.syndrome = syndrome,
		.msn = qp->resp.msn,
	};

	trace(qp, psn, syndrome);
	/* without memory it is lost, and the peer asks again */
	if (begin(qp, &tx, &pkt))
		finish(qp, &tx);
}

static void pop(struct ward_replies *a)
{
	a->num_new -= a->ring[a->head].fresh;
	a->head = (a->head + 1) % room(a);
	a->num--;
}

/**
 * ward_replies_send() - send the next packet of the oldest answer
 * @run: the run; at least one answer is owed
 * @psn: returns the PSN of that packet
 *
 * Key, PD, rights and range are checked for every packet (F2, F31).
 *
 * Context: under RCU with BH off.
 * Return: what became of it.
 */
enum ward_replied ward_replies_send(struct ward_run *run, u32 *psn)
{
	struct ward_qp *qp = run->qp;
	struct ward_replies *a = &qp->resp.replies;
	struct ward_reply *owed = &a->ring[a->head];
	u32 len = min(owed->left, qp->mtu);
	bool last = len == owed->left;
	struct ward_pkt pkt = {
		.opcode = owed->atomic ? WARD_ATOMIC_ACK :
			  ward_seg_opcode(WARD_RC, WARD_MSG_READ_RESP, WARD_TAIL_PLAIN,
					  owed->first, last),
		.psn = owed->psn,
		.len = len,
		.syndrome = WARD_AETH_NO_CREDIT,
		.msn = owed->msn,
		.orig = owed->orig,
	};
	enum ward_refusal why = WARD_GRANTED;
	struct ward_txpkt tx = {};
	u8 *payload;

	*psn = owed->psn;
	run->remote.psn = owed->psn;
	if (len)
		why = ward_access_begin(&run->remote, owed->rkey, owed->va, len,
					IB_ACCESS_REMOTE_READ);
	if (len && !why)
		why = ward_access_ready(&run->remote, owed->va, len, owed->left);
	if (why == WARD_PARKED)
		return WARD_REPLY_PARKED;
	if (why && !owed->fresh) {
		/*
		 * Nobody but the peer knows what it has asked for before, so anybody may have sent
		 * this. If it was the peer, the NAK ends its work request.
		 */
		ward_count(qp->dev, NAK_ACCESS);
		ward_ack_send(qp, WARD_NAK_ACCESS, owed->psn);
		pop(a);
		return WARD_REPLIED;
	}
	if (why) {
		ward_replies_forget(a);
		return WARD_REPLY_REFUSED;
	}
	payload = begin(qp, &tx, &pkt);
	if (!payload)
		return WARD_REPLY_LATER;
	ward_inject_arm(run, &run->remote, WARD_INJECT_OUT, pkt.opcode, pkt.psn);
	if (len)
		ward_access_read(&run->remote, owed->va, payload, len);
	finish(qp, &tx);

	owed->psn = ward_psn_add(owed->psn, 1);
	owed->va += len;
	owed->left -= len;
	owed->first = false;
	if (last)
		pop(a);
	return WARD_REPLIED;
}
