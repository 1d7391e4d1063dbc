// SPDX-License-Identifier: GPL-2.0
/*
 * User contexts.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ucontext.h"

/**
 * ward_mmap_create() - let a process map memory
 * @uctx: the process's context
 * @mem:  from vmalloc_user(); taken over on success
 * @size: bytes
 *
 * Context: may sleep.
 * Return: the mapping, or NULL.
 */
struct ward_mmap *ward_mmap_create(struct ib_ucontext *uctx, void *mem, size_t size)
{
	struct ward_mmap *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	m->mem = mem;
	if (rdma_user_mmap_entry_insert(uctx, &m->entry, PAGE_ALIGN(size))) {
		kfree(m);
		return NULL;
	}
	return m;
}

/**
 * ward_mmap_destroy() - no new mappings; the memory is freed with the last user of the entry
 * @m: the mapping
 *
 * Pages that the process still maps stay until it unmaps them.
 *
 * Context: may sleep.
 */
void ward_mmap_destroy(struct ward_mmap *m)
{
	rdma_user_mmap_entry_remove(&m->entry);
}

static void mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ward_mmap *m = container_of(entry, struct ward_mmap, entry);

	vfree(m->mem);
	kfree(m);
}

static int map(struct ib_ucontext *uctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(uctx, vma);
	int err;

	if (!entry)
		return -EINVAL;
	err = remap_vmalloc_range(vma, container_of(entry, struct ward_mmap, entry)->mem, 0);
	rdma_user_mmap_entry_put(entry);
	return err;
}

static int alloc_ucontext(struct ib_ucontext *uctx, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *uctx)
{
}

/* Rings stay mapped: they are plain memory that the process has to itself from now on */
static void disassociate_ucontext(struct ib_ucontext *uctx)
{
}

const struct ib_device_ops ward_ucontext_ops = {
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.disassociate_ucontext = disassociate_ucontext,
	.mmap = map,
	.mmap_free = mmap_free,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ward_ucontext, ib),
};
