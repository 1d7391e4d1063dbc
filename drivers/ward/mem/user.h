/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registrations of user memory.
 */
#ifndef _WARD_MEM_USER_H
#define _WARD_MEM_USER_H

#include "region.h"

int ward_user_pin(struct ward_mr *mr, u64 start, u64 length, u64 iova, int access);
int ward_user_repin(struct ward_mr *mr, u64 start, u64 length, u64 iova, int access,
		    struct ib_pd *pd);
void ward_user_unpin(struct ib_umem *umem);

#endif /* _WARD_MEM_USER_H */
