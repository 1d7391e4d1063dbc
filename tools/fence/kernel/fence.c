// SPDX-License-Identifier: GPL-2.0
/*
 * What the rules are made of.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "fence.h"

/**
 * fence_say - the verdict gets worse
 * @fence:   the rule
 * @verdict: from now on, unless there is a reason already
 * @format:  why
 */
void fence_say(struct fence *fence, enum fence_verdict verdict, const char *format, ...)
{
	va_list args;

	if (fence->verdict != FENCE_PASS)
		return;
	fence->verdict = verdict;
	va_start(args, format);
	vscnprintf(fence->why, sizeof(fence->why), format, args);
	va_end(args);
}

/**
 * fence_over - whether there is a verdict, so that more need not be tried
 * @fence: the rule
 *
 * Return: that
 */
bool fence_over(const struct fence *fence)
{
	return fence->verdict != FENCE_PASS;
}

static void connect(struct fence *fence, struct kverbs_conn *conn)
{
	int err;

	kverbs_conn_close(conn);
	err = kverbs_conn_open(conn, &fence->a, &fence->b, &fence->config,
			       fence->listener.id ? &fence->listener : NULL);
	conn->priv = fence;
	if (err)
		fence_say(fence, FENCE_BROKEN, "no connection: %d", err);
}

/**
 * fence_connect - fresh queue pairs in the same PDs
 * @fence: the rule; a refusal has cost it the old ones
 */
void fence_connect(struct fence *fence)
{
	connect(fence, &fence->conn);
}

/**
 * fence_connect_second - the same for the second connection
 * @fence: the rule
 */
void fence_connect_second(struct fence *fence)
{
	connect(fence, &fence->second);
}

/**
 * fence_paint - fills the buffers
 * @fence: the rule
 * @a: colour of A's
 * @b: colour of B's
 */
void fence_paint(struct fence *fence, u8 a, u8 b)
{
	memset(fence->a.buf, a, FENCE_BUF);
	memset(fence->b.buf, b, FENCE_BUF);
}

/**
 * fence_is - whether memory has one colour
 * @memory: where
 * @colour: which
 * @len:    bytes
 *
 * Return: that
 */
bool fence_is(const u8 *memory, u8 colour, size_t len)
{
	return !memchr_inv(memory, colour, len);
}

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_op *op = container_of(wc->wr_cqe, struct kverbs_op, cqe);
	struct fence_op *fop = container_of(op, struct fence_op, op);

	op->wc = *wc;
	if (fop->scribble)
		memset(fop->scribble, 0x55, fop->len);
	complete(&op->done);
}

/**
 * fence_op - a work request
 * @fence: the rule; owns it
 *
 * Return: the request, or NULL, when the verdict says so
 */
struct fence_op *fence_op(struct fence *fence)
{
	struct fence_op *op = kzalloc(sizeof(*op), GFP_KERNEL);

	if (!op) {
		fence_say(fence, FENCE_BROKEN, "no memory");
		return NULL;
	}
	kverbs_op_init(&op->op);
	op->op.cqe.done = op_done;
	list_add(&op->list, &fence->ops);
	return op;
}

/**
 * fence_wait - waits for a work request
 * @op: from a function that posts, may be NULL
 *
 * Return: an ib_wc_status, or a negative error
 */
int fence_wait(struct fence_op *op)
{
	return op ? kverbs_op_wait(&op->op) : -EINVAL;
}

/**
 * fence_status - what fence_wait() has said, in words
 * @status: that
 *
 * Return: the words
 */
const char *fence_status(int status)
{
	if (status == -ETIMEDOUT)
		return "no completion at all";
	if (status < 0)
		return "refused by the call";
	return ib_wc_status_msg(status);
}

static void posted(struct fence_op *op, int err)
{
	if (err) {
		/* as if it had completed with an error of its own */
		op->op.wc.status = IB_WC_GENERAL_ERR;
		complete(&op->op.done);
	}
}

/**
 * fence_recv - posts a receive
 * @fence:  the rule
 * @side:   where
 * @offset: in the buffer of the end
 * @len:    bytes
 *
 * Return: the request
 */
struct fence_op *fence_recv(struct fence *fence, struct kverbs_side *side, size_t offset, u32 len)
{
	struct ib_sge sge = { side->end->dma + offset, len, side->end->pd->local_dma_lkey };
	struct fence_op *op = fence_op(fence);
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = !!len };

	if (!op || !side->qp)
		return NULL;
	wr.wr_cqe = &op->op.cqe;
	posted(op, ib_post_recv(side->qp, &wr, NULL));
	return op;
}

/**
 * fence_post - posts a SEND of whatever kind, or LOCAL_INV
 * @fence:      the rule
 * @side:       where
 * @opcode:     what
 * @offset:     in the buffer of the end
 * @len:        bytes
 * @key_or_imm: to be invalidated, or immediate
 * @flags:      such as IB_SEND_FENCE
 *
 * Return: the request
 */
struct fence_op *fence_post(struct fence *fence, struct kverbs_side *side,
			    enum ib_wr_opcode opcode, size_t offset, u32 len, u32 key_or_imm,
			    int flags)
{
	struct ib_sge sge = { side->end->dma + offset, len, side->end->pd->local_dma_lkey };
	struct fence_op *op = fence_op(fence);
	struct ib_send_wr wr = {
		.opcode = opcode, .send_flags = IB_SEND_SIGNALED | flags, .sg_list = &sge,
		.num_sge = !!len,
	};

	if (!op || !side->qp)
		return NULL;
	wr.wr_cqe = &op->op.cqe;
	if (opcode == IB_WR_SEND_WITH_INV || opcode == IB_WR_LOCAL_INV)
		wr.ex.invalidate_rkey = key_or_imm;
	else
		wr.ex.imm_data = cpu_to_be32(key_or_imm);
	posted(op, ib_post_send(side->qp, &wr, NULL));
	return op;
}

/**
 * fence_rdma - posts a WRITE or READ
 * @fence:  the rule
 * @side:   where
 * @opcode: what
 * @local:  address of the memory here
 * @lkey:   its key
 * @len:    bytes
 * @remote: address of the memory there
 * @rkey:   its key
 *
 * Return: the request
 */
struct fence_op *fence_rdma(struct fence *fence, struct kverbs_side *side,
			    enum ib_wr_opcode opcode, u64 local, u32 lkey, u32 len, u64 remote,
			    u32 rkey)
{
	struct ib_sge sge = { local, len, lkey };
	struct fence_op *op = fence_op(fence);
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = opcode, .send_flags = IB_SEND_SIGNALED, .sg_list = &sge,
			.num_sge = !!len, .ex.imm_data = cpu_to_be32(1),
		},
		.remote_addr = remote, .rkey = rkey,
	};

	if (!op || !side->qp)
		return NULL;
	wr.wr.wr_cqe = &op->op.cqe;
	posted(op, ib_post_send(side->qp, &wr.wr, NULL));
	return op;
}

/**
 * fence_write - A writes the beginning of its buffer to B
 * @fence: the rule
 * @rkey:  key
 * @addr:  address
 * @len:   bytes
 *
 * Return: the request
 */
struct fence_op *fence_write(struct fence *fence, u32 rkey, u64 addr, u32 len)
{
	return fence_rdma(fence, &fence->conn.a, IB_WR_RDMA_WRITE, fence->a.dma,
			  fence->a.pd->local_dma_lkey, len, addr, rkey);
}

/**
 * fence_read - A reads from B to the beginning of its buffer
 * @fence: the rule
 * @rkey:  key
 * @addr:  address
 * @len:   bytes
 *
 * Return: the request
 */
struct fence_op *fence_read(struct fence *fence, u32 rkey, u64 addr, u32 len)
{
	u32 lkey = fence->a.pd->local_dma_lkey;
	struct ib_mr *mr;
	u64 local = fence->a.dma;

	/* the peer gets to know this key */
	if (fence->iwarp && len) {
		mr = fence_region(fence, &fence->conn.a, 0, len, FENCE_REMOTE);
		if (!mr)
			return NULL;
		lkey = mr->lkey;
		local = mr->iova;
	}
	return fence_rdma(fence, &fence->conn.a, IB_WR_RDMA_READ, local, lkey, len, addr, rkey);
}

/**
 * fence_reg - posts REG_MR
 * @fence:  the rule
 * @side:   where
 * @mr:     what
 * @key:    its key
 * @access: rights
 *
 * Return: the request
 */
struct fence_op *fence_reg(struct fence *fence, struct kverbs_side *side, struct ib_mr *mr,
			   u32 key, int access)
{
	struct fence_op *op = fence_op(fence);

	if (!op || !mr || !side->qp)
		return NULL;
	posted(op, kverbs_post_reg(side->qp, &op->op, mr, key, access));
	return op;
}

/**
 * fence_inv - B posts LOCAL_INV
 * @fence: the rule
 * @key:   to be invalidated
 *
 * Return: the request
 */
struct fence_op *fence_inv(struct fence *fence, u32 key)
{
	return fence_post(fence, &fence->conn.b, IB_WR_LOCAL_INV, 0, 0, key, 0);
}

/**
 * fence_mr - a region for fast registration
 * @fence: the rule; owns it
 * @pd:    in which PD
 * @pages: at most
 *
 * Return: the region, or NULL, when the verdict says so
 */
struct ib_mr *fence_mr(struct fence *fence, struct ib_pd *pd, u32 pages)
{
	struct ib_mr *mr;

	if (fence->mr_count == ARRAY_SIZE(fence->mrs)) {
		fence_say(fence, FENCE_BROKEN, "too many regions");
		return NULL;
	}
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr)) {
		fence_say(fence, FENCE_BROKEN, "no region: %ld", PTR_ERR(mr));
		return NULL;
	}
	fence->mrs[fence->mr_count++] = mr;
	return mr;
}

/**
 * fence_region - registers a part of an end's buffer
 * @fence:  the rule; owns the region
 * @side:   whose queue pair does it
 * @offset: in the buffer
 * @len:    bytes
 * @access: rights
 *
 * Return: the region, or NULL, when the verdict says so
 */
struct ib_mr *fence_region(struct fence *fence, struct kverbs_side *side, size_t offset,
			   size_t len, int access)
{
	struct ib_mr *mr = fence_mr(fence, side->end->pd,
				    DIV_ROUND_UP(offset_in_page(offset) + len, PAGE_SIZE));
	int status;

	if (!mr)
		return NULL;
	if (kverbs_map(mr, side->end, offset, len)) {
		fence_say(fence, FENCE_BROKEN, "map failed");
		return NULL;
	}
	status = fence_wait(fence_reg(fence, side, mr, mr->rkey, access));
	if (status) {
		fence_say(fence, FENCE_BROKEN, "REG_MR: %s", fence_status(status));
		return NULL;
	}
	return mr;
}

/**
 * fence_expect - a request completes with a certain status
 * @fence:  the rule
 * @op:     the request
 * @status: the status
 * @what:   the request in words
 *
 * Return: whether it did
 */
bool fence_expect(struct fence *fence, struct fence_op *op, int status, const char *what)
{
	int got = fence_wait(op);

	EXPECT(fence, got == status, "%s: %s in place of %s", what, fence_status(got),
	       fence_status(status));
	return got == status;
}

/**
 * fence_expect_error - a request on a fresh connection completes with an error, be it that of a
 * flushed one; a new connection follows
 * @fence: the rule
 * @op:    the request
 * @what:  the request in words
 */
void fence_expect_error(struct fence *fence, struct fence_op *op, const char *what)
{
	int got = fence_wait(op);

	EXPECT(fence, got > 0, "%s: %s", what, fence_status(got));
	fence_connect(fence);
}

/* A byte is written, or not. Returns the status of the WRITE. */
static int probe(struct fence *fence, u32 rkey, u64 addr, u8 *memory, bool *landed)
{
	int status;

	*fence->a.buf = 0xaa;
	*memory = 0x55;
	status = fence_wait(fence_write(fence, rkey, addr, 1));
	if (fence->iwarp)
		msleep(20);
	*landed = READ_ONCE(*memory) == 0xaa;
	return status;
}

/**
 * fence_expect_open - the peer's WRITE is let in
 * @fence:  the rule
 * @rkey:   key
 * @addr:   address
 * @memory: where that is
 * @what:   when, in words
 */
void fence_expect_open(struct fence *fence, u32 rkey, u64 addr, const u8 *memory, const char *what)
{
	bool landed;
	int status = probe(fence, rkey, addr, (u8 *)memory, &landed);

	EXPECT(fence, !status && landed, "%s: shut (%s)", what, fence_status(status));
	if (status)
		fence_connect(fence);
}

/**
 * fence_expect_shut - the peer's WRITE is refused; a new connection follows
 * @fence:  the rule
 * @rkey:   key
 * @addr:   address
 * @memory: where that is
 * @what:   when, in words
 */
void fence_expect_shut(struct fence *fence, u32 rkey, u64 addr, const u8 *memory, const char *what)
{
	bool landed;
	int status = probe(fence, rkey, addr, (u8 *)memory, &landed);

	EXPECT(fence, !landed, "%s: open", what);
	EXPECT(fence, fence->iwarp || status == IB_WC_REM_ACCESS_ERR, "%s: %s", what,
	       fence_status(status));
	fence_connect(fence);
}
