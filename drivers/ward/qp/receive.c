// SPDX-License-Identifier: GPL-2.0
/*
 * Packets in: from the network layer to the inbox of a QP, and from there to
 * the responder or the completer.
 */
#include "../net/net.h"
#include "../net/path.h"
#include "../net/rx.h"
#include "../watch/inject.h"
#include "../watch/trace.h"
#include "qp.h"

static struct ward_qp *find_gsi(struct ward_net *wn, const struct sk_buff *skb)
{
	struct ward_device *dev = ward_rx_device(wn, skb);

	return dev ? READ_ONCE(dev->gsi) : NULL;
}

/**
 * ward_qp_takes() - whether a packet fits a QP: its transport, its partition, the QP's state
 * @qp:  the QP
 * @pkt: the packet, taken apart
 *
 * What does not fit is counted.
 *
 * Context: softirq, under RCU.
 * Return: whether it does.
 */
bool ward_qp_takes(const struct ward_qp *qp, const struct ward_pkt *pkt)
{
	if ((pkt->opcode & 0xe0) != qp->transport) {
		ward_count(qp->dev, DROP_TRANSPORT);
		return false;
	}
	if ((pkt->pkey & 0x7fff) != (WARD_DEFAULT_PKEY & 0x7fff)) {
		ward_count(qp->dev, DROP_PKEY);
		return false;
	}
	if (!ward_qp_receives(READ_ONCE(qp->state))) {
		ward_count(qp->dev, DROP_STATE);
		return false;
	}
	return true;
}

/**
 * ward_qp_find() - the QP that a packet is for
 * @wn:  namespace
 * @skb: the packet; its ICRC has not been checked
 * @pkt: the packet, taken apart
 *
 * What does not fit the QP is counted and goes no further: a packet of another transport or
 * partition, in a state that takes none, or from an address that is not the peer's. None of that
 * changes the QP.
 *
 * Context: softirq, under RCU.
 * Return: the QP, valid as long as RCU is held, or NULL.
 */
struct ward_qp *ward_qp_find(struct ward_net *wn, const struct sk_buff *skb,
			     const struct ward_pkt *pkt)
{
	struct ward_path *path;
	struct ward_qp *qp;

	if (pkt->qpn == WARD_GSI_QPN)
		qp = find_gsi(wn, skb);
	else
		qp = xa_load(&wn->qps, ward_unpermute(&wn->qpn, pkt->qpn));
	if (!qp) {
		ward_rx_count_drop(wn, skb, WARD_CNT_DROP_QPN);
		return NULL;
	}
	if (!ward_qp_takes(qp, pkt))
		return NULL;
	if (qp->transport != WARD_UD) {
		path = rcu_dereference(qp->path);
		if (!path || !ward_path_is_from(path, skb)) {
			ward_count(qp->dev, DROP_SOURCE);
			return NULL;
		}
	}
	return qp;
}

/**
 * ward_qp_dev() - the device of a QP
 * @qp: the QP
 *
 * Return: the device.
 */
struct ward_device *ward_qp_dev(const struct ward_qp *qp)
{
	return qp->dev;
}

/**
 * ward_qp_deliver() - put a packet in the inbox
 * @qp:  the QP, held
 * @skb: the packet; taken over
 *
 * Context: softirq or BH off.
 */
void ward_qp_deliver(struct ward_qp *qp, struct sk_buff *skb)
{
	skb_queue_tail(&qp->inbox, skb);
	ward_qp_kick(qp, WARD_EV_WORK);
}

/**
 * ward_qp_receive() - hand a packet to its QP
 * @qp:  from ward_qp_find()
 * @skb: the packet, whose ICRC is right; taken over
 *
 * Context: softirq, under the RCU of ward_qp_find().
 */
void ward_qp_receive(struct ward_qp *qp, struct sk_buff *skb)
{
	if (skb_queue_len_lockless(&qp->inbox) >= WARD_INBOX_MAX) {
		ward_count(qp->dev, DROP_BACKLOG);
		kfree_skb(skb);
		return;
	}
	/* it is being destroyed */
	if (!kref_get_unless_zero(&qp->ref)) {
		kfree_skb(skb);
		return;
	}
	if (ward_injecting())
		skb = ward_inject_in(qp, skb);
	if (skb)
		ward_qp_deliver(qp, skb);
	ward_qp_put(qp);
}

static void note(struct ward_qp *qp, const struct sk_buff *skb, const struct ward_pkt *pkt)
{
	u32 len = skb->len - ward_rx_cb(skb)->bth;

	qp->counts[WARD_QPC_RCVD_PKTS]++;
	qp->counts[WARD_QPC_RCVD_BYTES] += len;
	trace_ward_packet_received(qp, pkt->opcode, pkt->psn, len);
}

/**
 * ward_qp_take_inbox() - take the packets that have come
 * @run: the run
 *
 * Context: under RCU with BH off.
 */
void ward_qp_take_inbox(struct ward_run *run)
{
	struct ward_qp *qp = run->qp;
	struct sk_buff_head packets;
	struct ward_pkt pkt;
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&qp->inbox))
		return;
	qp->seen = ktime_get_ns();
	__skb_queue_head_init(&packets);
	spin_lock_bh(&qp->inbox.lock);
	skb_queue_splice_tail_init(&qp->inbox, &packets);
	spin_unlock_bh(&qp->inbox.lock);

	while (!qp->fault.parked && (skb = __skb_dequeue(&packets))) {
		/* the state may have changed while it waited */
		if (!ward_qp_receives(qp->state)) {
			ward_count(qp->dev, DROP_STATE);
			kfree_skb(skb);
			continue;
		}
		ward_rx_parse(skb, &pkt);
		if (pkt.op->flags & WARD_IS_REQUEST) {
			note(qp, skb, &pkt);
			ward_responder_take(run, skb);
			continue;
		}
		if (ward_completer_take(run, skb, &pkt)) {
			note(qp, skb, &pkt);
			consume_skb(skb);
		} else {
			__skb_queue_head(&packets, skb);
		}
	}
	if (skb_queue_empty(&packets))
		return;
	/* the QP is parked */
	spin_lock_bh(&qp->inbox.lock);
	skb_queue_splice(&packets, &qp->inbox);
	spin_unlock_bh(&qp->inbox.lock);
}
