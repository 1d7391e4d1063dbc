/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies into and out of registered memory.
 */
#ifndef _WARD_MEM_COPY_H
#define _WARD_MEM_COPY_H

#include <linux/skbuff.h>

#include "pages.h"
#include "paging.h"
#include "region.h"

/* A piece of local memory in a work request */
struct ward_sge {
	u64	addr;
	u32	length;
	u32	lkey;
};

/**
 * struct ward_cursor - a place in a list of pieces, so that the next packet need not search
 * @pos: bytes from the start of the list
 * @sge: the piece that @pos is in
 * @off: bytes into that piece
 */
struct ward_cursor {
	u32	pos;
	u32	sge;
	u32	off;
};

/**
 * struct ward_access - whose accesses these are, and the region used last
 * @who:  who asks
 * @mr:   region whose guard is held, kept from one packet to the next; NULL: none
 * @rights: the IB_ACCESS_* rights for which @mr was entered
 * @psn:  of the packet that is worked off, for those who watch
 * @read: bytes copied out of @mr since it was entered
 * @written: bytes copied into it
 * @paging: guard of pages of @mr that is held as well; NULL: none
 * @fault:  of the QP, where an access waits for pages
 * @hold: number of the rule that holds the next copy; 0: none (watch/inject.h)
 * @hold_last: likewise, before the last word of a message
 *
 * ward_access_end() lets go of @mr: at the end of a run of packets, and before an invalidate is
 * executed.
 */
struct ward_access {
	struct ward_asker	who;
	struct ward_mr		*mr;
	int			rights;
	u32			psn;
	u64			read;
	u64			written;
	struct ward_paging	*paging;
	struct ward_fault	*fault;
	u32			hold;
	u32			hold_last;
};

/**
 * struct ward_source - where the bytes of a message come from, in order
 * @skb:     a packet, or NULL
 * @off:     packet: where the next byte is, from skb->data
 * @bytes:   inline data of a work request of this host, or NULL
 * @access:  otherwise registered memory of this host: whose access it is
 * @rights:  and which rights it takes
 * @sge:     the pieces
 * @num_sge: how many
 * @cur:     where the next byte is in them, or in @bytes
 * @why:     a piece might not be read: the copy ended there
 */
struct ward_source {
	const struct sk_buff	*skb;
	u32			off;
	const u8		*bytes;
	struct ward_access	*access;
	int			rights;
	const struct ward_sge	*sge;
	u32			num_sge;
	struct ward_cursor	cur;
	enum ward_refusal	why;
};

bool ward_source_read(struct ward_source *src, void *to, u32 len);
enum ward_refusal ward_source_check(const struct ward_source *src, u32 len);

enum ward_refusal ward_access_begin(struct ward_access *a, u32 key, u64 va, u64 len, int rights);
enum ward_refusal ward_access_page_in(struct ward_access *a, u64 va, u64 len, u64 ahead);

/**
 * ward_access_ready() - have the pages there, before bytes are copied
 * @a:     ward_access_begin() has granted these bytes
 * @va:    first address
 * @len:   bytes, at least 1
 * @ahead: bytes that the message will touch from @va on, as far as is known; at least @len
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED; WARD_PARKED when the QP has to wait for them, then the caller undoes what
 * it has begun, and leaves; WARD_REFUSED_RANGE when they cannot be had.
 */
static inline enum ward_refusal ward_access_ready(struct ward_access *a, u64 va, u64 len,
						  u64 ahead)
{
	if (static_branch_unlikely(&ward_paging_used) && a->mr->pages && a->mr->pages->paging)
		return ward_access_page_in(a, va, len, ahead);
	return WARD_GRANTED;
}

void ward_access_end(struct ward_access *a);
void ward_access_read(struct ward_access *a, u64 va, void *to, u32 len);
int ward_access_atomic(struct ward_access *a, u64 va, bool swap, u64 compare, u64 swap_add,
		       u64 *orig);
int ward_access_store(struct ward_access *a, u64 va, u64 value);
enum ward_refusal ward_access_flush(struct ward_access *a, u32 rkey, u64 va, u64 len, bool whole,
				    int rights);
bool ward_access_write(struct ward_access *a, u64 va, struct ward_source *src, u32 len,
		       bool last);

enum ward_refusal ward_sges_read(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				 struct ward_cursor *cur, int rights, void *to, u32 len);
enum ward_refusal ward_sges_write(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				  struct ward_cursor *cur, u32 pos, struct ward_source *src,
				  u32 len, bool last);
enum ward_refusal ward_sges_store(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				  const void *from, u32 len);

#endif /* _WARD_MEM_COPY_H */
