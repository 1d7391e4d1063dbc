// SPDX-License-Identifier: GPL-2.0
/*
 * Registrations of a dma-buf.
 *
 * A device in software reads and writes with the CPU, so it wants the buffer where the CPU sees
 * it: mapped into the kernel. While it is, its exporter keeps it where it is. So nothing is ever
 * moved away from under a region, there is no move_notify to obey (F42), and deregistering is the
 * fence that it is for any region (F19). Exporters that cannot map, since their memory is that of
 * a device, are refused.
 */
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "dmabuf.h"
#include "pages.h"

WARD_IMPORT_DMA_BUF;

/**
 * struct ward_dmabuf - a buffer that is mapped
 * @buf: the buffer, referenced
 * @map: where it is
 */
struct ward_dmabuf {
	struct dma_buf		*buf;
	struct iosys_map	map;
};

/* Takes over a reference of @buf, also when it fails */
static struct ward_dmabuf *map(struct dma_buf *buf)
{
	struct ward_dmabuf *dmabuf = kzalloc(sizeof(*dmabuf), GFP_KERNEL);
	int err = -ENOMEM;

	if (!dmabuf)
		goto err_put;
	dmabuf->buf = buf;
	err = ward_dma_buf_vmap(buf, &dmabuf->map);
	if (err)
		goto err_free;
	if (dmabuf->map.is_iomem) {
		err = -EOPNOTSUPP;
		goto err_unmap;
	}
	/* as long as it is registered the CPU may access it at any time */
	err = dma_buf_begin_cpu_access(buf, DMA_BIDIRECTIONAL);
	if (err)
		goto err_unmap;
	return dmabuf;

err_unmap:
	ward_dma_buf_vunmap(buf, &dmabuf->map);
err_free:
	kfree(dmabuf);
err_put:
	dma_buf_put(buf);
	return ERR_PTR(err);
}

/**
 * ward_dmabuf_release() - let go of a buffer
 * @dmabuf: of a region that has been put out of reach
 *
 * Context: may sleep.
 */
void ward_dmabuf_release(struct ward_dmabuf *dmabuf)
{
	dma_buf_end_cpu_access(dmabuf->buf, DMA_BIDIRECTIONAL);
	ward_dma_buf_vunmap(dmabuf->buf, &dmabuf->map);
	dma_buf_put(dmabuf->buf);
	kfree(dmabuf);
}

/**
 * ward_dmabuf_map() - make a part of a dma-buf the active registration
 * @mr:     a published region in state FREE
 * @fd:     file descriptor of the buffer
 * @offset: of the part
 * @length: bytes
 * @iova:   address by which work requests and peers name its first byte
 * @access: IB_ACCESS_* rights
 *
 * Context: may sleep, in the process that has the file descriptor.
 * Return: 0 or a negative errno: -EOPNOTSUPP for a buffer that the kernel cannot map, -EACCES for
 * rights to write through a descriptor that is open for reading only.
 */
int ward_dmabuf_map(struct ward_mr *mr, int fd, u64 offset, u64 length, u64 iova, int access)
{
	struct ward_registration reg = {
		.key = mr->key,
		.access = access,
		.iova = iova,
		.length = length,
	};
	struct ward_dmabuf *dmabuf;
	struct ward_pages *pages;
	struct dma_buf *buf;

	buf = dma_buf_get(fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	if (offset > buf->size || length > buf->size - offset) {
		dma_buf_put(buf);
		return -EINVAL;
	}
	if (ib_access_writable(access) && !(buf->file->f_mode & FMODE_WRITE)) {
		dma_buf_put(buf);
		return -EACCES;
	}
	pages = ward_pages_alloc(1, 0, GFP_KERNEL);
	if (!pages) {
		dma_buf_put(buf);
		return -ENOMEM;
	}
	dmabuf = map(buf);
	if (IS_ERR(dmabuf)) {
		ward_pages_put(pages);
		return PTR_ERR(dmabuf);
	}
	ward_pages_add_span(pages, (uintptr_t)dmabuf->map.vaddr + offset, length);
	mr->backing.dmabuf = dmabuf;
	mr->start = iova;
	reg.pages = pages;
	ward_mr_activate(mr, &reg);
	return 0;
}
