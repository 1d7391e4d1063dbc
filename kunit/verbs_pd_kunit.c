// SPDX-License-Identifier: GPL-2.0
/*
 * The matrix of protection domains: a queue pair, an object of the same domain or of another one,
 * and every operation that names the object. Only the legal cells succeed; a refused one changes
 * nothing for the legal ones.
 */
#include "verbs_fence.h"

/**
 * struct cell - one operation
 * @name:  for people
 * @run:   posts it; @foreign: with an object of another domain. Return: what completes
 * @legal: status in the same domain
 * @other: status with an object of another one
 */
struct cell {
	const char *name;
	struct verbs_op *(*run)(struct kunit *test, bool foreign);
	enum ib_wc_status legal;
	enum ib_wc_status other;
};

/* B with another domain: its objects are those that B's queue pair must not reach */
static struct verbs_end end_of(struct kunit *test, struct verbs_end *end, bool foreign)
{
	struct verbs_end other = *end;

	if (foreign)
		other.pd = verbs_pd(test, end);
	return other;
}

/* A region that is valid, by whichever queue pair of its domain */
static struct ib_mr *valid_mr(struct kunit *test, struct verbs_end *end, bool foreign)
{
	struct verbs *v = test->priv, *owner;
	struct verbs_end other = end_of(test, end, foreign);
	struct ib_mr *mr = verbs_mr(test, &other, 4);

	verbs_map(test, mr, &other, 0, PART);
	owner = verbs_more_pd(test, v, end == &v->b ? v->a.pd : other.pd,
			      end == &v->b ? other.pd : v->b.pd);
	ASSERT_STATUS(test, verbs_reg(test, end == &v->b ? &owner->b : &owner->a, mr, mr->rkey,
				      REMOTE), IB_WC_SUCCESS);
	return mr;
}

static struct verbs_op *remote_write(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = valid_mr(test, &v->b, foreign);

	return write_to(test, mr->rkey, mr->iova, 100);
}

static struct verbs_op *remote_read(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = valid_mr(test, &v->b, foreign);

	return read_from(test, mr->rkey, mr->iova, 100);
}

static struct verbs_op *remote_invalidate(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = valid_mr(test, &v->b, foreign);

	verbs_recv(test, &v->b, PART, 100);
	return verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 1, mr->rkey);
}

static struct verbs_op *remote_atomic(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct verbs_end other = end_of(test, &v->b, foreign);
	struct ib_mr *mr = fence_user_mr(test, &other, 0, PART, IB_ACCESS_LOCAL_WRITE |
					 IB_ACCESS_REMOTE_ATOMIC);
	struct ib_qp_attr attr = { .qp_access_flags = IB_ACCESS_REMOTE_ATOMIC };
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = { v->a.dma, 8, v->a.pd->local_dma_lkey };
	struct ib_atomic_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
			.send_flags = IB_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		},
		.remote_addr = mr->iova, .rkey = mr->rkey, .compare_add = 1,
	};

	KUNIT_ASSERT_EQ(test, ib_modify_qp(v->b.qp, &attr, IB_QP_ACCESS_FLAGS), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
	return op;
}

static struct verbs_op *window_write(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv, *owner;
	struct verbs_end other = end_of(test, &v->b, foreign);
	struct ib_mr *mr = fence_user_mr(test, &other, 0, PART, REMOTE | IB_ACCESS_MW_BIND);
	struct ib_mw *mw = fence_mw(test, &other, IB_MW_TYPE_1);

	owner = verbs_more_pd(test, v, v->a.pd, other.pd);
	ASSERT_STATUS(test, fence_bind(test, &owner->b, mw, mr, mr->iova, PART,
				       IB_ACCESS_REMOTE_WRITE), IB_WC_SUCCESS);
	return write_to(test, mw->rkey, mr->iova, 100);
}

static struct verbs_op *source(struct kunit *test, bool foreign, enum ib_wr_opcode opcode)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = valid_mr(test, &v->a, foreign);
	struct ib_mr *target = verbs_region(test, &v->b, 0, PART, REMOTE);

	verbs_recv(test, &v->b, PART, 100);
	return verbs_rdma(test, &v->a, opcode, mr->iova, mr->lkey, 100, target->iova,
			  target->rkey);
}

static struct verbs_op *source_of_send(struct kunit *test, bool foreign)
{
	return source(test, foreign, IB_WR_SEND);
}

static struct verbs_op *source_of_write(struct kunit *test, bool foreign)
{
	return source(test, foreign, IB_WR_RDMA_WRITE);
}

static struct verbs_op *target_of_read(struct kunit *test, bool foreign)
{
	return source(test, foreign, IB_WR_RDMA_READ);
}

static struct verbs_op *receive(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct ib_mr *mr = valid_mr(test, &v->b, foreign);
	struct verbs_op *recv = verbs_op(test);
	struct ib_sge sge = { mr->iova, PART, mr->lkey };
	struct ib_recv_wr wr = { .wr_cqe = &recv->cqe, .sg_list = &sge, .num_sge = 1 };

	KUNIT_ASSERT_EQ(test, ib_post_recv(v->b.qp, &wr, NULL), 0);
	verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	return recv;
}

/* The other way round: a foreign shared queue brings its own domain, the queue pair's is not it */
static struct verbs_op *shared_receive(struct kunit *test, bool foreign)
{
	struct ib_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 2 }, .srq_type = IB_SRQT_BASIC,
	};
	struct verbs *v = test->priv;
	struct verbs_op *recv = verbs_op(test);
	struct ib_sge sge = { v->b.dma, PART, v->b.pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &recv->cqe, .sg_list = &sge, .num_sge = 1 };

	v->b.srq = ib_create_srq(foreign ? verbs_pd(test, &v->b) : v->b.pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(v->b.srq));
	verbs_connect(test, v);
	KUNIT_ASSERT_EQ(test, ib_post_srq_recv(v->b.srq, &wr, NULL), 0);
	verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	return recv;
}

static struct verbs_op *register_mr(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct verbs_end other = end_of(test, &v->b, foreign);
	struct ib_mr *mr = verbs_mr(test, &other, 4);

	verbs_map(test, mr, &other, 0, PART);
	return verbs_reg(test, &v->b, mr, mr->rkey, REMOTE);
}

static struct verbs_op *invalidate_mr(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;

	return verbs_inv(test, &v->b, valid_mr(test, &v->b, foreign)->rkey);
}

static struct verbs_op *bind_to_mr(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct verbs_end other = end_of(test, &v->b, foreign);
	struct ib_mr *mr = fence_user_mr(test, &other, 0, PART, REMOTE | IB_ACCESS_MW_BIND);

	return fence_bind(test, &v->b, fence_mw(test, &v->b, IB_MW_TYPE_2), mr, mr->iova, PART,
			  IB_ACCESS_REMOTE_READ);
}

static struct verbs_op *bind_window(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct verbs_end other = end_of(test, &v->b, foreign);
	struct ib_mr *mr = fence_user_mr(test, &v->b, 0, PART, REMOTE | IB_ACCESS_MW_BIND);

	return fence_bind(test, &v->b, fence_mw(test, &other, IB_MW_TYPE_2), mr, mr->iova, PART,
			  IB_ACCESS_REMOTE_READ);
}

static void ah_free(void *ah)
{
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static struct verbs_op *send_by_ah(struct kunit *test, bool foreign)
{
	struct verbs *v = test->priv;
	struct verbs_end other = end_of(test, &v->a, foreign);
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = { v->a.dma, 100, v->a.pd->local_dma_lkey };
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge, .num_sge = 1,
		},
		.remote_qkey = VERBS_QKEY,
	};
	struct rdma_ah_attr attr;

	v->type = IB_QPT_UD;
	verbs_connect(test, v);
	verbs_path(&v->a, &v->b, &attr);
	wr.ah = rdma_create_ah(other.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(wr.ah));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, ah_free, wr.ah), 0);
	wr.remote_qpn = v->b.qp->qp_num;
	KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
	return op;
}

static const struct cell cells[] = {
	{ "remote WRITE, MR", remote_write, IB_WC_SUCCESS, IB_WC_REM_ACCESS_ERR },
	{ "remote READ, MR", remote_read, IB_WC_SUCCESS, IB_WC_REM_ACCESS_ERR },
	{ "remote atomic, MR", remote_atomic, IB_WC_SUCCESS, IB_WC_REM_ACCESS_ERR },
	{ "remote invalidate, MR", remote_invalidate, IB_WC_SUCCESS, IB_WC_REM_ACCESS_ERR },
	{ "remote WRITE, MW", window_write, IB_WC_SUCCESS, IB_WC_REM_ACCESS_ERR },
	{ "source of a SEND, MR", source_of_send, IB_WC_SUCCESS, IB_WC_LOC_PROT_ERR },
	{ "source of a WRITE, MR", source_of_write, IB_WC_SUCCESS, IB_WC_LOC_PROT_ERR },
	{ "target of a READ, MR", target_of_read, IB_WC_SUCCESS, IB_WC_LOC_PROT_ERR },
	{ "receive, MR", receive, IB_WC_SUCCESS, IB_WC_LOC_PROT_ERR },
	{ "receive, SRQ", shared_receive, IB_WC_SUCCESS, IB_WC_LOC_PROT_ERR },
	{ "REG_MR, MR", register_mr, IB_WC_SUCCESS, IB_WC_LOC_QP_OP_ERR },
	{ "LOCAL_INV, MR", invalidate_mr, IB_WC_SUCCESS, IB_WC_LOC_QP_OP_ERR },
	{ "bind to MR", bind_to_mr, IB_WC_SUCCESS, IB_WC_MW_BIND_ERR },
	{ "bind MW", bind_window, IB_WC_SUCCESS, IB_WC_MW_BIND_ERR },
	{ "SEND, AH", send_by_ah, IB_WC_SUCCESS, IB_WC_LOC_QP_OP_ERR },
};

KUNIT_ARRAY_PARAM_DESC(cell, cells, name);

static void same_domain(struct kunit *test)
{
	const struct cell *cell = test->param_value;

	EXPECT_STATUS(test, cell->run(test, false), cell->legal);
}

static void other_domain(struct kunit *test)
{
	const struct cell *cell = test->param_value;

	EXPECT_STATUS(test, cell->run(test, true), cell->other);
}

static struct kunit_case pd_cases[] = {
	KUNIT_CASE_PARAM(same_domain, cell_gen_params),
	KUNIT_CASE_PARAM(other_domain, cell_gen_params),
	{}
};

FENCE_SUITES("ward-fence-domains", pd_cases);
