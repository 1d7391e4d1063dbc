// SPDX-License-Identifier: GPL-2.0
/*
 * Registrations of user memory. Its pages are pinned, and accounted, by the core; or they are
 * brought in on demand (paging.h); or they are a buffer of another device (dmabuf.h).
 */
#include <linux/ioport.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "../compat/umem.h"
#include "../verbs/device.h"
#include "dmabuf.h"
#include "pages.h"
#include "paging.h"
#include "user.h"

/* Where the pages of pinned memory are, or an error; @offset returns that of the first byte */
static struct ward_pages *list_pages(struct ib_umem *umem, u64 *offset)
{
	struct ib_block_iter block;
	struct ward_pages *pages;
	unsigned long page_size;

	/*
	 * Larger blocks where the memory is contiguous: a shorter list, longer copies. The core
	 * counts blocks from the address that it is given here, so that is where the memory is:
	 * the name that peers have for it may begin elsewhere in its page.
	 */
	page_size = ib_umem_find_best_pgsz(umem, GENMASK(30, PAGE_SHIFT), umem->address);
	if (!page_size)
		return ERR_PTR(-EINVAL);
	*offset = umem->address & (page_size - 1);
	pages = ward_pages_alloc(ib_umem_num_dma_blocks(umem, page_size), ilog2(page_size),
				 GFP_KERNEL);
	if (!pages)
		return ERR_PTR(-ENOMEM);
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

/* Pin memory. Return: its page list, or an error */
static struct ward_pages *pin(struct ward_device *dev, u64 start, u64 length, int access,
			      struct ward_backing *backing, u64 *offset)
{
	struct ib_umem *umem = ward_umem_get(&dev->ib, start, length, access);
	struct ward_pages *pages;

	if (IS_ERR(umem))
		return ERR_CAST(umem);
	pages = list_pages(umem, offset);
	if (!IS_ERR(pages) && (access & WARD_ACCESS_FLUSH_PERSISTENT) && !is_persistent(pages)) {
		ward_pages_put(pages);
		pages = ERR_PTR(-EINVAL);
	}
	if (IS_ERR(pages))
		ib_umem_release(umem);
	else
		backing->umem = umem;
	return pages;
}

/* Have memory paged on demand. Return: its page list, or an error */
static struct ward_pages *page(struct ward_device *dev, u64 start, u64 length, int access,
			       struct ward_backing *backing, u64 *offset)
{
	backing->paging = ward_paging_create(dev, start, length, access, offset);
	if (IS_ERR(backing->paging))
		return ERR_CAST(backing->paging);
	ward_pages_get(backing->paging->pages);
	return backing->paging->pages;
}

/**
 * ward_user_map() - make user memory the active registration, in place of another if there is one
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
int ward_user_map(struct ward_mr *mr, u64 start, u64 length, u64 iova, int access,
		  struct ib_pd *pd)
{
	struct ward_backing old = mr->backing, backing = {};
	struct ward_registration reg = {
		.key = mr->key,
		.access = access,
		.iova = iova,
		.length = length,
	};

	if (access & IB_ACCESS_ON_DEMAND)
		reg.pages = page(mr->dev, start, length, access, &backing, &reg.offset);
	else
		reg.pages = pin(mr->dev, start, length, access, &backing, &reg.offset);
	if (IS_ERR(reg.pages))
		return PTR_ERR(reg.pages);
	ward_mr_quiesce(mr);
	mr->backing = backing;
	mr->start = start;
	mr->ib.pd = pd;
	mr->pd_id = pd->res.id;
	ward_mr_activate(mr, &reg);
	ward_user_unmap(&old);
	return 0;
}

/**
 * ward_user_change() - change rights and PD of the active registration, and nothing else
 * @mr:     a region of user memory in state VALID
 * @access: IB_ACCESS_* rights; those to write only if it had them before
 * @pd:     protection domain
 *
 * When this returns, no access under the old rights or PD runs (F41).
 *
 * Context: may sleep.
 */
void ward_user_change(struct ward_mr *mr, int access, struct ib_pd *pd)
{
	struct ward_registration reg = {
		.key = mr->key,
		.access = access,
		.iova = mr->iova,
		.length = mr->length,
		.offset = mr->offset,
		.pages = mr->pages,
	};

	ward_pages_get(reg.pages);
	ward_mr_quiesce(mr);
	mr->ib.pd = pd;
	ward_mr_activate(mr, &reg);
}

/**
 * ward_user_unmap() - let go of what is below a region
 * @backing: of a region that has been put out of reach; or all NULL
 *
 * Context: may sleep.
 */
void ward_user_unmap(const struct ward_backing *backing)
{
	if (backing->umem)
		ib_umem_release(backing->umem);
	if (backing->paging)
		ward_paging_put(backing->paging);
	if (backing->dmabuf)
		ward_dmabuf_release(backing->dmabuf);
}
