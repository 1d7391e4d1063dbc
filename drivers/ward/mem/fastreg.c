// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration.
 */
#include <linux/log2.h>
#include <linux/scatterlist.h>

#include "../verbs/device.h"
#include "../watch/inject.h"
#include "fastreg.h"
#include "pages.h"

/**
 * ward_fastreg_prepare() - get a region ready for map_mr_sg
 * @mr:     a region of WARD_KIND_FASTREG, not published
 * @type:   IB_MR_TYPE_MEM_REG or IB_MR_TYPE_SG_GAPS
 * @max_sg: pages or scatterlist entries that it shall hold
 *
 * Two page lists: one can be active while the other is staged, and map_mr_sg, which may not
 * sleep, finds a free one.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM. The lists go with the region.
 */
int ward_fastreg_prepare(struct ward_mr *mr, enum ib_mr_type type, u32 max_sg)
{
	u8 shift = type == IB_MR_TYPE_SG_GAPS ? 0 : PAGE_SHIFT;
	int i;

	for (i = 0; i < 2; i++) {
		mr->list[i] = ward_inject_fails(mr->dev, WARD_AT_PAGES) ? NULL :
			      ward_pages_alloc(max_sg, shift, GFP_KERNEL);
		if (!mr->list[i])
			return -ENOMEM;
	}
	return 0;
}

/* A page list that nobody else holds, as the staged one */
static struct ward_pages *stage(struct ward_mr *mr)
{
	struct ward_pages *pages = mr->list[mr->staged];

	if (ward_pages_shared(pages)) {
		mr->staged = !mr->staged;
		pages = mr->list[mr->staged];
	}
	if (ward_pages_shared(pages)) {
		/* one is active, one posted: rare, it takes a second map before REG_MR executes */
		pages = ward_inject_fails(mr->dev, WARD_AT_STAGE) ? NULL :
			ward_pages_alloc(pages->max, pages->shift, GFP_ATOMIC);
		if (!pages)
			return NULL;
		ward_pages_put(mr->list[mr->staged]);
		mr->list[mr->staged] = pages;
	}
	pages->n = 0;
	pages->length = 0;
	return pages;
}

static int set_page(struct ib_mr *ibmr, u64 addr)
{
	struct ward_mr *mr = to_ward_mr(ibmr);
	struct ward_pages *pages = mr->list[mr->staged];

	if (pages->n == pages->max)
		return -ENOMEM;
	pages->addr[pages->n++] = addr;
	return 0;
}

static int map_spans(struct ward_mr *mr, struct ward_pages *pages, struct scatterlist *sgl,
		     int nents, unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i) {
		if (ward_pages_add_span(pages, sg_dma_address(sg) + skip, sg_dma_len(sg) - skip))
			break;
		if (!i)
			mr->ib.iova = sg_dma_address(sg) + skip;
		skip = 0;
	}
	mr->ib.length = pages->length;
	if (offset && i)
		*offset = 0;
	return i;
}

/**
 * ward_fastreg_map() - stage a scatterlist (the map_mr_sg verb)
 * @mr:     the region; mr->ib.page_size is set
 * @sg:     scatterlist, DMA-mapped
 * @nents:  its entries
 * @offset: bytes to skip in the first entry, or NULL; returns where mapping stopped
 *
 * Context: any; the consumer calls it for one region once at a time.
 * Return: how many entries were mapped, or a negative errno.
 */
int ward_fastreg_map(struct ward_mr *mr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct ward_pages *pages;

	if (mr->kind != WARD_KIND_FASTREG || !is_power_of_2(mr->ib.page_size) ||
	    mr->ib.page_size < SZ_4K)
		return -EINVAL;
	pages = stage(mr);
	if (!pages)
		return -ENOMEM;
	if (mr->ib.type == IB_MR_TYPE_SG_GAPS)
		return map_spans(mr, pages, sg, nents, offset);
	pages->shift = ilog2(mr->ib.page_size);
	return ib_sg_to_pages(&mr->ib, sg, nents, offset, set_page);
}

/**
 * ward_reg_post() - take what a REG_MR work request registers
 * @reg:    filled in
 * @mr:     the region
 * @key:    the key that it shall have
 * @access: the rights
 *
 * Whether the request is legal is judged when it executes, so that the consumer gets its
 * completion (F10).
 *
 * Context: any.
 * Return: 0, or -EINVAL for a region that is not of alloc_mr.
 */
int ward_reg_post(struct ward_reg *reg, struct ward_mr *mr, u32 key, int access)
{
	if (mr->kind != WARD_KIND_FASTREG)
		return -EINVAL;
	*reg = (struct ward_reg){
		.mr = mr,
		.pages = mr->list[mr->staged],
		.iova = mr->ib.iova,
		.length = mr->ib.length,
		.key = key,
		.access = access,
	};
	ward_pages_get(reg->pages);
	return 0;
}

static bool access_is_legal(int access)
{
	const int known = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_RELAXED_ORDERING;

	if (access & ~known & ~IB_ACCESS_OPTIONAL)
		return false;
	return !(access & IB_ACCESS_REMOTE_WRITE) || (access & IB_ACCESS_LOCAL_WRITE);
}

/* Where in its page list the first byte is */
static u64 offset_of(const struct ward_reg *reg)
{
	return reg->pages->shift ? reg->iova & ((1ULL << reg->pages->shift) - 1) : 0;
}

/* Does the list hold all of the bytes? It does not when REG_MR comes before any map_mr_sg. */
static bool pages_cover(const struct ward_reg *reg)
{
	const struct ward_pages *pages = reg->pages;

	if (!pages->n || !reg->length)
		return false;
	if (!pages->shift)
		return reg->length <= pages->length;
	return offset_of(reg) + reg->length <= (u64)pages->n << pages->shift;
}

/**
 * ward_reg_execute() - make a posted registration the active one
 * @reg: from ward_reg_post(); the reference to the page list is used up
 * @who: the QP
 *
 * Rules F6, F9 and F10. With the link option strict it can be reached through this QP only.
 *
 * Context: BH off.
 * Return: IB_WC_SUCCESS or IB_WC_LOC_QP_OP_ERR, when nothing has changed.
 */
enum ib_wc_status ward_reg_execute(struct ward_reg *reg, const struct ward_asker *who)
{
	struct ward_registration active = {
		.key = reg->key,
		.access = reg->access,
		.iova = reg->iova,
		.length = reg->length,
		.offset = offset_of(reg),
		.pages = reg->pages,
		.qpn = ward_option(who->dev, STRICT) ? who->qpn : 0,
		.via = who->qpn,
	};
	enum ib_wc_status status = IB_WC_LOC_QP_OP_ERR;
	struct ward_mr *mr;

	rcu_read_lock();
	mr = ward_mr_find(who->dev, reg->key);
	if (mr && mr == reg->mr && mr->ib.pd == who->pd && access_is_legal(reg->access) &&
	    pages_cover(reg) && ward_mr_activate(mr, &active)) {
		ward_count(who->dev, MR_REG);
		status = IB_WC_SUCCESS;
	} else {
		ward_pages_put(reg->pages);
	}
	reg->pages = NULL;
	rcu_read_unlock();
	return status;
}
