// SPDX-License-Identifier: GPL-2.0
/*
 * See link.h. The namespaces are made with a function that the kernel does not export: like
 * the suites that need a link, this is part of a kernel that has ward built in.
 */
#include <linux/delay.h>
#include <linux/if_addr.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include "../drivers/ward/verbs/device.h"
#include "link.h"

#define LINK_TYPE "ward"

/* Sends a request as user space does and returns what the answer says. Consumes @skb. */
static int request(struct net *net, int protocol, struct sk_buff *skb)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vec = { skb->data, skb->len };
	struct msghdr reply = {};
	struct nlmsghdr *nlh;
	struct socket *sock;
	int err;

	nlh = nlmsg_hdr(skb);
	nlh->nlmsg_len = skb->len;
	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	err = sock_create_kern(net, AF_NETLINK, SOCK_RAW, protocol, &sock);
	if (err)
		goto free;
	err = kernel_sendmsg(sock, &msg, &vec, 1, vec.iov_len);
	if (err < 0)
		goto release;
	nlh = kzalloc(1024, GFP_KERNEL);
	vec = (struct kvec) { nlh, 1024 };
	err = nlh ? kernel_recvmsg(sock, &reply, &vec, 1, vec.iov_len, 0) : -ENOMEM;
	if (err >= 0)
		err = nlh->nlmsg_type == NLMSG_ERROR ?
			((struct nlmsgerr *)nlmsg_data(nlh))->error : -EPROTO;
	kfree(nlh);
release:
	sock_release(sock);
free:
	kfree_skb(skb);
	return err;
}

static int veth_add(const char *name, const char *peer)
{
	struct sk_buff *skb = nlmsg_new(1024, GFP_KERNEL);
	struct nlattr *info, *data, *end;
	struct ifinfomsg none = {};

	if (!skb)
		return -ENOMEM;
	memcpy(nlmsg_data(nlmsg_put(skb, 0, 0, RTM_NEWLINK, sizeof(none),
				    NLM_F_CREATE | NLM_F_EXCL)), &none, sizeof(none));
	nla_put_string(skb, IFLA_IFNAME, name);
	info = nla_nest_start(skb, IFLA_LINKINFO);
	nla_put_string(skb, IFLA_INFO_KIND, "veth");
	data = nla_nest_start(skb, IFLA_INFO_DATA);
	end = nla_nest_start(skb, VETH_INFO_PEER);
	nla_put_nohdr(skb, sizeof(none), &none);
	nla_put_string(skb, IFLA_IFNAME, peer);
	nla_nest_end(skb, end);
	nla_nest_end(skb, data);
	nla_nest_end(skb, info);
	return request(&init_net, NETLINK_ROUTE, skb);
}

static int netdev_delete(struct net *net, int ifindex)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct ifinfomsg msg = { .ifi_index = ifindex };

	if (!skb)
		return -ENOMEM;
	memcpy(nlmsg_data(nlmsg_put(skb, 0, 0, RTM_DELLINK, sizeof(msg), 0)), &msg, sizeof(msg));
	return request(net, NETLINK_ROUTE, skb);
}

static int address_change(struct net_device *netdev, bool add, int family, const void *address,
			  int len, int prefix)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct ifaddrmsg msg = {
		.ifa_family = family, .ifa_prefixlen = prefix, .ifa_index = netdev->ifindex,
		.ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
	};

	if (!skb)
		return -ENOMEM;
	memcpy(nlmsg_data(nlmsg_put(skb, 0, 0, add ? RTM_NEWADDR : RTM_DELADDR, sizeof(msg),
				    add ? NLM_F_CREATE : 0)), &msg, sizeof(msg));
	nla_put(skb, IFA_LOCAL, len, address);
	nla_put(skb, IFA_ADDRESS, len, address);
	return request(dev_net(netdev), NETLINK_ROUTE, skb);
}

static int rdma_link_add(const char *name, struct net_device *netdev)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return -ENOMEM;
	nlmsg_put(skb, 0, 0, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK), 0, 0);
	nla_put_string(skb, RDMA_NLDEV_ATTR_DEV_NAME, name);
	nla_put_string(skb, RDMA_NLDEV_ATTR_LINK_TYPE, LINK_TYPE);
	nla_put_string(skb, RDMA_NLDEV_ATTR_NDEV_NAME, netdev->name);
	return request(dev_net(netdev), NETLINK_RDMA, skb);
}

/**
 * link_address() - give a netdev its address, or take it away
 *
 * Return: 0 or an errno.
 */
int link_address(struct link_end *end, int family, bool add)
{
	u8 last = 1 + (end->netdev->name[2] - '0');
	const u8 v4[4] = { 10, 77, 0, last };
	const u8 v6[16] = { 0xfd, 0x77, [15] = last };

	if (family == AF_INET)
		return address_change(end->netdev, add, family, v4, sizeof(v4), 24);
	return address_change(end->netdev, add, family, v6, sizeof(v6), 64);
}

/* link_use() - how QPs of this host are reached, WARD_PATH_*; as the option does it */
void link_use(const struct link_end *end, u32 path)
{
	WRITE_ONCE(to_ward(end->ibdev)->options.v[WARD_OPT_PATH], path);
}

/* link_count() - a counter of the device */
u64 link_count(const struct link_end *end, enum ward_counter id)
{
	return ward_counter_sum(to_ward(end->ibdev), id);
}

static int end_up(struct link_end *end, int i)
{
	char name[16];
	int err;

	snprintf(name, sizeof(name), "wk%d", i);
	end->netdev = dev_get_by_name(&init_net, name);
	if (!end->netdev)
		return -ENODEV;
	end->net = i ? copy_net_ns(CLONE_NEWNET, &init_user_ns, &init_net) : get_net(&init_net);
	if (IS_ERR(end->net)) {
		err = PTR_ERR(end->net);
		end->net = NULL;
		return err;
	}
	rtnl_lock();
	err = i ? dev_change_net_namespace(end->netdev, end->net, NULL) : 0;
	if (!err)
		err = dev_change_flags(end->netdev, end->netdev->flags | IFF_UP, NULL);
	/* what goes to an address of the same namespace goes by lo */
	if (!err)
		err = dev_change_flags(end->net->loopback_dev,
				       end->net->loopback_dev->flags | IFF_UP, NULL);
	rtnl_unlock();
	if (!err)
		err = link_address(end, AF_INET, true);
	if (!err)
		err = link_address(end, AF_INET6, true);
	return err;
}

static int device_up(struct link_end *end, int i)
{
	char name[16];
	int err;

	snprintf(name, sizeof(name), "wardk%d", i);
	err = rdma_link_add(name, end->netdev);
	if (err)
		return err;
	end->ibdev = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);
	return end->ibdev ? 0 : -ENODEV;
}

static int told(const char *what, int i, int err)
{
	if (err)
		pr_err("kunit: cannot %s wk%d: %pe\n", what, i, ERR_PTR(err));
	return err;
}

/**
 * link_up() - make the netdevs and the devices on them
 *
 * Return: 0, or an errno; link_down() is due in either case.
 */
int link_up(struct link *link)
{
	int i, err;

	memset(link, 0, sizeof(*link));
	err = told("make", 0, veth_add("wk0", "wk1"));
	for (i = 0; i < 2 && !err; i++)
		err = told("set up", i, end_up(&link->end[i], i));
	for (i = 0; i < 2 && !err; i++)
		err = told("add a device on", i, device_up(&link->end[i], i));
	return err;
}

void link_down(struct link *link)
{
	int i, ifindex = 0;

	for (i = 0; i < 2; i++) {
		if (link->end[i].ibdev)
			ib_unregister_device_and_put(link->end[i].ibdev);
	}
	if (link->end[0].netdev)
		ifindex = link->end[0].netdev->ifindex;
	for (i = 0; i < 2; i++)
		dev_put(link->end[i].netdev);
	/* takes the peer along */
	if (ifindex)
		told("delete", 0, netdev_delete(&init_net, ifindex));
	for (i = 0; i < 2; i++) {
		if (link->end[i].net)
			put_net(link->end[i].net);
	}
	memset(link, 0, sizeof(*link));
}
