// SPDX-License-Identifier: GPL-2.0
/*
 * Protection domains: objects are compared by the PD that they belong to, there
 * is nothing in one. The core counts who uses it.
 */
#include "device.h"
#include "pd.h"

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct ward_device *dev = to_ward(pd->device);
	struct ward_pd *own = container_of(pd, struct ward_pd, ib);

	if (!atomic_add_unless(&dev->num_pd, 1, WARD_MAX_PD))
		return -ENOMEM;
	if (udata) {
		own->pid = task_tgid_nr(current);
		get_task_comm(own->comm, current);
	}
	ward_object_add(dev, &own->entry, &dev->objects.pds);
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct ward_device *dev = to_ward(pd->device);

	ward_object_del(dev, &container_of(pd, struct ward_pd, ib)->entry);
	atomic_dec(&dev->num_pd);
	return 0;
}

const struct ib_device_ops ward_pd_ops = {
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	INIT_RDMA_OBJ_SIZE(ib_pd, ward_pd, ib),
};
