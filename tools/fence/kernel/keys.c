// SPDX-License-Identifier: GPL-2.0
/*
 * Rules about keys, rights and ranges.
 */
#include <linux/delay.h>
#include "fence.h"

static void f7(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE);
	u32 key;
	u64 addr;

	if (!mr)
		return;
	key = mr->rkey;
	addr = mr->iova;
	fence_paint(f, 0xaa, 0x55);
	kverbs_map(mr, &f->b, FENCE_PART, FENCE_PART);
	ib_update_fast_reg_key(mr, (key & 0xff) + 1);
	fence_expect(f, fence_write(f, key, addr, FENCE_PART), IB_WC_SUCCESS,
		     "WRITE with the active key");
	if (f->iwarp)
		msleep(20);
	EXPECT(f, fence_is(f->b.buf, 0xaa, FENCE_PART), "it did not reach the active list");
	EXPECT(f, fence_is(f->b.buf + FENCE_PART, 0x55, FENCE_PART), "it reached the staged list");
	fence_connect(f);
	fence_expect_shut(f, mr->rkey, mr->iova, f->b.buf + FENCE_PART, "the staged key");
	fence_expect_open(f, key, addr, f->b.buf, "the active key afterwards");
}

static void f8(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE);

	if (!mr)
		return;
	fence_expect(f, fence_inv(f, mr->rkey), IB_WC_SUCCESS, "LOCAL_INV");
	fence_expect_shut(f, mr->rkey, mr->iova, f->b.buf, "after LOCAL_INV");
	fence_expect(f, fence_reg(f, &f->conn.b, mr, mr->rkey, FENCE_REMOTE), IB_WC_SUCCESS,
		     "REG_MR without a map");
	fence_expect_open(f, mr->rkey, mr->iova, f->b.buf, "after REG_MR");
}

/* SEND_WITH_INV that must be refused (F14) */
static void bad_send_inv(struct fence *f, u32 key, const char *what)
{
	struct fence_op *recv = fence_recv(f, &f->conn.b, FENCE_PART, 64);
	struct fence_op *send = fence_post(f, &f->conn.a, IB_WR_SEND_WITH_INV, 0, 1, key, 0);
	int status = fence_wait(send);

	/* iWARP's SEND has completed when the peer refuses */
	EXPECT(f, f->iwarp || (status > 0 && status != IB_WC_WR_FLUSH_ERR),
	       "%s: SEND_WITH_INV: %s", what, fence_status(status));
	status = fence_wait(recv);
	EXPECT(f, status > 0, "%s: the receive: %s", what, fence_status(status));
	fence_connect(f);
}

static void f9(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE), *other;
	int bit;

	for (bit = 0; mr && bit < 32 && !fence_over(f); bit++)
		fence_expect_shut(f, mr->rkey ^ BIT(bit), mr->iova, f->b.buf,
				  "a key with a wrong bit");
	for (bit = 0; mr && bit < 32 && !fence_over(f); bit += 5) {
		fence_expect_error(f, fence_inv(f, mr->rkey ^ BIT(bit)),
				   "LOCAL_INV of a key with a wrong bit");
		bad_send_inv(f, mr->rkey ^ BIT(bit), "a key with a wrong bit");
	}
	if (!mr || fence_over(f))
		return;
	fence_expect_open(f, mr->rkey, mr->iova, f->b.buf, "the right key");
	other = fence_mr(f, f->b.pd, 2);
	if (!other || kverbs_map(other, &f->b, 0, FENCE_PART))
		return;
	fence_expect_error(f, fence_reg(f, &f->conn.b, other, other->rkey ^ 0x100, FENCE_REMOTE),
			   "REG_MR with another index");
}

static void f10(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE), *other;
	struct ib_pd *pd;

	if (!mr)
		return;
	fence_expect_error(f, fence_reg(f, &f->conn.b, mr, mr->rkey, FENCE_REMOTE),
			   "REG_MR of a valid region");
	other = fence_mr(f, f->b.pd, 2);
	if (other && !kverbs_map(other, &f->b, 0, FENCE_PART))
		fence_expect_error(f, fence_reg(f, &f->conn.b, other, other->rkey,
						IB_ACCESS_REMOTE_WRITE),
				   "REG_MR with REMOTE_WRITE but not LOCAL_WRITE");
	pd = ib_alloc_pd(f->b.dev, 0);
	if (IS_ERR(pd))
		return;
	other = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 2);
	if (!IS_ERR(other)) {
		if (!kverbs_map(other, &f->b, 0, FENCE_PART))
			fence_expect_error(f, fence_reg(f, &f->conn.b, other, other->rkey,
							FENCE_REMOTE), "REG_MR in another PD");
		ib_dereg_mr(other);
	}
	ib_dealloc_pd(pd);
}

/*
 * Calls @fn with a region that a queue pair of another PD of B has registered; that connection
 * is the second one.
 */
static void in_another_pd(struct fence *f, void (*fn)(struct fence *f, struct ib_mr *mr))
{
	struct kverbs_end other = f->b;
	struct kverbs_conn conn = {};
	struct kverbs_op op;
	struct ib_mr *mr;
	int err;

	if (f->listener.id) {
		fence_say(f, FENCE_UNSUPPORTED, "needs a second PD behind one listener");
		return;
	}
	other.pd = ib_alloc_pd(f->b.dev, 0);
	if (IS_ERR(other.pd))
		return;
	err = kverbs_conn_open(&conn, &f->a, &other, &f->config, NULL);
	conn.priv = f;
	mr = ib_alloc_mr(other.pd, IB_MR_TYPE_MEM_REG, 2);
	if (!err && !IS_ERR(mr) && !kverbs_map(mr, &other, 0, FENCE_PART)) {
		kverbs_op_init(&op);
		err = kverbs_post_reg(conn.b.qp, &op, mr, mr->rkey, FENCE_REMOTE);
		if (!err) {
			wait_for_completion(&op.done);
			err = op.wc.status;
		}
		if (!err)
			fn(f, mr);
	}
	if (err)
		fence_say(f, FENCE_BROKEN, "no region in another PD");
	kverbs_conn_close(&conn);
	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	ib_dealloc_pd(other.pd);
}

/* Whether the foreign region is still valid: REG_MR of a valid one fails, of an invalid one not */
static void f11_body(struct fence *f, struct ib_mr *mr)
{
	fence_expect_error(f, fence_inv(f, mr->rkey), "LOCAL_INV of a region of another PD");
	bad_send_inv(f, mr->rkey, "a region of another PD");
}

static void f11(struct fence *f)
{
	in_another_pd(f, f11_body);
}

static void f21_body(struct fence *f, struct ib_mr *mr)
{
	u32 key = mr->rkey;

	fence_expect_shut(f, key, mr->iova, f->b.buf, "an R_key of another PD");
}

static void f21(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE), *source;
	struct ib_pd *pd;

	in_another_pd(f, f21_body);
	if (!mr || fence_over(f))
		return;
	/* an lkey of another PD: of a region that is valid there */
	pd = f->b.pd;
	source = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE);
	if (!source || f->a.pd == pd)
		return;
	fence_expect(f, fence_rdma(f, &f->conn.a, IB_WR_RDMA_WRITE, source->iova, source->lkey, 9,
				   mr->iova, mr->rkey), IB_WC_LOC_PROT_ERR,
		     "WRITE from an lkey of another PD");
}

static void f12(struct fence *f)
{
	const u32 key = f->b.pd->unsafe_global_rkey;

	fence_expect_error(f, fence_inv(f, key), "LOCAL_INV of a plain region");
	bad_send_inv(f, key, "a plain region");
	fence_expect_open(f, key, f->b.dma, f->b.buf, "the plain region afterwards");
}

static void f14(struct fence *f)
{
	struct fence_op *recv = fence_recv(f, &f->conn.b, FENCE_PART, 64);
	struct fence_op *send = fence_post(f, &f->conn.a, IB_WR_SEND_WITH_INV, 0, 1, 0xdeadbe00, 0);

	if (!f->iwarp)
		fence_expect(f, send, IB_WC_REM_ACCESS_ERR, "SEND_WITH_INV of a bad key");
	fence_expect(f, recv, IB_WC_REM_INV_REQ_ERR, "its receive");
	msleep(50);
	EXPECT(f, f->iwarp || atomic_read(&f->events[IB_EVENT_QP_ACCESS_ERR]) == 1,
	       "%d events QP_ACCESS_ERR", atomic_read(&f->events[IB_EVENT_QP_ACCESS_ERR]));
}

static void access_set(struct fence *f, int access)
{
	struct ib_qp_attr attr = { .qp_access_flags = access };

	EXPECT(f, !ib_modify_qp(f->conn.b.qp, &attr, IB_QP_ACCESS_FLAGS), "modify_qp failed");
}

static void f20(struct fence *f)
{
	struct ib_mr *readable = fence_region(f, &f->conn.b, 0, FENCE_PART, IB_ACCESS_REMOTE_READ);
	struct ib_mr *writable = fence_region(f, &f->conn.b, FENCE_PART, FENCE_PART,
					      IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	struct ib_mr *source;

	if (!readable || !writable)
		return;
	fence_expect_shut(f, readable->rkey, readable->iova, f->b.buf, "WRITE without the right");
	fence_expect(f, fence_read(f, readable->rkey, readable->iova, 9), IB_WC_SUCCESS, "READ");
	fence_expect(f, fence_read(f, writable->rkey, writable->iova, 9), IB_WC_REM_ACCESS_ERR,
		     "READ without the right");
	fence_connect(f);
	if (f->iwarp)
		return;
	access_set(f, IB_ACCESS_REMOTE_READ);
	fence_expect(f, fence_write(f, writable->rkey, writable->iova, 9), IB_WC_REM_INV_REQ_ERR,
		     "WRITE without the QP's right");
	fence_connect(f);
	access_set(f, IB_ACCESS_REMOTE_WRITE);
	fence_expect(f, fence_read(f, readable->rkey, readable->iova, 9), IB_WC_REM_INV_REQ_ERR,
		     "READ without the QP's right");
	fence_connect(f);
	source = fence_region(f, &f->conn.a, 0, FENCE_PART, IB_ACCESS_REMOTE_READ);
	if (source)
		fence_expect(f, fence_rdma(f, &f->conn.a, IB_WR_RDMA_READ, source->iova,
					   source->lkey, 9, readable->iova, readable->rkey),
			     IB_WC_LOC_PROT_ERR, "READ into memory without LOCAL_WRITE");
}

static enum ib_qp_state state_of(struct kverbs_side *side)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return ib_query_qp(side->qp, &attr, IB_QP_STATE, &init) ? IB_QPS_RESET : attr.qp_state;
}

static void f22(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE);
	int n;

	if (!mr)
		return;
	fence_wait(fence_write(f, mr->rkey ^ 1, mr->iova, 9));
	msleep(50);
	n = atomic_read(&f->events[IB_EVENT_QP_ACCESS_ERR]);
	EXPECT(f, n == 1, "bad key: %d events QP_ACCESS_ERR", n);
	EXPECT(f, state_of(&f->conn.b) == IB_QPS_ERR, "bad key: the QP is not in ERR");
	if (f->iwarp)
		return;
	fence_connect(f);
	access_set(f, IB_ACCESS_REMOTE_READ);
	fence_wait(fence_write(f, mr->rkey, mr->iova, 9));
	msleep(50);
	n = atomic_read(&f->events[IB_EVENT_QP_REQ_ERR]);
	EXPECT(f, n == 1, "no right: %d events QP_REQ_ERR", n);
	EXPECT(f, state_of(&f->conn.b) == IB_QPS_ERR, "no right: the QP is not in ERR");
}

static void f24(struct fence *f)
{
	fence_expect(f, fence_write(f, 0xdeadbeef, 0x1234, 0), IB_WC_SUCCESS, "WRITE of no bytes");
	fence_expect(f, fence_read(f, 0xdeadbeef, 0x1234, 0), IB_WC_SUCCESS, "READ of no bytes");
}

static void f25(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 104, FENCE_PART, FENCE_REMOTE);
	u64 addrs[] = { -1, -1, -FENCE_PART, FENCE_PART, FENCE_PART - 1, 0, 0, 0, 0, 1ULL << 32 };
	u32 lens[] = { 1, 2, FENCE_PART, 1, 2, FENCE_PART + 1, 1, 2, 4097, 1 };
	int i, status;

	if (!mr)
		return;
	fence_paint(f, 0xaa, 0x55);
	for (i = 0; i < ARRAY_SIZE(addrs) && !fence_over(f); i++) {
		/* 6 to 8: the end of the address space */
		u64 addr = i == 6 || i == 7 ? U64_MAX : i == 8 ? U64_MAX - 4095 :
			mr->iova + addrs[i];

		status = fence_wait(fence_write(f, mr->rkey, addr, lens[i]));
		EXPECT(f, f->iwarp || status == IB_WC_REM_ACCESS_ERR, "WRITE of %u to %llx: %s",
		       lens[i], addr, fence_status(status));
		fence_connect(f);
		status = fence_wait(fence_read(f, mr->rkey, addr, lens[i]));
		EXPECT(f, status > 0, "READ of %u from %llx: %s", lens[i], addr,
		       fence_status(status));
		fence_connect(f);
	}
	EXPECT(f, fence_is(f->b.buf, 0x55, FENCE_BUF), "something was written");
}

static void f26(struct fence *f)
{
	struct ib_mr *mr = fence_mr(f, f->b.pd, 2);

	if (!mr || kverbs_map(mr, &f->b, 0, FENCE_PART))
		return;
	mr->iova = 0;
	fence_expect(f, fence_reg(f, &f->conn.b, mr, mr->rkey, FENCE_REMOTE), IB_WC_SUCCESS,
		     "REG_MR with an iova of 0");
	fence_expect_open(f, mr->rkey, 100, f->b.buf + 100, "an offset");
	fence_expect_shut(f, mr->rkey, f->b.dma, f->b.buf, "the address");
}

static void f39(struct fence *f)
{
	struct ib_mr *mr = fence_region(f, &f->conn.b, 0, FENCE_PART, FENCE_REMOTE);
	struct fence_op *recv;
	int i;

	for (i = 0; mr && i < 2; i++)
		fence_expect(f, fence_inv(f, mr->rkey), IB_WC_SUCCESS, "LOCAL_INV, twice");
	for (i = 0; mr && i < 2 && !fence_over(f); i++) {
		recv = fence_recv(f, &f->conn.b, 0, 64);
		fence_expect(f, fence_post(f, &f->conn.a, IB_WR_SEND_WITH_INV, 0, 1, mr->rkey, 0),
			     IB_WC_SUCCESS, "SEND_WITH_INV afterwards");
		fence_expect(f, recv, IB_WC_SUCCESS, "its receive");
	}
}

static void f46(struct fence *f)
{
	struct ib_mr *mr;
	int i;

	for (i = 0; i < 100000 && !fence_over(f); i++) {
		mr = ib_alloc_mr(f->b.pd, IB_MR_TYPE_MEM_REG, 1);
		if (IS_ERR(mr)) {
			fence_say(f, FENCE_BROKEN, "no region");
			return;
		}
		EXPECT(f, mr->rkey && mr->lkey, "key 0 after %d", i);
		ib_dereg_mr(mr);
		cond_resched();
	}
}

const struct fence_rule fence_key_rules[] = {
	{ "F7", "map and new key leave the active registration alone", f7 },
	{ "F8", "REG_MR again without a map", f8 },
	{ "F9", "all 32 bits of a key count", f9 },
	{ "F10", "REG_MR: invalid region, own PD, legal rights", f10 },
	{ "F11", "invalidate needs the same PD", f11 },
	{ "F12", "only fast registrations can be invalidated", f12, KVERBS_GLOBAL },
	{ "F14", "bad key in SEND_WITH_INV", f14 },
	{ "F20", "access rights of region and QP", f20 },
	{ "F21", "keys of another PD", f21 },
	{ "F22", "a refusal is told by an event, and the QP goes to ERR", f22 },
	{ "F24", "no bytes, no key", f24 },
	{ "F25", "ranges do not overflow", f25 },
	{ "F26", "registrations from address 0", f26 },
	{ "F39", "invalidating what is invalid", f39 },
	{ "F46", "key 0 is never given", f46 },
	{}
};
