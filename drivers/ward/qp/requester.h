/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requester: executes work requests and sends their packets; and the
 * completer, which takes the answers.
 */
#ifndef _WARD_QP_REQUESTER_H
#define _WARD_QP_REQUESTER_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/skbuff.h>

#include "../mem/region.h"
#include "../proto/segment.h"

struct ward_pkt;
struct ward_qp;
struct ward_run;
struct ward_swqe;
struct ward_txpkt;

/* Packets that may be under way without an acknowledgement, however small */
#define WARD_WINDOW_PKTS	256

/**
 * struct ward_requester - the requester's and completer's state; the owner's
 * @nxt:     next PSN to use
 * @una:     oldest PSN that is not acknowledged
 * @sent:    packets that are not acknowledged, by PSN
 * @resend:  the packet in @sent that is to be sent again next, NULL when none is
 * @resend_why: why it is, for those who watch
 * @offset:  bytes of the work request at sq.exec that have been built or asked for
 * @since_ackreq: packets since the last one that asked for an acknowledgement
 * @reads:   packets in @sent that await data
 * @early:   READ answers that came before an earlier one
 * @retries: times left to resend without progress
 * @rnr_retries: times left to be told "receiver not ready"
 * @rnr_wait: waiting as told
 * @rnr_ns:  for so long
 * @lost:    the responses from @una on were asked for again already
 * @drain:   what a LOCAL_INV waits for
 * @draining: it does
 * @drained: what the one at @drain_index waited for has happened
 * @drain_index: send queue index of the LOCAL_INV that drains, or has drained, last
 * @tell_drained: in SQD: the consumer is to be told when all that has begun is complete
 * @awaits_peer: the run wanted to own the peer and could not
 * @sends_packets: UC: nobody knows when they have arrived, so there is no way back to local steps
 * @drains:  a SEND_WITH_INV went without packets, and its region at the peer still drains
 * @drains_index: its send queue index
 * @drains_end: PSN after it
 * @armed:   the retransmission timer is set
 * @deadline: when to resend for want of an answer, which uses up a retry
 * @probe_at: when to send the oldest packet again before that, which does not
 * @probe_ns: how long to wait for that
 * @probed:  it was, and there has been no progress since
 * @probe_psn: last PSN of that packet
 * @rtt_ns:  smoothed time from a packet to its acknowledgement
 * @rtt_psn: PSN of the packet that is being timed
 * @rtt_from: since when; 0: none is
 */
struct ward_requester {
	u32			nxt;
	u32			una;
	struct list_head	sent;
	struct ward_txpkt	*resend;
	enum ward_resend	resend_why;
	u32			offset;
	u32			since_ackreq;
	u32			reads;
	struct sk_buff_head	early;
	u8			retries;
	u8			rnr_retries;
	bool			rnr_wait;
	bool			lost;
	bool			draining;
	bool			drained;
	bool			tell_drained;
	bool			awaits_peer;
	bool			sends_packets;
	bool			drains;
	bool			armed;
	u32			drains_index;
	u32			drains_end;
	u32			drain_index;
	struct ward_drain	drain;
	ktime_t			deadline;
	ktime_t			probe_at;
	u64			probe_ns;
	bool			probed;
	u32			probe_psn;
	u64			rtt_ns;
	u32			rtt_psn;
	ktime_t			rtt_from;
};

void ward_requester_reset(struct ward_qp *qp);
void ward_requester_forget(struct ward_qp *qp);
bool ward_requester_drained(const struct ward_qp *qp);
void ward_requester_run(struct ward_run *run);
void ward_requester_go_back(struct ward_qp *qp, enum ward_resend why);
void ward_requester_arm(struct ward_qp *qp);
void ward_requester_progress(struct ward_qp *qp);
void ward_requester_probe(struct ward_qp *qp, enum ward_resend why);
void ward_requester_probe_soon(struct ward_qp *qp);

enum ward_tail ward_swqe_tail(const struct ward_swqe *wqe);
u8 ward_swqe_single_op(const struct ward_swqe *wqe);
bool ward_swqe_is_write(const struct ward_swqe *wqe);

/* completer.c */
bool ward_completer_take(struct ward_run *run, struct sk_buff *skb, const struct ward_pkt *pkt);
void ward_completer_resume(struct ward_run *run);
void ward_completer_retire(struct ward_run *run);
void ward_completer_timeout(struct ward_run *run);
bool ward_completer_rnr(struct ward_run *run, u8 syndrome);
enum ib_wc_status ward_nak_status(u8 syndrome);
void ward_completer_finish(struct ward_run *run, enum ib_wc_status status);

#endif /* _WARD_QP_REQUESTER_H */
