// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by rdma_cm, both ends in this kernel. One connection of a listener is made at a
 * time.
 */
#include <linux/in.h>
#include <linux/module.h>
#include "kverbs.h"

static void happened(struct completion *event, int *error, int status)
{
	*error = status;
	complete(event);
}

static int client_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kverbs_conn *conn = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		happened(&conn->client_event, &conn->client_error, 0);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		happened(&conn->client_event, &conn->client_error, event->status ?: -ECONNREFUSED);
		break;
	default:
		break;
	}
	return 0;
}

static void conn_params(const struct kverbs_conn *conn, struct rdma_conn_param *param)
{
	const u8 reads = min3(16, (int)conn->a.end->dev->attrs.max_qp_rd_atom,
			      (int)conn->b.end->dev->attrs.max_qp_rd_atom);

	*param = (struct rdma_conn_param) {
		.responder_resources = reads, .initiator_depth = reads,
		.retry_count = 6, .rnr_retry_count = 7,
	};
}

static int qp_make(struct kverbs_side *side)
{
	struct ib_qp_init_attr init;
	int err;

	kverbs_qp_init_attr(side, &init);
	err = rdma_create_qp(side->id, side->end->pd, &init);
	if (!err)
		side->qp = side->id->qp;
	return err;
}

static int server_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct kverbs_listener *listener;
	struct rdma_conn_param param;
	struct kverbs_conn *conn;
	int err;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		listener = id->context;
		conn = xchg(&listener->expected, NULL);
		if (!conn || id->device != conn->b.end->dev)
			return -ECONNREFUSED;	/* rdma_cm destroys the id */
		id->context = conn;
		conn->b.id = id;
		err = qp_make(&conn->b);
		conn_params(conn, &param);
		if (!err)
			err = rdma_accept(id, &param);
		if (err)
			happened(&conn->server_event, &conn->server_error, err);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		conn = id->context;
		happened(&conn->server_event, &conn->server_error, 0);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		conn = id->context;
		happened(&conn->server_event, &conn->server_error, event->status ?: -ECONNREFUSED);
		break;
	default:
		break;
	}
	return 0;
}

/**
 * kverbs_listen - lets an end accept connections
 * @listener: to be filled in
 * @end:      the end
 *
 * Return: 0 or an error
 */
int kverbs_listen(struct kverbs_listener *listener, struct kverbs_end *end)
{
	struct sockaddr_storage addr = end->addr;
	struct rdma_cm_id *id;
	int err;

	listener->end = end;
	listener->expected = NULL;
	id = rdma_create_id(end->net, server_handler, listener, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_bind_addr(id, (struct sockaddr *)&addr);
	if (!err)
		err = rdma_listen(id, 8);
	if (err) {
		rdma_destroy_id(id);
		return err;
	}
	listener->id = id;
	return 0;
}
EXPORT_SYMBOL_GPL(kverbs_listen);

/**
 * kverbs_unlisten - the opposite
 * @listener: may be without one
 */
void kverbs_unlisten(struct kverbs_listener *listener)
{
	if (listener->id)
		rdma_destroy_id(listener->id);
	listener->id = NULL;
}
EXPORT_SYMBOL_GPL(kverbs_unlisten);

static int wait_for(struct completion *event, const int *error)
{
	if (!wait_for_completion_timeout(event, KVERBS_PATIENCE))
		return -ETIMEDOUT;
	return *error;
}

/**
 * kverbs_cm_connect - makes a connection
 * @conn:     with ends and config
 * @listener: of the second end
 *
 * Return: 0 or an error, when kverbs_cm_close() is still to be called
 */
int kverbs_cm_connect(struct kverbs_conn *conn, struct kverbs_listener *listener)
{
	struct sockaddr_storage from = conn->a.end->addr, to = conn->b.end->addr;
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	int err;

	init_completion(&conn->client_event);
	init_completion(&conn->server_event);
	id = rdma_create_id(conn->a.end->net, client_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->a.id = id;
	/* sin_port and sin6_port are in the same place */
	((struct sockaddr_in *)&to)->sin_port = ((struct sockaddr_in *)
						 &listener->id->route.addr.src_addr)->sin_port;
	err = rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, 2000);
	if (!err)
		err = wait_for(&conn->client_event, &conn->client_error);
	if (!err && id->device != conn->a.end->dev)
		err = -EXDEV;
	if (!err)
		err = rdma_resolve_route(id, 2000);
	if (!err)
		err = wait_for(&conn->client_event, &conn->client_error);
	if (!err)
		err = qp_make(&conn->a);
	if (err)
		return err;
	conn_params(conn, &param);
	WRITE_ONCE(listener->expected, conn);
	err = rdma_connect(id, &param);
	if (!err)
		err = wait_for(&conn->client_event, &conn->client_error);
	if (!err)
		err = wait_for(&conn->server_event, &conn->server_error);
	WRITE_ONCE(listener->expected, NULL);
	return err;
}

/**
 * kverbs_cm_close - disconnects; both queue pairs are gone afterwards
 * @conn: a connection, perhaps without ids
 */
void kverbs_cm_close(struct kverbs_conn *conn)
{
	struct kverbs_side *side;
	int i;

	if (conn->a.id && conn->a.qp)
		rdma_disconnect(conn->a.id);
	for (i = 0; i < 2; i++) {
		side = i ? &conn->b : &conn->a;
		if (!side->id)
			continue;
		if (side->qp)
			rdma_destroy_qp(side->id);
		side->qp = NULL;
		rdma_destroy_id(side->id);
		side->id = NULL;
	}
}
