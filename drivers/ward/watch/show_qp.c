// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: qps/<qpn>/state and wqes.
 *
 * A reader becomes the owner of the QP for as long as it takes to copy what is to be shown, as
 * query_qp does, so that it belongs together; it formats afterwards. It looks the QP up by its
 * number, and holds it only meanwhile. When somebody else is the owner for long (the injector can
 * hold a QP), numbers are copied without: they may not belong together, and the file says so.
 */
#include <linux/slab.h>

#include "../net/net.h"
#include "../net/path.h"
#include "../proto/psn.h"
#include "../qp/qp.h"
#include "../qp/txpkt.h"
#include "../verbs/cq.h"
#include "../verbs/device.h"
#include "../verbs/srq.h"
#include "debugfs.h"

/* So long may another owner take; runs take microseconds */
#define PATIENCE	msecs_to_jiffies(100)

/* Work requests that wqes shows at most, oldest first */
#define MAX_WQES	1024

static struct ward_qp *find(const struct ward_shown_qp *shown)
{
	struct ward_device *dev = shown->dev;
	struct ward_qp *qp;

	rcu_read_lock();
	if (shown->qpn == WARD_GSI_QPN)
		qp = READ_ONCE(dev->gsi);
	else
		qp = xa_load(&dev->net->qps, ward_unpermute(&dev->net->qpn, shown->qpn));
	if (qp && (qp->dev != dev || !kref_get_unless_zero(&qp->ref)))
		qp = NULL;
	rcu_read_unlock();
	return qp;
}

/* What the send queue waits for, one word that wardstat explains */
enum wait {
	WAIT_NOTHING,
	WAIT_STATE,
	WAIT_PAGES,
	WAIT_RNR,
	WAIT_DRAIN,
	WAIT_OWN_READS,
	WAIT_FENCE,
	WAIT_ACK,
	WAIT_TURN,
};

static const char * const wait_names[] = {
	[WAIT_NOTHING] = "nothing",
	[WAIT_STATE] = "state",
	[WAIT_PAGES] = "pages",
	[WAIT_RNR] = "rnr-timer",
	[WAIT_DRAIN] = "drain",
	[WAIT_OWN_READS] = "own-reads",
	[WAIT_FENCE] = "fence",
	[WAIT_ACK] = "ack",
	[WAIT_TURN] = "turn",
};

/*
 * struct snapshot - what state shows
 * @qp:     a copy, in which only numbers are used
 * @owned:  it belongs together
 * @ids:    of what it points to
 * @peer:   GID of the peer
 * @kept:   packets that are not acknowledged
 * @resend_psn: of the packet to be sent again next, if @qp.req.resend
 * @wait:   what the send queue waits for
 * @drain_key: WAIT_DRAIN: the region's key
 * @timer_ns: until the retransmission timer has its say, @rnr_ns: until the RNR wait is over
 * @parked_key: the key that the parked SEND_WITH_INV invalidates
 * @receives: receives posted; those of a shared queue are not counted
 */
struct snapshot {
	struct ward_qp	qp;
	bool		owned;
	struct {
		u32	pd, send_cq, recv_cq, srq;
	} ids;
	union ib_gid	peer;
	u32		kept;
	u32		resend_psn;
	enum wait	wait;
	u32		drain_key;
	s64		timer_ns;
	s64		rnr_ns;
	u32		parked_key;
	u32		receives;
};

static enum wait waits_for(const struct ward_qp *qp, u32 *drain_key)
{
	const struct ward_requester *req = &qp->req;
	const struct ward_sendq *sq = &qp->sq;
	/* pairs with the release of whoever has posted */
	u32 head = smp_load_acquire(&sq->head);
	const struct ward_swqe *wqe = ward_sendq_at(sq, sq->exec);

	if (sq->tail == head)
		return WAIT_NOTHING;
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		return WAIT_STATE;
	if (qp->fault.parked)
		return WAIT_PAGES;
	if (req->rnr_wait)
		return WAIT_RNR;
	if (sq->exec != head) {
		if (req->draining && req->drain_index == sq->exec) {
			*drain_key = wqe->opcode == IB_WR_BIND_MW ? wqe->bind.mw_key : wqe->inv_key;
			return WAIT_DRAIN;
		}
		if (wqe->opcode == IB_WR_LOCAL_INV && req->reads)
			return WAIT_OWN_READS;
		if (!wqe->started && (wqe->flags & IB_SEND_FENCE) && req->reads)
			return WAIT_FENCE;
	}
	return req->una != req->nxt ? WAIT_ACK : WAIT_TURN;
}

static void take_ids(struct snapshot *snap, const struct ward_qp *qp)
{
	snap->ids.pd = qp->pd ? qp->pd->res.id : 0;
	snap->ids.send_cq = qp->send_cq ? qp->send_cq->ib.res.id : 0;
	snap->ids.recv_cq = qp->recv_cq ? qp->recv_cq->ib.res.id : 0;
	snap->ids.srq = qp->srq ? qp->srq->num : 0;
}

/* What only the owner may follow */
static void take_owned(struct snapshot *snap, struct ward_qp *qp)
{
	const struct ward_txpkt *tx;

	list_for_each_entry(tx, &qp->req.sent, entry)
		snap->kept++;
	if (qp->req.resend)
		snap->resend_psn = qp->req.resend->psn;
	if (qp->resp.parked)
		snap->parked_key = qp->resp.parked_pkt.inv_rkey;
	if (!qp->srq && qp->rq.ring.buf)
		snap->receives = ward_recvq_len(&qp->rq);
}

static void take_peer(struct snapshot *snap, struct ward_qp *qp)
{
	const struct ward_path *path;

	rcu_read_lock();
	path = rcu_dereference(qp->path);
	if (path)
		snap->peer = path->dgid;
	rcu_read_unlock();
}

/* A few hundred bytes are what it costs the QP's peers and consumers */
static void take_snapshot(struct snapshot *snap, struct ward_qp *qp)
{
	struct ward_run run;

	snap->owned = ward_qp_own_for(qp, &run, PATIENCE);
	memcpy(&snap->qp, qp, sizeof(*qp));
	take_ids(snap, qp);
	snap->wait = waits_for(qp, &snap->drain_key);
	snap->timer_ns = ktime_to_ns(ktime_sub(qp->req.deadline, ktime_get()));
	snap->rnr_ns = ktime_to_ns(hrtimer_get_remaining(&qp->rnr_timer));
	take_peer(snap, qp);
	if (snap->owned) {
		take_owned(snap, qp);
		ward_qp_disown(&run);
	}
}

static const char *yes(bool b)
{
	return b ? "yes" : "no";
}

static void show_who(struct seq_file *s, const struct snapshot *snap)
{
	const struct ward_qp *qp = &snap->qp;

	seq_printf(s, "qpn\t%u\n", qp->qpn);
	seq_printf(s, "type\t%s\n", qp->qpn == WARD_GSI_QPN ? "GSI" :
		   ward_name_qp_type(qp->transport));
	seq_printf(s, "snapshot\t%s\n", snap->owned ? "consistent" : "busy");
	seq_printf(s, "consumer\t%s\n", qp->user ? "process" : "kernel");
	seq_printf(s, "state\t%s\n", ward_name_qp_state(qp->state));
	seq_printf(s, "since_us\t%llu\n", ward_us(ktime_get_ns() - qp->since));
	seq_printf(s, "why\t%s\n", ward_name_why(qp->why));
	if (qp->why == WARD_WHY_REFUSED_PEER)
		seq_printf(s, "why_detail\t%s\n", ward_name_nak(qp->why_detail));
	else if (qp->why == WARD_WHY_SEND_FAILED || qp->why == WARD_WHY_RECV_FAILED)
		seq_printf(s, "why_detail\t%s\n", ib_wc_status_msg(qp->why_detail));
	else
		seq_puts(s, "why_detail\t-\n");
	seq_printf(s, "pd\t%u\n", snap->ids.pd);
	seq_printf(s, "send_cq\t%u\n", snap->ids.send_cq);
	seq_printf(s, "recv_cq\t%u\n", snap->ids.recv_cq);
	seq_printf(s, "srq\t%u\n", snap->ids.srq);
	seq_printf(s, "peer_gid\t%pI6c\n", snap->peer.raw);
	seq_printf(s, "peer_qpn\t%u\n", qp->attr.dest_qp_num);
	seq_printf(s, "mtu_bytes\t%u\n", qp->mtu);
	if (qp->seen)
		seq_printf(s, "peer_seen_us\t%llu\n", ward_us(ktime_get_ns() - qp->seen));
	else
		seq_puts(s, "peer_seen_us\t-\n");
}

static void show_sends(struct seq_file *s, const struct snapshot *snap)
{
	const struct ward_qp *qp = &snap->qp;
	const struct ward_requester *req = &qp->req;
	bool timing = req->una != req->nxt && !req->rnr_wait && qp->attr.timeout &&
		      qp->transport == WARD_RC;

	seq_printf(s, "sq_posted\t%u\n", qp->sq.head);
	seq_printf(s, "sq_executed\t%u\n", qp->sq.exec);
	seq_printf(s, "sq_completed\t%u\n", qp->sq.tail);
	seq_printf(s, "sq_outstanding\t%u\n", qp->sq.head - qp->sq.tail);
	seq_printf(s, "sq_depth\t%u\n", qp->sq.mask + 1);
	seq_printf(s, "sq_waits_for\t%s\n", wait_names[snap->wait]);
	seq_printf(s, "sq_drain_key\t0x%08x\n", snap->drain_key);
	seq_printf(s, "psn_next\t%u\n", req->nxt);
	seq_printf(s, "psn_unacknowledged\t%u\n", req->una);
	seq_printf(s, "packets_kept\t%u\n", snap->kept);
	if (req->resend)
		seq_printf(s, "psn_resending\t%u\n", snap->resend_psn);
	else
		seq_puts(s, "psn_resending\t-\n");
	seq_printf(s, "reads_outstanding\t%u\n", req->reads);
	seq_printf(s, "reads_max\t%u\n", qp->attr.max_rd_atomic);
	seq_printf(s, "retries_left\t%u\n", req->retries);
	seq_printf(s, "retries_max\t%u\n", qp->attr.retry_cnt);
	seq_printf(s, "rnr_retries_left\t%u\n", req->rnr_retries);
	seq_printf(s, "rnr_retries_max\t%u\n", qp->attr.rnr_retry);
	seq_printf(s, "rnr_wait\t%s\n", yes(req->rnr_wait));
	seq_printf(s, "rnr_left_us\t%lld\n",
		   req->rnr_wait ? div_s64(max(snap->rnr_ns, 0LL), NSEC_PER_USEC) : 0);
	if (timing)
		seq_printf(s, "timeout_in_us\t%lld\n", div_s64(snap->timer_ns, NSEC_PER_USEC));
	else
		seq_puts(s, "timeout_in_us\t-\n");
	seq_printf(s, "timeout_us\t%llu\n",
		   qp->attr.timeout ? ward_us(4096ULL << qp->attr.timeout) : 0);
	seq_printf(s, "probed\t%s\n", yes(req->probed));
	seq_printf(s, "rtt_us\t%llu\n", ward_us(req->rtt_ns));
}

static void show_receives(struct seq_file *s, const struct snapshot *snap)
{
	const struct ward_qp *qp = &snap->qp;
	const struct ward_responder *resp = &qp->resp;

	seq_printf(s, "psn_expected\t%u\n", resp->order.epsn);
	seq_printf(s, "msn\t%u\n", resp->msn);
	if (qp->nak_sent)
		seq_printf(s, "last_nak\t%s\nlast_nak_psn\t%u\n", ward_name_nak(qp->nak_sent),
			   qp->nak_psn);
	else
		seq_puts(s, "last_nak\t-\nlast_nak_psn\t-\n");
	seq_printf(s, "receives_posted\t%u\n", snap->receives);
	seq_printf(s, "receive_in_use\t%s\n", yes(resp->has_rwqe));
	seq_printf(s, "answers_owed\t%u\n", resp->replies.num);
	seq_printf(s, "answers_max\t%u\n", resp->replies.max);
	seq_printf(s, "packets_early\t%u\n", resp->early.qlen);
	seq_printf(s, "packets_waiting\t%u\n", resp->waiting.qlen);
	seq_printf(s, "packets_inbox\t%u\n", qp->inbox.qlen);
	seq_printf(s, "pages_awaited\t%s\n", yes(qp->fault.parked));
	seq_printf(s, "parked\t%s\n", yes(resp->parked));
	seq_printf(s, "parked_key\t0x%08x\n", snap->parked_key);
}

static void show_counts(struct seq_file *s, const struct ward_qp *qp)
{
	static const char * const names[] = {
#define X(id, name) [WARD_QPC_##id] = #name,
		WARD_QP_COUNTERS(X)
#undef X
	};
	int id;

	for (id = 0; id < WARD_QPC_MAX; id++)
		seq_printf(s, "count %s\t%llu\n", names[id], qp->counts[id]);
	seq_printf(s, "count completed\t%llu\n", qp->done);
}

static int ward_state_show(struct seq_file *s, void *unused)
{
	struct snapshot *snap = kvzalloc(sizeof(*snap), GFP_KERNEL);
	struct ward_qp *qp;

	if (!snap)
		return -ENOMEM;
	qp = find(s->private);
	if (!qp) {
		kvfree(snap);
		return -ENOENT;
	}
	take_snapshot(snap, qp);
	ward_qp_put(qp);

	show_who(s, snap);
	show_sends(s, snap);
	show_receives(s, snap);
	show_counts(s, &snap->qp);
	kvfree(snap);
	return 0;
}

WARD_SHOWN_FILE(ward_state);

struct wqe_line {
	u64		wr_id;
	u64		va;
	u32		opcode;
	u32		length;
	u32		first_psn;
	u32		last_psn;
	u32		key;
	unsigned long	age;
	bool		started;
	bool		executed;
	bool		done;
	int		status;
};

static void take_wqe(struct wqe_line *line, const struct ward_qp *qp, u32 i)
{
	const struct ward_swqe *wqe = ward_sendq_at(&qp->sq, i);
	bool executed = (s32)(qp->sq.exec - i) > 0;

	*line = (struct wqe_line){
		.wr_id = wqe->wr_id,
		.opcode = wqe->opcode,
		.length = wqe->length,
		.first_psn = wqe->first_psn,
		.last_psn = wqe->last_psn,
		.age = jiffies - wqe->posted,
		.started = wqe->started,
		.executed = executed,
		.done = executed && (wqe->executed ||
				     ward_psn_diff(qp->req.una, wqe->last_psn) > 0),
		.status = wqe->status,
	};
	switch (wqe->opcode) {
	case IB_WR_LOCAL_INV:
	case IB_WR_SEND_WITH_INV:
		line->key = wqe->inv_key;
		break;
	case IB_WR_REG_MR:
		line->key = wqe->reg.key;
		break;
	case IB_WR_BIND_MW:
		line->key = wqe->bind.key;
		break;
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		break;
	default:
		line->key = wqe->rkey;
		line->va = wqe->va;
		break;
	}
}

static void show_wqe(struct seq_file *s, const struct wqe_line *line, u32 i, bool user)
{
	/* that of a kernel consumer is an address, which is nobody's business */
	seq_printf(s, "%-6u %-12s ", i, ward_name_wr(line->opcode));
	if (user)
		seq_printf(s, "0x%llx", line->wr_id);
	else
		seq_printf(s, "%p", (void *)(uintptr_t)line->wr_id);
	seq_printf(s, " %u 0x%08x 0x%llx ", line->length, line->key, line->va);
	if (line->started)
		seq_printf(s, "%u ", line->first_psn);
	else
		seq_puts(s, "- ");
	if (line->started && line->executed)
		seq_printf(s, "%u ", line->last_psn);
	else
		seq_puts(s, "- ");
	seq_printf(s, "%u %s\n", jiffies_to_msecs(line->age),
		   line->status != IB_WC_SUCCESS ? "failed" :
		   line->done ? "done" : line->executed ? "executed" :
		   line->started ? "executing" : "posted");
}

static int ward_wqes_show(struct seq_file *s, void *unused)
{
	struct wqe_line *lines = kvmalloc_array(MAX_WQES, sizeof(*lines), GFP_KERNEL);
	struct ward_run run;
	struct ward_qp *qp;
	u32 i, n, first;
	bool user, owned;

	if (!lines)
		return -ENOMEM;
	qp = find(s->private);
	if (!qp) {
		kvfree(lines);
		return -ENOENT;
	}
	owned = ward_qp_own_for(qp, &run, PATIENCE);
	first = qp->sq.tail;
	/* pairs with the release of whoever has posted */
	n = smp_load_acquire(&qp->sq.head) - first;
	for (i = 0; i < min_t(u32, n, MAX_WQES); i++)
		take_wqe(&lines[i], qp, first + i);
	user = qp->user;
	if (owned)
		ward_qp_disown(&run);
	ward_qp_put(qp);

	seq_puts(s, "# wr opcode wr_id length_bytes key remote_va first_psn last_psn age_ms state\n");
	for (i = 0; i < min_t(u32, n, MAX_WQES); i++)
		show_wqe(s, &lines[i], first + i, user);
	if (n > MAX_WQES)
		seq_printf(s, "# %u more\n", n - MAX_WQES);
	kvfree(lines);
	return 0;
}

WARD_SHOWN_FILE(ward_wqes);
