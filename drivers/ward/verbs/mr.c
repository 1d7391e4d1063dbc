// SPDX-License-Identifier: GPL-2.0
/*
 * The memory region verbs.
 */
#include <linux/slab.h>

#include "../mem/fastreg.h"
#include "../mem/pages.h"
#include "../mem/user.h"
#include "device.h"
#include "mr.h"

#define ACCESS_SUPPORTED						\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |	\
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_RELAXED_ORDERING |	\
	 WARD_ACCESS_FLUSH_GLOBAL | WARD_ACCESS_FLUSH_PERSISTENT)

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct ward_mr *mr = ward_mr_create(to_ward(pd->device), pd, WARD_KIND_DMA);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = ward_mr_publish(mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	ward_mr_activate(mr, mr->key, access, 0, U64_MAX, 0, NULL);
	return &mr->ib;
}

/* Rights and range that ib_umem_get() or a peer would stumble over */
static int check_user(u64 start, u64 length, u64 iova, int access)
{
	if (access & ~ACCESS_SUPPORTED & ~IB_ACCESS_OPTIONAL)
		return -EOPNOTSUPP;
	if ((access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	/* neither range may wrap */
	if (!length || start + length < start || iova + length < iova)
		return -EINVAL;
	return 0;
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
				 WARD_DMAH_ARG struct ib_udata *udata)
{
	struct ward_mr *mr;
	int err;

	if (WARD_DMAH_GIVEN)
		return ERR_PTR(-EOPNOTSUPP);
	err = check_user(start, length, iova, access);
	if (err)
		return ERR_PTR(err);
	mr = ward_mr_create(to_ward(pd->device), pd, WARD_KIND_USER);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = ward_mr_publish(mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	err = ward_user_pin(mr, start, length, iova, access);
	if (err) {
		ward_mr_destroy(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/*
 * In place, under the same key: peers are refused while it is going on, and nobody is inside any
 * more when the old pages are let go (F41).
 */
static struct ib_mr *rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				   int access, struct ib_pd *pd, struct ib_udata *udata)
{
	struct ward_mr *mr = to_ward_mr(ibmr);
	int err;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (mr->kind != WARD_KIND_USER)
		return ERR_PTR(-EINVAL);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr->start;
		length = mr->length;
		iova = mr->iova;
	}
	err = check_user(start, length, iova, access);
	if (err)
		return ERR_PTR(err);
	if (!ward_mr_has_no_windows(mr, true))
		return ERR_PTR(-EBUSY);
	err = ward_user_repin(mr, start, length, iova, access,
			      flags & IB_MR_REREG_PD ? pd : mr->ib.pd);
	ward_mr_has_no_windows(mr, false);
	return err ? ERR_PTR(err) : NULL;
}

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg)
{
	struct ward_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_sg || max_sg > WARD_MAX_FASTREG_PAGES)
		return ERR_PTR(-EINVAL);

	mr = ward_mr_create(to_ward(pd->device), pd, WARD_KIND_FASTREG);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = ward_fastreg_prepare(mr, type, max_sg);
	if (!err)
		err = ward_mr_publish(mr);
	if (err) {
		ward_pages_put(mr->list[0]);
		ward_pages_put(mr->list[1]);
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

static int map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	return ward_fastreg_map(to_ward_mr(ibmr), sg, nents, offset);
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct ward_mr *mr = to_ward_mr(ibmr);
	struct ib_umem *umem = mr->umem;

	if (!ward_mr_has_no_windows(mr, true))
		return -EBUSY;
	ward_mr_destroy(mr);
	ward_user_unpin(umem);
	return 0;
}

const struct ib_device_ops ward_mr_ops = {
	.get_dma_mr = get_dma_mr,
	.reg_user_mr = reg_user_mr,
	.rereg_user_mr = rereg_user_mr,
	.alloc_mr = alloc_mr,
	.map_mr_sg = map_mr_sg,
	.dereg_mr = dereg_mr,
};
