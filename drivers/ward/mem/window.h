/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory windows: a part of a region, with rights of its own, under a key of
 * its own. A window is a struct ward_mr whose page list is that of the region
 * below it, so every rule of regions holds for it: it is exposed when it is
 * bound, and unbinding, rebinding and freeing it are fences (F40).
 */
#ifndef _WARD_MEM_WINDOW_H
#define _WARD_MEM_WINDOW_H

#include "region.h"

/**
 * struct ward_bind - what a bind work request asks for
 * @mw_key: the window's present key
 * @key:    the key that it shall have; only the low 8 bits may differ
 * @lkey:   of the region below
 * @addr:   first address
 * @length: bytes; 0 unbinds a window of type 1
 * @access: IB_ACCESS_* rights
 */
struct ward_bind {
	u32	mw_key;
	u32	key;
	u32	lkey;
	u64	addr;
	u64	length;
	int	access;
};

struct ward_mr *ward_window_judge(const struct ward_bind *bind, const struct ward_asker *who);
int ward_window_bind(struct ward_mr *mw, const struct ward_bind *bind,
		     const struct ward_asker *who);

#endif /* _WARD_MEM_WINDOW_H */
