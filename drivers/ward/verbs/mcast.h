/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multicast groups: which QPs are attached to which.
 */
#ifndef _WARD_VERBS_MCAST_H
#define _WARD_VERBS_MCAST_H

#include <linux/mutex.h>
#include <linux/rculist.h>
#include <rdma/ib_verbs.h>

#define WARD_MCAST_HASH_BITS	6

/**
 * struct ward_groups - the groups of a device
 * @lock: all changes; taken sleeping, RTNL inside
 * @n:    groups there are
 * @hash: struct ward_group, read under RCU
 */
struct ward_groups {
	struct mutex		lock;	/* changes */
	u32			n;
	struct hlist_head	hash[1 << WARD_MCAST_HASH_BITS];
};

void ward_groups_init(struct ward_groups *groups);

extern const struct ib_device_ops ward_mcast_ops;

#endif /* _WARD_VERBS_MCAST_H */
