/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies between packets and registered memory.
 */
#ifndef _WARD_MEM_COPY_H
#define _WARD_MEM_COPY_H

#include <linux/skbuff.h>

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
};

enum ward_refusal ward_access_begin(struct ward_access *a, u32 key, u64 va, u64 len, int rights);
void ward_access_end(struct ward_access *a);
void ward_access_read(struct ward_access *a, u64 va, void *to, u32 len);
int ward_access_atomic(struct ward_access *a, u64 va, bool swap, u64 compare, u64 swap_add,
		       u64 *orig);
int ward_access_store(struct ward_access *a, u64 va, u64 value);
enum ward_refusal ward_access_flush(struct ward_access *a, u32 rkey, u64 va, u64 len, bool whole,
				    int rights);
void ward_access_write(struct ward_access *a, u64 va, const struct sk_buff *skb,
		       u32 skb_off, u32 len, bool last);

enum ward_refusal ward_sges_read(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				 struct ward_cursor *cur, void *to, u32 len);
enum ward_refusal ward_sges_write(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				  struct ward_cursor *cur, u32 pos, const struct sk_buff *skb,
				  u32 skb_off, u32 len, bool last);
enum ward_refusal ward_sges_store(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				  const void *from, u32 len);

#endif /* _WARD_MEM_COPY_H */
