/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernel clients of verbs have in common, on any RDMA device: two ends, each with a PD, a
 * CQ and a buffer, and reliable connections between them.
 *
 * Everything here is called in process context and may sleep; what may be called in a completion
 * handler says so. A device that is in use by an end is not removed until the end is closed.
 */
#ifndef _KVERBS_H
#define _KVERBS_H

#include <linux/completion.h>
#include <linux/if_ether.h>
#include <linux/socket.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define KVERBS_PATIENCE	(30 * HZ)

#define KVERBS_IPV6	1
#define KVERBS_GLOBAL	2

/**
 * struct kverbs_end - one end
 * @dev:    its device
 * @gid:    the address that it uses, counted
 * @netdev: the netdev of that address, counted
 * @net:    the namespace of @netdev
 * @mac:    of @netdev
 * @addr:   @gid as an IP address
 * @pd, @cq: its objects; all connections of the end share the CQ
 * @buf:    memory, contiguous, @len bytes
 * @dma:    @buf for work requests
 */
struct kverbs_end {
	struct ib_device	*dev;
	const struct ib_gid_attr *gid;
	struct net_device	*netdev;
	struct net		*net;
	u8			mac[ETH_ALEN];
	struct sockaddr_storage	addr;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	u8			*buf;
	u64			dma;
	size_t			len;
};

/**
 * struct kverbs_config - how connections are made
 * @depth:   send and receive queue of each end
 * @sge:     scatter/gather entries of a work request
 * @mtu:     path MTU in bytes
 * @timeout: local ACK timeout as in struct ib_qp_attr
 * @access:  access flags of the queue pairs
 * @event:   handler of asynchronous events, or NULL; its context is the &struct kverbs_side
 */
struct kverbs_config {
	u32	depth;
	u32	sge;
	u32	mtu;
	u8	timeout;
	int	access;
	void	(*event)(struct ib_event *event, void *side);
};

/**
 * struct kverbs_side - one queue pair of a connection
 * @end:  whose
 * @qp:   the queue pair
 * @id:   when rdma_cm has made the connection
 * @conn: the connection
 */
struct kverbs_side {
	struct kverbs_end	*end;
	struct ib_qp		*qp;
	struct rdma_cm_id	*id;
	struct kverbs_conn	*conn;
};

/**
 * struct kverbs_conn - a reliable connection
 * @a, @b:        its sides
 * @config:       how it was made
 * @client_event: an event of rdma_cm that the client waits for; @client_error: what it said
 * @server_event: the same for the server
 * @priv:         of the user
 */
struct kverbs_conn {
	struct kverbs_side		a, b;
	const struct kverbs_config	*config;
	struct completion		client_event, server_event;
	int				client_error, server_error;
	void				*priv;
};

/* What listens for connections of rdma_cm */
struct kverbs_listener {
	struct rdma_cm_id	*id;
	struct kverbs_end	*end;
	struct kverbs_conn	*expected;
};

/**
 * struct kverbs_op - a work request that can be waited for
 * @cqe:  of the request
 * @done: its completion came
 * @wc:   what that said
 */
struct kverbs_op {
	struct ib_cqe		cqe;
	struct completion	done;
	struct ib_wc		wc;
};

struct ib_device *kverbs_device_get(const char *name);
void kverbs_device_put(struct ib_device *dev);

int kverbs_end_open(struct kverbs_end *end, const char *device, int flags, size_t len);
int kverbs_end_cq(struct kverbs_end *end, int cqe, enum ib_poll_context context);
void kverbs_end_close(struct kverbs_end *end);

int kverbs_conn_open(struct kverbs_conn *conn, struct kverbs_end *a, struct kverbs_end *b,
		     const struct kverbs_config *config, struct kverbs_listener *listener);
void kverbs_conn_close(struct kverbs_conn *conn);
void kverbs_conn_error(struct kverbs_conn *conn);

void kverbs_qp_init_attr(struct kverbs_side *side, struct ib_qp_init_attr *attr);
int kverbs_listen(struct kverbs_listener *listener, struct kverbs_end *end);
void kverbs_unlisten(struct kverbs_listener *listener);
int kverbs_cm_connect(struct kverbs_conn *conn, struct kverbs_listener *listener);
void kverbs_cm_close(struct kverbs_conn *conn);

void kverbs_op_init(struct kverbs_op *op);
int kverbs_op_wait(struct kverbs_op *op);
int kverbs_post_reg(struct ib_qp *qp, struct kverbs_op *op, struct ib_mr *mr, u32 key, int access);
int kverbs_map(struct ib_mr *mr, struct kverbs_end *end, size_t offset, size_t len);
struct ib_mr *kverbs_mr_open(struct kverbs_side *side, size_t offset, size_t len, int access);

#endif /* _KVERBS_H */
