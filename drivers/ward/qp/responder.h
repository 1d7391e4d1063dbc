/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responder: executes the peer's requests.
 */
#ifndef _WARD_QP_RESPONDER_H
#define _WARD_QP_RESPONDER_H

#include <linux/ktime.h>
#include <linux/skbuff.h>

#include "../mem/region.h"
#include "../proto/responder.h"
#include "replies.h"
#include "recvq.h"

struct ward_qp;
struct ward_run;
struct ward_swqe;

/* Bytes of a local step, and of a run of them with BH off; a multiple of every MTU */
#define WARD_STEP	(64 * 1024)

/* What became of a local step; of a packet nobody asks */
enum ward_outcome {
	WARD_STEP_LATER,	/* nothing yet: one of the two QPs waits for pages */
	WARD_STEP_DONE,		/* executed */
	WARD_STEP_DRAINS,	/* executed, and done when a region has drained */
	WARD_STEP_RNR,		/* nothing: the consumer has posted no receive */
	WARD_STEP_REFUSED,	/* the peer has failed; resp.syndrome tells why */
	WARD_STEP_NO_MEMORY,	/* the requester may not touch its own memory */
};

/* Where the answer to a local READ goes: the pieces of its work request, from @pos on */
struct ward_sink {
	struct ward_access	*access;
	const struct ward_sge	*sge;
	u32			num_sge;
	struct ward_cursor	*cur;
	u32			pos;
	bool			last;	/* the answer ends with these bytes */
};

/**
 * struct ward_request - a request, on its way through the responder
 * @pkt:     what is asked. A local step is one in the shape of a packet, of up to WARD_STEP bytes
 * @skb:     the packet that it came in; NULL: a local step
 * @src:     its payload
 * @sink:    local step, READ
 * @outcome: local step: what became of it
 * @orig:    local step, atomic: what was there before
 */
struct ward_request {
	struct ward_pkt		pkt;
	struct sk_buff		*skb;
	struct ward_source	src;
	struct ward_sink	sink;
	enum ward_outcome	outcome;
	u64			orig;
};

/* What was executed and must not be again: what to answer should it come once more (F30) */
struct ward_once {
	bool	valid;
	u32	psn;
	u64	orig;
};

/**
 * struct ward_responder - the responder's state; the owner's
 * @order:   where it stands in the peer's stream
 * @msn:     messages completed
 * @va:      WRITE half received: address of its first byte
 * @rkey:    WRITE half received: its key
 * @rwqe:    the receive in use
 * @has_rwqe: there is one
 * @ack_due: an acknowledgement is to be sent
 * @hole:    requests before the early ones are missing, and the peer has not been told
 * @hole_psn: the first one of them
 * @hole_at: when to tell
 * @told_psn: the last hole that the peer was told of
 * @timed:   the NAK timer is set
 * @refused: the QP fails as soon as the READs before have been answered
 * @syndrome: with this NAK
 * @refused_psn: for this packet
 * @recv_status: and this result of the receive in use
 * @established: the first packet of the peer has come
 * @replies: what the peer is owed
 * @once:    the last replies.max requests that are executed once only; next one to @once_next
 * @once_next: see @once
 * @early:   requests that came before an earlier one
 * @waiting: requests behind one that is parked
 * @parked:  a SEND_WITH_INV is in place, and its receive completes when its region has drained
 * @parked_pkt: that request
 * @drain:   of that region
 * @draining: @drain is in use; it outlives @parked when the QP fails
 */
struct ward_responder {
	struct ward_order	order;
	u32			msn;
	u64			va;
	u32			rkey;
	struct ward_rwqe	rwqe;
	bool			has_rwqe;
	bool			ack_due;
	bool			hole;
	bool			timed;
	u32			hole_psn;
	ktime_t			hole_at;
	u32			told_psn;
	bool			refused;
	u8			syndrome;
	u32			refused_psn;
	enum ib_wc_status	recv_status;
	bool			established;
	struct ward_replies	replies;
	struct ward_once	*once;
	u32			once_next;
	struct sk_buff_head	early;
	struct sk_buff_head	waiting;
	bool			parked;
	struct ward_pkt		parked_pkt;
	struct ward_drain	drain;
	bool			draining;
};

/* In ib_wc.wc_flags, on the way to the completion queue only */
#define WARD_WC_SOLICITED	BIT(30)

void ward_responder_init(struct ward_qp *qp);
void ward_responder_exit(struct ward_qp *qp);
int ward_responder_setup(struct ward_qp *qp, u32 max_reads);
void ward_responder_forget(struct ward_run *run);
void ward_responder_take(struct ward_run *run, struct sk_buff *skb);
void ward_responder_step(struct ward_run *run, struct ward_request *rq);
void ward_responder_drained(struct ward_run *run);
void ward_responder_nak_timer(struct ward_qp *qp);
void ward_responder_resume(struct ward_run *run);
void ward_responder_run(struct ward_run *run);
bool ward_responder_next_receive(struct ward_qp *qp, bool *bad);
void ward_responder_wc(struct ward_run *run, struct ib_wc *wc);

/* datagram.c */
void ward_datagram_take(struct ward_run *run, struct sk_buff *skb, const struct ward_pkt *pkt);
bool ward_datagram_send(struct ward_run *run, struct ward_swqe *wqe);

#endif /* _WARD_QP_RESPONDER_H */
