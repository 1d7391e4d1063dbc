/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _WARD_VERBS_MW_H
#define _WARD_VERBS_MW_H

#include <rdma/ib_verbs.h>

struct ward_mr;

/* The core's window, and what it is to us */
struct ward_mw {
	struct ib_mw	ib;
	struct ward_mr	*region;
};

extern const struct ib_device_ops ward_mw_ops;

#endif /* _WARD_VERBS_MW_H */
