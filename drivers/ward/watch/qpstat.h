/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of the core that QPs are bound to.
 */
#ifndef _WARD_WATCH_QPSTAT_H
#define _WARD_WATCH_QPSTAT_H

#include <rdma/ib_verbs.h>

struct ward_device;

void ward_qpstat_rest(struct ward_device *dev, u64 *value);

extern const struct ib_device_ops ward_qpstat_ops;

#endif /* _WARD_WATCH_QPSTAT_H */
