/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way to a peer: addresses, cached route, and packets out.
 */
#ifndef _WARD_NET_PATH_H
#define _WARD_NET_PATH_H

#include <linux/kref.h>
#include <linux/skbuff.h>
#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>

struct ward_device;

/* In front of the BTH: UDP, IP, link layer, and every encapsulation that a path may add unseen */
#define WARD_HEADROOM	(8 + 40 + 128)

/* An address of either family, as struct ward_path.ipv6 tells */
union ward_addr {
	struct in_addr	in4;
	struct in6_addr	in6;
};

/**
 * struct ward_path - an address vector, resolved
 * @ref:      work requests hold their own reference (an AH may be destroyed at any time)
 * @rcu:      freed after those who look user AHs up
 * @dev:      the device, which outlives its paths
 * @pd:       AH: its PD; NULL otherwise. Set by the creator before others see the path
 * @pd_id:    its number, which a reader of the path may outlive
 * @sgid:     source GID entry, referenced; its netdev is the one that sends (a vlan's, say)
 * @dgid:     destination GID
 * @ipv6:     address family of both GIDs
 * @mcast:    it leads to a group
 * @saddr:    source, in the family of @ipv6
 * @daddr:    destination
 * @sport:    UDP source port, host order: entropy for the path
 * @tclass:   traffic class or TOS
 * @hops:     hop limit or TTL, never 0
 * @sl:       service level: kept for queries only
 * @flow:     flow label
 * @hash:     of the flow, for the choice of a transmit queue
 * @cache:    the route
 *
 * Constant after ward_path_create(), but for @pd, @pd_id and the cache.
 */
struct ward_path {
	struct kref			ref;
	struct rcu_head			rcu;
	struct ward_device		*dev;
	struct ib_pd			*pd;
	u32				pd_id;
	const struct ib_gid_attr	*sgid;
	union ib_gid			dgid;
	bool				ipv6;
	bool				mcast;
	union ward_addr			saddr, daddr;
	u16				sport;
	u8				tclass;
	u8				hops;
	u8				sl;
	u32				flow;
	u32				hash;
	struct dst_cache		cache;
};

struct ward_path *ward_path_create(struct ward_device *dev, const struct rdma_ah_attr *attr,
				   u32 local_qpn, u32 remote_qpn, gfp_t gfp);
void ward_path_get(struct ward_path *path);
bool ward_path_try_get(struct ward_path *path);
void ward_path_put(struct ward_path *path);
void ward_path_query(const struct ward_path *path, struct rdma_ah_attr *attr);
u32 ward_path_icrc_begin(const struct ward_path *path, u16 id, u32 len, const u8 *bth);
void ward_path_write_headers(const struct ward_path *path, struct sk_buff *skb, u16 id);
bool ward_path_takes_trains(struct ward_path *path);
int ward_path_send(struct ward_path *path, struct sk_buff *skb, u16 id);
struct dst_entry *ward_path_route(struct ward_path *path);
struct net_device *ward_path_netdev(const struct ward_path *path);
bool ward_path_is_back(const struct ward_path *path, const struct ward_path *there);
bool ward_path_is_from(const struct ward_path *path, const struct sk_buff *skb);

#endif /* _WARD_NET_PATH_H */
