// SPDX-License-Identifier: GPL-2.0
/*
 * Rules about what is under way: the peer floods a region while it is taken away. When the one
 * has happened that is a fence, the memory is filled with 0x55, and must stay so.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include "fence.h"

#define ROUNDS	200
#define FLOOD	8
#define LEN	65536
#define LONG	SZ_1M

/* A's WRITEs to the region, on the connection */
static struct fence_op *flood(struct fence *f, struct kverbs_side *side, const struct ib_mr *mr)
{
	struct fence_op *last = NULL;
	int i;

	for (i = 0; i < FLOOD; i++)
		last = fence_rdma(f, side, IB_WR_RDMA_WRITE, f->a.dma, f->a.pd->local_dma_lkey,
				  LEN, mr->iova, mr->rkey);
	return last;
}

static void pause_a_little(int round)
{
	if (round & 1)
		udelay(get_random_u32_below(300));
	else if (round & 2)
		usleep_range(10, 400);
}

static void stays(struct fence *f, int round, const char *what)
{
	usleep_range(1000, 2000);
	EXPECT(f, fence_is(f->b.buf, 0x55, LEN), "written to after %s, round %d", what, round);
}

/* The regions of a round are freed with it: @mrs is not for so many. */
static void mrs_drop(struct fence *f, int count)
{
	while (f->mr_count > count)
		ib_dereg_mr(f->mrs[--f->mr_count]);
}

static void f1(struct fence *f)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED };
	struct fence_op *inv, *last;
	struct ib_mr *mr;
	int round, met = 0;

	for (round = 0; round < ROUNDS && !fence_over(f); round++) {
		fence_paint(f, 0xaa, 0);
		mr = fence_region(f, &f->conn.b, 0, LEN, FENCE_REMOTE);
		inv = fence_op(f);
		if (!mr || !inv)
			return;
		inv->scribble = f->b.buf;
		inv->len = LEN;
		wr.wr_cqe = &inv->op.cqe;
		wr.ex.invalidate_rkey = mr->rkey;
		last = flood(f, &f->conn.a, mr);
		pause_a_little(round);
		if (ib_post_send(f->conn.b.qp, &wr, NULL))
			return;
		if (!fence_wait(inv)) {
			/* a flushed one promises nothing */
			stays(f, round, "LOCAL_INV");
			if (fence_wait(last) || f->iwarp)
				met++;
		}
		fence_connect(f);
		mrs_drop(f, 0);
	}
	if (!fence_over(f) && !met)
		fence_say(f, FENCE_UNSUPPORTED, "no round met a WRITE under way");
}

static void f2(struct fence *f)
{
	struct fence_op *inv, *read;
	struct ib_mr *mr;
	int round, met = 0;

	if (f->iwarp) {
		fence_say(f, FENCE_UNSUPPORTED, "the READ's target would be a region, too");
		return;
	}
	for (round = 0; round < ROUNDS && !fence_over(f); round++) {
		fence_paint(f, 0, 0x11);
		mr = fence_region(f, &f->conn.b, 0, LONG, FENCE_REMOTE);
		if (!mr)
			return;
		read = fence_read(f, mr->rkey, mr->iova, LONG);
		pause_a_little(round);
		inv = fence_inv(f, mr->rkey);
		if (!fence_wait(inv)) {
			memset(f->b.buf, 0x99, LONG);
			if (fence_wait(read) == IB_WC_REM_ACCESS_ERR)
				met++;
			EXPECT(f, !memchr(f->a.buf, 0x99, LONG),
			       "read after LOCAL_INV, round %d", round);
		}
		fence_connect(f);
		mrs_drop(f, 0);
	}
	if (!fence_over(f) && !met)
		fence_say(f, FENCE_UNSUPPORTED, "no round met a READ under way");
}

static void f3(struct fence *f)
{
	struct fence_op *inv, *write;
	struct ib_mr *mr;
	int round, met = 0;

	for (round = 0; round < ROUNDS && !fence_over(f); round++) {
		fence_paint(f, 0xaa, 0x55);
		mr = fence_region(f, &f->conn.b, 0, LONG, FENCE_REMOTE);
		if (!mr)
			return;
		write = fence_write(f, mr->rkey, mr->iova, LONG);
		pause_a_little(round);
		inv = fence_inv(f, mr->rkey);
		if (!fence_wait(inv)) {
			int status = fence_wait(write);
			bool half = f->b.buf[0] == 0xaa && f->b.buf[LONG - 1] == 0x55;

			met += half;
			EXPECT(f, !half || f->iwarp || status == IB_WC_REM_ACCESS_ERR,
			       "half a WRITE: %s", fence_status(status));
		}
		fence_connect(f);
		mrs_drop(f, 0);
	}
	if (!fence_over(f) && !met)
		fence_say(f, FENCE_UNSUPPORTED, "no round met half a WRITE");
}

static void f13(struct fence *f)
{
	struct fence_op *recv, *last;
	struct ib_mr *mr;
	int round;

	for (round = 0; round < ROUNDS && !fence_over(f); round++) {
		fence_paint(f, 0xaa, 0);
		fence_connect_second(f);
		mr = fence_region(f, &f->conn.b, 0, LEN, FENCE_REMOTE);
		recv = mr ? fence_recv(f, &f->conn.b, LEN, 64) : NULL;
		if (!recv)
			return;
		recv->scribble = f->b.buf;
		recv->len = LEN;
		last = flood(f, &f->second.a, mr);
		pause_a_little(round);
		fence_expect(f, fence_post(f, &f->conn.a, IB_WR_SEND_WITH_INV, LEN, 1, mr->rkey, 0),
			     IB_WC_SUCCESS, "SEND_WITH_INV");
		if (!fence_wait(recv)) {
			EXPECT(f, recv->op.wc.wc_flags & IB_WC_WITH_INVALIDATE &&
			       recv->op.wc.ex.invalidate_rkey == mr->rkey,
			       "the completion does not tell the key");
			stays(f, round, "SEND_WITH_INV");
			fence_expect_shut(f, mr->rkey, mr->iova, f->b.buf, "after SEND_WITH_INV");
		}
		fence_wait(last);
		fence_connect(f);
		mrs_drop(f, 0);
	}
}

static void f19(struct fence *f)
{
	struct ib_mr *mr;
	int round;

	for (round = 0; round < ROUNDS && !fence_over(f); round++) {
		fence_paint(f, 0xaa, 0);
		mr = fence_region(f, &f->conn.b, 0, LEN, FENCE_REMOTE);
		if (!mr)
			return;
		flood(f, &f->conn.a, mr);
		pause_a_little(round);
		mrs_drop(f, 0);
		memset(f->b.buf, 0x55, LEN);
		stays(f, round, "dereg_mr");
		fence_connect(f);
	}
}

static void f32(struct fence *f)
{
	struct ib_mr *mr;
	int round;

	for (round = 0; round < ROUNDS && !fence_over(f); round++) {
		fence_paint(f, 0xaa, 0);
		mr = fence_region(f, &f->conn.b, 0, LEN, FENCE_REMOTE);
		if (!mr)
			return;
		flood(f, &f->conn.a, mr);
		pause_a_little(round);
		ib_drain_qp(f->conn.b.qp);
		memset(f->b.buf, 0x55, LEN);
		stays(f, round, "ib_drain_qp");
		fence_connect(f);
		mrs_drop(f, 0);
	}
}

/* A source is read once: what is sent again, when the receive comes, is what was posted. */
static void f35(struct fence *f)
{
	struct fence_op *send, *recv;

	if (f->iwarp) {
		fence_say(f, FENCE_UNSUPPORTED, "a SEND without a receive ends the connection");
		return;
	}
	if (f->a.dev == f->b.dev) {
		/* what waits for a receive need not have executed where no packet is sent */
		fence_say(f, FENCE_UNSUPPORTED, "needs a wire");
		return;
	}
	fence_paint(f, 0xaa, 0);
	send = fence_post(f, &f->conn.a, IB_WR_SEND, 0, 64, 0, 0);
	msleep(20);
	memset(f->a.buf, 0x99, 64);
	recv = fence_recv(f, &f->conn.b, 0, 64);
	fence_expect(f, recv, IB_WC_SUCCESS, "the receive");
	fence_expect(f, send, IB_WC_SUCCESS, "SEND");
	EXPECT(f, fence_is(f->b.buf, 0xaa, 64), "a retransmission read the memory again");
}

const struct fence_rule fence_race_rules[] = {
	{ "F1", "nothing is written after LOCAL_INV", f1 },
	{ "F2", "nothing is read after LOCAL_INV", f2 },
	{ "F3", "later packets of a WRITE are refused", f3 },
	{ "F13", "nothing is written after the receive of SEND_WITH_INV", f13 },
	{ "F19", "nothing is written after dereg_mr", f19 },
	{ "F32", "nothing is written after ib_drain_qp", f32 },
	{ "F35", "a source is read once", f35 },
	{}
};
