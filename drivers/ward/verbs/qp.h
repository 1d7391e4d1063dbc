/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _WARD_VERBS_QP_H
#define _WARD_VERBS_QP_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops ward_qp_ops;

#endif /* _WARD_VERBS_QP_H */
