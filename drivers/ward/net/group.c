// SPDX-License-Identifier: GPL-2.0
/*
 * IP multicast groups on the netdev of a device.
 *
 * The netdev is a member, not a socket: sockets may be members of a few groups
 * only, and ours take what the netdev lets in. When the netdev is unregistered,
 * IP drops its groups itself; leaving one then does nothing.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>

#include "group.h"

static const struct in6_addr *in6(const union ib_gid *gid)
{
	return (const struct in6_addr *)gid->raw;
}

static int join4(struct net_device *ndev, __be32 group)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -EADDRNOTAVAIL;
	ip_mc_inc_group(in_dev, group);
	return 0;
}

static int join6(struct net_device *ndev, const struct in6_addr *group)
{
	if (!IS_ENABLED(CONFIG_IPV6))
		return -EAFNOSUPPORT;
	return ipv6_dev_mc_inc(ndev, group);
}

/**
 * ward_group_join() - make a netdev a member of a group, once more
 * @ndev: the netdev, which may be on its way out
 * @gid:  the group, an IPv4 one mapped
 *
 * Context: may sleep; takes RTNL.
 * Return: 0, -ENODEV, -EADDRNOTAVAIL when the netdev does not speak that IP, or another error.
 */
int ward_group_join(struct net_device *ndev, const union ib_gid *gid)
{
	int err;

	rtnl_lock();
	if (ndev->reg_state != NETREG_REGISTERED)
		err = -ENODEV;
	else if (ipv6_addr_v4mapped(in6(gid)))
		err = join4(ndev, in6(gid)->s6_addr32[3]);
	else
		err = join6(ndev, in6(gid));
	rtnl_unlock();
	return err;
}

/**
 * ward_group_leave() - undo one ward_group_join()
 * @ndev: the netdev, which may have been unregistered meanwhile
 * @gid:  the group
 *
 * Context: may sleep; takes RTNL.
 */
void ward_group_leave(struct net_device *ndev, const union ib_gid *gid)
{
	struct in_device *in_dev;

	rtnl_lock();
	if (!ipv6_addr_v4mapped(in6(gid))) {
		if (IS_ENABLED(CONFIG_IPV6))
			ipv6_dev_mc_dec(ndev, in6(gid));
	} else {
		in_dev = __in_dev_get_rtnl(ndev);
		if (in_dev)
			ip_mc_dec_group(in_dev, in6(gid)->s6_addr32[3]);
	}
	rtnl_unlock();
}
