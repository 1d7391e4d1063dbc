/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Driver details of `rdma resource show`.
 */
#ifndef _WARD_WATCH_RESOURCE_H
#define _WARD_WATCH_RESOURCE_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops ward_resource_ops;

#endif /* _WARD_WATCH_RESOURCE_H */
