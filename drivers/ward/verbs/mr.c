// SPDX-License-Identifier: GPL-2.0
/*
 * The memory region verbs.
 */
#include <linux/slab.h>

#include "../mem/dmabuf.h"
#include "../mem/fastreg.h"
#include "../mem/pages.h"
#include "../mem/paging.h"
#include "../mem/user.h"
#include "device.h"
#include "mr.h"

#define ACCESS_SUPPORTED						\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |	\
	 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | IB_ACCESS_RELAXED_ORDERING |	\
	 WARD_ACCESS_FLUSH_GLOBAL | WARD_ACCESS_FLUSH_PERSISTENT)
/* Pages on demand, which may be huge ones */
#define ACCESS_PAGING							\
	(IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING) ?		\
	 IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB : 0)

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct ward_mr *mr = ward_mr_create(to_ward(pd->device), pd, WARD_KIND_DMA);
	struct ward_registration reg = { .access = access, .length = U64_MAX };
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = ward_mr_publish(mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	reg.key = mr->key;
	ward_mr_activate(mr, &reg);
	return &mr->ib;
}

/* Rights and range that ib_umem_get() or a peer would stumble over */
static int check_user(u64 start, u64 length, u64 iova, int access)
{
	if (access & ~ACCESS_SUPPORTED & ~ACCESS_PAGING & ~IB_ACCESS_OPTIONAL)
		return -EOPNOTSUPP;
	if ((access & IB_ACCESS_HUGETLB) && !(access & IB_ACCESS_ON_DEMAND))
		return -EINVAL;
	/* what comes and goes is not persistent */
	if ((access & IB_ACCESS_ON_DEMAND) && (access & WARD_ACCESS_FLUSH_PERSISTENT))
		return -EINVAL;
	if ((access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	/* neither range may wrap */
	if (!length || start + length < start || iova + length < iova)
		return -EINVAL;
	return 0;
}

/* A published region for user memory, or an error */
static struct ward_mr *create_user(struct ib_pd *pd)
{
	struct ward_mr *mr = ward_mr_create(to_ward(pd->device), pd, WARD_KIND_USER);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = ward_mr_publish(mr);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return mr;
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
	mr = create_user(pd);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = ward_user_map(mr, start, length, iova, access, pd);
	if (err) {
		ward_mr_destroy(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

static struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd,
					int access, WARD_DMAH_ARG ward_dmabuf_ctx_t *ctx)
{
	struct ward_mr *mr;
	int err;

	if (WARD_DMAH_GIVEN)
		return ERR_PTR(-EOPNOTSUPP);
	err = check_user(offset, length, iova, access);
	if (err)
		return ERR_PTR(err);
	if (access & (ACCESS_PAGING | WARD_ACCESS_FLUSH_PERSISTENT))
		return ERR_PTR(-EOPNOTSUPP);
	mr = create_user(pd);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = ward_dmabuf_map(mr, fd, offset, length, iova, access);
	if (err) {
		ward_mr_destroy(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/* Whether the pages that a region has will do for other rights */
static bool pages_will_do(const struct ward_mr *mr, int access)
{
	int pages = IB_ACCESS_ON_DEMAND | WARD_ACCESS_FLUSH_PERSISTENT;

	return (mr->access & pages) == (access & pages) &&
	       (ib_access_writable(mr->access) || !ib_access_writable(access));
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
	if (!(flags & IB_MR_REREG_PD))
		pd = mr->ib.pd;
	if (!(flags & IB_MR_REREG_TRANS) && pages_will_do(mr, access))
		ward_user_change(mr, access, pd);
	else if (!(flags & IB_MR_REREG_TRANS) && mr->backing.dmabuf)
		err = -EOPNOTSUPP;
	else
		err = ward_user_map(mr, start, length, iova, access, pd);
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
	struct ward_backing backing = mr->backing;

	if (!ward_mr_has_no_windows(mr, true))
		return -EBUSY;
	ward_mr_destroy(mr);
	ward_user_unmap(&backing);
	return 0;
}

/* The pages of a range of a region with on-demand paging, held; or an error */
static struct ward_paging *find_paging(struct ib_pd *pd, const struct ib_sge *sge, bool write,
				       u64 *offset)
{
	struct ward_asker who = { .dev = to_ward(pd->device), .pd = pd, .user = true };
	struct ward_paging *paging = ERR_PTR(-EINVAL);
	enum ward_refusal why;
	struct ward_mr *mr;

	local_bh_disable();
	rcu_read_lock();
	mr = ward_mr_enter(&who, sge->lkey, sge->addr, sge->length,
			   write ? IB_ACCESS_LOCAL_WRITE : 0, &why);
	if (!mr) {
		if (why == WARD_REFUSED_RANGE || why == WARD_REFUSED_RIGHTS)
			paging = ERR_PTR(-EFAULT);
	} else {
		if (mr->pages->paging) {
			paging = mr->pages->paging;
			ward_paging_get(paging);
			*offset = mr->offset + (sge->addr - mr->iova);
		}
		ward_mr_leave(mr);
	}
	rcu_read_unlock();
	local_bh_enable();
	return paging;
}

/* Always done when this returns, which is what UVERBS_ADVISE_MR_FLAG_FLUSH asks for */
static int advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		     struct ib_sge *sge, u32 num_sge, struct uverbs_attr_bundle *attrs)
{
	int err = 0;
	u32 i;

	if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	for (i = 0; i < num_sge && !err; i++) {
		struct ward_paging *paging;
		u64 offset;

		paging = find_paging(pd, &sge[i],
				     advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, &offset);
		if (IS_ERR(paging))
			return PTR_ERR(paging);
		err = ward_paging_bring(paging, offset, sge[i].length,
					advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT);
		ward_paging_put(paging);
	}
	return err;
}

const struct ib_device_ops ward_mr_ops = {
	.get_dma_mr = get_dma_mr,
	.reg_user_mr = reg_user_mr,
	.reg_user_mr_dmabuf = reg_user_mr_dmabuf,
	.rereg_user_mr = rereg_user_mr,
	.advise_mr = advise_mr,
	.alloc_mr = alloc_mr,
	.map_mr_sg = map_mr_sg,
	.dereg_mr = dereg_mr,
};
