/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registrations of a dma-buf: a buffer that another driver exports.
 */
#ifndef _WARD_MEM_DMABUF_H
#define _WARD_MEM_DMABUF_H

#include "region.h"

#ifdef CONFIG_DMA_SHARED_BUFFER
int ward_dmabuf_map(struct ward_mr *mr, int fd, u64 offset, u64 length, u64 iova, int access);
void ward_dmabuf_release(struct ward_dmabuf *dmabuf);
#else
static inline int ward_dmabuf_map(struct ward_mr *mr, int fd, u64 offset, u64 length, u64 iova,
				  int access)
{
	return -EOPNOTSUPP;
}

static inline void ward_dmabuf_release(struct ward_dmabuf *dmabuf) { }
#endif

#endif /* _WARD_MEM_DMABUF_H */
