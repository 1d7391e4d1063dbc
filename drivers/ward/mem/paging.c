// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging: see paging.h.
 *
 * Locks: the mutex of the core's umem, under which entries come and go. Taking pages away runs
 * below the locks of the mm and of reclaim, so nothing is allocated under that mutex, and what is
 * waited for there, the guard of pages, is left by softirqs alone.
 */
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "../compat/umem.h"
#include "../verbs/device.h"
#include "pages.h"
#include "paging.h"

/* The mutex of a umem is held, and the mm kept from changing, for so many bytes at a time */
#define STEP	(2 * 1024 * 1024)

DEFINE_STATIC_KEY_FALSE(ward_paging_used);

static struct workqueue_struct *fault_wq;
static atomic64_t last_id;

static bool any_present(const struct ward_pages *pages, u64 from, u64 to)
{
	for (; from < to; from++)
		if (pages->addr[from])
			return true;
	return false;
}

static bool is_drained(const struct ward_guard *guard)
{
	return atomic_read_acquire(&guard->n) == GUARD_SHUT;
}

/* Take entries away: nobody uses them any more when this returns (F42) */
static void clear_entries(struct ward_paging *paging, u64 from, u64 to)
{
	/* none comes meanwhile: the caller has the mutex */
	if (!any_present(paging->pages, from, to))
		return;
	ward_guard_shut(&paging->guard);
	wait_var_event(&paging->guard, is_drained(&paging->guard));
	memset(&paging->pages->addr[from], 0, (to - from) * sizeof(u64));
	ward_guard_open(&paging->guard);
}

/* The mm takes a range away */
static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct ib_umem_odp *umem = container_of(notifier, struct ib_umem_odp, notifier);
	struct ward_paging *paging;
	u64 start = ib_umem_start(umem), from, to;

	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&umem->umem_mutex);
	mmu_interval_set_seq(notifier, seq);
	paging = umem->private;
	/* before it is set there are no entries */
	if (paging) {
		/* the end of a mm is a range that ends at ULONG_MAX */
		from = max_t(u64, range->start, start);
		to = min_t(u64, range->end, ib_umem_end(umem));
		clear_entries(paging, (from - start) >> PAGE_SHIFT,
			      (PAGE_ALIGN(to) - start) >> PAGE_SHIFT);
		ib_umem_odp_unmap_dma_pages(umem, from, to);
	}
	mutex_unlock(&umem->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

/**
 * ward_paging_create() - prepare for the pages of a range of user memory, none of which is there
 * @dev:    device
 * @start:  user address
 * @length: bytes
 * @access: IB_ACCESS_* rights, IB_ACCESS_ON_DEMAND among them
 * @offset: returns that of the first byte in the table
 *
 * Context: may sleep, in the process whose memory it is.
 * Return: what the caller holds, or an error.
 */
struct ward_paging *ward_paging_create(struct ward_device *dev, u64 start, u64 length, int access,
				       u64 *offset)
{
	struct ward_paging *paging = kzalloc(sizeof(*paging), GFP_KERNEL);
	size_t n;
	int err;

	if (!paging)
		return ERR_PTR(-ENOMEM);
	/* in pages of the usual size, whatever the memory is made of */
	paging->umem = ib_umem_odp_get(&dev->ib, start, length, access & ~IB_ACCESS_HUGETLB,
				       &notifier_ops);
	if (IS_ERR(paging->umem)) {
		err = PTR_ERR(paging->umem);
		kfree(paging);
		return ERR_PTR(err);
	}
	n = ib_umem_odp_num_pages(paging->umem);
	paging->pages = ward_pages_alloc(n, PAGE_SHIFT, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					 __GFP_NOWARN);
	if (!paging->pages) {
		ib_umem_odp_release(paging->umem);
		kfree(paging);
		return ERR_PTR(-ENOMEM);
	}
	paging->pages->n = n;
	paging->pages->paging = paging;
	kref_init(&paging->ref);
	paging->id = atomic64_inc_return(&last_id);
	ward_guard_init(&paging->guard);
	ward_guard_open(&paging->guard);
	*offset = start - ib_umem_start(paging->umem);
	mutex_lock(&paging->umem->umem_mutex);
	paging->umem->private = paging;
	mutex_unlock(&paging->umem->umem_mutex);
	/* never disabled: who registers and deregisters in a loop would patch code in a loop */
	static_branch_enable(&ward_paging_used);
	return paging;
}

static void paging_free(struct kref *ref)
{
	struct ward_paging *paging = container_of(ref, struct ward_paging, ref);

	/* the mm is still told until this returns */
	ib_umem_odp_release(paging->umem);
	ward_pages_put(paging->pages);
	kfree(paging);
}

/**
 * ward_paging_get() - hold the pages of a region
 * @paging: of a region whose guard the caller is inside of, or held already
 *
 * Context: any.
 */
void ward_paging_get(struct ward_paging *paging)
{
	kref_get(&paging->ref);
}

/**
 * ward_paging_put() - let go of the pages of a region
 * @paging: what the caller holds
 *
 * Context: may sleep.
 */
void ward_paging_put(struct ward_paging *paging)
{
	kref_put(&paging->ref, paging_free);
}

/**
 * ward_paging_enter() - keep the entries that are there from going
 * @paging: of a region whose guard the caller is inside of
 *
 * Context: BH off; ward_paging_leave() before that ends.
 * Return: false when some are just being taken away.
 */
bool ward_paging_enter(struct ward_paging *paging)
{
	return ward_guard_enter(&paging->guard);
}

/**
 * ward_paging_leave() - after ward_paging_enter(), and before leaving the region
 * @paging: the same
 *
 * Context: BH off.
 */
void ward_paging_leave(struct ward_paging *paging)
{
	if (ward_guard_leave(&paging->guard))
		wake_up_var(&paging->guard);
}

/**
 * ward_paging_has() - whether pages are there
 * @paging: the caller is inside of its guard
 * @offset: of the first byte in the table
 * @len:    bytes, inside the table
 *
 * Context: BH off.
 * Return: whether all are; then they stay until ward_paging_leave().
 */
bool ward_paging_has(const struct ward_paging *paging, u64 offset, u64 len)
{
	u64 i;

	for (i = offset >> PAGE_SHIFT; i <= (offset + len - 1) >> PAGE_SHIFT; i++)
		/* pairs with the release in bring_step() */
		if (!smp_load_acquire(&paging->pages->addr[i]))
			return false;
	return true;
}

/*
 * Memory of memfd_secret() is taken out of the kernel's own mapping, where we would look for it.
 * Who pins pages is refused by the mm, but who is only told of them is not. The mutex of the umem
 * is held: a page that is there keeps its mapping until the mm has taken it away from us.
 */
static bool is_secret(u64 addr)
{
	struct address_space *mapping = folio_mapping(virt_to_folio((void *)(uintptr_t)addr));

	return mapping && mapping->host && mapping->host->i_sb->s_magic == SECRETMEM_MAGIC;
}

static int bring_step(struct ward_paging *paging, u64 offset, u64 len, bool present_only)
{
	struct ib_umem_odp *umem = paging->umem;
	u64 i, access = WARD_ODP_READ;
	int n, err = 0;

	/* an entry allows what the region allows */
	if (umem->umem.writable)
		access |= WARD_ODP_WRITE;
	n = ib_umem_odp_map_dma_and_lock(umem, ib_umem_start(umem) + offset, len, access,
					 !present_only);
	if (n < 0)
		return n;
	for (i = offset >> PAGE_SHIFT; i <= (offset + len - 1) >> PAGE_SHIFT; i++) {
		u64 addr = ward_odp_addr(umem, i, access);

		if (!addr)
			continue;
		if (is_secret(addr)) {
			err = -EFAULT;
			break;
		}
		/* pairs with the acquire in ward_paging_has() */
		smp_store_release(&paging->pages->addr[i], addr);
	}
	mutex_unlock(&umem->umem_mutex);
	return err;
}

/**
 * ward_paging_bring() - bring pages in
 * @paging: held
 * @offset: of the first byte in the table
 * @len:    bytes, inside the table
 * @present_only: take those that are in the mm, and leave holes else
 *
 * They may be gone again when this returns.
 *
 * Context: may sleep for long: pages may come from a disk, or over a network.
 * Return: 0; -EFAULT or another error where there is nothing to bring in, or not with the rights
 * that the region has; -EINTR when the caller was killed.
 */
int ward_paging_bring(struct ward_paging *paging, u64 offset, u64 len, bool present_only)
{
	int err = 0;

	while (len && !err) {
		u64 n = min_t(u64, len, STEP);

		if (fatal_signal_pending(current))
			return -EINTR;
		err = bring_step(paging, offset, n, present_only);
		offset += n;
		len -= n;
		cond_resched();
	}
	return err;
}

static void fault_work(struct work_struct *work)
{
	struct ward_fault *fault = container_of(work, struct ward_fault, work);

	fault->err = ward_paging_bring(fault->paging, fault->offset, fault->len, false);
	/* the mm changes too quickly: the access asks again */
	if (fault->err == -EBUSY)
		fault->err = 0;
	else if (!fault->err && fault->ahead > fault->len)
		ward_paging_bring(fault->paging, fault->offset + fault->len,
				  fault->ahead - fault->len, false);
	ward_paging_put(fault->paging);
	fault->done(fault);
}

/**
 * ward_fault_init() - once for each QP
 * @fault:  filled in
 * @holder: reference count of the QP
 * @done:   see struct ward_fault
 */
void ward_fault_init(struct ward_fault *fault, struct kref *holder,
		     void (*done)(struct ward_fault *fault))
{
	INIT_WORK(&fault->work, fault_work);
	fault->holder = holder;
	fault->done = done;
}

/**
 * ward_fault_ask() - park a QP until pages are there
 * @fault:  of the QP, owned
 * @paging: of a region whose guard the caller is inside of
 * @offset: of the first byte in the table
 * @len:    bytes that are needed
 * @ahead:  bytes that will be needed, @len among them; all inside the table
 *
 * A QP waits for one thing at a time; whoever finds it waiting asks again when it goes on.
 *
 * Context: BH off.
 * Return: false when these very pages cannot be had: the QP has waited for them just now.
 */
bool ward_fault_ask(struct ward_fault *fault, struct ward_paging *paging, u64 offset, u64 len,
		    u64 ahead)
{
	if (!fault->busy) {
		if (fault->err && fault->id == paging->id && fault->offset == offset) {
			fault->err = 0;
			return false;
		}
		ward_paging_get(paging);
		kref_get(fault->holder);
		fault->paging = paging;
		fault->id = paging->id;
		fault->offset = offset;
		fault->len = len;
		fault->ahead = min_t(u64, max(len, ahead), WARD_PAGE_AHEAD);
		fault->busy = true;
		ward_count(container_of(paging->umem->umem.ibdev, struct ward_device, ib),
			   PAGE_FAULTS);
		queue_work(fault_wq, &fault->work);
	}
	fault->parked = true;
	return true;
}

/**
 * ward_paging_init() - before the first device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_paging_init(void)
{
	fault_wq = alloc_workqueue("ward_paging", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return fault_wq ? 0 : -ENOMEM;
}

/**
 * ward_paging_exit() - after the last device
 *
 * Context: may sleep.
 */
void ward_paging_exit(void)
{
	destroy_workqueue(fault_wq);
}
