/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IP multicast groups on the netdev of a device.
 */
#ifndef _WARD_NET_GROUP_H
#define _WARD_NET_GROUP_H

#include <rdma/ib_verbs.h>

struct net_device;

int ward_group_join(struct net_device *ndev, const union ib_gid *gid);
void ward_group_leave(struct net_device *ndev, const union ib_gid *gid);

#endif /* _WARD_NET_GROUP_H */
