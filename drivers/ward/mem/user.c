// SPDX-License-Identifier: GPL-2.0
/*
 * Registrations of user memory: the pages are pinned, and accounted, by the core.
 */
#include <linux/log2.h>

#include "../compat/umem.h"
#include "pages.h"
#include "user.h"

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
	struct ib_block_iter block;
	struct ward_pages *pages;
	struct ib_umem *umem;
	unsigned long page_size;

	umem = ward_umem_get(mr->ib.device, start, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);

	/* larger blocks where the memory is contiguous: a shorter list, longer copies */
	page_size = ib_umem_find_best_pgsz(umem, GENMASK(30, PAGE_SHIFT), iova);
	if (!page_size)
		page_size = PAGE_SIZE;
	pages = ward_pages_alloc(ib_umem_num_dma_blocks(umem, page_size), ilog2(page_size),
				 GFP_KERNEL);
	if (!pages) {
		ib_umem_release(umem);
		return -ENOMEM;
	}
	rdma_umem_for_each_dma_block(umem, &block, page_size)
		pages->addr[pages->n++] = rdma_block_iter_dma_address(&block);

	mr->umem = umem;
	ward_mr_activate(mr, mr->key, access, iova, length, pages);
	return 0;
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
