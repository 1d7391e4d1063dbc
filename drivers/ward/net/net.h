/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ward keeps for one net namespace: its UDP 4791 sockets, the QP numbers
 * in use there, and the devices on its netdevs.
 */
#ifndef _WARD_NET_NET_H
#define _WARD_NET_NET_H

#include <linux/list.h>
#include <linux/netfilter.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "../proto/permute.h"

struct socket;
struct ward_device;

/**
 * struct ward_net - one namespace with at least one link
 * @all:     in ward_nets
 * @net:     the namespace; not referenced, see net.c
 * @sock4:   UDP 4791, IPv4
 * @sock6:   UDP 4791, IPv6 only; NULL where the namespace has no IPv6
 * @hooks:   take trains, IPv4 and IPv6 (train.c)
 * @users:   devices; the last one closes the sockets (under ward_net_lock)
 * @devices: ward_device.entry; changed under ward_net_lock, read under RCU
 * @qps:     slot number to struct ward_qp *, read under RCU; slots by xa_alloc_cyclic
 * @qp_next: cursor for xa_alloc_cyclic
 * @qpn:     slot number <-> QP number. QP numbers are unique in the namespace
 */
struct ward_net {
	struct list_head	all;
	struct net		*net;
	struct socket		*sock4;
	struct socket		*sock6;
#ifdef CONFIG_NETFILTER
	struct nf_hook_ops	hooks[2];
#endif
	unsigned int		users;
	struct list_head	devices;
	struct xarray		qps;
	u32			qp_next;
	struct ward_permute	qpn;
};

/* All of them; read under RCU, one is good for as long */
extern struct list_head ward_nets;

struct ward_net *ward_net_get(struct net *net);
void ward_net_put(struct ward_net *wn);
void ward_net_add_device(struct ward_net *wn, struct ward_device *dev);
void ward_net_del_device(struct ward_net *wn, struct ward_device *dev);

int ward_net_init(void);
void ward_net_exit(void);

/*
 * The upcall of this layer, given by verbs/device.c.
 *
 * ward_net_vanishes() - @net is being deleted: unregister its devices. May sleep.
 */
void ward_net_vanishes(struct net *net);

#endif /* _WARD_NET_NET_H */
