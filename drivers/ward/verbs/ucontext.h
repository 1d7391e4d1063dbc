/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User contexts: a process that has opened the device, and what it maps.
 */
#ifndef _WARD_VERBS_UCONTEXT_H
#define _WARD_VERBS_UCONTEXT_H

#include <rdma/ib_verbs.h>

/**
 * struct ward_mmap - memory that a process may map
 * @entry: the core's part: names it by an offset
 * @mem:   from vmalloc_user(); freed with the entry
 */
struct ward_mmap {
	struct rdma_user_mmap_entry	entry;
	void				*mem;
};

/* Nothing of ours belongs to a context but what the core keeps in it */
struct ward_ucontext {
	struct ib_ucontext	ib;
};

struct ward_mmap *ward_mmap_create(struct ib_ucontext *uctx, void *mem, size_t size);
void ward_mmap_destroy(struct ward_mmap *m);

extern const struct ib_device_ops ward_ucontext_ops;

#endif /* _WARD_VERBS_UCONTEXT_H */
