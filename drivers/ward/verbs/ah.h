/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Address handles.
 */
#ifndef _WARD_VERBS_AH_H
#define _WARD_VERBS_AH_H

#include <linux/rcupdate.h>
#include <rdma/ib_verbs.h>

struct ward_device;
struct ward_path;

/**
 * struct ward_ah - an address handle
 * @ib:   the core's part
 * @path: where it leads; exchanged by modify_ah, read under RCU
 * @num:  its number: a process has it in work requests. 0: none, as there was no memory
 */
struct ward_ah {
	struct ib_ah			ib;
	struct ward_path __rcu		*path;
	u32				num;
};

static inline struct ward_ah *to_ward_ah(struct ib_ah *ah)
{
	return container_of(ah, struct ward_ah, ib);
}

struct ward_path *ward_ah_get_path(struct ward_ah *ah);
struct ward_path *ward_ah_path(struct ward_device *dev, u32 num, const struct ib_pd *pd);

extern const struct ib_device_ops ward_ah_ops;

#endif /* _WARD_VERBS_AH_H */
