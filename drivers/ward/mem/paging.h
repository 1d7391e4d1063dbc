/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On-demand paging: registrations of user memory whose pages are not pinned, but brought in when
 * somebody needs them, and given back when the kernel wants them.
 *
 * Such a region has a table of pages with holes. Two things happen to it:
 *
 * - The mm takes pages away (munmap, fork, migration, reclaim). The region's guard of pages is
 *   shut, and when the last access has left it the entries are cleared; then it is opened again.
 *   The mm gets its pages back after that, so no access ever uses a page that is gone (F42).
 * - An access finds a hole, or the guard shut. It runs in softirq and cannot bring pages in, so it
 *   asks a work item to do that, and its QP is *parked*: no run of it does anything until the
 *   work item is done. Then the access begins anew, from its first check.
 *
 * The registration itself, its rights and its fences are those of any region; the guard of pages
 * lies inside that of the region.
 */
#ifndef _WARD_MEM_PAGING_H
#define _WARD_MEM_PAGING_H

#include <linux/jump_label.h>
#include <linux/kref.h>
#include <linux/workqueue.h>

#include "guard.h"

struct ib_umem_odp;
struct ward_device;
struct ward_pages;
struct ward_paging;

/* How far ahead of what is needed pages are brought in, at most and within the same message */
#define WARD_PAGE_AHEAD		(1024 * 1024)

/* There is, or has been, a region with on-demand paging */
DECLARE_STATIC_KEY_FALSE(ward_paging_used);

/**
 * struct ward_paging - the pages of one region
 * @ref:   the region, and accesses that wait
 * @id:    of no other one
 * @guard: of the entries of @pages: open, but while some are taken away
 * @umem:  the core's part, which knows the mm; its mutex serialises changes of @pages
 * @pages: the table; an entry is 0 where there is a hole, and allows what the region allows
 */
struct ward_paging {
	struct kref		ref;
	u64			id;
	struct ward_guard	guard;
	struct ib_umem_odp	*umem;
	struct ward_pages	*pages;
};

/**
 * struct ward_fault - what a QP is parked for; the owner's, but while @busy
 * @work:   brings the pages in
 * @holder: reference count of the QP, which @work holds
 * @done:   called by @work when it is through, in process context; drops that reference
 * @paging: of which region; referenced while @busy
 * @id:     of @paging
 * @offset: of the first byte in the table
 * @len:    bytes that are needed
 * @ahead:  bytes that will be needed, @len among them
 * @err:    why they cannot be there, or 0; until the access that has asked for them asks again
 * @busy:   @work is under way
 * @parked: the QP waits for it
 */
struct ward_fault {
	struct work_struct	work;
	struct kref		*holder;
	void			(*done)(struct ward_fault *fault);
	struct ward_paging	*paging;
	u64			id;
	u64			offset;
	u64			len;
	u64			ahead;
	int			err;
	bool			busy;
	bool			parked;
};

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING
int ward_paging_init(void);
void ward_paging_exit(void);
struct ward_paging *ward_paging_create(struct ward_device *dev, u64 start, u64 length, int access,
				       u64 *offset);
void ward_paging_get(struct ward_paging *paging);
void ward_paging_put(struct ward_paging *paging);
bool ward_paging_enter(struct ward_paging *paging);
void ward_paging_leave(struct ward_paging *paging);
bool ward_paging_has(const struct ward_paging *paging, u64 offset, u64 len);
int ward_paging_bring(struct ward_paging *paging, u64 offset, u64 len, bool present_only);
void ward_fault_init(struct ward_fault *fault, struct kref *holder,
		     void (*done)(struct ward_fault *fault));
bool ward_fault_ask(struct ward_fault *fault, struct ward_paging *paging, u64 offset, u64 len,
		    u64 ahead);
#else
static inline int ward_paging_init(void) { return 0; }
static inline void ward_paging_exit(void) { }
static inline struct ward_paging *ward_paging_create(struct ward_device *dev, u64 start,
						     u64 length, int access, u64 *offset)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void ward_paging_get(struct ward_paging *paging) { }
static inline void ward_paging_put(struct ward_paging *paging) { }
static inline bool ward_paging_enter(struct ward_paging *paging) { return false; }
static inline void ward_paging_leave(struct ward_paging *paging) { }
static inline bool ward_paging_has(const struct ward_paging *paging, u64 offset, u64 len)
{
	return false;
}

static inline int ward_paging_bring(struct ward_paging *paging, u64 offset, u64 len,
				    bool present_only)
{
	return -EOPNOTSUPP;
}

static inline void ward_fault_init(struct ward_fault *fault, struct kref *holder,
				   void (*done)(struct ward_fault *fault)) { }
static inline bool ward_fault_ask(struct ward_fault *fault, struct ward_paging *paging, u64 offset,
				  u64 len, u64 ahead)
{
	return false;
}
#endif

#endif /* _WARD_MEM_PAGING_H */
