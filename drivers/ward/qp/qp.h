/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs.
 *
 * A QP has one *owner* at a time, and only the owner touches its protocol
 * state: no lock is held while packets are judged, bytes are copied, or
 * consumers are told. Whatever happens to a QP (a packet arrives, work is
 * posted, a timer fires, a region has drained) is left in its inbox or as a bit
 * in @events, and ward_qp_kick() schedules a run. A run (ward_qp_run()) happens
 * in softirq; it becomes the owner, does what is to do in a batch, and lets go.
 * Verbs that change the QP become its owner too, and may sleep for that; when
 * they return, nothing that was under way before them is under way any more
 * (F32).
 */
#ifndef _WARD_QP_QP_H
#define _WARD_QP_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/skbuff.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "../net/train.h"
#include "../verbs/device.h"
#include "recvq.h"
#include "requester.h"
#include "responder.h"
#include "sendq.h"

struct ward_cq;
struct ward_net;
struct ward_path;
struct ward_shown_qp;
struct ward_srq;

/* Bits in ward_qp.flags */
enum {
	WARD_QP_OWNED,		/* somebody is the owner */
	WARD_QP_WANTED,		/* a verb waits to be the owner: no run begins before it */
	WARD_QP_SCHEDULED,	/* a run is scheduled, and holds a reference */
};

/* Bits in ward_qp.events: what a run has to look after */
enum {
	WARD_EV_WORK,		/* work was posted, or was left over */
	WARD_EV_ACK_TIMER,
	WARD_EV_RNR_TIMER,
	WARD_EV_NAK_TIMER,
	WARD_EV_SQ_DRAINED,	/* the region that a LOCAL_INV waits for */
	WARD_EV_RQ_DRAINED,	/* the region that a SEND_WITH_INV waits for */
	WARD_EV_FENCED,		/* what was registered through it is out of reach (fence.h) */
	WARD_EV_PAGES,		/* the pages that it is parked for are there, or cannot be had */
};

/*
 * So long a packet may be overtaken by others before it counts as lost: at first, and at most. In
 * between a QP learns from its peer's packets.
 */
#define WARD_HOLE_NS		(50 * NSEC_PER_USEC)
#define WARD_HOLE_MAX_NS	NSEC_PER_MSEC

/* Packets that wait for a QP; more are dropped, and sent again by the peer */
#define WARD_INBOX_MAX	1024

/**
 * struct ward_qp - a queue pair
 * @ref:      the verbs object, scheduled runs, packets being handed over, drains awaited
 * @rcu:      freed after readers of ward_net.qps have gone
 * @gone:     completed when @ref falls to 0
 * @ib:       the core's part; valid until ward_qp_destroy() returns
 * @dev:      device
 * @net:      namespace
 * @slot:     in ward_net.qps
 * @qpn:      QP number
 * @transport: WARD_RC, WARD_UC or WARD_UD
 * @user:     belongs to a process
 * @sig_all:  every send completes with a CQE
 * @pd:       protection domain
 * @pd_id:    its number, which a reader of the QP may outlive
 * @send_cq:  completion queue of sends
 * @recv_cq:  completion queue of receives
 * @srq:      shared receive queue, or NULL
 *
 * @flags:    WARD_QP_*
 * @events:   WARD_EV_*
 * @tasklet:  a run
 * @work:     likewise, while the device has rules that hold (watch/inject.h)
 * @wait:     verbs that want to own
 * @inbox:    packets, under its own lock
 * @waiter:   number of a QP whose run wants to own this one as well (qp/local.h), or 0
 *
 * The owner's, but @state, @path and @qkey are read anywhere:
 * @state:    state of the QP; RESET is what IB_QPS_RESET says
 * @since:    ns of ktime_get_ns() at which it came to @state
 * @why:      what brought it there
 * @why_detail: a completion status or an AETH syndrome, as @why says
 * @counts:   see watch/counters.h
 * @counter:  counter of the core to which it is bound; with the next two under ward_objects.lock
 * @counted:  what of @counts is in @counter
 * @bound:    in ward_objects.bound
 * @done:     send work requests completed
 * @seen:     ns of ktime_get_ns() of the last packet from the peer
 * @nak_sent: syndrome of the last NAK sent, 0: none
 * @nak_psn:  its PSN
 * @attr:     attributes as they were set, for query_qp and for us
 * @dest_slot: where attr.dest_qp_num would be in ward_net.qps, if it is of this namespace
 * @mtu:      path MTU in bytes
 * @path:     RC, UC: the way to the peer, set from RTR on, under RCU
 * @qkey:     UD
 * @train:    packets that go at the end of the run, of the owner
 * @sq:       send queue
 * @rq:       receive queue; all zero with @srq
 * @req:      requester
 * @resp:     responder
 * @ack_timer: retransmission
 * @hole_ns:  how long a packet may be overtaken by others before it counts as lost
 * @nak_timer: waits for requests that others have overtaken
 * @rnr_timer: waits as long as the peer's RNR NAK says
 * @fault:    what it is parked for: while it is no run does anything but WARD_EV_PAGES
 *
 * @fencing:  in ERR: does not flush until WARD_EV_FENCED
 * @tell_last: in ERR: LAST_WQE_REACHED is to be told when it has flushed
 * @fence_work: see fence.c
 * @shown:    its folder in debugfs
 *
 * @event_work: tells the consumer of @event_bits in process context
 * @event_bits: bit for each enum ib_event_type to tell
 */
struct ward_qp {
	struct kref		ref;
	struct rcu_head		rcu;
	struct completion	gone;
	struct ib_qp		*ib;
	struct ward_device	*dev;
	struct ward_net		*net;
	u32			slot;
	u32			qpn;
	u8			transport;
	bool			user;
	bool			sig_all;
	struct ib_pd		*pd;
	u32			pd_id;
	struct ward_cq		*send_cq;
	struct ward_cq		*recv_cq;
	struct ward_srq		*srq;

	unsigned long		flags;
	unsigned long		events;
	struct tasklet_struct	tasklet;
	struct work_struct	work;
	wait_queue_head_t	wait;
	struct sk_buff_head	inbox;
	u32			waiter;

	enum ib_qp_state	state;
	u64			since;
	enum ward_why		why;
	u32			why_detail;
	u64			counts[WARD_QPC_MAX];
	struct rdma_counter	*counter;
	u64			counted[WARD_QPC_MAX];
	struct list_head	bound;
	u64			done;
	u64			seen;
	u8			nak_sent;
	u32			nak_psn;
	struct ib_qp_attr	attr;
	u32			dest_slot;
	u32			mtu;
	struct ward_path __rcu	*path;
	u32			qkey;
	struct ward_train	*train;
	struct ward_sendq	sq;
	struct ward_recvq	rq;
	struct ward_requester	req;
	struct ward_responder	resp;
	struct hrtimer		ack_timer;
	struct hrtimer		rnr_timer;
	u32			hole_ns;
	struct hrtimer		nak_timer;
	struct ward_fault	fault;

	struct ward_shown_qp	*shown;
	bool			fencing;
	bool			tell_last;
	struct work_struct	fence_work;
	struct work_struct	event_work;
	unsigned long		event_bits;
};

/**
 * struct ward_run - what lasts as long as one ownership
 * @qp:     the QP that is owned
 * @local:  accesses by lkey of send work requests
 * @recv:   accesses by lkey of receives: in the PD of the SRQ when there is one (F44)
 * @remote: accesses by R_key, for the peer
 * @partner: the peer, when it is of this host and owned as well (qp/local.h), with a run of its
 *          own; its qp is NULL while it is not
 * @copied: bytes that local steps have copied
 * @train:  packets that go together
 * @budget: packets that may still be sent
 * @may_sleep: it is a work item, and may be held (watch/inject.h)
 * @again:  something is left to do
 * @notify_send: the send CQ's consumer is to be told
 * @notify_recv: the receive CQ's consumer is to be told
 */
struct ward_run {
	struct ward_qp		*qp;
	struct ward_access	local;
	struct ward_access	recv;
	struct ward_access	remote;
	struct ward_run		*partner;
	u32			copied;
	struct ward_train	train;
	int			budget;
	bool			may_sleep;
	bool			again;
	bool			notify_send;
	bool			notify_recv;
};

/* verbs/qp.c has the verbs object; this is what it points to */
struct ward_ibqp {
	struct ib_qp	ib;
	struct ward_qp	*qp;
};

static inline struct ward_qp *to_ward_qp(struct ib_qp *ib)
{
	return container_of(ib, struct ward_ibqp, ib)->qp;
}

/* ward_qp_wait_longer() - a packet that was called lost had only been overtaken; for the owner */
static inline void ward_qp_wait_longer(struct ward_qp *qp)
{
	qp->hole_ns = min_t(u32, 2 * qp->hole_ns, WARD_HOLE_MAX_NS);
}

/* ward_qp_path() - the way to the peer; for the owner */
static inline struct ward_path *ward_qp_path(const struct ward_qp *qp)
{
	return rcu_dereference_raw(qp->path);
}

static inline void ward_run_leave_own(struct ward_run *run)
{
	ward_access_end(&run->local);
	ward_access_end(&run->recv);
	ward_access_end(&run->remote);
}

/* ward_run_leave() - leave all guards, at the end of a run and before one might wait for us */
static inline void ward_run_leave(struct ward_run *run)
{
	ward_run_leave_own(run);
	if (run->partner && run->partner->qp)
		ward_run_leave_own(run->partner);
}

/* ward_qp_receives() - whether the state takes packets from peers */
static inline bool ward_qp_receives(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS || state == IB_QPS_SQD ||
	       state == IB_QPS_SQE;
}

/* qp.c: life, ownership, runs */
int ward_qp_cache_init(void);
void ward_qp_cache_exit(void);
struct ward_qp *ward_qp_create(struct ward_device *dev, struct ib_qp *ib,
			       const struct ib_qp_init_attr *init);
int ward_qp_publish(struct ward_qp *qp);
void ward_qp_destroy(struct ward_qp *qp);
void ward_qp_put(struct ward_qp *qp);
void ward_qp_kick(struct ward_qp *qp, int event);
void ward_qp_kick_number(u32 qpn);
void ward_qp_kick_here(struct ward_qp *qp, int event);
void ward_qp_own(struct ward_qp *qp, struct ward_run *run);
bool ward_qp_own_for(struct ward_qp *qp, struct ward_run *run, unsigned long timeout);
void ward_qp_disown(struct ward_run *run);
bool ward_qp_try_own(struct ward_qp *qp, struct ward_run *run);
void ward_qp_let_go(struct ward_run *run);
void ward_qp_event(struct ward_qp *qp, enum ib_event_type event);

/* state.c: transitions */
int ward_qp_modify(struct ward_qp *qp, struct ib_qp_attr *attr, int mask);
void ward_qp_set_state(struct ward_qp *qp, enum ib_qp_state state, enum ward_why why, u32 detail);
void ward_qp_fail(struct ward_run *run, enum ward_why why, u32 detail);
void ward_qp_fail_sends(struct ward_run *run, enum ib_wc_status status);
void ward_qp_flush(struct ward_run *run);
void ward_qp_forget(struct ward_qp *qp);

/* receive.c: packets from the inbox */
bool ward_qp_takes(const struct ward_qp *qp, const struct ward_pkt *pkt);
void ward_qp_deliver(struct ward_qp *qp, struct sk_buff *skb);
void ward_qp_take_inbox(struct ward_run *run);

#endif /* _WARD_QP_QP_H */
