/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device and its port say about themselves.
 */
#ifndef _WARD_VERBS_QUERY_H
#define _WARD_VERBS_QUERY_H

#include <rdma/ib_verbs.h>

enum ib_port_state ward_port_state(const struct net_device *ndev);

extern const struct ib_device_ops ward_query_ops;

#endif /* _WARD_VERBS_QUERY_H */
