// SPDX-License-Identifier: GPL-2.0
/*
 * What ward keeps for one net namespace.
 *
 * Lifetime. struct ward_net comes with the first device in a namespace and goes
 * with the last one. It holds no reference on the namespace, as that could then
 * never be deleted. Instead, deleting a namespace deletes its devices first:
 * exit_net() returns when the last device has given its ward_net back, and the
 * namespace, its netdevs (which come after us in the order of exits) and its
 * routes are there until then. No new device can appear: ward_net_get() is
 * called with a reference on the namespace, which is gone when exits run.
 *
 * The sockets are kernel sockets and hold no reference on the namespace either;
 * they are closed with the last device, so before the namespace is gone. Closing
 * waits for packets on their way through ward_rx_encap().
 */
#include <linux/in.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include <ward/wire.h>

#include "../verbs/device.h"
#include "inside.h"
#include "net.h"
#include "rx.h"
#include "train.h"

/* What the network core keeps for us in each namespace; written under net_lock */
struct pernet {
	struct ward_net	*wn;
};

/* ward_net.all; changed under net_lock */
LIST_HEAD(ward_nets);

static unsigned int pernet_id;
/* All of struct pernet, ward_net.users, ward_net.devices. Nothing else is taken inside but RCU */
static DEFINE_MUTEX(net_lock);
/* Woken when a struct ward_net is gone */
static DECLARE_WAIT_QUEUE_HEAD(net_gone);

static void close_sock(struct socket *sock)
{
	if (sock)
		ward_tunnel_release(sock);
}

/* One line of advice: rdma_rxe is the usual other user of the port */
static void port_is_taken(struct net *net)
{
	pr_err("UDP port %u is in use in %s network namespace, by rdma_rxe (unload it, or use another namespace) or by what \"ss -lunp\" shows\n",
	       WARD_UDP_PORT, net_eq(net, &init_net) ? "the initial" : "this");
}

static int open_sock(struct ward_net *wn, int family, struct socket **sockp)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = wn,
		.encap_type = 1,
		.encap_rcv = ward_rx_encap,
	};
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(WARD_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct socket *sock = NULL;
	int err;

	err = udp_sock_create(wn->net, &port, &sock);
	/* kernels without IPv6 refuse, or succeed without a socket */
	if (family == AF_INET6 && (err == -EAFNOSUPPORT || err == -EPFNOSUPPORT || (!err && !sock)))
		return 0;
	if (err == -EADDRINUSE)
		port_is_taken(wn->net);
	else if (err)
		pr_err("cannot open UDP port %u: error %d\n", WARD_UDP_PORT, err);
	if (err)
		return err;

	ward_tunnel_setup(wn->net, sock, &tunnel);
	/* nothing inside our packets has an Internet checksum to be validated */
	inet_dec_convert_csum(sock->sk);
	*sockp = sock;
	return 0;
}

static void destroy(struct ward_net *wn)
{
	if (!list_empty(&wn->all)) {
		list_del_rcu(&wn->all);
		synchronize_rcu();
	}
	ward_train_unlisten(wn);
	/* this waits for those who are in a hook, too */
	close_sock(wn->sock6);
	close_sock(wn->sock4);
	WARN_ON(!list_empty(&wn->devices));
	/* slots whose number has a meaning of its own have stayed taken */
	xa_destroy(&wn->qps);
	kvfree_sensitive(wn, sizeof(*wn));
}

static struct ward_net *create(struct net *net)
{
	struct ward_net *wn = kvzalloc(sizeof(*wn), GFP_KERNEL);
	int err;

	if (!wn)
		return ERR_PTR(-ENOMEM);
	wn->net = net;
	INIT_LIST_HEAD(&wn->all);
	INIT_LIST_HEAD(&wn->devices);
	xa_init_flags(&wn->qps, XA_FLAGS_ALLOC1);
	get_random_bytes(&wn->qpn, sizeof(wn->qpn));

	err = open_sock(wn, AF_INET, &wn->sock4);
	if (!err)
		err = open_sock(wn, AF_INET6, &wn->sock6);
	if (!err)
		err = ward_train_listen(wn);
	if (err) {
		destroy(wn);
		return ERR_PTR(err);
	}
	ward_inside_learn(net);
	list_add_rcu(&wn->all, &ward_nets);
	return wn;
}

/**
 * ward_net_get() - one more device in a namespace
 * @net: the namespace, referenced by the caller until this has returned
 *
 * Opens the sockets for the first device.
 *
 * Context: may sleep.
 * Return: to be given back with ward_net_put(), or -EADDRINUSE when another has the port, or
 * another error; either was explained in the log.
 */
struct ward_net *ward_net_get(struct net *net)
{
	struct pernet *pn = net_generic(net, pernet_id);
	struct ward_net *wn;

	mutex_lock(&net_lock);
	wn = pn->wn;
	if (!wn) {
		wn = create(net);
		if (!IS_ERR(wn))
			WRITE_ONCE(pn->wn, wn);
	}
	if (!IS_ERR(wn))
		wn->users++;
	mutex_unlock(&net_lock);
	return wn;
}

/**
 * ward_net_put() - a device is gone
 * @wn: from ward_net_get()
 *
 * Closes the sockets after the last device. The namespace may vanish as soon as this returns.
 *
 * Context: may sleep.
 */
void ward_net_put(struct ward_net *wn)
{
	struct pernet *pn = net_generic(wn->net, pernet_id);

	mutex_lock(&net_lock);
	if (!--wn->users) {
		destroy(wn);
		WRITE_ONCE(pn->wn, NULL);
		wake_up_all(&net_gone);
	}
	mutex_unlock(&net_lock);
}

/**
 * ward_net_add_device() - let packets in for a device
 * @wn:  its namespace
 * @dev: the device, whose GID table exists
 *
 * Does nothing when that is so already.
 *
 * Context: may sleep.
 */
void ward_net_add_device(struct ward_net *wn, struct ward_device *dev)
{
	mutex_lock(&net_lock);
	if (list_empty(&dev->entry))
		list_add_tail_rcu(&dev->entry, &wn->devices);
	mutex_unlock(&net_lock);
}

/**
 * ward_net_del_device() - no more packets for a device
 * @wn:  its namespace
 * @dev: the device; it may never have been added
 *
 * No reader of ward_net.devices knows the device when this returns.
 *
 * Context: may sleep.
 */
void ward_net_del_device(struct ward_net *wn, struct ward_device *dev)
{
	bool listed;

	mutex_lock(&net_lock);
	listed = !list_empty(&dev->entry);
	if (listed)
		list_del_rcu(&dev->entry);
	mutex_unlock(&net_lock);
	if (listed)
		synchronize_rcu();
}

static void __net_exit exit_net(struct net *net)
{
	struct pernet *pn = net_generic(net, pernet_id);

	if (!READ_ONCE(pn->wn))
		return;
	ward_net_vanishes(net);
	/* an add that was under way gives up as well, and a delete ends */
	wait_event(net_gone, !READ_ONCE(pn->wn));
}

static struct pernet_operations pernet_ops = {
	.exit = exit_net,
	.id = &pernet_id,
	.size = sizeof(struct pernet),
};

/**
 * ward_net_init() - be told of vanishing namespaces
 *
 * As a *device* operation: it runs before the netdevs of the namespace are unregistered, and
 * before ib_core, which was there first, takes the devices back to the initial namespace.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int ward_net_init(void)
{
	return register_pernet_device(&pernet_ops);
}

/**
 * ward_net_exit() - undo ward_net_init(); there are no devices any more
 *
 * Context: may sleep.
 */
void ward_net_exit(void)
{
	unregister_pernet_device(&pernet_ops);
}
