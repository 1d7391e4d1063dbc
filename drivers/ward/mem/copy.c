// SPDX-License-Identifier: GPL-2.0
/*
 * Copies into and out of registered memory.
 *
 * The guard of one region at a time is held from one packet of a run to the
 * next: see struct ward_access. All of this runs with BH off and never sleeps.
 */
#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/libnvdimm.h>
#include <linux/string.h>

#include "../watch/inject.h"
#include "../watch/trace.h"
#include "../watch/violations.h"
#include "copy.h"
#include "pages.h"

/**
 * ward_access_end() - let go of the region used last
 * @a: whose accesses
 *
 * Context: BH off.
 */
void ward_access_end(struct ward_access *a)
{
	if (a->mr) {
		if ((a->read | a->written) && (a->rights & WARD_REMOTE_RIGHTS))
			ward_exposure_used(a);
		if (a->paging)
			ward_paging_leave(a->paging);
		a->paging = NULL;
		ward_mr_leave(a->mr);
		a->mr = NULL;
		a->read = 0;
		a->written = 0;
	}
}

/* What a peer touches; what work requests do is told by other trace points */
static void trace_access(const struct ward_access *a, u32 key, u64 va, u64 len, int rights)
{
	if (rights & WARD_REMOTE_RIGHTS)
		trace_ward_access(a, key, va, len, rights, WARD_GRANTED);
}

/**
 * ward_access_begin() - be inside the guard of a region, with everything checked
 * @a:      whose access
 * @key:    lkey or R_key
 * @va:     first address
 * @len:    bytes
 * @rights: the IB_ACCESS_* rights it takes, 0 for a local read
 *
 * A refusal is counted and remembered.
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED, and a->mr is the region until the next call or ward_access_end().
 */
enum ward_refusal ward_access_begin(struct ward_access *a, u32 key, u64 va, u64 len, int rights)
{
	enum ward_refusal why = WARD_GRANTED;

	/* Inside the guard the registration cannot change, so only the range is new */
	if (a->mr && a->mr->key == key && a->rights == rights && !a->mr->closed_to_peers &&
	    ward_mr_in_range(a->mr, va, len) == WARD_GRANTED) {
		trace_access(a, key, va, len, rights);
		return WARD_GRANTED;
	}
	ward_access_end(a);
	a->mr = ward_mr_enter(&a->who, key, va, len, rights, &why);
	a->rights = rights;
	if (unlikely(why))
		ward_violation_add(a, key, va, len, rights, why);
	else
		trace_access(a, key, va, len, rights);
	return why;
}

/**
 * ward_access_page_in() - ward_access_ready() for a region with on-demand paging
 * @a:     see there
 * @va:    see there
 * @len:   see there
 * @ahead: see there
 *
 * Context: under RCU with BH off.
 * Return: see there.
 */
enum ward_refusal ward_access_page_in(struct ward_access *a, u64 va, u64 len, u64 ahead)
{
	struct ward_mr *mr = a->mr;
	struct ward_paging *paging = mr->pages->paging;
	u64 offset = mr->offset + (va - mr->iova);

	if (!a->paging && ward_paging_enter(paging))
		a->paging = paging;
	if (a->paging && ward_paging_has(paging, offset, len))
		return WARD_GRANTED;
	ahead = min(ahead, mr->length - (va - mr->iova));
	if (ward_fault_ask(a->fault, paging, offset, len, ahead))
		return WARD_PARKED;
	ward_violation_add(a, mr->key, va, len, a->rights, WARD_REFUSED_RANGE);
	return WARD_REFUSED_RANGE;
}

static void *at(const struct ward_mr *mr, u64 va, u64 *contig)
{
	if (!mr->pages) {
		*contig = U64_MAX;
		return (void *)(uintptr_t)va;
	}
	return ward_pages_at(mr->pages, mr->offset + (va - mr->iova), contig);
}

/**
 * ward_access_read() - copy out of the region
 * @a:   ward_access_begin() has granted these bytes
 * @va:  first address
 * @to:  where to
 * @len: bytes
 *
 * For this and the others that copy ward_access_ready() has granted them, too.
 */
void ward_access_read(struct ward_access *a, u64 va, void *to, u32 len)
{
	ward_inject_pause(a);
	a->read += len;
	while (len) {
		u64 contig;
		void *from = at(a->mr, va, &contig);
		u32 n = min_t(u64, len, contig);

		memcpy(to, from, n);
		to += n;
		va += n;
		len -= n;
	}
}

static bool write_part(const struct ward_mr *mr, u64 va, struct ward_source *src, u32 len)
{
	while (len) {
		u64 contig;
		void *to = at(mr, va, &contig);
		u32 n = min_t(u64, len, contig);

		if (!ward_source_read(src, to, n))
			return false;
		va += n;
		len -= n;
	}
	return true;
}

static void store_part(const struct ward_mr *mr, u64 va, const void *from, u32 len)
{
	while (len) {
		u64 contig;
		void *to = at(mr, va, &contig);
		u32 n = min_t(u64, len, contig);

		memcpy(to, from, n);
		from += n;
		va += n;
		len -= n;
	}
}

/**
 * ward_access_write() - copy bytes of a message into the region
 * @a:    ward_access_begin() has granted these bytes
 * @va:   first address
 * @src:  the bytes; moved on
 * @len:  how many
 * @last: these are the last bytes of the message: its last aligned word is stored after all
 *        the rest, because programs poll it (F37)
 *
 * Return: false when the source could not be read to the end, see ward_source_read().
 */
bool ward_access_write(struct ward_access *a, u64 va, struct ward_source *src, u32 len,
		       bool last)
{
	u32 head = len;

	ward_inject_pause(a);
	a->written += len;
	if (last && len)
		head = max_t(s64, 0, (s64)(ALIGN_DOWN(va + len - 1, sizeof(u64)) - va));
	if (!write_part(a->mr, va, src, head))
		return false;
	if (head == len)
		return true;
	/* pairs with the order in which a program that polls the last word reads */
	smp_wmb();
	ward_inject_pause_last(a);
	return write_part(a->mr, va + head, src, len - head);
}

/* Whether 8 bytes can be accessed at once: a span of SG_GAPS may end anywhere */
static bool is_word(const void *p, u64 contig)
{
	return IS_ALIGNED((uintptr_t)p, sizeof(u64)) && contig >= sizeof(u64);
}

/**
 * ward_access_atomic() - execute an atomic operation on 8 bytes
 * @a:        ward_access_begin() has granted these bytes
 * @va:       address
 * @swap:     compare and swap, else fetch and add
 * @compare:  what to compare with
 * @swap_add: what to swap in, or to add
 * @orig:     returns what was there before
 *
 * Atomic for whoever else uses atomic instructions there: other QPs, devices, and programs.
 *
 * Return: 0, or -EINVAL when the 8 bytes are not aligned in memory, or not in one piece there.
 */
int ward_access_atomic(struct ward_access *a, u64 va, bool swap, u64 compare, u64 swap_add,
		       u64 *orig)
{
	u64 contig;
	u64 *p = at(a->mr, va, &contig);

	ward_inject_pause(a);
	if (!is_word(p, contig))
		return -EINVAL;
	a->read += sizeof(*p);
	a->written += sizeof(*p);
	if (swap)
		*orig = cmpxchg64(p, compare, swap_add);
	else
		*orig = atomic64_fetch_add(swap_add, (atomic64_t *)p);
	return 0;
}

/**
 * ward_access_store() - store 8 bytes at once
 * @a:     ward_access_begin() has granted these bytes
 * @va:    address
 * @value: the bytes, in the order of memory
 *
 * Return: 0, or -EINVAL when the 8 bytes are not aligned in memory, or not in one piece there.
 */
int ward_access_store(struct ward_access *a, u64 va, u64 value)
{
	u64 contig;
	u64 *p = at(a->mr, va, &contig);

	ward_inject_pause(a);
	if (!is_word(p, contig))
		return -EINVAL;
	a->written += sizeof(*p);
	/* what was written before is visible to whoever sees the value */
	smp_store_release(p, value);
	return 0;
}

/**
 * ward_access_flush() - make what was written before visible, or durable
 * @a:      whose access
 * @rkey:   of the region
 * @va:     first address
 * @len:    bytes
 * @whole:  all of the region, whatever @va and @len say
 * @rights: WARD_ACCESS_FLUSH_GLOBAL, _PERSISTENT or both
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED, and it is done, or the reason of the refusal.
 */
enum ward_refusal ward_access_flush(struct ward_access *a, u32 rkey, u64 va, u64 len, bool whole,
				    int rights)
{
	enum ward_refusal why;

	if (whole) {
		const struct ward_mr *mr = ward_mr_find(a->who.dev, rkey);

		va = mr ? READ_ONCE(mr->iova) : 0;
		len = 0;
	}
	why = ward_access_begin(a, rkey, va, len, rights);
	if (why)
		return why;
	/* what has been entered may be a later registration than what has been looked at */
	if (whole) {
		va = a->mr->iova;
		len = a->mr->length;
	}
	/* memory is coherent: other CPUs see what ours has written before this */
	smp_mb();
	/* that memory is pinned */
	while ((rights & WARD_ACCESS_FLUSH_PERSISTENT) && len) {
		u64 contig;
		void *p = at(a->mr, va, &contig);
		u64 n = min(len, contig);

		arch_wb_cache_pmem(p, n);
		va += n;
		len -= n;
	}
	return WARD_GRANTED;
}

/* Put the cursor at @pos; forward is cheap */
static void seek(const struct ward_sge *sge, u32 num_sge, struct ward_cursor *cur, u32 pos)
{
	if (cur->pos > pos)
		*cur = (struct ward_cursor){};
	while (cur->sge < num_sge) {
		u32 left = sge[cur->sge].length - cur->off;

		if (pos - cur->pos < left) {
			cur->off += pos - cur->pos;
			cur->pos = pos;
			return;
		}
		cur->pos += left;
		cur->off = 0;
		cur->sge++;
	}
}

/**
 * ward_sges_read() - copy the next bytes of a work request out of its pieces
 * @a:       whose access
 * @sge:     the pieces
 * @num_sge: how many
 * @cur:     where to begin; moved on
 * @rights:  the rights it takes: 0, for what is a work request's own
 * @to:      where to
 * @len:     bytes; the caller knows that the pieces hold so many
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED; WARD_PARKED, and @cur is where it was; or why a piece may not be read. Then
 * some bytes may have been copied.
 */
enum ward_refusal ward_sges_read(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				 struct ward_cursor *cur, int rights, void *to, u32 len)
{
	struct ward_cursor begin = *cur;
	enum ward_refusal why;

	while (len) {
		const struct ward_sge *s;
		u32 n;

		seek(sge, num_sge, cur, cur->pos);
		if (cur->sge >= num_sge)
			return WARD_REFUSED_RANGE;
		s = &sge[cur->sge];
		n = min(len, s->length - cur->off);
		why = ward_access_begin(a, s->lkey, s->addr + cur->off, n, rights);
		if (!why)
			why = ward_access_ready(a, s->addr + cur->off, n, s->length - cur->off);
		if (why) {
			*cur = begin;
			return why;
		}
		ward_access_read(a, s->addr + cur->off, to, n);
		to += n;
		len -= n;
		cur->pos += n;
		cur->off += n;
	}
	return WARD_GRANTED;
}

/**
 * ward_source_read() - the next bytes of a message
 * @src: where they come from; moved on
 * @to:  where to
 * @len: how many
 *
 * Context: under RCU with BH off.
 * Return: false when a piece of memory may not be read, not any more, or not yet: then @src->why
 * tells, and some bytes may have been copied. A packet never fails.
 */
bool ward_source_read(struct ward_source *src, void *to, u32 len)
{
	if (src->skb) {
		/* cannot fail: the packet's length was checked when it was parsed */
		skb_copy_bits(src->skb, src->off, to, len);
		src->off += len;
	} else if (src->bytes) {
		memcpy(to, src->bytes + src->cur.pos, len);
		src->cur.pos += len;
	} else {
		src->why = ward_sges_read(src->access, src->sge, src->num_sge, &src->cur,
					  src->rights, to, len);
	}
	return !src->why;
}

/**
 * ward_source_check() - whether bytes of a message may be read now, before any is
 * @src: where they come from
 * @len: how many
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED, and of one piece it stays so until its access ends; or as ward_sges_read().
 */
enum ward_refusal ward_source_check(const struct ward_source *src, u32 len)
{
	struct ward_cursor cur = src->cur;
	enum ward_refusal why;

	if (src->skb || src->bytes)
		return WARD_GRANTED;
	while (len) {
		const struct ward_sge *s;
		u32 n;

		seek(src->sge, src->num_sge, &cur, cur.pos);
		if (cur.sge >= src->num_sge)
			return WARD_REFUSED_RANGE;
		s = &src->sge[cur.sge];
		n = min(len, s->length - cur.off);
		why = ward_access_begin(src->access, s->lkey, s->addr + cur.off, n, src->rights);
		if (!why)
			why = ward_access_ready(src->access, s->addr + cur.off, n,
						s->length - cur.off);
		if (why)
			return why;
		len -= n;
		cur.pos += n;
		cur.off += n;
	}
	return WARD_GRANTED;
}

/**
 * ward_sges_write() - copy bytes of a message into the pieces of a work request
 * @a:       whose access
 * @sge:     the pieces
 * @num_sge: how many
 * @cur:     a cursor for these pieces
 * @pos:     bytes from the start of the pieces at which to begin
 * @src:     the bytes; moved on
 * @len:     how many
 * @last:    these are the last bytes of the message (F37)
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED; WARD_PARKED; or why a piece may not be written. Then some bytes may have
 * been copied. When @src->why is set, it was the source that stopped it.
 */
enum ward_refusal ward_sges_write(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				  struct ward_cursor *cur, u32 pos, struct ward_source *src,
				  u32 len, bool last)
{
	enum ward_refusal why;

	while (len) {
		const struct ward_sge *s;
		u32 n;

		seek(sge, num_sge, cur, pos);
		if (cur->sge >= num_sge)
			return WARD_REFUSED_RANGE;
		s = &sge[cur->sge];
		n = min(len, s->length - cur->off);
		why = ward_access_begin(a, s->lkey, s->addr + cur->off, n, IB_ACCESS_LOCAL_WRITE);
		if (!why)
			why = ward_access_ready(a, s->addr + cur->off, n, s->length - cur->off);
		if (why)
			return why;
		if (!ward_access_write(a, s->addr + cur->off, src, n, last && n == len))
			return src->why;
		pos += n;
		len -= n;
	}
	return WARD_GRANTED;
}

/**
 * ward_sges_store() - store a few bytes at the start of the pieces of a work request
 * @a:       whose access
 * @sge:     the pieces
 * @num_sge: how many
 * @from:    the bytes
 * @len:     how many
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED; WARD_PARKED; or why a piece may not be written. Then some bytes may have
 * been stored.
 */
enum ward_refusal ward_sges_store(struct ward_access *a, const struct ward_sge *sge, u32 num_sge,
				  const void *from, u32 len)
{
	enum ward_refusal why;
	u32 i, n;

	for (i = 0; len && i < num_sge; i++) {
		n = min(len, sge[i].length);
		if (!n)
			continue;
		why = ward_access_begin(a, sge[i].lkey, sge[i].addr, n, IB_ACCESS_LOCAL_WRITE);
		if (!why)
			why = ward_access_ready(a, sge[i].addr, n, n);
		if (why)
			return why;
		ward_inject_pause(a);
		store_part(a->mr, sge[i].addr, from, n);
		from += n;
		len -= n;
	}
	return len ? WARD_REFUSED_RANGE : WARD_GRANTED;
}
