// SPDX-License-Identifier: GPL-2.0
/*
 * Whether what goes along a path need not go as packets.
 *
 * All that could tell a packet from no packet is looked at each time: a few loads
 * of what the kernel keeps at hand anyway, and no notifier that could be late.
 * The answer errs on the side of packets. In their order on the way:
 *
 *	the port, and the address of the source	up; the route's lookup checks the address
 *	IPsec					no policy in the namespace
 *	netfilter				no hook where packets pass, but ours for trains and
 *						AppArmor's
 *	the route				by the loopback netdev
 *	its traffic control			no queueing discipline, no filters
 *	packet sockets (captures), XDP		none
 *
 * Between two namespaces the netdevs at both ends stand for lo.
 *
 * A route through a VRF's netdev is not by loopback, so it is not inside.
 * Programs of control groups are not looked at: our sockets are in the root group.
 */
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/string.h>
#include <net/dst.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <net/xfrm.h>

#include "../verbs/device.h"
#include "inside.h"
#include "net.h"
#include "path.h"
#include "train.h"

#ifdef CONFIG_NETFILTER
/* The hook that AppArmor has in every namespace, if it is in the kernel */
static nf_hookfn *apparmor;

/*
 * AppArmor lets pass what has no secmark, and only netfilter rules give one. It is in every
 * namespace of most distributions, so it has to be known, and its name is all there is to know.
 */
static bool is_apparmor(nf_hookfn *hook)
{
	char name[40];

	snprintf(name, sizeof(name), "%ps", hook);
	return str_has_prefix(name, "apparmor_");
}

static bool hooked(const struct nf_hook_entries *entries)
{
	return entries && !(entries->num_hook_entries == 1 &&
			    entries->hooks[0].hook == READ_ONCE(apparmor));
}
#endif

/**
 * ward_inside_learn() - know the hook that every namespace has
 * @net: a namespace
 *
 * Context: any.
 */
void ward_inside_learn(const struct net *net)
{
#ifdef CONFIG_NETFILTER
	const struct nf_hook_entries *entries;

	rcu_read_lock();
	entries = rcu_dereference(net->nf.hooks_ipv4[NF_INET_POST_ROUTING]);
	if (entries && entries->num_hook_entries && is_apparmor(entries->hooks[0].hook))
		WRITE_ONCE(apparmor, entries->hooks[0].hook);
	rcu_read_unlock();
#endif
}

static bool filters(const struct net *net, bool ipv6)
{
#ifdef CONFIG_NETFILTER
	static const u8 passed[] = { NF_INET_LOCAL_OUT, NF_INET_PRE_ROUTING, NF_INET_LOCAL_IN };
	struct nf_hook_entries __rcu *const *hooks = ipv6 ? net->nf.hooks_ipv6 :
							    net->nf.hooks_ipv4;
	int i;

	for (i = 0; i < ARRAY_SIZE(passed); i++)
		if (!ward_train_is_sole_hook(rcu_dereference(hooks[passed[i]])))
			return true;
	return hooked(rcu_dereference(hooks[NF_INET_POST_ROUTING]));
#else
	return false;
#endif
}

/**
 * ward_has_ipsec() - whether a namespace has policies that packets may fall under
 * @net: the namespace
 *
 * Context: any.
 * Return: whether it does.
 */
bool ward_has_ipsec(const struct net *net)
{
#ifdef CONFIG_XFRM
	static const u8 passed[] = { XFRM_POLICY_IN, XFRM_POLICY_OUT };
	int i;

	for (i = 0; i < ARRAY_SIZE(passed); i++)
		if (READ_ONCE(net->xfrm.policy_count[passed[i]]) ||
		    READ_ONCE(net->xfrm.policy_default[passed[i]]) == XFRM_USERPOLICY_BLOCK)
			return true;
#endif
	return false;
}

/* Does anything happen to a packet at a netdev but that it passes? */
static bool meddles(struct net_device *ndev)
{
	const struct Qdisc *qdisc = rcu_dereference(netdev_get_tx_queue(ndev, 0)->qdisc);

	/* once there was an ingress or clsact discipline, this stays */
	if (!qdisc || qdisc->enqueue || rcu_access_pointer(ndev->ingress_queue))
		return true;
#ifdef CONFIG_NET_XGRESS
	if (rcu_access_pointer(ndev->tcx_ingress) || rcu_access_pointer(ndev->tcx_egress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(ndev->nf_hooks_ingress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(ndev->nf_hooks_egress))
		return true;
#endif
	return rcu_access_pointer(ndev->xdp_prog) || dev_nit_active(ndev);
}

/* Is the port up, and does the route go by @by? */
static bool leads(struct ward_path *path, const struct net_device *ndev,
		  const struct net_device *by)
{
	struct dst_entry *dst;
	bool yes;

	if (!ndev || !netif_running(ndev) || !netif_carrier_ok(ndev))
		return false;
	dst = ward_path_route(path);
	if (IS_ERR(dst))
		return false;
	yes = READ_ONCE(dst->dev) == by && !dst->error && !dst_xfrm(dst);
	dst_release(dst);
	return yes;
}

/* Would a packet leave its namespace unseen, and one enter it? The world is not looked at */
static bool leaves(struct ward_path *path)
{
	const struct net *net = path->dev->net->net;
	struct net_device *ndev = ward_path_netdev(path);

	return leads(path, ndev, ndev) && !filters(net, path->ipv6) && !ward_has_ipsec(net) &&
	       !meddles(ndev);
}

/**
 * ward_paths_are_inside() - whether packets would pass nothing but the stack
 * @path: the path of one QP to another one
 * @back: the path back; when it begins in another namespace, what is between the two is taken to
 *        let packets pass
 *
 * Context: BH off, under RCU.
 * Return: whether they would, now, both ways.
 */
bool ward_paths_are_inside(struct ward_path *path, struct ward_path *back)
{
	const struct net *net = path->dev->net->net;
	struct net_device *lo = net->loopback_dev;

	if (!net_eq(net, back->dev->net->net))
		return leaves(path) && leaves(back);
	return netif_running(lo) && !filters(net, path->ipv6) && !ward_has_ipsec(net) &&
	       !meddles(lo) && leads(path, ward_path_netdev(path), lo) &&
	       leads(back, ward_path_netdev(back), lo);
}
