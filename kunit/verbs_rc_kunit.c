// SPDX-License-Identifier: GPL-2.0
/*
 * Real verbs on RC and UD queue pairs, across a wire and within one device, over IPv4 and
 * IPv6: data arrives, completions say what happened, errors are those of the standard.
 */
#include <linux/random.h>
#include "../drivers/ward/verbs/device.h"
#include "../drivers/ward/verbs/options.h"
#include "verbs.h"

#define NOT_OURS	0xee	/* a byte that no message has put there */

static struct link wire;

struct way {
	const char *name;
	int peer;	/* the end that B is on; A is on end 0 */
	bool ipv6;
	u32 path;
};

static const struct way ways[] = {
	{ "wire, IPv4", 1, false, WARD_PATH_AUTO },
	{ "wire, IPv6", 1, true, WARD_PATH_AUTO },
	{ "wire, without packets", 1, false, WARD_PATH_ACROSS },
	{ "one device, IPv4", 0, false, WARD_PATH_AUTO },
	{ "one device, IPv6", 0, true, WARD_PATH_AUTO },
	{ "one device, packets", 0, false, WARD_PATH_PACKET },
};

KUNIT_ARRAY_PARAM_DESC(way, ways, name);

static struct verbs *start(struct kunit *test)
{
	const struct way *way = test->param_value;

	link_use(&wire.end[0], way->path);
	link_use(&wire.end[1], way->path);
	return verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[way->peer], way->ipv6);
}

/* Bytes to send, and a target that has none of them */
static void fill(struct verbs *v)
{
	get_random_bytes(v->a.buf, VERBS_BUF);
	memset(v->b.buf, NOT_OURS, VERBS_BUF);
}

/* B's buffer holds @len bytes of A's at @to, and is untouched before and after. */
static void expect_copied(struct kunit *test, struct verbs *v, u32 from, u32 to, u32 len)
{
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf + from, v->b.buf + to, len), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf, NOT_OURS, to));
	KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf + to + len, NOT_OURS, VERBS_BUF - to - len));
}

/* Around nothing, the padding, the path MTU, a page, and much */
static const u32 sizes[] = { 0, 1, 2, 3, 4, 1023, 1024, 1025, 2048, 4095, 4097, 40001 };

static void send_arrives(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *recv, *send;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(v);
		recv = verbs_recv(test, &v->b, 3, VERBS_BUF - 3);
		send = verbs_send(test, &v->a, IB_WR_SEND, 7, sizes[i], 0);
		ASSERT_STATUS(test, send, IB_WC_SUCCESS);
		ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, recv->wc.byte_len, sizes[i]);
		KUNIT_EXPECT_EQ(test, recv->wc.opcode, IB_WC_RECV);
		KUNIT_EXPECT_EQ(test, recv->wc.wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE),
				0);
		KUNIT_EXPECT_PTR_EQ(test, recv->wc.qp, v->b.qp);
		KUNIT_EXPECT_EQ(test, send->wc.opcode, IB_WC_SEND);
		expect_copied(test, v, 7, 3, sizes[i]);
	}
}

static void send_with_immediate(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *recv;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(v);
		recv = verbs_recv(test, &v->b, 0, VERBS_BUF);
		ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_IMM, 0, sizes[i],
					       0xcafe0000 + i), IB_WC_SUCCESS);
		ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
		KUNIT_EXPECT_TRUE(test, recv->wc.wc_flags & IB_WC_WITH_IMM);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(recv->wc.ex.imm_data), 0xcafe0000 + i);
		expect_copied(test, v, 0, 0, sizes[i]);
	}
}

static void write_lands(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF,
					IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	struct verbs_op *op;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(v);
		op = verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma + 5,
				v->a.pd->local_dma_lkey, sizes[i], mr->iova + 4093, mr->rkey);
		ASSERT_STATUS(test, op, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, op->wc.opcode, IB_WC_RDMA_WRITE);
		expect_copied(test, v, 5, 4093, sizes[i]);
	}
}

/* skbs that A's netdev has sent for a WRITE of 40 packets */
static u64 skbs_of_a_write(struct kunit *test, struct verbs *v, struct ib_mr *mr)
{
	struct net_device *ndev = v->a.link->netdev;
	struct rtnl_link_stats64 stats;
	u64 before = dev_get_stats(ndev, &stats)->tx_packets;
	struct verbs_op *op;

	fill(v);
	op = verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma, v->a.pd->local_dma_lkey,
			40 * 1024, mr->iova, mr->rkey);
	ASSERT_STATUS(test, op, IB_WC_SUCCESS);
	expect_copied(test, v, 0, 0, 40 * 1024);
	return dev_get_stats(ndev, &stats)->tx_packets - before;
}

/* Packets go together, and come as they were; max_train=1 sends each alone */
static void packets_go_as_trains(struct kunit *test)
{
	struct verbs *v = verbs_start(test, IB_QPT_RC, &wire.end[0], &wire.end[1], false);
	struct ward_device *dev = to_ward(v->a.link->ibdev);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF,
					IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	u32 max = dev->options.v[WARD_OPT_MAX_TRAIN];

	/* the first one has a longer header, so it goes alone */
	KUNIT_EXPECT_LE(test, skbs_of_a_write(test, v, mr), 4);
	dev->options.v[WARD_OPT_MAX_TRAIN] = 1;
	KUNIT_EXPECT_GE(test, skbs_of_a_write(test, v, mr), 40);
	dev->options.v[WARD_OPT_MAX_TRAIN] = max;
}

static void write_with_immediate(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF,
					IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	struct verbs_op *recv;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(v);
		recv = verbs_recv(test, &v->b, 0, 0);
		ASSERT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE_WITH_IMM, v->a.dma,
					       v->a.pd->local_dma_lkey, sizes[i], mr->iova + 9,
					       mr->rkey), IB_WC_SUCCESS);
		ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, recv->wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
		KUNIT_EXPECT_EQ(test, recv->wc.byte_len, sizes[i]);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(recv->wc.ex.imm_data), 0x01020304);
		expect_copied(test, v, 0, 9, sizes[i]);
	}
}

/* A reads from B, so that the data goes the other way. */
static void read_fetches(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF, IB_ACCESS_REMOTE_READ);
	struct verbs_op *op;
	int i;

	get_random_bytes(v->b.buf, VERBS_BUF);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(v->a.buf, NOT_OURS, VERBS_BUF);
		op = verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma + 11,
				v->a.pd->local_dma_lkey, sizes[i], mr->iova + 4095, mr->rkey);
		ASSERT_STATUS(test, op, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, op->wc.opcode, IB_WC_RDMA_READ);
		KUNIT_EXPECT_EQ(test, op->wc.byte_len, sizes[i]);
		KUNIT_EXPECT_EQ(test, memcmp(v->a.buf + 11, v->b.buf + 4095, sizes[i]), 0);
		KUNIT_EXPECT_NULL(test, memchr_inv(v->a.buf, NOT_OURS, 11));
		KUNIT_EXPECT_NULL(test, memchr_inv(v->a.buf + 11 + sizes[i], NOT_OURS,
						   VERBS_BUF - 11 - sizes[i]));
	}
}

/* Pieces at both ends, none of them as long as the path MTU or a multiple of it */
static void pieces_are_joined(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *recv = verbs_op(test), *send = verbs_op(test);
	const u32 akey = v->a.pd->local_dma_lkey, bkey = v->b.pd->local_dma_lkey;
	struct ib_sge from[] = {
		{ v->a.dma, 1, akey }, { v->a.dma + 1, 0, akey },
		{ v->a.dma + 1, 3000, akey }, { v->a.dma + 3001, 999, akey },
	};
	struct ib_sge to[] = {
		{ v->b.dma + 100, 1001, bkey }, { v->b.dma + 1101, 2, bkey },
		{ v->b.dma + 1103, 5000, bkey },
	};
	struct ib_recv_wr rwr = { .wr_cqe = &recv->cqe, .sg_list = to, .num_sge = 3 };
	struct ib_send_wr swr = {
		.wr_cqe = &send->cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
		.sg_list = from, .num_sge = 4,
	};

	fill(v);
	KUNIT_ASSERT_EQ(test, ib_post_recv(v->b.qp, &rwr, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &swr, NULL), 0);
	ASSERT_STATUS(test, send, IB_WC_SUCCESS);
	ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
	expect_copied(test, v, 0, 100, 4000);
}

static void many_complete_in_order(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF, IB_ACCESS_LOCAL_WRITE |
					IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	struct verbs_op *op[VERBS_DEPTH / 2], *recv[VERBS_DEPTH / 2];
	int i, receives = 0;

	for (i = 0; i < ARRAY_SIZE(op); i += 3)
		recv[receives++] = verbs_recv(test, &v->b, 0, VERBS_BUF);
	for (i = 0; i < ARRAY_SIZE(op); i++) {
		if (i % 3 == 0)
			op[i] = verbs_send(test, &v->a, IB_WR_SEND, 0, i * 100, 0);
		else
			op[i] = verbs_rdma(test, &v->a,
					   i % 3 == 1 ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ,
					   v->a.dma, v->a.pd->local_dma_lkey, i * 300, mr->iova,
					   mr->rkey);
	}
	for (i = 0; i < ARRAY_SIZE(op); i++) {
		ASSERT_STATUS(test, op[i], IB_WC_SUCCESS);
		if (i)
			KUNIT_EXPECT_GT(test, op[i]->order, op[i - 1]->order);
	}
	for (i = 0; i < receives; i++) {
		ASSERT_STATUS(test, recv[i], IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, recv[i]->wc.byte_len, i * 300);
		if (i)
			KUNIT_EXPECT_GT(test, recv[i]->order, recv[i - 1]->order);
	}
}

/* Nobody is ready to receive: the sender waits and tries again. */
static void rnr_is_waited_for(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *send, *recv;

	fill(v);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 3000, 0);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, verbs_completed(send));
	recv = verbs_recv(test, &v->b, 0, VERBS_BUF);
	ASSERT_STATUS(test, send, IB_WC_SUCCESS);
	ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
	expect_copied(test, v, 0, 0, 3000);
}

static void rnr_retries_run_out(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *first, *second;

	v->rnr_retry = 1;
	verbs_connect(test, v);
	first = verbs_send(test, &v->a, IB_WR_SEND, 0, 10, 0);
	second = verbs_send(test, &v->a, IB_WR_SEND, 0, 10, 0);
	EXPECT_STATUS(test, first, IB_WC_RNR_RETRY_EXC_ERR);
	EXPECT_STATUS(test, second, IB_WC_WR_FLUSH_ERR);
}

/* Nobody answers: B's queue pair is gone. */
static void retries_run_out(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *first, *second;

	v->retry = 1;
	verbs_connect(test, v);
	ib_destroy_qp(v->b.qp);
	v->b.qp = NULL;
	first = verbs_send(test, &v->a, IB_WR_SEND, 0, 10, 0);
	second = verbs_send(test, &v->a, IB_WR_SEND, 0, 10, 0);
	EXPECT_STATUS(test, first, IB_WC_RETRY_EXC_ERR);
	EXPECT_STATUS(test, second, IB_WC_WR_FLUSH_ERR);
}

static void receive_is_too_short(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *recv, *send;

	fill(v);
	recv = verbs_recv(test, &v->b, 0, 1500);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 1501, 0);
	EXPECT_STATUS(test, send, IB_WC_REM_INV_REQ_ERR);
	EXPECT_STATUS(test, recv, IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf + 1500, NOT_OURS, VERBS_BUF - 1500));
}

/* Into ERR with work on both queues: all of it is flushed, once, in order, by name. */
static void error_flushes_in_order(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *send[8], *recv[8];
	int i;

	for (i = 0; i < ARRAY_SIZE(send); i++)
		send[i] = verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	for (i = 0; i < ARRAY_SIZE(recv); i++)
		recv[i] = verbs_recv(test, &v->a, 0, 100);
	verbs_to_error(test, &v->a);
	for (i = 0; i < ARRAY_SIZE(send); i++) {
		ASSERT_STATUS(test, send[i], IB_WC_WR_FLUSH_ERR);
		ASSERT_STATUS(test, recv[i], IB_WC_WR_FLUSH_ERR);
		if (i) {
			KUNIT_EXPECT_GT(test, send[i]->order, send[i - 1]->order);
			KUNIT_EXPECT_GT(test, recv[i]->order, recv[i - 1]->order);
		}
	}
	/* what comes later is flushed as well */
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 1, 0), IB_WC_WR_FLUSH_ERR);
	EXPECT_STATUS(test, verbs_recv(test, &v->a, 0, 1), IB_WC_WR_FLUSH_ERR);
}

/* ib_drain_qp returns when everything has been flushed. */
static void drain_is_last(struct kunit *test)
{
	struct verbs *v = start(test);
	struct verbs_op *send[8], *recv[8];
	int i;

	for (i = 0; i < ARRAY_SIZE(send); i++) {
		send[i] = verbs_send(test, &v->a, IB_WR_SEND, 0, 2000, 0);
		recv[i] = verbs_recv(test, &v->a, 0, 100);
	}
	ib_drain_qp(v->a.qp);
	for (i = 0; i < ARRAY_SIZE(send); i++) {
		KUNIT_EXPECT_TRUE(test, verbs_completed(send[i]));
		KUNIT_EXPECT_TRUE(test, verbs_completed(recv[i]));
	}
	/* and once more, on a queue pair in ERR that has no work */
	ib_drain_qp(v->a.qp);
}

/* A queue pair may be destroyed at any time. */
static void destroy_under_load(struct kunit *test)
{
	struct verbs *v = start(test);
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF, IB_ACCESS_LOCAL_WRITE |
					IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	int round, i;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < VERBS_DEPTH / 2; i++)
			verbs_rdma(test, &v->a, i & 1 ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ,
				   v->a.dma, v->a.pd->local_dma_lkey, 30000, mr->iova, mr->rkey);
		if (round & 1)
			usleep_range(100, 2000);
		verbs_connect(test, v);
	}
}

static void ud_send_arrives(struct kunit *test)
{
	const struct way *way = test->param_value;
	struct verbs *v = verbs_start(test, IB_QPT_UD, &wire.end[0], &wire.end[way->peer],
				      way->ipv6);
	struct ward_device *dev = to_ward(v->a.link->ibdev);
	u64 timeouts = ward_counter_sum(dev, WARD_CNT_TIMEOUTS);
	static const u32 lens[] = { 0, 1, 2, 3, 4, 1000, 1024 };
	struct rdma_ah_attr attr;
	struct ib_ud_wr wr = {};
	struct verbs_op *recv, *send;
	struct ib_sge sge;
	int i;

	verbs_path(&v->a, &v->b, &attr);
	wr.ah = rdma_create_ah(v->a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(wr.ah));
	wr.remote_qpn = v->b.qp->qp_num;
	wr.remote_qkey = VERBS_QKEY;
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		fill(v);
		recv = verbs_recv(test, &v->b, 0, VERBS_BUF);
		send = verbs_op(test);
		sge = (struct ib_sge) { v->a.dma, lens[i], v->a.pd->local_dma_lkey };
		wr.wr = (struct ib_send_wr) {
			.wr_cqe = &send->cqe, .opcode = IB_WR_SEND_WITH_IMM, .sg_list = &sge,
			.num_sge = 1, .send_flags = IB_SEND_SIGNALED,
			.ex.imm_data = cpu_to_be32(i),
		};
		KUNIT_EXPECT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
		EXPECT_STATUS(test, send, IB_WC_SUCCESS);
		EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
		/* 40 bytes are set aside for the network header */
		KUNIT_EXPECT_EQ(test, recv->wc.byte_len, 40 + lens[i]);
		KUNIT_EXPECT_EQ(test, recv->wc.src_qp, v->a.qp->qp_num);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(recv->wc.ex.imm_data), i);
		KUNIT_EXPECT_TRUE(test, recv->wc.wc_flags & IB_WC_GRH);
		KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf + 40, lens[i]), 0);
	}
	rdma_destroy_ah(wr.ah, RDMA_DESTROY_AH_SLEEPABLE);
	/* no timer waits for acknowledgments that nobody sends */
	KUNIT_EXPECT_EQ(test, ward_counter_sum(dev, WARD_CNT_TIMEOUTS), timeouts);
}

static int rc_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	if (err)
		link_down(&wire);
	return err;
}

static void rc_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case rc_cases[] = {
	KUNIT_CASE_PARAM(send_arrives, way_gen_params),
	KUNIT_CASE_PARAM(send_with_immediate, way_gen_params),
	KUNIT_CASE_PARAM(write_lands, way_gen_params),
	KUNIT_CASE(packets_go_as_trains),
	KUNIT_CASE_PARAM(write_with_immediate, way_gen_params),
	KUNIT_CASE_PARAM(read_fetches, way_gen_params),
	KUNIT_CASE_PARAM(pieces_are_joined, way_gen_params),
	KUNIT_CASE_PARAM(many_complete_in_order, way_gen_params),
	KUNIT_CASE_PARAM(rnr_is_waited_for, way_gen_params),
	KUNIT_CASE_PARAM(rnr_retries_run_out, way_gen_params),
	KUNIT_CASE_PARAM(retries_run_out, way_gen_params),
	KUNIT_CASE_PARAM(receive_is_too_short, way_gen_params),
	KUNIT_CASE_PARAM(error_flushes_in_order, way_gen_params),
	KUNIT_CASE_PARAM(drain_is_last, way_gen_params),
	KUNIT_CASE_PARAM(destroy_under_load, way_gen_params),
	KUNIT_CASE_PARAM(ud_send_arrives, way_gen_params),
	{}
};

static struct kunit_suite rc_suite = {
	.name = "ward-verbs",
	.suite_init = rc_init,
	.suite_exit = rc_exit,
	.exit = verbs_exit,
	.test_cases = rc_cases,
};

kunit_test_suite(rc_suite);
