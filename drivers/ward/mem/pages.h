/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page lists: where the bytes of a registration are. A list is written by its
 * one owner while nobody else holds it, and constant from then on; it is
 * counted, because a posted REG_MR, the active registration and the memory
 * region may each hold the same one (rules F7 and F8).
 */
#ifndef _WARD_MEM_PAGES_H
#define _WARD_MEM_PAGES_H

#include <linux/gfp.h>
#include <linux/kref.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct ward_paging;

/* A run of bytes: @start is its offset in the registration */
struct ward_span {
	u64	start;
	u64	addr;
};

/**
 * struct ward_pages - a page list
 * @ref:    holders
 * @max:    room, in entries
 * @n:      entries in use
 * @shift:  log2 of the page size, when the list is one of equal, aligned pages;
 *          0: a list of spans of any size and alignment
 * @length: spans only: bytes in all
 * @paging: on-demand paging: who fills the holes in @addr, and makes them; else NULL
 * @addr:   pages: kernel virtual address of each
 * @span:   spans, by ascending start
 */
struct ward_pages {
	struct kref	ref;
	u32		max;
	u32		n;
	u8		shift;
	u64		length;
	struct ward_paging *paging;
	union {
		DECLARE_FLEX_ARRAY(u64, addr);
		DECLARE_FLEX_ARRAY(struct ward_span, span);
	};
};

struct ward_pages *ward_pages_alloc(u32 max, u8 shift, gfp_t gfp);
void ward_pages_put(struct ward_pages *pages);
int ward_pages_add_span(struct ward_pages *pages, u64 addr, u64 len);
void *ward_pages_at(const struct ward_pages *pages, u64 offset, u64 *contig);

static inline void ward_pages_get(struct ward_pages *pages)
{
	kref_get(&pages->ref);
}

/* ward_pages_shared() - whether anybody but the caller holds the list */
static inline bool ward_pages_shared(const struct ward_pages *pages)
{
	return kref_read(&pages->ref) > 1;
}

#endif /* _WARD_MEM_PAGES_H */
