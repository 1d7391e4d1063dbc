// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: life, ownership, runs.
 *
 * Who can hold a QP: the verbs object, until ward_qp_destroy(); a scheduled run
 * (one at most, WARD_QP_SCHEDULED); a packet between ward_qp_find() and the
 * inbox, under RCU; a region that drains for it; work that brings pages in for it.
 * Timers hold nothing: they are cancelled by whoever takes the last state that could
 * use them away.
 *
 * ward_qp_destroy() becomes the owner, takes the QP out of sight, forgets all
 * that is under way, and waits until the last of them has let go. Each of them
 * lets go by itself and soon: they only ever run in softirq, but for the work
 * that brings pages in, which takes as long as a page fault of the process would.
 */
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "../net/net.h"
#include "../net/path.h"
#include "../verbs/cq.h"
#include "../verbs/srq.h"
#include "../watch/debugfs.h"
#include "../watch/inject.h"
#include "fence.h"
#include "qp.h"

/* Packets that one run may send before it makes room for others */
#define RUN_BUDGET	64

/* A little more than 2 KiB each: the general caches would round that up to 4 */
static struct kmem_cache *cache;

/**
 * ward_qp_cache_init() - when the module is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int ward_qp_cache_init(void)
{
	cache = kmem_cache_create("ward_qp", sizeof(struct ward_qp), 0, 0, NULL);
	return cache ? 0 : -ENOMEM;
}

/**
 * ward_qp_cache_exit() - when the module is unloaded, and all grace periods are over
 */
void ward_qp_cache_exit(void)
{
	kmem_cache_destroy(cache);
}

static void qp_free(struct rcu_head *rcu)
{
	kmem_cache_free(cache, container_of(rcu, struct ward_qp, rcu));
}

static void qp_release(struct kref *ref)
{
	struct ward_qp *qp = container_of(ref, struct ward_qp, ref);

	complete(&qp->gone);
}

/**
 * ward_qp_put() - let go of a QP
 * @qp: the QP
 *
 * Context: any but hard interrupt; RCU if the caller goes on to use @qp.
 */
void ward_qp_put(struct ward_qp *qp)
{
	kref_put(&qp->ref, qp_release);
}

static bool runs_may_sleep(const struct ward_qp *qp)
{
	return ward_injecting() && READ_ONCE(qp->dev->inject.rules.holds);
}

static void schedule_run(struct ward_qp *qp)
{
	if (test_and_set_bit(WARD_QP_SCHEDULED, &qp->flags))
		return;
	kref_get(&qp->ref);
	if (runs_may_sleep(qp))
		queue_work(ward_inject_wq, &qp->work);
	else
		tasklet_schedule(&qp->tasklet);
}

/**
 * ward_qp_kick() - have a run look after something
 * @qp:    the QP, held
 * @event: WARD_EV_*
 *
 * Context: any, with interrupts on or off.
 */
void ward_qp_kick(struct ward_qp *qp, int event)
{
	set_bit(event, &qp->events);
	/* pairs with the barrier in release_ownership() */
	smp_mb__after_atomic();
	schedule_run(qp);
}

/**
 * ward_qp_kick_number() - have the QP with a number see whether it can go on
 * @qpn: its number; 0: nobody's
 *
 * Each namespace may have one of that number. For all but one this is for nothing, and harmless.
 *
 * Context: BH off.
 */
void ward_qp_kick_number(u32 qpn)
{
	struct ward_net *wn;
	struct ward_qp *qp;

	if (!qpn)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(wn, &ward_nets, all) {
		qp = xa_load(&wn->qps, ward_unpermute(&wn->qpn, qpn));
		if (qp && kref_get_unless_zero(&qp->ref)) {
			ward_qp_kick(qp, WARD_EV_WORK);
			ward_qp_put(qp);
		}
	}
	rcu_read_unlock();
}

/**
 * ward_qp_kick_here() - likewise, in the caller's own time if it is allowed
 * @qp:    the QP, held
 * @event: WARD_EV_*
 *
 * With interrupts and BH on, the run has happened when this returns, without a trip through
 * another thread. A consumer that holds a lock which its completion handler takes too has BH or
 * interrupts off, or it could not use that lock in a handler; then the run comes after its unlock.
 *
 * Context: any.
 */
void ward_qp_kick_here(struct ward_qp *qp, int event)
{
	if (irqs_disabled()) {
		ward_qp_kick(qp, event);
		return;
	}
	local_bh_disable();
	ward_qp_kick(qp, event);
	local_bh_enable();
}

/* Whether it waits for pages, which are not there yet */
static bool is_parked(const struct ward_qp *qp)
{
	return READ_ONCE(qp->fault.parked) && !test_bit(WARD_EV_PAGES, &qp->events);
}

static bool has_work(const struct ward_qp *qp)
{
	if (is_parked(qp))
		return false;
	return READ_ONCE(qp->events) || !skb_queue_empty_lockless(&qp->inbox);
}

static void run_begin(struct ward_run *run, struct ward_qp *qp)
{
	struct ward_asker who = {
		.dev = qp->dev, .pd = qp->pd, .qpn = qp->qpn, .user = qp->user,
	};

	*run = (struct ward_run){
		.qp = qp,
		.local.who = who,
		.recv.who = who,
		.remote.who = who,
		.local.fault = &qp->fault,
		.recv.fault = &qp->fault,
		.remote.fault = &qp->fault,
		.budget = RUN_BUDGET,
	};
	if (ward_qp_path(qp)) {
		run->remote.who.peer = &ward_qp_path(qp)->dgid;
		run->remote.who.peer_qpn = qp->attr.dest_qp_num;
	}
	qp->train = &run->train;
	/* F44 */
	if (qp->srq)
		run->recv.who.pd = qp->srq->ib.pd;
}

static void run_end(struct ward_run *run)
{
	ward_run_leave(run);
	ward_train_flush(&run->train);
	/* a consumer may post from here: the work is left for the next run */
	if (run->notify_send)
		ward_cq_notify(run->qp->send_cq);
	if (run->notify_recv)
		ward_cq_notify(run->qp->recv_cq);
	if (run->again)
		set_bit(WARD_EV_WORK, &run->qp->events);
}

/* The run of a QP that waits to own this one comes now, unless that is @but */
static void kick_waiter(struct ward_qp *qp, u32 but, bool awaits)
{
	u32 qpn = READ_ONCE(qp->waiter);

	if (likely(!qpn) || qpn == but)
		return;
	/* two that wait for each other: the one with the lower number goes first */
	if (awaits && qp->qpn < qpn)
		return;
	ward_qp_kick_number(xchg(&qp->waiter, 0));
}

static void release_ownership(struct ward_qp *qp, u32 partner)
{
	bool awaits = qp->req.awaits_peer;

	clear_bit_unlock(WARD_QP_OWNED, &qp->flags);
	/* whoever left work while we owned the QP scheduled a run that may have found it owned */
	smp_mb__after_atomic();
	/* a verb that begins to wait after this looks at the bit itself first */
	if (waitqueue_active(&qp->wait))
		wake_up(&qp->wait);
	kick_waiter(qp, partner, awaits);
	if (has_work(qp))
		schedule_run(qp);
}

/* Go on where an access has found pages missing: each begins anew, and may park the QP again */
static void unpark(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;

	qp->fault.busy = false;
	if (!qp->fault.parked)
		return;
	qp->fault.parked = false;
	/* what the peer has answered meanwhile has not been looked at */
	ward_requester_progress(qp);
	ward_completer_resume(run);
	ward_responder_resume(run);
}

static void qp_run(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	unsigned long events;

	if (is_parked(qp))
		return;
	events = xchg(&qp->events, 0);
	if (test_bit(WARD_EV_PAGES, &events))
		unpark(run);
	if (test_bit(WARD_EV_SQ_DRAINED, &events)) {
		qp->req.draining = false;
		qp->req.drained = true;
	}
	if (test_bit(WARD_EV_RQ_DRAINED, &events))
		ward_responder_drained(run);
	if (test_bit(WARD_EV_FENCED, &events))
		qp->fencing = false;
	ward_qp_take_inbox(run);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		ward_qp_flush(run);
	if (test_bit(WARD_EV_RNR_TIMER, &events)) {
		qp->req.rnr_wait = false;
		ward_requester_progress(qp);
	}
	if (test_bit(WARD_EV_ACK_TIMER, &events)) {
		qp->req.armed = false;
		ward_completer_timeout(run);
	}
	if (test_bit(WARD_EV_NAK_TIMER, &events))
		ward_responder_nak_timer(qp);
	ward_requester_run(run);
	ward_completer_retire(run);
	if (qp->state == IB_QPS_SQD && qp->req.tell_drained && ward_requester_drained(qp)) {
		qp->req.tell_drained = false;
		ward_qp_event(qp, IB_EVENT_SQ_DRAINED);
	}
	ward_responder_run(run);
	ward_requester_arm(qp);
}

static void run_once(struct ward_qp *qp, bool may_sleep)
{
	struct ward_run run;

	clear_bit(WARD_QP_SCHEDULED, &qp->flags);
	/* pairs with the barrier in ward_qp_kick(): what was left before is seen by this run */
	smp_mb__after_atomic();
	/* when it is owned, the owner schedules another run as it lets go */
	if (!test_bit(WARD_QP_WANTED, &qp->flags) &&
	    !test_and_set_bit_lock(WARD_QP_OWNED, &qp->flags)) {
		rcu_read_lock();
		run_begin(&run, qp);
		run.may_sleep = may_sleep;
		qp_run(&run);
		run_end(&run);
		rcu_read_unlock();
		release_ownership(qp, 0);
	}
	ward_qp_put(qp);
}

static void run_tasklet(struct tasklet_struct *t)
{
	struct ward_qp *qp = from_tasklet(qp, t, tasklet);

	if (runs_may_sleep(qp))
		queue_work(ward_inject_wq, &qp->work);
	else
		run_once(qp, false);
}

/* As good as a softirq for everybody else, but that the injector may let go of BH and RCU */
static void run_work(struct work_struct *work)
{
	local_bh_disable();
	run_once(container_of(work, struct ward_qp, work), true);
	local_bh_enable();
}

/**
 * ward_qp_own() - become the owner of a QP
 * @qp:  the QP
 * @run: filled in
 *
 * Runs that are under way end first, and none begins until ward_qp_disown(). The caller may
 * sleep in between, as long as it is not inside a guard.
 *
 * Context: may sleep.
 */
void ward_qp_own(struct ward_qp *qp, struct ward_run *run)
{
	set_bit(WARD_QP_WANTED, &qp->flags);
	wait_event(qp->wait, !test_and_set_bit_lock(WARD_QP_OWNED, &qp->flags));
	run_begin(run, qp);
}

/**
 * ward_qp_own_for() - likewise, unless it takes long
 * @qp:      the QP
 * @run:     filled in
 * @timeout: jiffies to wait at most
 *
 * For those who only watch: a QP may be held by the fault injector, for as long as root likes.
 *
 * Context: may sleep.
 * Return: whether the caller is the owner.
 */
bool ward_qp_own_for(struct ward_qp *qp, struct ward_run *run, unsigned long timeout)
{
	set_bit(WARD_QP_WANTED, &qp->flags);
	if (wait_event_timeout(qp->wait, !test_and_set_bit_lock(WARD_QP_OWNED, &qp->flags),
			       timeout)) {
		run_begin(run, qp);
		return true;
	}
	clear_bit(WARD_QP_WANTED, &qp->flags);
	/* a run that gave way to us comes again */
	smp_mb__after_atomic();
	if (has_work(qp))
		schedule_run(qp);
	return false;
}

/**
 * ward_qp_disown() - stop being the owner
 * @run: from ward_qp_own()
 */
void ward_qp_disown(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;

	local_bh_disable();
	run_end(run);
	clear_bit(WARD_QP_WANTED, &qp->flags);
	release_ownership(qp, 0);
	local_bh_enable();
}

/**
 * ward_qp_try_own() - become the owner of one more QP, if nobody is and no verb wants to be
 * @qp:  the QP, held until ward_qp_let_go()
 * @run: filled in; its partner is the caller's to set
 *
 * Context: under RCU with BH off.
 * Return: whether the caller is the owner now.
 */
bool ward_qp_try_own(struct ward_qp *qp, struct ward_run *run)
{
	if (test_bit(WARD_QP_WANTED, &qp->flags) ||
	    test_and_set_bit_lock(WARD_QP_OWNED, &qp->flags))
		return false;
	run_begin(run, qp);
	return true;
}

/**
 * ward_qp_let_go() - leave the guards of both, tell the consumer, and stop being the owner
 * @run: from ward_qp_try_own(); its qp is NULL afterwards
 *
 * Context: under RCU with BH off.
 */
void ward_qp_let_go(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;

	run_end(run);
	run->qp = NULL;
	/* a partner that waits does so for what happens after this */
	release_ownership(qp, run->partner->qp->qpn);
}

static enum hrtimer_restart ack_timer_fired(struct hrtimer *timer)
{
	ward_qp_kick(container_of(timer, struct ward_qp, ack_timer), WARD_EV_ACK_TIMER);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart rnr_timer_fired(struct hrtimer *timer)
{
	ward_qp_kick(container_of(timer, struct ward_qp, rnr_timer), WARD_EV_RNR_TIMER);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart nak_timer_fired(struct hrtimer *timer)
{
	ward_qp_kick(container_of(timer, struct ward_qp, nak_timer), WARD_EV_NAK_TIMER);
	return HRTIMER_NORESTART;
}

static void pages_brought(struct ward_fault *fault)
{
	struct ward_qp *qp = container_of(fault, struct ward_qp, fault);

	ward_qp_kick(qp, WARD_EV_PAGES);
	ward_qp_put(qp);
}

static void tell_consumer(struct work_struct *work)
{
	struct ward_qp *qp = container_of(work, struct ward_qp, event_work);
	unsigned long bits = xchg(&qp->event_bits, 0);
	struct ib_event event = { .device = &qp->dev->ib, .element.qp = qp->ib };
	int bit;

	for_each_set_bit(bit, &bits, BITS_PER_LONG) {
		event.event = bit;
		if (qp->ib->event_handler)
			qp->ib->event_handler(&event, qp->ib->qp_context);
	}
}

/**
 * ward_qp_event() - tell the consumer of an asynchronous event, later and in process context
 * @qp:    the QP, owned
 * @event: IB_EVENT_*
 *
 * An event that has not been told yet is told once.
 */
void ward_qp_event(struct ward_qp *qp, enum ib_event_type event)
{
	set_bit(event, &qp->event_bits);
	queue_work(ward_wq, &qp->event_work);
}

/**
 * ward_qp_create() - make a QP that nobody can reach yet
 * @dev:  device
 * @ib:   the core's object
 * @init: attributes, judged already
 *
 * Queues are made by the caller.
 *
 * Context: may sleep.
 * Return: a QP in state RESET, or NULL.
 */
struct ward_qp *ward_qp_create(struct ward_device *dev, struct ib_qp *ib,
			       const struct ib_qp_init_attr *init)
{
	struct ward_qp *qp = NULL;

	if (!ward_inject_fails(dev, WARD_AT_QP))
		qp = kmem_cache_zalloc(cache, GFP_KERNEL);
	if (!qp)
		return NULL;
	kref_init(&qp->ref);
	init_completion(&qp->gone);
	qp->ib = ib;
	qp->dev = dev;
	qp->net = dev->net;
	qp->transport = init->qp_type == IB_QPT_RC ? WARD_RC :
			init->qp_type == IB_QPT_UC ? WARD_UC : WARD_UD;
	qp->user = ib->uobject;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->pd = ib->pd;
	qp->pd_id = ib->pd->res.id;
	qp->send_cq = to_ward_cq(init->send_cq);
	qp->recv_cq = to_ward_cq(init->recv_cq);
	qp->srq = init->srq ? to_ward_srq(init->srq) : NULL;
	tasklet_setup(&qp->tasklet, run_tasklet);
	INIT_WORK(&qp->work, run_work);
	init_waitqueue_head(&qp->wait);
	skb_queue_head_init(&qp->inbox);
	qp->since = ktime_get_ns();
	qp->state = IB_QPS_RESET;
	qp->hole_ns = WARD_HOLE_NS;
	INIT_LIST_HEAD(&qp->req.sent);
	__skb_queue_head_init(&qp->req.early);
	ward_responder_init(qp);
	ward_fence_init(qp);
	ward_hrtimer_setup(&qp->ack_timer, ack_timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	ward_hrtimer_setup(&qp->rnr_timer, rnr_timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	ward_hrtimer_setup(&qp->nak_timer, nak_timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	INIT_WORK(&qp->event_work, tell_consumer);
	ward_fault_init(&qp->fault, &qp->ref, pages_brought);
	return qp;
}

/**
 * ward_qp_publish() - give a QP its number
 * @qp: a QP from ward_qp_create(), complete
 *
 * QP 1 is that of the device; any other number comes from a secret permutation of the slot.
 *
 * Context: may sleep.
 * Return: 0, -EBUSY for a second QP 1, or -ENOMEM.
 */
int ward_qp_publish(struct ward_qp *qp)
{
	struct ward_net *wn = qp->net;
	int err;

	if (qp->ib->qp_type == IB_QPT_GSI) {
		qp->qpn = WARD_GSI_QPN;
		if (cmpxchg(&qp->dev->gsi, NULL, qp))
			return -EBUSY;
		ward_debugfs_add_qp(qp);
		return 0;
	}
	if (!atomic_add_unless(&qp->dev->num_qps, 1, WARD_MAX_QP))
		return -ENOMEM;
	do {
		err = xa_alloc_cyclic(&wn->qps, &qp->slot, NULL, XA_LIMIT(1, WARD_24BITS),
				      &wn->qp_next, GFP_KERNEL);
		if (err < 0)
			goto err_count;
		qp->qpn = ward_permute(&wn->qpn, qp->slot);
		/* a slot whose number has a meaning of its own stays taken */
	} while (qp->qpn <= WARD_GSI_QPN || qp->qpn == WARD_MULTICAST_QPN);
	xa_store(&wn->qps, qp->slot, qp, GFP_KERNEL);
	ward_debugfs_add_qp(qp);
	return 0;

err_count:
	atomic_dec(&qp->dev->num_qps);
	return err;
}

static void unpublish(struct ward_qp *qp)
{
	ward_debugfs_del_qp(qp);
	if (qp->qpn == WARD_GSI_QPN) {
		WRITE_ONCE(qp->dev->gsi, NULL);
	} else if (qp->qpn) {
		xa_erase(&qp->net->qps, qp->slot);
		atomic_dec(&qp->dev->num_qps);
	}
}

/**
 * ward_qp_destroy() - free a QP
 * @qp: the QP, published or not
 *
 * A fence (F32): when this returns, nothing that arrived on the QP touches memory any more.
 *
 * Context: may sleep.
 */
void ward_qp_destroy(struct ward_qp *qp)
{
	struct ward_run run;

	unpublish(qp);
	ward_qp_own(qp, &run);
	ward_qp_set_state(qp, IB_QPS_RESET, WARD_WHY_DESTROYED, 0);
	ward_qp_forget(qp);
	local_bh_disable();
	ward_responder_forget(&run);
	local_bh_enable();
	hrtimer_cancel(&qp->ack_timer);
	hrtimer_cancel(&qp->rnr_timer);
	hrtimer_cancel(&qp->nak_timer);
	ward_qp_disown(&run);
	ward_fence_now(qp);

	/* runs that come now find a QP in RESET, and nothing to do */
	ward_qp_put(qp);
	wait_for_completion(&qp->gone);
	ward_inject_forget(qp);
	skb_queue_purge(&qp->inbox);
	cancel_work_sync(&qp->event_work);

	ward_sendq_destroy(&qp->sq);
	ward_recvq_destroy(&qp->rq);
	ward_responder_exit(qp);
	if (ward_qp_path(qp))
		ward_path_put(ward_qp_path(qp));
	call_rcu(&qp->rcu, qp_free);
}
