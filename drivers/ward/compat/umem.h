/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pinned user memory and the walk over its blocks: rdma_umem_for_each_dma_block() stands in
 * <rdma/iter.h> where that exists (7.0; 6.1 and 6.12 have it by backport), else in
 * <rdma/ib_umem.h>.
 */
#ifndef _WARD_COMPAT_UMEM_H
#define _WARD_COMPAT_UMEM_H

#include <linux/hmm.h>
#include <linux/mm.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#ifdef __CHECKER__	/* sparse does not know __has_include; it is run where the file exists */
#include <rdma/iter.h>
#elif __has_include(<rdma/iter.h>)
#include <rdma/iter.h>
#endif

/*
 * Pages of an on-demand umem: addresses with two bits of rights in dma_list up to 6.15, of which a
 * device without DMA uses virtual ones; numbers of pages and rights in map.pfn_list since 6.16.
 *
 * ward_odp_addr() - where page @i is, with all rights in @access; 0: it is not there. Under the
 * mutex of the umem.
 */
#ifdef ODP_READ_ALLOWED_BIT
#define WARD_ODP_READ	ODP_READ_ALLOWED_BIT
#define WARD_ODP_WRITE	ODP_WRITE_ALLOWED_BIT

static inline u64 ward_odp_addr(const struct ib_umem_odp *umem, u64 i, u64 access)
{
	u64 entry = umem->dma_list[i];

	return (entry & access) == access ? entry & ODP_DMA_ADDR_MASK : 0;
}
#else
#define WARD_ODP_READ	HMM_PFN_VALID
#define WARD_ODP_WRITE	HMM_PFN_WRITE

static inline u64 ward_odp_addr(const struct ib_umem_odp *umem, u64 i, u64 access)
{
	unsigned long entry = umem->map.pfn_list[i];

	return (entry & access) == access ? (u64)page_address(hmm_pfn_to_page(entry)) : 0;
}
#endif

#endif /* _WARD_COMPAT_UMEM_H */
