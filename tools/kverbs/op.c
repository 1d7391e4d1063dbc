// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests that are waited for, and registrations.
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include "kverbs.h"

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_op *op = container_of(wc->wr_cqe, struct kverbs_op, cqe);

	op->wc = *wc;
	complete(&op->done);
}

/**
 * kverbs_op_init - prepares a work request that will be waited for
 * @op: whose @cqe the request is to have; stays until the request has completed
 */
void kverbs_op_init(struct kverbs_op *op)
{
	op->cqe.done = op_done;
	init_completion(&op->done);
}
EXPORT_SYMBOL_GPL(kverbs_op_init);

/**
 * kverbs_op_wait - waits for a work request
 * @op: the request
 *
 * Return: its status, or -ETIMEDOUT
 */
int kverbs_op_wait(struct kverbs_op *op)
{
	if (!wait_for_completion_timeout(&op->done, KVERBS_PATIENCE))
		return -ETIMEDOUT;
	complete(&op->done);
	return op->wc.status;
}
EXPORT_SYMBOL_GPL(kverbs_op_wait);

/**
 * kverbs_post_reg - posts REG_MR
 * @qp:     where
 * @op:     prepared, will be completed
 * @mr:     mapped
 * @key:    its key from now on
 * @access: rights
 *
 * Return: what ib_post_send() says. May be called in any context.
 */
int kverbs_post_reg(struct ib_qp *qp, struct kverbs_op *op, struct ib_mr *mr, u32 key, int access)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = mr, .key = key, .access = access,
	};

	return ib_post_send(qp, &wr.wr, NULL);
}
EXPORT_SYMBOL_GPL(kverbs_post_reg);

/**
 * kverbs_map - gives a fast registration a part of an end's buffer
 * @mr:     the region
 * @end:    the end
 * @offset: in the buffer
 * @len:    of the part
 *
 * Return: 0 or an error. May be called in any context.
 */
int kverbs_map(struct ib_mr *mr, struct kverbs_end *end, size_t offset, size_t len)
{
	struct scatterlist sg;
	int n;

	sg_init_one(&sg, end->buf + offset, len);
	sg_dma_address(&sg) = end->dma + offset;
	sg_dma_len(&sg) = len;
	n = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	return n == 1 ? 0 : n < 0 ? n : -EINVAL;
}
EXPORT_SYMBOL_GPL(kverbs_map);

/**
 * kverbs_mr_open - registers a part of an end's buffer
 * @side:   whose queue pair does it
 * @offset: in the buffer
 * @len:    of the part
 * @access: rights
 *
 * Return: the region, which ib_dereg_mr() ends, or an error
 */
struct ib_mr *kverbs_mr_open(struct kverbs_side *side, size_t offset, size_t len, int access)
{
	struct kverbs_op op;
	struct ib_mr *mr;
	int err;

	mr = ib_alloc_mr(side->end->pd, IB_MR_TYPE_MEM_REG,
			 DIV_ROUND_UP(offset_in_page(offset) + len, PAGE_SIZE));
	if (IS_ERR(mr))
		return mr;
	kverbs_op_init(&op);
	err = kverbs_map(mr, side->end, offset, len);
	if (!err)
		err = kverbs_post_reg(side->qp, &op, mr, mr->rkey, access);
	if (!err && !wait_for_completion_timeout(&op.done, KVERBS_PATIENCE)) {
		/* the request is flushed, so that nobody refers to the stack any more */
		kverbs_conn_error(side->conn);
		wait_for_completion(&op.done);
		err = -ETIMEDOUT;
	}
	if (!err && op.wc.status)
		err = -EIO;
	if (err) {
		ib_dereg_mr(mr);
		return ERR_PTR(err);
	}
	return mr;
}
EXPORT_SYMBOL_GPL(kverbs_mr_open);
