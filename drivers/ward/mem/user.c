// SPDX-License-Identifier: GPL-2.0
/*
 * Registrations of user memory: the pages are pinned, and accounted, by the core.
 */
#include <linux/ioport.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "../compat/umem.h"
#include "pages.h"
#include "user.h"

/* Where the pages of pinned memory are; @offset returns that of the first byte */
static struct ward_pages *list_pages(struct ib_umem *umem, u64 iova, u64 *offset)
{
	struct ib_block_iter block;
	struct ward_pages *pages;
	unsigned long page_size;
	size_t blocks;

	/* larger blocks where the memory is contiguous: a shorter list, longer copies */
	page_size = ib_umem_find_best_pgsz(umem, GENMASK(30, PAGE_SHIFT), iova);
	if (page_size) {
		blocks = ib_umem_num_dma_blocks(umem, page_size);
		*offset = iova & (page_size - 1);
	} else {
		/* @iova lies elsewhere in its page than the memory does */
		page_size = PAGE_SIZE;
		blocks = ib_umem_num_pages(umem);
		*offset = ib_umem_offset(umem);
	}
	pages = ward_pages_alloc(blocks, ilog2(page_size), GFP_KERNEL);
	if (!pages)
		return NULL;
	rdma_umem_for_each_dma_block(umem, &block, page_size)
		pages->addr[pages->n++] = rdma_block_iter_dma_address(&block);
	return pages;
}

/* Only persistent memory can be made durable */
static bool is_persistent(const struct ward_pages *pages)
{
	u32 i;

	for (i = 0; i < pages->n; i++)
		if (region_intersects(__pa(pages->addr[i]), 1ULL << pages->shift, IORESOURCE_MEM,
				      IORES_DESC_PERSISTENT_MEMORY) != REGION_INTERSECTS)
			return false;
	return true;
}

/**
 * ward_user_repin() - pin user memory and make it the active registration in place of another
 * @mr:     a published region
 * @start:  user address
 * @length: bytes
 * @iova:   address by which work requests and peers name @start
 * @access: IB_ACCESS_* rights
 * @pd:     protection domain
 *
 * When this returns, no access under the old rights, PD or translation runs (F41).
 *
 * Context: may sleep, in the process whose memory it is.
 * Return: 0 or a negative errno; then the old registration stands.
 */
int ward_user_repin(struct ward_mr *mr, u64 start, u64 length, u64 iova, int access,
		    struct ib_pd *pd)
{
	struct ib_umem *old = mr->umem;
	struct ward_pages *pages;
	struct ib_umem *umem;
	u64 offset;

	umem = ward_umem_get(mr->ib.device, start, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	pages = list_pages(umem, iova, &offset);
	if (!pages) {
		ib_umem_release(umem);
		return -ENOMEM;
	}
	if ((access & WARD_ACCESS_FLUSH_PERSISTENT) && !is_persistent(pages)) {
		ward_pages_put(pages);
		ib_umem_release(umem);
		return -EINVAL;
	}
	ward_mr_quiesce(mr);
	mr->umem = umem;
	mr->start = start;
	mr->ib.pd = pd;
	mr->pd_id = pd->res.id;
	ward_mr_activate(mr, mr->key, access, iova, length, offset, pages);
	ward_user_unpin(old);
	return 0;
}

/**
 * ward_user_pin() - pin user memory and make it the active registration
 * @mr:     a published region in state FREE
 * @start:  user address
 * @length: bytes
 * @iova:   address by which work requests and peers name @start
 * @access: IB_ACCESS_* rights
 *
 * Context: may sleep, in the process whose memory it is.
 * Return: 0 or a negative errno.
 */
int ward_user_pin(struct ward_mr *mr, u64 start, u64 length, u64 iova, int access)
{
	return ward_user_repin(mr, start, length, iova, access, mr->ib.pd);
}

/**
 * ward_user_unpin() - let go of the pages
 * @umem: of a region that ward_mr_destroy() has put out of reach, or NULL
 *
 * Context: may sleep.
 */
void ward_user_unpin(struct ib_umem *umem)
{
	if (umem)
		ib_umem_release(umem);
}
