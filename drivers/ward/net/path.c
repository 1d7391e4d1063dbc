// SPDX-License-Identifier: GPL-2.0
/*
 * The way to a peer.
 *
 * Routes. The routing tables decide (those of the VRF when the netdev of the
 * source GID is in one), also over policies, IPsec and, for addresses of this
 * host, lo. A route through another netdev than that of the source GID is
 * replaced by one that is bound to it, so that two netdevs with the same network
 * behind them keep apart. A bound lookup alone would not do: for IPv4 it takes
 * every address for a neighbour when there is no route.
 *
 * The route stands in a per-CPU cache and is looked up again when the kernel has
 * made it obsolete: route, address and netdev changes need no notifier of ours.
 * No route, no source address, no netdev are normal states of a path; packets
 * are lost meanwhile.
 *
 * Nothing here sleeps; the last reference may be put in softirq: a GID entry's
 * own release is a work item of the core, and the cache is freed at once.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/inet_dscp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <ward/wire.h>

#include "../proto/icrc.h"
#include "../verbs/device.h"
#include "net.h"
#include "path.h"

/* 0 in an address vector stands for this */
#define DEFAULT_HOPS	64

/* A hint at most every few seconds: a process may try such a GID in a loop */
#define path_info_ratelimited(path, fmt, ...) \
	ibdev_info_ratelimited(&(path)->dev->ib, fmt, ##__VA_ARGS__)

static bool is_v4(const union ib_gid *gid)
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid->raw);
}

static void addr_of_gid(union ward_addr *addr, const union ib_gid *gid, bool ipv6)
{
	if (ipv6)
		memcpy(&addr->in6, gid->raw, sizeof(addr->in6));
	else
		memcpy(&addr->in4, gid->raw + 12, sizeof(addr->in4));
}

static struct net *net_of(const struct ward_path *path)
{
	return path->dev->net->net;
}

/**
 * ward_path_netdev() - the netdev that sends
 * @path: the path
 *
 * Context: any, under RCU, for as long as the netdev is used.
 * Return: the netdev, or NULL when the GID is gone or not of our namespace.
 */
struct net_device *ward_path_netdev(const struct ward_path *path)
{
	struct net_device *ndev = rdma_read_gid_attr_ndev_rcu(path->sgid);

	if (IS_ERR(ndev) || !net_eq(dev_net(ndev), net_of(path)))
		return NULL;
	return ndev;
}

/* Whether the source is an address of this host, which a default GID need not be. Under RCU */
static bool source_is_local(const struct ward_path *path, struct net_device *ndev)
{
	struct net *net = net_of(path);

	if (!path->ipv6)
		return inet_addr_type_dev_table(net, ndev, path->saddr.in4.s_addr) == RTN_LOCAL;
	/* addresses whose uniqueness is still being checked are fine */
	return ipv6_chk_addr_and_flags(net, &path->saddr.in6, ndev, false, 1, 0) ||
	       ipv6_chk_addr_and_flags(net, &path->saddr.in6, NULL, true, 0, 0);
}

static struct dst_entry *lookup4(struct ward_path *path, int oif)
{
	struct flowi4 fl4 = {
		.flowi4_oif = oif,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = path->saddr.in4.s_addr,
		.daddr = path->daddr.in4.s_addr,
		.fl4_sport = htons(path->sport),
		.fl4_dport = htons(WARD_UDP_PORT),
	};
	struct rtable *rt;

	ward_flow4_set_tos(&fl4, path->tclass);
	rt = ip_route_output_flow(net_of(path), &fl4, NULL);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if ((rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) !=
	    (path->mcast ? RTCF_MULTICAST : 0)) {
		ip_rt_put(rt);
		return ERR_PTR(-EHOSTUNREACH);
	}
	return &rt->dst;
}

static struct dst_entry *lookup6(struct ward_path *path, int oif)
{
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(path->tclass, htonl(path->flow)),
		.saddr = path->saddr.in6,
		.daddr = path->daddr.in6,
		.fl6_sport = htons(path->sport),
		.fl6_dport = htons(WARD_UDP_PORT),
	};

	if (!IS_ENABLED(CONFIG_IPV6))
		return ERR_PTR(-EAFNOSUPPORT);
	return ip6_dst_lookup_flow(net_of(path), path->dev->net->sock6->sk, &fl6, NULL);
}

static struct dst_entry *lookup_oif(struct ward_path *path, int oif)
{
	return path->ipv6 ? lookup6(path, oif) : lookup4(path, oif);
}

/* A route that may be used as it is: through @ndev, or to this host (lo, or the VRF's netdev) */
static bool fits(const struct dst_entry *dst, const struct net_device *ndev)
{
	const struct net_device *out = READ_ONCE(dst->dev);

	return out == ndev || out->flags & IFF_LOOPBACK || netif_is_l3_master(out);
}

static struct dst_entry *lookup(struct ward_path *path)
{
	struct net_device *ndev = ward_path_netdev(path);
	struct dst_entry *dst;

	if (!ndev)
		return ERR_PTR(-ENODEV);
	/* this route knows of members on this host, and one that joins does not make it obsolete */
	if (path->mcast)
		return lookup_oif(path, ndev->ifindex);
	if (path->ipv6 && ipv6_addr_type(&path->daddr.in6) & IPV6_ADDR_LINKLOCAL) {
		dst = lookup_oif(path, ndev->ifindex);
	} else {
		dst = lookup_oif(path, l3mdev_master_ifindex_rcu(ndev));
		if (!IS_ERR(dst) && !fits(dst, ndev)) {
			dst_release(dst);
			dst = lookup_oif(path, ndev->ifindex);
		}
	}
	if (IS_ERR(dst))
		return dst;
	if (path->ipv6)
		dst_cache_set_ip6(&path->cache, dst, &path->saddr.in6);
	else
		dst_cache_set_ip4(&path->cache, dst, path->saddr.in4.s_addr);
	return dst;
}

/**
 * ward_path_route() - the route that the next packet takes
 * @path: the path
 *
 * Context: BH off, under RCU.
 * Return: the route, referenced, or an error.
 */
struct dst_entry *ward_path_route(struct ward_path *path)
{
	struct dst_entry *dst = dst_cache_get(&path->cache);

	return dst ?: lookup(path);
}

static u32 udp_hash(const struct ward_path *path)
{
	return jhash_3words(jhash(&path->daddr, sizeof(path->daddr), 0), path->sport,
			    WARD_UDP_PORT, 0) | 1;
}

/* Tell at once what could not work, and why. BH off, under RCU */
static int check_rcu(struct ward_path *path)
{
	const u8 *sgid = path->sgid->gid.raw;
	struct net_device *ndev = ward_path_netdev(path);
	struct dst_entry *dst;
	int err;

	if (!ndev) {
		path_info_ratelimited(path, "source GID %pI6 belongs to no netdev in the device's network namespace\n",
				      sgid);
		return -EADDRNOTAVAIL;
	}
	if (!source_is_local(path, ndev)) {
		path_info_ratelimited(path, "source GID %pI6 (index %u) is no address of %s: choose another index, or add the address\n",
				      sgid, path->sgid->index, netdev_name(ndev));
		return -EADDRNOTAVAIL;
	}
	dst = ward_path_route(path);
	if (IS_ERR(dst)) {
		err = PTR_ERR(dst);
		path_info_ratelimited(path, "no route from %pI6 to %pI6: error %d\n",
				      sgid, path->dgid.raw, err);
		return err == -ENETUNREACH || err == -ENOMEM ? err : -EHOSTUNREACH;
	}
	dst_release(dst);
	return 0;
}

static int check(struct ward_path *path)
{
	int err;

	local_bh_disable();
	rcu_read_lock();
	err = check_rcu(path);
	rcu_read_unlock();
	local_bh_enable();
	return err;
}

static void fill(struct ward_path *path, const struct rdma_ah_attr *attr, u32 local_qpn,
		 u32 remote_qpn)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	path->dgid = grh->dgid;
	path->ipv6 = !is_v4(&grh->dgid);
	path->mcast = rdma_is_multicast_addr((struct in6_addr *)path->dgid.raw);
	addr_of_gid(&path->saddr, &grh->sgid_attr->gid, path->ipv6);
	addr_of_gid(&path->daddr, &grh->dgid, path->ipv6);
	path->sport = rdma_get_udp_sport(grh->flow_label, local_qpn, remote_qpn);
	path->tclass = grh->traffic_class;
	path->hops = grh->hop_limit ?: DEFAULT_HOPS;
	path->sl = rdma_ah_get_sl(attr);
	path->flow = grh->flow_label & 0xfffff;
	path->hash = udp_hash(path);
}

/**
 * ward_path_create() - resolve an address vector
 * @dev:        the device
 * @attr:       the address vector, with a GRH whose sgid_attr is set
 * @local_qpn:  QP number that will send, 0 for any: entropy of the UDP source port
 * @remote_qpn: QP number that will receive, 0 for any
 * @gfp:        how to allocate
 *
 * Context: any but hard interrupt, as far as @gfp allows; BH may be on.
 * Return: the path with one reference, -EINVAL for an address vector that cannot be meant,
 * -EADDRNOTAVAIL for a source that is no address of this host (a default GID that nobody
 * owns), -ENETUNREACH or -EHOSTUNREACH without a route, or -ENOMEM.
 */
struct ward_path *ward_path_create(struct ward_device *dev, const struct rdma_ah_attr *attr,
				   u32 local_qpn, u32 remote_qpn, gfp_t gfp)
{
	const struct ib_gid_attr *sgid;
	const union ib_gid *dgid;
	struct ward_path *path;
	int err;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return ERR_PTR(-EINVAL);
	sgid = rdma_ah_read_grh(attr)->sgid_attr;
	dgid = &rdma_ah_read_grh(attr)->dgid;
	if (!sgid || sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return ERR_PTR(-EINVAL);
	if (is_v4(&sgid->gid) != is_v4(dgid) || rdma_is_zero_gid(dgid))
		return ERR_PTR(-EINVAL);
	if (!is_v4(dgid) && !dev->net->sock6)
		return ERR_PTR(-EAFNOSUPPORT);

	path = ward_inject_fails(dev, WARD_AT_PATH) ? NULL : kzalloc(sizeof(*path), gfp);
	if (!path)
		return ERR_PTR(-ENOMEM);
	err = dst_cache_init(&path->cache, gfp);
	if (err) {
		kfree(path);
		return ERR_PTR(err);
	}
	kref_init(&path->ref);
	path->dev = dev;
	rdma_hold_gid_attr(sgid);
	path->sgid = sgid;
	fill(path, attr, local_qpn, remote_qpn);

	/* routes are not looked up with interrupts off, as ib_cm has them; then sending tells */
	err = gfpflags_allow_blocking(gfp) ? check(path) : 0;
	if (err) {
		ward_path_put(path);
		return ERR_PTR(err);
	}
	return path;
}

/**
 * ward_path_get() - one more reference
 * @path: a path that the caller has a reference of
 *
 * Context: any.
 */
void ward_path_get(struct ward_path *path)
{
	kref_get(&path->ref);
}

/**
 * ward_path_try_get() - a reference, unless the last one is gone
 * @path: a path found under RCU
 *
 * Context: any, under RCU.
 * Return: whether there is one more reference.
 */
bool ward_path_try_get(struct ward_path *path)
{
	return kref_get_unless_zero(&path->ref);
}

static void path_free(struct kref *ref)
{
	struct ward_path *path = container_of(ref, struct ward_path, ref);

	rdma_put_gid_attr(path->sgid);
	dst_cache_destroy(&path->cache);
	kfree_rcu(path, rcu);
}

/**
 * ward_path_put() - one reference less
 * @path: the path; NULL does nothing
 *
 * Context: any but hard interrupt.
 */
void ward_path_put(struct ward_path *path)
{
	if (path)
		kref_put(&path->ref, path_free);
}

/**
 * ward_path_query() - the address vector that a path was made from
 * @path: the path
 * @attr: to be filled; its sgid_attr is not referenced
 *
 * Context: any.
 */
void ward_path_query(const struct ward_path *path, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_sl(attr, path->sl);
	rdma_ah_set_grh(attr, (union ib_gid *)&path->dgid, path->flow, path->sgid->index,
			path->hops, path->tclass);
}

/* @len: from the BTH to the ICRC */
static void fill_udp(const struct ward_path *path, struct udphdr *uh, u32 len)
{
	uh->source = htons(path->sport);
	uh->dest = htons(WARD_UDP_PORT);
	uh->len = htons(sizeof(*uh) + len);
	uh->check = 0;		/* the ICRC does better; legal for IPv6, too (RFC 6935) */
}

static void fill_ip4(const struct ward_path *path, struct iphdr *ip, u16 id, u32 len)
{
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = path->tclass;
	ip->tot_len = htons(sizeof(*ip) + sizeof(struct udphdr) + len);
	ip->id = htons(id);
	ip->frag_off = htons(IP_DF);
	ip->ttl = path->hops;
	ip->protocol = IPPROTO_UDP;
	ip->check = 0;
	ip->saddr = path->saddr.in4.s_addr;
	ip->daddr = path->daddr.in4.s_addr;
}

static void fill_ip6(const struct ward_path *path, struct ipv6hdr *ip, u32 len)
{
	ip6_flow_hdr(ip, path->tclass, htonl(path->flow));
	ip->payload_len = htons(sizeof(struct udphdr) + len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = path->hops;
	ip->saddr = path->saddr.in6;
	ip->daddr = path->daddr.in6;
}

/**
 * ward_path_icrc_begin() - ICRC of the headers that ward_path_send() will write, and of the BTH
 * @path: where the packet will go
 * @id:   IPv4 identification, host order
 * @len:  bytes from the BTH to the ICRC, both included
 * @bth:  BTH, 12 bytes
 *
 * Context: any.
 * Return: the running CRC, see ward_icrc_begin().
 */
u32 ward_path_icrc_begin(const struct ward_path *path, u16 id, u32 len, const u8 *bth)
{
	union {
		struct iphdr	ip4;
		struct ipv6hdr	ip6;
	} ip;
	struct udphdr udp;

	fill_udp(path, &udp, len);
	if (path->ipv6)
		fill_ip6(path, &ip.ip6, len);
	else
		fill_ip4(path, &ip.ip4, id, len);
	return ward_icrc_begin(&ip, &udp, bth);
}

/* What a tunnel socket sends to a group is not looped back to members on this host */
static struct sock *sender(const struct ward_path *path, const struct socket *sock)
{
	return path->mcast ? NULL : sock->sk;
}

static int send4(struct ward_path *path, struct sk_buff *skb)
{
	return ip_local_out(net_of(path), sender(path, path->dev->net->sock4), skb);
}

static int send6(struct ward_path *path, struct sk_buff *skb)
{
	if (!IS_ENABLED(CONFIG_IPV6)) {
		kfree_skb(skb);
		return -EAFNOSUPPORT;
	}
	return ip6_local_out(net_of(path), sender(path, path->dev->net->sock6), skb);
}

static void push_headers(const struct ward_path *path, struct sk_buff *skb, u16 id)
{
	u32 len = skb->len;

	fill_udp(path, skb_push(skb, sizeof(struct udphdr)), len);
	skb_reset_transport_header(skb);
	if (path->ipv6) {
		fill_ip6(path, skb_push(skb, sizeof(struct ipv6hdr)), len);
		skb->protocol = htons(ETH_P_IPV6);
	} else {
		fill_ip4(path, skb_push(skb, sizeof(struct iphdr)), id, len);
		skb->protocol = htons(ETH_P_IP);
	}
	skb_reset_network_header(skb);
	memset(skb->cb, 0, sizeof(skb->cb));
}

/**
 * ward_path_write_headers() - write the headers of a packet that goes behind another one
 * @path: where to
 * @skb:  from the BTH to the ICRC, with WARD_HEADROOM in front
 * @id:   IPv4 identification, host order
 *
 * They stand in front of skb->data, where the network and transport headers are.
 *
 * Context: any.
 */
void ward_path_write_headers(const struct ward_path *path, struct sk_buff *skb, u16 id)
{
	push_headers(path, skb, id);
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb_pull(skb, skb_transport_offset(skb) + sizeof(struct udphdr));
}

/* More than the headers of Ethernet and a vlan or two; encapsulations ask for more */
#define TRAIN_HEADROOM	64

/**
 * ward_path_takes_trains() - whether packets may go along a path together
 * @path: the path
 *
 * An encapsulation on the way makes room in front of the first packet only, and writes in front
 * of all of them. WARD_HEADROOM is enough for one that nobody here can know of; known ones may
 * need any length.
 *
 * Context: BH off.
 * Return: whether they may.
 */
bool ward_path_takes_trains(struct ward_path *path)
{
	struct dst_entry *dst;
	bool may;

	rcu_read_lock();
	dst = ward_path_route(path);
	may = !IS_ERR(dst);
	if (may) {
		may = !dst->lwtstate && !dst_xfrm(dst) &&
		      LL_RESERVED_SPACE(READ_ONCE(dst->dev)) <= TRAIN_HEADROOM;
		dst_release(dst);
	}
	rcu_read_unlock();
	return may;
}

/**
 * ward_path_send() - send a packet, or a train of them (net/train.c)
 * @path: where to
 * @skb:  from the BTH to the ICRC, with WARD_HEADROOM in front; taken
 * @id:   IPv4 identification, host order: the one that the ICRC was made for
 *
 * The packet is never fragmented. It is not counted here.
 *
 * Context: BH off; no lock that a packet received on lo could need.
 * Return: 0, or a negative errno when the packet is known to be lost: -EMSGSIZE above the MTU
 * of the route, -ENOBUFS from a full queue, -EPERM from a filter, or there is no way.
 */
int ward_path_send(struct ward_path *path, struct sk_buff *skb, u16 id)
{
	u32 iphdr_len = path->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u32 len = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len;
	struct dst_entry *dst;
	int err;

	rcu_read_lock();
	dst = ward_path_route(path);
	if (IS_ERR(dst)) {
		err = PTR_ERR(dst);
		goto drop;
	}
	skb_dst_set(skb, dst);
	if (unlikely(iphdr_len + sizeof(struct udphdr) + len > dst_mtu(dst))) {
		err = -EMSGSIZE;
		goto drop;
	}

	push_headers(path, skb, id);
	skb->ip_summed = skb_is_gso(skb) ? CHECKSUM_UNNECESSARY : CHECKSUM_NONE;
	skb->priority = rt_tos2priority(path->tclass);
	__skb_set_sw_hash(skb, path->hash, true);

	err = path->ipv6 ? send6(path, skb) : send4(path, skb);
	rcu_read_unlock();
	return err > 0 ? net_xmit_errno(err) : err;

drop:
	rcu_read_unlock();
	kfree_skb(skb);
	return err;
}

/**
 * ward_path_is_from() - whether a packet came from where a path leads to
 * @path: the path
 * @skb:  a packet received, its network header that of IP
 *
 * Both addresses are compared; the UDP source port may be any.
 *
 * Context: any.
 * Return: whether it did.
 */
bool ward_path_is_from(const struct ward_path *path, const struct sk_buff *skb)
{
	if (ip_hdr(skb)->version == 4)
		return !path->ipv6 && ip_hdr(skb)->saddr == path->daddr.in4.s_addr &&
		       ip_hdr(skb)->daddr == path->saddr.in4.s_addr;
	return path->ipv6 && ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &path->daddr.in6) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &path->saddr.in6);
}

/**
 * ward_path_is_back() - whether a path leads back to where another comes from
 * @path:  the path
 * @there: the other one
 *
 * Context: any.
 * Return: whether it does.
 */
bool ward_path_is_back(const struct ward_path *path, const struct ward_path *there)
{
	if (path->ipv6 != there->ipv6)
		return false;
	if (!path->ipv6)
		return path->daddr.in4.s_addr == there->saddr.in4.s_addr &&
		       path->saddr.in4.s_addr == there->daddr.in4.s_addr;
	return ipv6_addr_equal(&path->daddr.in6, &there->saddr.in6) &&
	       ipv6_addr_equal(&path->saddr.in6, &there->daddr.in6);
}
