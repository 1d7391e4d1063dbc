// SPDX-License-Identifier: GPL-2.0
/*
 * What is particular about QPs of one host that talk without packets: when they do, how they go
 * over to packets and back, and what happens when one of them goes away, or is busy. That the
 * verbs do what they do everywhere is shown by the other suites, which run in this way too.
 */
#include <linux/delay.h>
#include <linux/if_ether.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include "../drivers/ward/qp/qp.h"
#include "../drivers/ward/verbs/options.h"
#include "verbs.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)
#define LARGE	(1024 * 1024)	/* many steps, and not a multiple of one with the 77 more below */

static struct link wire;
static struct link_end *const end = &wire.end[0];

static struct verbs *start(struct kunit *test)
{
	link_use(end, WARD_PATH_AUTO);
	return verbs_start(test, IB_QPT_RC, end, end, false);
}

/* Counters as they were; what has been done since */
struct count {
	u64 steps, bytes, packets;
};

static struct count count(void)
{
	return (struct count) {
		.steps = link_count(end, WARD_CNT_LOCAL_STEPS),
		.bytes = link_count(end, WARD_CNT_LOCAL_BYTES),
		.packets = link_count(end, WARD_CNT_SENT_PKTS),
	};
}

static struct count since(struct count before)
{
	struct count now = count();

	return (struct count) {
		now.steps - before.steps, now.bytes - before.bytes, now.packets - before.packets,
	};
}

static struct verbs_op *rdma(struct kunit *test, enum ib_wr_opcode opcode, u32 len,
			     struct ib_mr *mr)
{
	struct verbs *v = test->priv;

	return verbs_rdma(test, &v->a, opcode, v->a.dma, v->a.pd->local_dma_lkey, len, mr->iova,
			  mr->rkey);
}

static struct ib_mr *whole(struct kunit *test)
{
	struct verbs *v = test->priv;

	return verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
}

/* Each of the two expects of the other what that will send next. */
static void expect_in_step(struct kunit *test)
{
	struct verbs *v = test->priv;
	struct ib_qp_init_attr init;
	struct ib_qp_attr a, b;

	KUNIT_ASSERT_EQ(test, ib_query_qp(v->a.qp, &a, IB_QP_SQ_PSN | IB_QP_RQ_PSN, &init), 0);
	KUNIT_ASSERT_EQ(test, ib_query_qp(v->b.qp, &b, IB_QP_SQ_PSN | IB_QP_RQ_PSN, &init), 0);
	KUNIT_EXPECT_EQ(test, a.sq_psn, b.rq_psn);
	KUNIT_EXPECT_EQ(test, b.sq_psn, a.rq_psn);
	KUNIT_EXPECT_EQ(test, to_ward_qp(v->a.qp)->req.una, a.sq_psn);
	KUNIT_EXPECT_TRUE(test, list_empty(&to_ward_qp(v->a.qp)->req.sent));
}

/* One of each; the data is right, and the counters say by which way it came. */
static void exchange(struct kunit *test, struct ib_mr *mr, bool local)
{
	static const u32 lens[] = { 0, 1, 1024, 4097, VERBS_BUF };
	struct verbs *v = test->priv;
	struct count before = count(), done;
	struct verbs_op *recv;
	u64 bytes = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		get_random_bytes(v->a.buf, VERBS_BUF);
		ASSERT_STATUS(test, rdma(test, IB_WR_RDMA_WRITE, lens[i], mr), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, lens[i]), 0);
		get_random_bytes(v->b.buf, VERBS_BUF);
		ASSERT_STATUS(test, rdma(test, IB_WR_RDMA_READ, lens[i], mr), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, lens[i]), 0);
		get_random_bytes(v->a.buf, VERBS_BUF);
		recv = verbs_recv(test, &v->b, 0, VERBS_BUF);
		ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_IMM, 0, lens[i], 9),
			      IB_WC_SUCCESS);
		ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, recv->wc.byte_len, lens[i]);
		KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, lens[i]), 0);
		bytes += 3 * lens[i];
	}
	done = since(before);
	if (local) {
		KUNIT_EXPECT_EQ(test, done.steps, 3 * ARRAY_SIZE(lens));
		KUNIT_EXPECT_EQ(test, done.bytes, bytes);
		KUNIT_EXPECT_EQ(test, done.packets, 0);
	} else {
		KUNIT_EXPECT_EQ(test, done.steps, 0);
		KUNIT_EXPECT_GE(test, done.packets, 3 * ARRAY_SIZE(lens));
	}
	expect_in_step(test);
}

static void packets_and_back(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr;
	int round;

	v->a.psn = 0xffffff;
	verbs_connect(test, v);
	mr = whole(test);
	for (round = 0; round < 3; round++) {
		exchange(test, mr, true);
		link_use(end, WARD_PATH_PACKET);
		exchange(test, mr, false);
		link_use(end, WARD_PATH_AUTO);
	}
}

/* The way changes while much is posted: in the middle of messages, too. */
static void packets_in_between(struct kunit *test)
{
	struct verbs *v = start(test);
	u32 len = LARGE + 77, round, i;
	struct scatterlist sg;
	struct verbs_op *op[8];
	u8 *from, *to;
	struct ib_mr *mr = verbs_mr(test, &v->b, LARGE / PAGE_SIZE + 2);
	struct count before = count(), done;

	from = kunit_kzalloc(test, len, GFP_KERNEL);
	to = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, from && to);
	sg_init_one(&sg, to, len);
	sg_dma_address(&sg) = (uintptr_t)to;
	sg_dma_len(&sg) = len;
	KUNIT_ASSERT_EQ(test, ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE), 1);
	ASSERT_STATUS(test, verbs_reg(test, &v->b, mr, mr->rkey, REMOTE), IB_WC_SUCCESS);
	for (round = 0; round < 8; round++) {
		get_random_bytes(from, len);
		for (i = 0; i < ARRAY_SIZE(op); i++) {
			/* the run takes a step of it at least before this returns */
			op[i] = verbs_rdma(test, &v->a, i & 1 ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
					   (uintptr_t)from, v->a.pd->local_dma_lkey, len, mr->iova,
					   mr->rkey);
			link_use(end, (i + round) & 2 ? WARD_PATH_AUTO : WARD_PATH_PACKET);
		}
		for (i = 0; i < ARRAY_SIZE(op); i++)
			ASSERT_STATUS(test, op[i], IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, memcmp(from, to, len), 0);
		expect_in_step(test);
	}
	done = since(before);
	KUNIT_EXPECT_GT(test, done.steps, 0);
	KUNIT_EXPECT_GT(test, done.packets, 0);
}

/* What went as packets is acknowledged before a step is taken, even if the peer has it all. */
static void acknowledgements_first(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = whole(test);
	struct verbs_op *first, *second;
	int rule, i;

	rule = verbs_rule(test, &v->a, "drop dir=in op=ack times=1");
	first = rdma(test, IB_WR_RDMA_WRITE, 100, mr);
	for (i = 0; i < 1000 && !verbs_hits(test, &v->a, rule); i++)
		usleep_range(100, 200);
	verbs_unrule(test, &v->a, rule);
	second = rdma(test, IB_WR_RDMA_WRITE, 200, mr);
	EXPECT_STATUS(test, first, IB_WC_SUCCESS);
	EXPECT_STATUS(test, second, IB_WC_SUCCESS);
	expect_in_step(test);
}

static void atomics(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_qp_attr attr = { .qp_access_flags = REMOTE | IB_ACCESS_REMOTE_ATOMIC };
	struct ib_mr *mr = verbs_region(test, &v->b, 0, PAGE_SIZE, REMOTE);
	struct ib_sge sge = { v->a.dma, 8, v->a.pd->local_dma_lkey };
	u64 *here = (u64 *)v->a.buf, *there = (u64 *)v->b.buf;
	struct count before = count();
	struct ib_atomic_wr wr = {
		.wr = { .sg_list = &sge, .num_sge = 1, .send_flags = IB_SEND_SIGNALED },
		.remote_addr = mr->iova, .rkey = mr->rkey,
	};
	struct verbs_op *op;
	int i;

	KUNIT_ASSERT_EQ(test, ib_modify_qp(v->b.qp, &attr, IB_QP_ACCESS_FLAGS), 0);
	/* fast registration does not give this right, and a kernel has no other for a client */
	to_ward_mr(mr)->access |= IB_ACCESS_REMOTE_ATOMIC;
	for (i = 0; i < 3; i++) {
		op = verbs_op(test);
		wr.wr.wr_cqe = &op->cqe;
		wr.wr.opcode = i ? IB_WR_ATOMIC_CMP_AND_SWP : IB_WR_ATOMIC_FETCH_AND_ADD;
		wr.compare_add = 7;
		wr.swap = 100;
		KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
		ASSERT_STATUS(test, op, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, *here, i == 0 ? 0 : i == 1 ? 7 : 100);
		KUNIT_EXPECT_EQ(test, *there, i ? 100 : 7);
	}
	KUNIT_EXPECT_EQ(test, since(before).steps, 3);
	expect_in_step(test);
	/* not aligned: refused, and both queue pairs are in ERR */
	op = verbs_op(test);
	wr.wr.wr_cqe = &op->cqe;
	wr.remote_addr++;
	KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
	EXPECT_STATUS(test, op, IB_WC_REM_INV_REQ_ERR);
	KUNIT_EXPECT_EQ(test, READ_ONCE(to_ward_qp(v->b.qp)->state), IB_QPS_ERR);
}

static void port_down(struct kunit *test)
{
	struct count before;

	start(test);
	exchange(test, whole(test), true);
	rtnl_lock();
	dev_change_flags(end->netdev, end->netdev->flags & ~IFF_UP, NULL);
	rtnl_unlock();
	before = count();
	rdma(test, IB_WR_RDMA_READ, 0, &(struct ib_mr) {});
	msleep(20);
	KUNIT_EXPECT_EQ(test, since(before).steps, 0);
	KUNIT_EXPECT_GT(test, since(before).packets, 0);
	rtnl_lock();
	dev_change_flags(end->netdev, end->netdev->flags | IFF_UP, NULL);
	rtnl_unlock();
	/* it has lost its IPv6 address */
	link_address(end, AF_INET6, true);
}

static void address_gone(struct kunit *test)
{
	struct verbs_op *op;
	struct count before;

	start(test);
	exchange(test, whole(test), true);
	KUNIT_ASSERT_EQ(test, link_address(end, AF_INET, false), 0);
	before = count();
	op = rdma(test, IB_WR_RDMA_READ, 0, &(struct ib_mr) {});
	msleep(20);
	KUNIT_EXPECT_FALSE(test, verbs_completed(op));
	KUNIT_EXPECT_EQ(test, since(before).steps, 0);
	KUNIT_ASSERT_EQ(test, link_address(end, AF_INET, true), 0);
	verbs_status(op);
}

/* UC: what the peer drops is no error, and the next message begins anew. */
static void unreliable(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = whole(test), bad = *mr;
	struct verbs_op *recv;
	struct count before;
	int i;

	/* regions are registered by RC only */
	v->type = IB_QPT_UC;
	verbs_connect(test, v);
	bad.rkey ^= 1;
	before = count();
	for (i = 0; i < 3; i++) {
		get_random_bytes(v->a.buf, VERBS_BUF);
		EXPECT_STATUS(test, rdma(test, IB_WR_RDMA_WRITE, VERBS_BUF, &bad), IB_WC_SUCCESS);
		KUNIT_EXPECT_NE(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);
		EXPECT_STATUS(test, rdma(test, IB_WR_RDMA_WRITE, VERBS_BUF, mr), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, VERBS_BUF), 0);
		/* nobody receives this one */
		EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 5000, 0), IB_WC_SUCCESS);
		get_random_bytes(v->a.buf, VERBS_BUF);
		recv = verbs_recv(test, &v->b, 0, VERBS_BUF);
		EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_IMM, 0, 5000, 7),
			      IB_WC_SUCCESS);
		EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, recv->wc.byte_len, 5000);
		KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf, 5000), 0);
		expect_in_step(test);
	}
	KUNIT_EXPECT_EQ(test, since(before).packets, 0);
	link_use(end, WARD_PATH_PACKET);
	EXPECT_STATUS(test, rdma(test, IB_WR_RDMA_WRITE, 9, mr), IB_WC_SUCCESS);
	KUNIT_EXPECT_GT(test, since(before).packets, 0);
	link_use(end, WARD_PATH_AUTO);
	before = count();
	EXPECT_STATUS(test, rdma(test, IB_WR_RDMA_WRITE, 9, mr), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, since(before).steps, 0);
}

static atomic_t seen;

static int see(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt,
	       struct net_device *orig)
{
	atomic_inc(&seen);
	kfree_skb(skb);
	return 0;
}

/* Whoever listens on lo is shown packets. */
static void capture(struct kunit *test)
{
	struct packet_type tap = {
		.type = htons(ETH_P_ALL), .dev = init_net.loopback_dev, .func = see,
	};
	struct ib_mr *mr;

	start(test);
	mr = whole(test);
	exchange(test, mr, true);
	atomic_set(&seen, 0);
	dev_add_pack(&tap);
	exchange(test, mr, false);
	dev_remove_pack(&tap);
	KUNIT_EXPECT_GT(test, atomic_read(&seen), 0);
	exchange(test, mr, true);
}

/* A peer that has failed takes no step, as it takes no packet. */
static void peer_in_error(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr;

	v->retry = 1;
	verbs_connect(test, v);
	mr = whole(test);
	exchange(test, mr, true);
	verbs_to_error(test, &v->b);
	EXPECT_STATUS(test, rdma(test, IB_WR_RDMA_WRITE, 9, mr), IB_WC_RETRY_EXC_ERR);
}

/* A verb owns the peer: the work request waits, and goes on when it lets go. */
static void peer_is_busy(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ward_qp *b = to_ward_qp(v->b.qp);
	struct ib_mr *mr = whole(test);
	struct count before = count();
	struct verbs_op *op[4];
	struct ward_run run;
	int i;

	ward_qp_own(b, &run);
	for (i = 0; i < ARRAY_SIZE(op); i++)
		op[i] = rdma(test, IB_WR_RDMA_WRITE, 5000, mr);
	msleep(20);
	for (i = 0; i < ARRAY_SIZE(op); i++)
		KUNIT_EXPECT_FALSE(test, verbs_completed(op[i]));
	ward_qp_disown(&run);
	for (i = 0; i < ARRAY_SIZE(op); i++)
		EXPECT_STATUS(test, op[i], IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, since(before).steps, ARRAY_SIZE(op));
	KUNIT_EXPECT_EQ(test, since(before).packets, 0);

	/* one that goes away while it is waited for */
	ward_qp_own(b, &run);
	op[0] = rdma(test, IB_WR_RDMA_WRITE, 5000, mr);
	verbs_to_error(test, &v->a);
	EXPECT_STATUS(test, op[0], IB_WC_WR_FLUSH_ERR);
	ward_qp_disown(&run);
}

/* Both want each other at the same time, many times over. */
static void both_ways(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *at_b = whole(test);
	struct ib_mr *at_a = verbs_region(test, &v->a, 0, VERBS_BUF, REMOTE);
	struct verbs_op *op[32];
	int round, i;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < ARRAY_SIZE(op); i++) {
			struct verbs_end *from = i & 1 ? &v->a : &v->b;
			struct ib_mr *to = i & 1 ? at_b : at_a;

			op[i] = verbs_rdma(test, from, IB_WR_RDMA_WRITE, from->dma,
					   from->pd->local_dma_lkey, 1000 * i, to->iova,
					   to->rkey);
		}
		for (i = 0; i < ARRAY_SIZE(op); i++)
			ASSERT_STATUS(test, op[i], IB_WC_SUCCESS);
		expect_in_step(test);
	}
}

/* Somebody is inside the region for as long as this test likes. */
static struct ward_mr *enter(struct kunit *test, struct ib_mr *mr)
{
	KUNIT_ASSERT_TRUE(test, ward_guard_enter(&to_ward_mr(mr)->guard));
	return to_ward_mr(mr);
}

static void leave(struct ward_mr *mr)
{
	local_bh_disable();
	ward_mr_leave(mr);
	local_bh_enable();
}

/*
 * F13: neither end completes before the region has drained. Data behind it waits as well; a
 * LOCAL_INV executes (F5), but completes in its turn.
 */
static void f13_invalidate_waits(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = whole(test), *other = whole(test);
	struct ib_mr *own = verbs_region(test, &v->a, 0, PAGE_SIZE, REMOTE);
	struct verbs_op *recv = verbs_recv(test, &v->b, 0, 100), *send, *inv, *next;
	struct count before = count();
	struct ward_mr *inside = enter(test, mr);

	send = verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 100, mr->rkey);
	inv = verbs_inv(test, &v->a, own->rkey);
	next = rdma(test, IB_WR_RDMA_WRITE, 5, other);
	msleep(20);
	KUNIT_EXPECT_TRUE(test, ward_mr_is_free(to_ward_mr(own)));
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
	KUNIT_EXPECT_FALSE(test, verbs_completed(send));
	KUNIT_EXPECT_FALSE(test, verbs_completed(recv));
	KUNIT_EXPECT_FALSE(test, verbs_completed(next));
	leave(inside);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
	EXPECT_STATUS(test, send, IB_WC_SUCCESS);
	EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
	EXPECT_STATUS(test, next, IB_WC_SUCCESS);
	KUNIT_EXPECT_GT(test, inv->order, send->order);
	KUNIT_EXPECT_TRUE(test, recv->wc.wc_flags & IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, since(before).packets, 0);
	expect_in_step(test);
}

/* The same, but one of the two goes away meanwhile. */
static void invalidate_is_waited_for_in_vain(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *recv, *send;
	struct ward_mr *inside;
	struct ib_mr *mr;
	int who;

	for (who = 0; who < 4; who++) {
		mr = whole(test);
		recv = verbs_recv(test, &v->b, 0, 100);
		inside = enter(test, mr);
		send = verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 100, mr->rkey);
		switch (who) {
		case 0:
			verbs_to_error(test, &v->a);
			EXPECT_STATUS(test, send, IB_WC_WR_FLUSH_ERR);
			break;
		case 1:
			verbs_to_error(test, &v->b);
			EXPECT_STATUS(test, send, IB_WC_RETRY_EXC_ERR);
			EXPECT_STATUS(test, recv, IB_WC_WR_FLUSH_ERR);
			break;
		case 2:
			ib_destroy_qp(v->a.qp);
			v->a.qp = NULL;
			break;
		case 3:
			/* the receiver's own region holds it up */
			leave(inside);
			ib_destroy_qp(v->b.qp);
			v->b.qp = NULL;
			verbs_status(send);
			break;
		}
		if (who < 3)
			leave(inside);
		verbs_connect(test, v);
	}
}

/* F1: an invalidate waits for the steps that are under way, and no later one gets in. */
static void f1_local_inv(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = whole(test);
	struct ward_mr *inside = enter(test, mr);
	struct verbs_op *inv = verbs_inv(test, &v->b, mr->rkey);

	msleep(20);
	KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
	leave(inside);
	EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
	EXPECT_STATUS(test, rdma(test, IB_WR_RDMA_WRITE, 9, mr), IB_WC_REM_ACCESS_ERR);
}

/* Into ERR, in a task of its own */
struct task {
	struct work_struct	work;
	struct ib_qp		*qp;
	struct completion	done;
};

static void to_error(struct work_struct *work)
{
	struct task *task = container_of(work, struct task, work);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	ib_modify_qp(task->qp, &attr, IB_QP_STATE);
	complete(&task->done);
}

/*
 * F1, F32, F33: a step is held between its checks and the copy. Neither end gets to ERR before it
 * is over, nor does an invalidate by another QP complete; that QP runs on, though.
 */
static void held(struct kunit *test)
{
	static const char *const rules[] = { "hold dir=local op=write", "hold dir=local op=read" };
	struct verbs *v = start(test), *other = verbs_more(test, v);
	struct verbs_op *op, *inv;
	struct task task;
	struct ib_mr *mr, *mr2;
	int i, rule;

	for (i = 0; i < 4; i++) {
		mr = whole(test);
		mr2 = whole(test);
		memset(v->a.buf, 0xaa, VERBS_BUF);
		memset(v->b.buf, 0x55, VERBS_BUF);
		rule = verbs_rule(test, &v->b, rules[i / 2]);
		op = rdma(test, i / 2 ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE, VERBS_BUF, mr);
		verbs_wait_held(test, &v->b, rule);

		inv = verbs_inv(test, &other->b, mr->rkey);
		task.qp = i & 1 ? v->b.qp : v->a.qp;
		init_completion(&task.done);
		INIT_WORK_ONSTACK(&task.work, to_error);
		schedule_work(&task.work);
		EXPECT_STATUS(test, verbs_rdma(test, &other->a, i / 2 ? IB_WR_RDMA_WRITE :
					       IB_WR_RDMA_READ, other->a.dma,
					       other->a.pd->local_dma_lkey, 9, mr2->iova,
					       mr2->rkey), IB_WC_SUCCESS);
		msleep(20);
		KUNIT_EXPECT_FALSE(test, completion_done(&task.done));
		KUNIT_EXPECT_FALSE(test, verbs_completed(inv));
		KUNIT_EXPECT_FALSE(test, verbs_completed(op));
		verbs_unrule(test, &v->b, rule);
		wait_for_completion(&task.done);
		flush_work(&task.work);
		destroy_work_on_stack(&task.work);
		EXPECT_STATUS(test, inv, IB_WC_SUCCESS);
		/* it was in time, or it was the peer that failed */
		verbs_status(op);
		/* and now nothing moves any more */
		memset(v->a.buf, 1, VERBS_BUF);
		memset(v->b.buf, 2, VERBS_BUF);
		msleep(20);
		KUNIT_EXPECT_NULL(test, memchr_inv(v->a.buf, 1, VERBS_BUF));
		KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf, 2, VERBS_BUF));
		verbs_to_error(test, &v->a);
		verbs_connect(test, v);
	}
}

/* Rules about packets are about packets, and so there are some. */
static void rules_want_packets(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = whole(test);
	int rule;

	exchange(test, mr, true);
	rule = verbs_rule(test, &v->a, "duplicate dir=out op=write");
	exchange(test, mr, false);
	KUNIT_EXPECT_GT(test, verbs_hits(test, &v->a, rule), 0);
	verbs_unrule(test, &v->a, rule);
	exchange(test, mr, true);
}

/* F33, F35: when the requester is in ERR, its memory is not read any more, nor written. */
static void f33_flush(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *last;
	struct ib_mr *mr;
	int round, i;

	for (round = 0; round < 20; round++) {
		memset(v->a.buf, 0xaa, VERBS_BUF);
		memset(v->b.buf, 0xaa, VERBS_BUF);
		mr = whole(test);
		for (i = 0; i < 32; i++)
			last = rdma(test, i & 1 ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE, VERBS_BUF,
				    mr);
		verbs_to_error(test, &v->a);
		memset(v->a.buf, 0x55, VERBS_BUF);
		usleep_range(500, 1000);
		KUNIT_EXPECT_NULL(test, memchr_inv(v->a.buf, 0x55, VERBS_BUF));
		KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf, 0xaa, VERBS_BUF));
		verbs_status(last);
		verbs_connect(test, v);
	}
}

/* The requester may not read what it sends: the peer has nothing, and hears nothing. */
static void source_is_refused(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = whole(test);

	memset(v->a.buf, 0xaa, VERBS_BUF);
	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma,
				       v->a.pd->local_dma_lkey ^ 0x100, 100, mr->iova, mr->rkey),
		      IB_WC_LOC_PROT_ERR);
	KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf, 0, VERBS_BUF));
	KUNIT_EXPECT_EQ(test, READ_ONCE(to_ward_qp(v->b.qp)->state), IB_QPS_RTS);
}

/* The other end is in another namespace: only when both ends say so, and nothing sees it there. */
static void across(struct kunit *test)
{
	struct link_end *const far = &wire.end[1];
	struct verbs *v = verbs_start(test, IB_QPT_RC, end, far, false);
	struct packet_type tap = {
		.type = htons(ETH_P_ALL), .dev = far->netdev, .func = see,
	};
	struct ib_mr *mr = whole(test);
	struct ward_run run;
	struct verbs_op *op;

	link_use(end, WARD_PATH_AUTO);
	exchange(test, mr, false);
	link_use(end, WARD_PATH_ACROSS);
	exchange(test, mr, false);
	link_use(far, WARD_PATH_ACROSS);
	exchange(test, mr, true);
	dev_add_pack(&tap);
	exchange(test, mr, false);
	dev_remove_pack(&tap);
	exchange(test, mr, true);
	/* the peer's number means something in its own namespace only */
	ward_qp_own(to_ward_qp(v->b.qp), &run);
	op = rdma(test, IB_WR_RDMA_WRITE, 9, mr);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, verbs_completed(op));
	ward_qp_disown(&run);
	EXPECT_STATUS(test, op, IB_WC_SUCCESS);
	expect_in_step(test);
	link_use(far, WARD_PATH_AUTO);
	exchange(test, mr, false);
}

static int local_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	if (err)
		link_down(&wire);
	return err;
}

static void local_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case local_cases[] = {
	KUNIT_CASE(packets_and_back),
	KUNIT_CASE(packets_in_between),
	KUNIT_CASE(acknowledgements_first),
	KUNIT_CASE(atomics),
	KUNIT_CASE(port_down),
	KUNIT_CASE(address_gone),
	KUNIT_CASE(unreliable),
	KUNIT_CASE(capture),
	KUNIT_CASE(across),
	KUNIT_CASE(peer_in_error),
	KUNIT_CASE(peer_is_busy),
	KUNIT_CASE(both_ways),
	KUNIT_CASE(f1_local_inv),
	KUNIT_CASE(f13_invalidate_waits),
	KUNIT_CASE(invalidate_is_waited_for_in_vain),
	KUNIT_CASE(f33_flush),
	KUNIT_CASE(held),
	KUNIT_CASE(rules_want_packets),
	KUNIT_CASE(source_is_refused),
	{}
};

static struct kunit_suite local_suite = {
	.name = "ward-local",
	.suite_init = local_init,
	.suite_exit = local_exit,
	.exit = verbs_exit,
	.test_cases = local_cases,
};

kunit_test_suite(local_suite);
