// SPDX-License-Identifier: GPL-2.0
/*
 * Address handles.
 *
 * An AH is a reference on a path. A work request takes a reference of its own,
 * as the consumer may destroy the AH as soon as it has posted.
 *
 * A process names its AHs by number, in a ring that it can write at any time; so
 * numbers are looked up for each work request, under RCU, and count only within
 * the PD of the AH. Those of the kernel have numbers only to be seen.
 */
#include <linux/limits.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "../net/path.h"
#include "ah.h"
#include "device.h"

static gfp_t gfp_of(u32 create_flags)
{
	return create_flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL : GFP_ATOMIC;
}

/*
 * Every AH has a number: by it a process names it, and those who watch find it. One of the kernel
 * does without when there is no memory for it. Interrupts may be off.
 */
static int give_number(struct ward_device *dev, struct ward_ah *ah, struct ward_path *path,
		       bool sleepable)
{
	unsigned long flags;
	int err;

	if (sleepable)
		return xa_alloc_cyclic_irq(&dev->ahs, &ah->num, path, XA_LIMIT(1, S32_MAX),
					   &dev->next_ah, GFP_KERNEL);
	xa_lock_irqsave(&dev->ahs, flags);
	err = __xa_alloc_cyclic(&dev->ahs, &ah->num, path, XA_LIMIT(1, S32_MAX), &dev->next_ah,
				GFP_ATOMIC | __GFP_NOWARN);
	xa_unlock_irqrestore(&dev->ahs, flags);
	return err;
}

static void take_number(struct ward_device *dev, struct ward_ah *ah)
{
	unsigned long flags;

	if (!ah->num)
		return;
	xa_lock_irqsave(&dev->ahs, flags);
	__xa_erase(&dev->ahs, ah->num);
	xa_unlock_irqrestore(&dev->ahs, flags);
	ah->num = 0;
}

/* Give the AH of a process its number, and tell the process */
static int give_user_number(struct ward_device *dev, struct ward_ah *ah, struct ward_path *path,
			    struct ib_udata *udata)
{
	struct rxe_create_ah_resp resp = {};
	int err;

	/* providers so old that they know no number put the address into the work request */
	if (udata->outlen < sizeof(resp))
		return udata->outlen ? -EINVAL : 0;
	err = give_number(dev, ah, path, true);
	if (err < 0)
		return err;
	resp.ah_num = ah->num;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err)
		take_number(dev, ah);
	return err;
}

static int create(struct ib_ah *ib_ah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct ward_device *dev = to_ward(ib_ah->device);
	struct ward_ah *ah = to_ward_ah(ib_ah);
	struct ward_path *path;
	int err = 0;

	if (!atomic_add_unless(&dev->num_ah, 1, WARD_MAX_AH))
		return -ENOMEM;
	path = ward_path_create(dev, init->ah_attr, 0, 0, gfp_of(init->flags));
	if (IS_ERR(path)) {
		err = PTR_ERR(path);
		goto uncount;
	}
	ah->num = 0;
	RCU_INIT_POINTER(ah->path, path);
	path->pd = ib_ah->pd;
	path->pd_id = ib_ah->pd->res.id;
	if (udata) {
		err = give_user_number(dev, ah, path, udata);
		if (err)
			goto put;
	} else if (give_number(dev, ah, path, false) < 0) {
		ah->num = 0;
	}
	return 0;

put:
	ward_path_put(path);
uncount:
	atomic_dec(&dev->num_ah);
	return err;
}

static int destroy(struct ib_ah *ib_ah, u32 flags)
{
	struct ward_device *dev = to_ward(ib_ah->device);
	struct ward_ah *ah = to_ward_ah(ib_ah);

	take_number(dev, ah);
	/* nobody posts with this AH any more; posted work requests have their own references */
	ward_path_put(rcu_dereference_protected(ah->path, true));
	atomic_dec(&dev->num_ah);
	return 0;
}

static int query(struct ib_ah *ib_ah, struct rdma_ah_attr *attr)
{
	struct ward_path *path = ward_ah_get_path(to_ward_ah(ib_ah));

	ward_path_query(path, attr);
	ward_path_put(path);
	return 0;
}

/* The core lets only the owner call this, one call at a time */
static int modify(struct ib_ah *ib_ah, struct rdma_ah_attr *attr)
{
	struct ward_device *dev = to_ward(ib_ah->device);
	struct ward_ah *ah = to_ward_ah(ib_ah);
	struct ward_path *old = rcu_dereference_protected(ah->path, true);
	struct ward_path *path;

	path = ward_path_create(dev, attr, 0, 0, GFP_KERNEL);
	if (IS_ERR(path))
		return PTR_ERR(path);
	path->pd = old->pd;
	path->pd_id = old->pd_id;
	/* the number's slot exists: this allocates nothing */
	if (ah->num)
		xa_store_irq(&dev->ahs, ah->num, path, GFP_KERNEL);
	rcu_assign_pointer(ah->path, path);
	ward_path_put(old);
	return 0;
}

/**
 * ward_ah_get_path() - where an AH leads
 * @ah: an AH that is not being destroyed
 *
 * Context: any.
 * Return: the path, referenced.
 */
struct ward_path *ward_ah_get_path(struct ward_ah *ah)
{
	struct ward_path *path;

	rcu_read_lock();
	do {
		path = rcu_dereference(ah->path);
	} while (!ward_path_try_get(path));
	rcu_read_unlock();
	return path;
}

/**
 * ward_ah_path() - where the AH of a process leads
 * @dev: the device
 * @num: what the process calls it
 * @pd:  the PD of the QP that sends
 *
 * Context: any.
 * Return: the path, referenced, or NULL when that PD has no such AH.
 */
struct ward_path *ward_ah_path(struct ward_device *dev, u32 num, const struct ib_pd *pd)
{
	struct ward_path *path;

	rcu_read_lock();
	path = xa_load(&dev->ahs, num);
	if (path && (path->pd != pd || !ward_path_try_get(path)))
		path = NULL;
	rcu_read_unlock();
	return path;
}

const struct ib_device_ops ward_ah_ops = {
	.create_ah = create,
	.create_user_ah = create,
	.destroy_ah = destroy,
	.query_ah = query,
	.modify_ah = modify,
	INIT_RDMA_OBJ_SIZE(ib_ah, ward_ah, ib),
};
