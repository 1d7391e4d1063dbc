/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Management datagrams that the device answers itself.
 */
#ifndef _WARD_VERBS_MAD_H
#define _WARD_VERBS_MAD_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops ward_mad_ops;

#endif /* _WARD_VERBS_MAD_H */
