// SPDX-License-Identifier: GPL-2.0
/*
 * A connection: two queue pairs, brought together by hand where the transport allows it, by
 * rdma_cm otherwise.
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <rdma/ib_cache.h>
#include "kverbs.h"

/**
 * kverbs_qp_init_attr - the wishes for a queue pair
 * @side: whose
 * @attr: to be filled in
 */
void kverbs_qp_init_attr(struct kverbs_side *side, struct ib_qp_init_attr *attr)
{
	const struct kverbs_config *config = side->conn->config;

	*attr = (struct ib_qp_init_attr) {
		.send_cq = side->end->cq, .recv_cq = side->end->cq, .qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .port_num = 1,
		.event_handler = config->event, .qp_context = side,
		.cap = {
			.max_send_wr = config->depth, .max_send_sge = config->sge,
			.max_recv_wr = config->depth, .max_recv_sge = config->sge,
		},
	};
}

static int side_create(struct kverbs_side *side)
{
	struct ib_qp_init_attr init;
	struct ib_qp *qp;

	kverbs_qp_init_attr(side, &init);
	qp = ib_create_qp(side->end->pd, &init);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	side->qp = qp;
	return 0;
}

static int side_connect(struct kverbs_side *from, const struct kverbs_side *to, u32 from_psn,
			u32 to_psn)
{
	const struct kverbs_config *config = from->conn->config;
	const u8 reads = min3(16, (int)from->end->dev->attrs.max_qp_rd_atom,
			      (int)to->end->dev->attrs.max_qp_rd_atom);
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .qp_access_flags = config->access,
		.path_mtu = ib_mtu_int_to_enum(config->mtu), .dest_qp_num = to->qp->qp_num,
		.rq_psn = to_psn, .sq_psn = from_psn,
		.max_dest_rd_atomic = reads, .max_rd_atomic = reads,
		.min_rnr_timer = 12, .timeout = config->timeout, .retry_cnt = 6, .rnr_retry = 7,
	};
	int err;

	err = ib_modify_qp(from->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTR;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, (union ib_gid *)&to->end->gid->gid, 0,
			from->end->gid->index, 64, 0);
	ether_addr_copy(attr.ah_attr.roce.dmac, to->end->mac);
	err = ib_modify_qp(from->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			   IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			   IB_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(from->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static int connect_by_hand(struct kverbs_conn *conn)
{
	const u32 a = get_random_u32() & 0xffffff, b = get_random_u32() & 0xffffff;
	int err;

	err = side_create(&conn->a);
	if (!err)
		err = side_create(&conn->b);
	/* who may hear something first is ready first */
	if (!err)
		err = side_connect(&conn->b, &conn->a, b, a);
	if (!err)
		err = side_connect(&conn->a, &conn->b, a, b);
	return err;
}

/**
 * kverbs_conn_open - makes a connection
 * @conn:     to be filled in
 * @a:        the client end
 * @b:        the server end, may be the same device
 * @config:   how; lives as long as the connection
 * @listener: of @b for rdma_cm, or NULL for a connection by hand
 *
 * Return: 0 or an error; on failure nothing is left
 */
int kverbs_conn_open(struct kverbs_conn *conn, struct kverbs_end *a, struct kverbs_end *b,
		     const struct kverbs_config *config, struct kverbs_listener *listener)
{
	int err;

	memset(conn, 0, offsetof(struct kverbs_conn, priv));
	conn->config = config;
	conn->a.end = a;
	conn->b.end = b;
	conn->a.conn = conn;
	conn->b.conn = conn;
	err = listener ? kverbs_cm_connect(conn, listener) : connect_by_hand(conn);
	if (err)
		kverbs_conn_close(conn);
	return err;
}
EXPORT_SYMBOL_GPL(kverbs_conn_open);

/**
 * kverbs_conn_error - takes both queue pairs to the error state, so that all work is flushed
 * @conn: the connection
 */
void kverbs_conn_error(struct kverbs_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (conn->a.qp)
		ib_modify_qp(conn->a.qp, &attr, IB_QP_STATE);
	if (conn->b.qp)
		ib_modify_qp(conn->b.qp, &attr, IB_QP_STATE);
}
EXPORT_SYMBOL_GPL(kverbs_conn_error);

/**
 * kverbs_conn_close - ends a connection
 * @conn: the connection, may be closed already
 */
void kverbs_conn_close(struct kverbs_conn *conn)
{
	kverbs_cm_close(conn);
	if (conn->a.qp)
		ib_destroy_qp(conn->a.qp);
	if (conn->b.qp)
		ib_destroy_qp(conn->b.qp);
	conn->a.qp = NULL;
	conn->b.qp = NULL;
}
EXPORT_SYMBOL_GPL(kverbs_conn_close);
