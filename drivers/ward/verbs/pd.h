/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protection domains.
 */
#ifndef _WARD_VERBS_PD_H
#define _WARD_VERBS_PD_H

#include <rdma/ib_verbs.h>

/* A PD is nothing but an identity */
struct ward_pd {
	struct ib_pd	ib;
};

extern const struct ib_device_ops ward_pd_ops;

#endif /* _WARD_VERBS_PD_H */
