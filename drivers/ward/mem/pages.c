// SPDX-License-Identifier: GPL-2.0
/*
 * Page lists.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "pages.h"

/**
 * ward_pages_alloc() - make an empty list
 * @max:   room for so many entries, at least 1
 * @shift: log2 of the page size, 0 for spans
 * @gfp:   GFP_ATOMIC where the caller may not sleep
 *
 * Return: a list that the caller holds, or NULL.
 */
struct ward_pages *ward_pages_alloc(u32 max, u8 shift, gfp_t gfp)
{
	struct ward_pages *pages;
	size_t size;

	size = shift ? struct_size(pages, addr, max) : struct_size(pages, span, max);
	pages = gfpflags_allow_blocking(gfp) ? kvmalloc(size, gfp) : kmalloc(size, gfp);
	if (!pages)
		return NULL;
	kref_init(&pages->ref);
	pages->max = max;
	pages->n = 0;
	pages->shift = shift;
	pages->length = 0;
	pages->paging = NULL;
	return pages;
}

static void pages_free(struct kref *ref)
{
	kvfree(container_of(ref, struct ward_pages, ref));
}

/**
 * ward_pages_put() - let go of a list
 * @pages: the list, or NULL
 *
 * Context: any but hard interrupt.
 */
void ward_pages_put(struct ward_pages *pages)
{
	if (pages)
		kref_put(&pages->ref, pages_free);
}

/**
 * ward_pages_add_span() - append bytes to a list of spans
 * @pages: the list; held by the caller alone
 * @addr:  kernel virtual address
 * @len:   bytes
 *
 * Bytes that follow the last span in memory extend it.
 *
 * Return: 0, or -ENOSPC when the list is full.
 */
int ward_pages_add_span(struct ward_pages *pages, u64 addr, u64 len)
{
	struct ward_span *last = pages->n ? &pages->span[pages->n - 1] : NULL;

	if (last && last->addr + (pages->length - last->start) == addr) {
		pages->length += len;
		return 0;
	}
	if (pages->n == pages->max)
		return -ENOSPC;
	pages->span[pages->n++] = (struct ward_span){ .start = pages->length, .addr = addr };
	pages->length += len;
	return 0;
}

static void *span_at(const struct ward_pages *pages, u64 offset, u64 *contig)
{
	u32 lo = 0, hi = pages->n;
	u64 end;

	/* the last span that does not start behind offset */
	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (pages->span[mid].start <= offset)
			lo = mid;
		else
			hi = mid;
	}
	end = lo + 1 < pages->n ? pages->span[lo + 1].start : pages->length;
	*contig = end - offset;
	return (void *)(uintptr_t)(pages->span[lo].addr + (offset - pages->span[lo].start));
}

/**
 * ward_pages_at() - find a byte
 * @pages:  the list
 * @offset: bytes from the start of the first entry; inside the list, which the caller has checked
 * @contig: returns how many bytes from there on are contiguous
 *
 * Context: any; the caller holds the list, directly or through a guard.
 * Return: where the byte is.
 */
void *ward_pages_at(const struct ward_pages *pages, u64 offset, u64 *contig)
{
	u64 in_page;

	if (!pages->shift)
		return span_at(pages, offset, contig);
	in_page = offset & ((1ULL << pages->shift) - 1);
	*contig = (1ULL << pages->shift) - in_page;
	return (void *)(uintptr_t)(pages->addr[offset >> pages->shift] + in_page);
}
