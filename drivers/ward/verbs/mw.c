// SPDX-License-Identifier: GPL-2.0
/*
 * The memory window verbs. Binding is a work request.
 */
#include <linux/slab.h>

#include "../mem/region.h"
#include "device.h"
#include "mw.h"

static int alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct ward_mw *mw = container_of(ibmw, struct ward_mw, ib);
	struct ward_mr *region;
	int err;

	region = ward_mr_create(to_ward(ibmw->device), ibmw->pd,
				ibmw->type == IB_MW_TYPE_1 ? WARD_KIND_WINDOW_1 :
				WARD_KIND_WINDOW_2);
	if (!region)
		return -ENOMEM;
	err = ward_mr_publish(region);
	if (err) {
		kfree(region);
		return err;
	}
	mw->region = region;
	ibmw->rkey = region->key;
	return 0;
}

/* A fence (F40) */
static int dealloc_mw(struct ib_mw *ibmw)
{
	ward_mr_destroy(container_of(ibmw, struct ward_mw, ib)->region);
	return 0;
}

const struct ib_device_ops ward_mw_ops = {
	.alloc_mw = alloc_mw,
	.dealloc_mw = dealloc_mw,
	INIT_RDMA_OBJ_SIZE(ib_mw, ward_mw, ib),
};
