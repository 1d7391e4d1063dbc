/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory regions: what a key opens, for whom, and until when.
 *
 * A region has at most one *active* registration, the one that its key opens.
 * It is written only while the guard is shut and drained, and read only from
 * inside the guard. See Documentation/architecture.rst for the life of one.
 *
 *	FREE ----- REG_MR executes, or registered by a verb -----> VALID
 *	VALID ---- invalidate or deregistration begins ----------> DRAINING
 *	DRAINING - the last access has left the guard -----------> FREE
 */
#ifndef _WARD_MEM_REGION_H
#define _WARD_MEM_REGION_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "../proto/permute.h"
#include "../watch/exposure.h"
#include "guard.h"

struct ib_umem;
struct ward_device;
struct ward_dmabuf;
struct ward_pages;
struct ward_paging;

enum ward_region_state {
	WARD_FREE,
	WARD_VALID,
	WARD_DRAINING,
};

enum ward_region_kind {
	WARD_KIND_DMA,		/* all kernel memory by virtual address; kernel QPs only (F43) */
	WARD_KIND_FASTREG,	/* alloc_mr, registered and invalidated by work requests */
	WARD_KIND_USER,		/* user memory, registered by a verb */
	WARD_KIND_WINDOW_1,	/* memory window of type 1: any QP of its PD, rebound at any time */
	WARD_KIND_WINDOW_2,	/* memory window of type 2B: tied to the QP that bound it */
};

/* Rights by which a peer reaches memory */
#define WARD_REMOTE_RIGHTS	(IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_ATOMIC | WARD_ACCESS_FLUSH_GLOBAL | \
				 WARD_ACCESS_FLUSH_PERSISTENT)

/* Where rights stand for an operation: an invalidate, which takes no right */
#define WARD_OP_INVALIDATE	BIT(30)

/* Why an access is refused, in the order of the checks; 0: it is granted */
enum ward_refusal {
	WARD_GRANTED,
	WARD_REFUSED_KEY,
	WARD_REFUSED_STATE,
	WARD_REFUSED_PD,
	WARD_REFUSED_QP,
	WARD_REFUSED_RIGHTS,
	WARD_REFUSED_RANGE,
	WARD_PARKED,		/* not refused: the QP waits for pages, and then begins anew */
};

/**
 * struct ward_backing - what is below a region of user memory: one of these
 * @umem:   pinned pages
 * @paging: pages that come and go
 * @dmabuf: a buffer of another device
 */
struct ward_backing {
	struct ib_umem		*umem;
	struct ward_paging	*paging;
	struct ward_dmabuf	*dmabuf;
};

/**
 * struct ward_keys - the key space of a device: lkeys and R_keys
 * @regions: slot to struct ward_mr, read under RCU
 * @next:    cursor: a freed slot comes back as late as possible
 * @num_mr:  regions there are that are no windows
 * @num_mw:  windows there are
 * @index:   slot <-> the upper 24 bits of a key
 */
struct ward_keys {
	struct xarray		regions;
	u32			next;
	atomic_t		num_mr;
	atomic_t		num_mw;
	struct ward_permute	*index;
};

/**
 * struct ward_drain - somebody who waits for a region to be out of reach
 * @entry: in ward_mr.waiters
 * @done:  called once, from softirq or with BH off, without locks, when nobody is inside any more
 */
struct ward_drain {
	struct list_head	entry;
	void			(*done)(struct ward_drain *drain);
};

/**
 * struct ward_mr - a memory region
 * @ib:      the core's part; its page list fields belong to the CPU side (F7)
 * @dev:     the device
 * @kind:    what it is
 * @slot:    in ward_keys.regions
 * @guard:   open while VALID
 * @lock:    @state, @gone, @waiters, @exposure; what is active is written under it, too, since
 *           several may want to, and for those who only watch; taken with BH off
 * @state:   see above
 * @closed_to_peers: a LOCAL_INV has executed: no remote access is granted any more (F5),
 *           although local ones may still be until the guard is shut (F4)
 * @waiters: ward_drain.entry
 * @key:     active: all 32 bits, lkey and R_key alike
 * @access:  active: IB_ACCESS_* rights
 * @iova:    active: first address
 * @length:  active: bytes
 * @offset:  active: of @iova in @pages
 * @pages:   active: page list; NULL for WARD_KIND_DMA
 * @qpn:     active: the only QP through which it can be reached, 0: any of the PD
 * @via:     active: the QP that registered it by REG_MR, 0: it was not
 * @generation: registrations so far
 * @exposure: who can reach it and who has
 * @pd_id:   number of the PD, which a reader of the region may outlive
 * @list:    fast registration: two page lists of this region's own
 * @staged:  fast registration: which of them the last map_mr_sg filled
 * @backing: user memory: the pages
 * @start:   user memory: its address in the process
 * @windows: windows bound to this region, which keep it from being deregistered (F19); @lock
 * @going:   it is being deregistered: no more windows; @lock
 * @gone:    it is being destroyed: never active again; @lock
 * @parent:  a window that is bound: the region below it
 * @rcu:     freed after readers of ward_keys.regions have gone
 */
struct ward_mr {
	struct ib_mr		ib;
	struct ward_device	*dev;
	enum ward_region_kind	kind;
	u32			slot;

	struct ward_guard	guard;
	spinlock_t		lock;	/* state, waiters, windows */
	enum ward_region_state	state;
	bool			closed_to_peers;
	struct list_head	waiters;

	u32			key;
	int			access;
	u64			iova;
	u64			length;
	u64			offset;
	struct ward_pages	*pages;
	u32			qpn;
	u32			via;
	u32			generation;
	struct ward_exposure	exposure;
	u32			pd_id;

	struct ward_pages	*list[2];
	int			staged;
	struct ward_backing	backing;
	u64			start;
	u32			windows;
	bool			going;
	bool			gone;
	struct ward_mr		*parent;
	struct rcu_head		rcu;
};

/**
 * struct ward_registration - what ward_mr_activate() makes the active one
 * @was:    only if this has been the key so far; 0: whatever it was
 * @key:    lkey and R_key from then on; only the low 8 bits may differ from before
 * @access: IB_ACCESS_* rights
 * @iova:   address of the first byte, as peers and work requests name it
 * @length: bytes
 * @offset: of the first byte in @pages
 * @pages:  page list, of which a reference is taken over; NULL for WARD_KIND_DMA
 * @qpn:    the only QP through which it can be reached, 0: any of the PD
 * @via:    the QP that registers it by REG_MR, or 0
 * @parent: of a window: the region below it, which has counted it
 */
struct ward_registration {
	u32			was;
	u32			key;
	int			access;
	u64			iova;
	u64			length;
	u64			offset;
	struct ward_pages	*pages;
	u32			qpn;
	u32			via;
	struct ward_mr		*parent;
};

static inline struct ward_mr *to_ward_mr(struct ib_mr *mr)
{
	return container_of(mr, struct ward_mr, ib);
}

/* ward_mr_is_free() - whether nothing reaches the region, and nobody is inside */
static inline bool ward_mr_is_free(const struct ward_mr *mr)
{
	/* pairs with the release in mr_drained(): what was inside has left no trace */
	return smp_load_acquire(&mr->state) == WARD_FREE;
}

static inline bool ward_mr_is_window(const struct ward_mr *mr)
{
	return mr->kind == WARD_KIND_WINDOW_1 || mr->kind == WARD_KIND_WINDOW_2;
}

int ward_keys_init(struct ward_keys *keys);
void ward_keys_exit(struct ward_keys *keys);

struct ward_mr *ward_mr_create(struct ward_device *dev, struct ib_pd *pd,
			       enum ward_region_kind kind);
int ward_mr_publish(struct ward_mr *mr);
bool ward_mr_activate(struct ward_mr *mr, const struct ward_registration *reg);
bool ward_mr_rename(struct ward_mr *mr, u32 was, u32 key);
bool ward_mr_add_window(struct ward_mr *mr);
void ward_mr_drop_window(struct ward_mr *mr);
bool ward_mr_has_no_windows(struct ward_mr *mr, bool going);
void ward_mr_quiesce(struct ward_mr *mr);
void ward_mr_destroy(struct ward_mr *mr);

/*
 * Who asks: a QP, or what receives for it. For the sake of those who watch, also who the peer is
 * on whose behalf: its GID, NULL without one, and its QP.
 */
struct ward_asker {
	struct ward_device	*dev;
	const struct ib_pd	*pd;
	u32			qpn;
	bool			user;
	const union ib_gid	*peer;
	u32			peer_qpn;
};

struct ward_mr *ward_mr_enter(const struct ward_asker *who, u32 key, u64 va, u64 len, int access,
			      enum ward_refusal *why);
enum ward_refusal ward_mr_probe(const struct ward_asker *who, u32 key, u64 va, u64 len,
				int access);
enum ward_refusal ward_mr_in_range(const struct ward_mr *mr, u64 va, u64 len);
void ward_mr_leave(struct ward_mr *mr);

struct ward_mr *ward_mr_find(struct ward_device *dev, u32 key);
enum ward_refusal ward_mr_may_invalidate(const struct ward_mr *mr, const struct ib_pd *pd,
					 u32 qpn, u32 key, bool peer);
void ward_mr_close_to_peers(struct ward_mr *mr, u32 key, const struct ward_closer *closer);
bool ward_mr_invalidate(struct ward_mr *mr, u32 key, struct ward_drain *drain,
			const struct ward_closer *closer);
bool ward_mr_invalidate_via(struct ward_mr *mr, u32 qpn, struct ward_drain *drain);

#endif /* _WARD_MEM_REGION_H */
