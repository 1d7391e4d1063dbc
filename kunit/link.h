/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two netdevs joined by a wire, each in a namespace of its own, with a ward device on each:
 *
 *	(wk0, wardk0) 10.77.0.1 fd77::1 ----- 10.77.0.2 fd77::2 (wk1, wardk1)
 *
 * All of it is made as "ip link" and "rdma link" make it, by netlink messages.
 */
#ifndef _WARD_KUNIT_LINK_H
#define _WARD_KUNIT_LINK_H

#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include "../drivers/ward/watch/counters.h"

/**
 * struct link_end - one end of the wire
 * @net:    its namespace, referenced
 * @netdev: its netdev, referenced
 * @ibdev:  its RDMA device, referenced
 */
struct link_end {
	struct net		*net;
	struct net_device	*netdev;
	struct ib_device	*ibdev;
};

struct link {
	struct link_end end[2];
};

void link_use(const struct link_end *end, u32 path);
u64 link_count(const struct link_end *end, enum ward_counter id);
int link_address(struct link_end *end, int family, bool add);
int link_up(struct link *link);
void link_down(struct link *link);

#endif /* _WARD_KUNIT_LINK_H */
