// SPDX-License-Identifier: GPL-2.0
/*
 * What `rdma resource show -dd` adds: details that only the driver knows. The core keeps the object
 * while it is shown.
 */
#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "../qp/qp.h"
#include "../verbs/cq.h"
#include "../verbs/device.h"
#include "../verbs/srq.h"
#include "resource.h"

static struct nlattr *begin(struct sk_buff *msg)
{
	return nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
}

static int end(struct sk_buff *msg, struct nlattr *table, bool failed)
{
	if (failed) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

static int fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct ward_mr *mr = to_ward_mr(ibmr);
	struct nlattr *table = begin(msg);
	u64 exposed_ns, read, written;
	u32 generation;
	int state, users;
	bool failed;

	if (!table)
		return -EMSGSIZE;
	spin_lock_bh(&mr->lock);
	state = mr->state;
	users = atomic_read(&mr->guard.n);
	generation = mr->generation;
	exposed_ns = mr->exposure.since ? ktime_get_ns() - mr->exposure.since : 0;
	read = mr->exposure.read;
	written = mr->exposure.written;
	spin_unlock_bh(&mr->lock);
	failed = rdma_nl_put_driver_string(msg, "kind", ward_name_kind(mr->kind)) ||
		 rdma_nl_put_driver_string(msg, "state", ward_name_region_state(state)) ||
		 rdma_nl_put_driver_u32(msg, "generation", generation) ||
		 rdma_nl_put_driver_u32(msg, "users", users < 0 ? users - GUARD_SHUT : users) ||
		 rdma_nl_put_driver_u64(msg, "exposed_ns", exposed_ns) ||
		 rdma_nl_put_driver_u64(msg, "read_bytes", read) ||
		 rdma_nl_put_driver_u64(msg, "written_bytes", written);
	return end(msg, table, failed);
}

/* Numbers are read while the QP's owner goes on */
static int fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct ward_qp *qp = to_ward_qp(ibqp);
	struct nlattr *table = begin(msg);
	bool failed;

	if (!table)
		return -EMSGSIZE;
	failed = rdma_nl_put_driver_string(msg, "why", ward_name_why(READ_ONCE(qp->why))) ||
		 rdma_nl_put_driver_u32(msg, "sq_posted", READ_ONCE(qp->sq.head)) ||
		 rdma_nl_put_driver_u32(msg, "sq_executed", READ_ONCE(qp->sq.exec)) ||
		 rdma_nl_put_driver_u32(msg, "sq_completed", READ_ONCE(qp->sq.tail)) ||
		 rdma_nl_put_driver_u32(msg, "psn_next", READ_ONCE(qp->req.nxt)) ||
		 rdma_nl_put_driver_u32(msg, "psn_unacknowledged", READ_ONCE(qp->req.una)) ||
		 rdma_nl_put_driver_u32(msg, "psn_expected", READ_ONCE(qp->resp.order.epsn)) ||
		 rdma_nl_put_driver_u32(msg, "retries_left", READ_ONCE(qp->req.retries)) ||
		 rdma_nl_put_driver_u32(msg, "rnr_wait", READ_ONCE(qp->req.rnr_wait));
	return end(msg, table, failed);
}

static int fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct ward_cq *cq = to_ward_cq(ibcq);
	struct nlattr *table = begin(msg);
	u32 unpolled, armed, overflow;
	bool failed;

	if (!table)
		return -EMSGSIZE;
	spin_lock_irq(&cq->lock);
	unpolled = (cq->head - ward_ring_consumer(&cq->ring)) & cq->ring.mask;
	armed = cq->armed;
	overflow = cq->overflow;
	spin_unlock_irq(&cq->lock);
	failed = rdma_nl_put_driver_u32(msg, "unpolled", unpolled) ||
		 rdma_nl_put_driver_u32(msg, "armed", armed) ||
		 rdma_nl_put_driver_u32(msg, "overflow", overflow);
	return end(msg, table, failed);
}

static int __maybe_unused fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct ward_srq *srq = to_ward_srq(ibsrq);
	struct nlattr *table = begin(msg);
	u32 posted, depth, limit;
	bool failed;

	if (!table)
		return -EMSGSIZE;
	spin_lock_bh(&srq->lock);
	posted = ward_recvq_len(&srq->rq);
	depth = srq->rq.depth;
	limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	failed = rdma_nl_put_driver_u32(msg, "number", srq->num) ||
		 rdma_nl_put_driver_u32(msg, "posted", posted) ||
		 rdma_nl_put_driver_u32(msg, "depth", depth) ||
		 rdma_nl_put_driver_u32(msg, "limit", limit);
	return end(msg, table, failed);
}

const struct ib_device_ops ward_resource_ops = {
	.fill_res_mr_entry = fill_mr,
	.fill_res_qp_entry = fill_qp,
	.fill_res_cq_entry = fill_cq,
	WARD_FILL_SRQ(fill_srq)
};
