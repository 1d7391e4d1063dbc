// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions.
 *
 * Who may be where at the same time:
 * - Accesses, from any number of QPs, are inside the guard. They never sleep there.
 * - Of any number of REG_MRs and binds that meet, one makes its registration active, and only from
 *   FREE, when nobody is inside; the lock decides. None does once the region is being destroyed.
 * - Any number of invalidates and a deregistration may meet. The first one to find the region
 *   VALID shuts the guard; each of them is told when the guard has drained, so each of their
 *   completions is a fence (F1, F13, F19, F39).
 * - A region is freed one RCU grace period after its deregistration; whoever looks one up does
 *   so under RCU, and touches it later only from inside the guard.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <ward/wire.h>

#include "../verbs/device.h"
#include "../watch/inject.h"
#include "pages.h"
#include "region.h"

/**
 * ward_keys_init() - set up the key space of a device
 * @keys: all zero
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_keys_init(struct ward_keys *keys)
{
	keys->index = kvmalloc(sizeof(*keys->index), GFP_KERNEL);
	if (!keys->index)
		return -ENOMEM;
	get_random_bytes(keys->index, sizeof(*keys->index));
	xa_init_flags(&keys->regions, XA_FLAGS_ALLOC1);
	atomic_set(&keys->num_mr, 0);
	atomic_set(&keys->num_mw, 0);
	return 0;
}

/**
 * ward_keys_exit() - undo ward_keys_init()
 * @keys: the key space; no region is left
 */
void ward_keys_exit(struct ward_keys *keys)
{
	xa_destroy(&keys->regions);
	kvfree(keys->index);
}

/**
 * ward_mr_create() - make a region that nothing reaches yet
 * @dev:  device
 * @pd:   protection domain
 * @kind: what it is to be
 *
 * Context: may sleep.
 * Return: a region in state FREE, for ward_mr_publish() or kfree(), or NULL.
 */
struct ward_mr *ward_mr_create(struct ward_device *dev, struct ib_pd *pd,
			       enum ward_region_kind kind)
{
	struct ward_mr *mr = NULL;

	if (!ward_inject_fails(dev, WARD_AT_MR))
		mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return NULL;
	/* the core sets these after the verb returns, which is later than we need them */
	mr->ib.device = &dev->ib;
	mr->ib.pd = pd;
	mr->pd_id = pd->res.id;
	mr->dev = dev;
	mr->kind = kind;
	ward_guard_init(&mr->guard);
	spin_lock_init(&mr->lock);
	INIT_LIST_HEAD(&mr->waiters);
	return mr;
}

static bool count_one(struct ward_mr *mr)
{
	struct ward_keys *keys = &mr->dev->keys;

	if (ward_mr_is_window(mr))
		return atomic_add_unless(&keys->num_mw, 1, WARD_MAX_MW);
	return atomic_add_unless(&keys->num_mr, 1, WARD_MAX_MR);
}

static void uncount_one(struct ward_mr *mr)
{
	struct ward_keys *keys = &mr->dev->keys;

	atomic_dec(ward_mr_is_window(mr) ? &keys->num_mw : &keys->num_mr);
}

/**
 * ward_mr_publish() - give a region its key
 * @mr: a region from ward_mr_create()
 *
 * The upper 24 bits of the key come from a secret permutation of the slot, the lower 8 are random
 * at first and the consumer's from then on. A key is never 0 (F46).
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM when the device has WARD_MAX_MR regions, or WARD_MAX_MW windows, already.
 */
int ward_mr_publish(struct ward_mr *mr)
{
	struct ward_keys *keys = &mr->dev->keys;
	u32 index;
	int err;

	if (!count_one(mr))
		return -ENOMEM;
	do {
		err = xa_alloc_cyclic(&keys->regions, &mr->slot, mr,
				      XA_LIMIT(1, WARD_24BITS), &keys->next, GFP_KERNEL);
		if (err < 0) {
			uncount_one(mr);
			return -ENOMEM;
		}
		index = ward_permute(keys->index, mr->slot);
		/* the one slot whose index is 0 stays taken for the life of the device */
		if (!index)
			xa_store(&keys->regions, mr->slot, XA_ZERO_ENTRY, GFP_KERNEL);
	} while (!index);

	mr->key = index << 8 | get_random_u8();
	mr->ib.lkey = mr->key;
	mr->ib.rkey = mr->key;
	return 0;
}

/* What the caller has seen without the lock may have changed: others register or bind, too */
static bool may_change(const struct ward_mr *mr, u32 was)
{
	lockdep_assert_held(&mr->lock);
	return mr->state == WARD_FREE && !mr->gone && (!was || mr->key == was);
}

/**
 * ward_mr_activate() - make a registration the active one
 * @mr:  a region
 * @reg: the registration
 *
 * Nothing changes unless the region is in state FREE, and stays for now.
 *
 * Context: any but hard interrupt.
 * Return: whether it is the active one. A region that only its caller knows, or of which only verbs
 * change the registration, never refuses.
 */
bool ward_mr_activate(struct ward_mr *mr, const struct ward_registration *reg)
{
	bool may;

	spin_lock_bh(&mr->lock);
	may = may_change(mr, reg->was);
	if (may) {
		/* nobody is inside */
		mr->key = reg->key;
		mr->access = reg->access;
		mr->iova = reg->iova;
		mr->length = reg->length;
		mr->offset = reg->offset;
		mr->pages = reg->pages;
		mr->qpn = reg->qpn;
		mr->via = reg->via;
		mr->parent = reg->parent;
		mr->generation++;
		mr->closed_to_peers = false;
		mr->state = WARD_VALID;
		ward_exposure_begin(mr);
		ward_guard_open(&mr->guard);
	}
	spin_unlock_bh(&mr->lock);
	return may;
}

/**
 * ward_mr_rename() - give a region that has no active registration another key
 * @mr:  the region
 * @was: only if this is its key
 * @key: from now on; only the low 8 bits may differ
 *
 * Context: any but hard interrupt.
 * Return: whether it has it.
 */
bool ward_mr_rename(struct ward_mr *mr, u32 was, u32 key)
{
	bool may;

	spin_lock_bh(&mr->lock);
	may = may_change(mr, was);
	if (may)
		WRITE_ONCE(mr->key, key);
	spin_unlock_bh(&mr->lock);
	return may;
}

/* Nobody is inside, and nobody can enter. Called once for each time that the guard was shut. */
static void mr_drained(struct ward_mr *mr)
{
	struct ward_drain *drain, *next;
	LIST_HEAD(waiters);

	ward_pages_put(mr->pages);
	mr->pages = NULL;
	if (mr->parent)
		ward_mr_drop_window(mr->parent);
	mr->parent = NULL;

	/* ward_mr_destroy() may free the region as soon as it sees FREE, hence RCU */
	rcu_read_lock();
	spin_lock_bh(&mr->lock);
	ward_exposure_end(mr);
	/* pairs with the acquire in ward_mr_is_free() */
	smp_store_release(&mr->state, WARD_FREE);
	list_splice_init(&mr->waiters, &waiters);
	spin_unlock_bh(&mr->lock);
	/* who waits is looked for after FREE can be seen; pairs with that of prepare_to_wait() */
	smp_mb();
	wake_up_var(&mr->state);
	rcu_read_unlock();

	list_for_each_entry_safe(drain, next, &waiters, entry)
		drain->done(drain);
}

/**
 * ward_mr_leave() - end an access
 * @mr: a region that ward_mr_enter() returned
 *
 * Context: BH off.
 */
void ward_mr_leave(struct ward_mr *mr)
{
	if (unlikely(ward_guard_leave(&mr->guard)))
		mr_drained(mr);
}

/* @key: only if this is its key; 0: whatever it is. @via: likewise the QP that registered it */
static bool invalidate(struct ward_mr *mr, u32 key, u32 via, struct ward_drain *drain,
		       const struct ward_closer *closer)
{
	bool first;

	spin_lock_bh(&mr->lock);
	if (mr->state == WARD_FREE || (key && mr->key != key) || (via && mr->via != via)) {
		spin_unlock_bh(&mr->lock);
		return true;
	}
	first = mr->state == WARD_VALID;
	mr->state = WARD_DRAINING;
	ward_exposure_closing(mr, closer);
	if (first && ward_guard_shut(&mr->guard)) {
		spin_unlock_bh(&mr->lock);
		mr_drained(mr);
		return true;
	}
	if (drain)
		list_add_tail(&drain->entry, &mr->waiters);
	spin_unlock_bh(&mr->lock);
	return false;
}

/**
 * ward_mr_invalidate() - put a region out of reach
 * @mr:    the region; the caller is not inside its guard
 * @key:   what is to be put out of reach: nothing happens when it has another one by now, since
 *         what had this one is out of reach then; 0: whatever it has
 * @drain: told when nobody is inside any more, unless that is so at once; NULL when the caller
 *         waits by other means
 * @closer: who wants it
 *
 * Nobody enters after this call. An invalid region stays as it is (F39).
 *
 * Context: BH off, or any that may take a BH lock.
 * Return: true when the region is out of reach now; false when @drain->done will be called.
 */
bool ward_mr_invalidate(struct ward_mr *mr, u32 key, struct ward_drain *drain,
			const struct ward_closer *closer)
{
	return invalidate(mr, key, 0, drain, closer);
}

/**
 * ward_mr_invalidate_via() - likewise, if a given QP has registered it
 * @mr:    any region
 * @qpn:   the QP
 * @drain: as above
 *
 * Context: BH off, or any that may take a BH lock; under RCU or otherwise sure of the region.
 * Return: true when no registration of that QP's is reachable; false when @drain->done will be
 * called.
 */
bool ward_mr_invalidate_via(struct ward_mr *mr, u32 qpn, struct ward_drain *drain)
{
	return invalidate(mr, 0, qpn, drain,
			  &(struct ward_closer){ .by = WARD_BY_ERROR, .qpn = qpn });
}

/**
 * ward_mr_close_to_peers() - the part of an invalidate that takes effect when it executes (F5)
 * @mr:     the region
 * @key:    as for ward_mr_invalidate()
 * @closer: who wants it
 *
 * Context: any but hard interrupt.
 */
void ward_mr_close_to_peers(struct ward_mr *mr, u32 key, const struct ward_closer *closer)
{
	spin_lock_bh(&mr->lock);
	if (mr->key == key) {
		if (mr->state == WARD_VALID)
			ward_exposure_closing(mr, closer);
		WRITE_ONCE(mr->closed_to_peers, true);
	}
	spin_unlock_bh(&mr->lock);
}

/**
 * ward_mr_add_window() - a window is bound to a region
 * @mr: the region; the caller is inside its guard
 *
 * Context: any but hard interrupt. Undone when the window has drained.
 * Return: whether it may be: false when the region is being deregistered.
 */
bool ward_mr_add_window(struct ward_mr *mr)
{
	bool may;

	spin_lock_bh(&mr->lock);
	may = !mr->going;
	if (may)
		mr->windows++;
	spin_unlock_bh(&mr->lock);
	return may;
}

/**
 * ward_mr_drop_window() - undo ward_mr_add_window()
 * @mr: the region
 *
 * Context: any but hard interrupt.
 */
void ward_mr_drop_window(struct ward_mr *mr)
{
	spin_lock_bh(&mr->lock);
	mr->windows--;
	spin_unlock_bh(&mr->lock);
}

/**
 * ward_mr_has_no_windows() - whether a region may be deregistered or changed (F19)
 * @mr:    the region
 * @going: if so, let no more be bound
 *
 * Context: any but hard interrupt.
 * Return: whether it has none.
 */
bool ward_mr_has_no_windows(struct ward_mr *mr, bool going)
{
	bool none;

	spin_lock_bh(&mr->lock);
	none = !mr->windows;
	if (none)
		mr->going = going;
	spin_unlock_bh(&mr->lock);
	return none;
}

/**
 * ward_mr_quiesce() - invalidate, and wait until nobody is inside
 * @mr: the region; in state FREE afterwards
 *
 * Waits for accesses in flight, however long (F19, F40, F41).
 *
 * Context: may sleep.
 */
void ward_mr_quiesce(struct ward_mr *mr)
{
	ward_mr_invalidate(mr, 0, NULL, &(struct ward_closer){ .by = WARD_BY_DEREG });
	wait_var_event(&mr->state, ward_mr_is_free(mr));
}

/**
 * ward_mr_destroy() - deregister
 * @mr: a published region
 *
 * Context: may sleep.
 */
void ward_mr_destroy(struct ward_mr *mr)
{
	struct ward_keys *keys = &mr->dev->keys;

	xa_erase(&keys->regions, mr->slot);
	/* a REG_MR or a bind that has found it before comes too late now, or is undone below */
	spin_lock_bh(&mr->lock);
	mr->gone = true;
	spin_unlock_bh(&mr->lock);
	ward_mr_quiesce(mr);
	uncount_one(mr);
	ward_pages_put(mr->list[0]);
	ward_pages_put(mr->list[1]);
	kfree_rcu(mr, rcu);
}

/**
 * ward_mr_find() - look a region up by the index in a key
 * @dev: device
 * @key: lkey or R_key; its low 8 bits are not looked at
 *
 * Context: under RCU, which also keeps the region from being freed.
 * Return: the region, in whatever state, or NULL.
 */
struct ward_mr *ward_mr_find(struct ward_device *dev, u32 key)
{
	return xa_load(&dev->keys.regions, ward_unpermute(dev->keys.index, key >> 8));
}

/**
 * ward_mr_in_range() - whether an access stays inside a region
 * @mr:  the region; the caller is inside its guard
 * @va:  first address
 * @len: bytes
 *
 * Neither @va + @len nor the end of the region is computed, so nothing overflows (F25).
 *
 * Return: WARD_GRANTED or WARD_REFUSED_RANGE.
 */
enum ward_refusal ward_mr_in_range(const struct ward_mr *mr, u64 va, u64 len)
{
	if (va < mr->iova || len > mr->length || va - mr->iova > mr->length - len)
		return WARD_REFUSED_RANGE;
	return WARD_GRANTED;
}

static enum ward_refusal mr_judge(const struct ward_mr *mr, const struct ward_asker *who,
				  u32 key, u64 va, u64 len, int access)
{
	if (mr->key != key || (mr->kind == WARD_KIND_DMA && who->user))
		return WARD_REFUSED_KEY;
	/* the key of a window is an R_key and no lkey */
	if (!(access & WARD_REMOTE_RIGHTS) && ward_mr_is_window(mr))
		return WARD_REFUSED_KEY;
	if ((access & WARD_REMOTE_RIGHTS) && READ_ONCE(mr->closed_to_peers))
		return WARD_REFUSED_STATE;
	if (mr->ib.pd != who->pd)
		return WARD_REFUSED_PD;
	if (mr->qpn && mr->qpn != who->qpn)
		return WARD_REFUSED_QP;
	if (access & ~mr->access)
		return WARD_REFUSED_RIGHTS;
	return ward_mr_in_range(mr, va, len);
}

/**
 * ward_mr_enter() - begin an access
 * @who:    who asks
 * @key:    lkey or R_key, all 32 bits of which must match (F9)
 * @va:     first address
 * @len:    bytes
 * @access: the rights it takes: IB_ACCESS_REMOTE_READ or _WRITE for a peer, IB_ACCESS_LOCAL_WRITE
 *          or 0 (read) for a work request
 * @why:    returns the reason of a refusal
 *
 * Everything is checked before any byte moves: index, key, state, PD, QP, rights, range. The caller
 * must leave soon, and before it executes an invalidate, which would wait for it.
 *
 * Context: under RCU with BH off.
 * Return: the region, inside whose guard the caller is now, or NULL.
 */
struct ward_mr *ward_mr_enter(const struct ward_asker *who, u32 key, u64 va, u64 len, int access,
			      enum ward_refusal *why)
{
	struct ward_mr *mr = ward_mr_find(who->dev, key);

	if (!mr) {
		*why = WARD_REFUSED_KEY;
	} else if (!ward_guard_enter(&mr->guard)) {
		*why = READ_ONCE(mr->key) == key ? WARD_REFUSED_STATE : WARD_REFUSED_KEY;
	} else {
		*why = mr_judge(mr, who, key, va, len, access);
		if (likely(*why == WARD_GRANTED))
			return mr;
		ward_mr_leave(mr);
	}
	return NULL;
}

/**
 * ward_mr_probe() - whether an access would be granted now
 * @who:    who asks
 * @key:    lkey or R_key
 * @va:     first address
 * @len:    bytes
 * @access: as for ward_mr_enter()
 *
 * Nothing is counted.
 *
 * Context: under RCU with BH off.
 * Return: WARD_GRANTED or the reason of a refusal.
 */
enum ward_refusal ward_mr_probe(const struct ward_asker *who, u32 key, u64 va, u64 len, int access)
{
	enum ward_refusal why;
	struct ward_mr *mr = ward_mr_enter(who, key, va, len, access, &why);

	if (mr)
		ward_mr_leave(mr);
	return why;
}

/**
 * ward_mr_may_invalidate() - whether a work request or a peer may invalidate a region
 * @mr:  the region, or NULL
 * @pd:  protection domain of the QP
 * @qpn: its number
 * @key: the key given
 * @peer: a peer asks
 *
 * Rules F9, F11, F12, F15 and F16. That a fast registration is invalid already is no reason to
 * refuse (F39); that a window is one. One that is tied to a QP (link option strict) is out of
 * reach for the peers of all others; the consumer may end it by any QP of the PD.
 *
 * Context: under RCU.
 * Return: WARD_GRANTED or the reason of the refusal.
 */
enum ward_refusal ward_mr_may_invalidate(const struct ward_mr *mr, const struct ib_pd *pd,
					 u32 qpn, u32 key, bool peer)
{
	if (!mr || READ_ONCE(mr->key) != key)
		return WARD_REFUSED_KEY;
	if (mr->ib.pd != pd)
		return WARD_REFUSED_PD;
	switch (mr->kind) {
	case WARD_KIND_FASTREG:
		if (peer && READ_ONCE(mr->state) != WARD_FREE && mr->qpn && mr->qpn != qpn)
			return WARD_REFUSED_QP;
		return WARD_GRANTED;
	case WARD_KIND_WINDOW_2:
		if (READ_ONCE(mr->state) != WARD_VALID)
			return WARD_REFUSED_STATE;
		return mr->qpn == qpn ? WARD_GRANTED : WARD_REFUSED_QP;
	default:
		return WARD_REFUSED_RIGHTS;
	}
}
