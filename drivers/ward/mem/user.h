/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registrations of user memory.
 */
#ifndef _WARD_MEM_USER_H
#define _WARD_MEM_USER_H

#include "region.h"

int ward_user_map(struct ward_mr *mr, u64 start, u64 length, u64 iova, int access,
		  struct ib_pd *pd);
void ward_user_change(struct ward_mr *mr, int access, struct ib_pd *pd);
void ward_user_unmap(const struct ward_backing *backing);

#endif /* _WARD_MEM_USER_H */
