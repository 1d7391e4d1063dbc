/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fast registration: alloc_mr, map_mr_sg and the REG_MR work request.
 *
 * The page list of struct ib_mr belongs to the CPU: map_mr_sg *stages* a list,
 * posting REG_MR takes it together with the address, length and key that the
 * ib_mr has at that moment, and only executing the work request makes it the
 * active registration. Whatever the CPU does to the ib_mr in between leaves
 * the active registration alone (F7).
 */
#ifndef _WARD_MEM_FASTREG_H
#define _WARD_MEM_FASTREG_H

#include "region.h"

/**
 * struct ward_reg - a registration, posted and not executed yet
 * @mr:     the region; compared, never dereferenced, until it has been looked up again by key
 * @pages:  page list, referenced
 * @iova:   address of the first byte
 * @length: bytes
 * @key:    new key
 * @access: IB_ACCESS_* rights
 */
struct ward_reg {
	struct ward_mr		*mr;
	struct ward_pages	*pages;
	u64			iova;
	u64			length;
	u32			key;
	int			access;
};

int ward_fastreg_prepare(struct ward_mr *mr, enum ib_mr_type type, u32 max_sg);
int ward_fastreg_map(struct ward_mr *mr, struct scatterlist *sg, int nents, unsigned int *offset);
int ward_reg_post(struct ward_reg *reg, struct ward_mr *mr, u32 key, int access);
enum ib_wc_status ward_reg_execute(struct ward_reg *reg, const struct ward_asker *who);

#endif /* _WARD_MEM_FASTREG_H */
