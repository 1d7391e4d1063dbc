/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pinned user memory and the walk over its blocks: rdma_umem_for_each_dma_block() stands in
 * <rdma/iter.h> where that exists (7.0; 6.1 and 6.12 have it by backport), else in
 * <rdma/ib_umem.h>.
 */
#ifndef _WARD_COMPAT_UMEM_H
#define _WARD_COMPAT_UMEM_H

#include <rdma/ib_umem.h>
#ifdef __CHECKER__	/* sparse does not know __has_include; it is run where the file exists */
#include <rdma/iter.h>
#elif __has_include(<rdma/iter.h>)
#include <rdma/iter.h>
#endif

#endif /* _WARD_COMPAT_UMEM_H */
