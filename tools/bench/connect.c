// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by rdma_cm per second: each is made, carries one SEND, and is ended.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include "bench.h"

static int post(struct bench *bench, struct kverbs_conn *conn, struct kverbs_op *send,
		struct kverbs_op *recv)
{
	struct ib_sge from = { bench->a.dma, bench->params.size, bench->a.pd->local_dma_lkey };
	struct ib_sge to = { bench->b.dma, bench->params.size, bench->b.pd->local_dma_lkey };
	struct ib_send_wr send_wr = {
		.wr_cqe = &send->cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
		.sg_list = &from, .num_sge = 1,
	};
	struct ib_recv_wr recv_wr = { .wr_cqe = &recv->cqe, .sg_list = &to, .num_sge = 1 };
	int err;

	kverbs_op_init(send);
	kverbs_op_init(recv);
	err = ib_post_recv(conn->b.qp, &recv_wr, NULL);
	return err ?: ib_post_send(conn->a.qp, &send_wr, NULL);
}

static int one(struct bench *bench, struct kverbs_conn *conn, struct kverbs_op *ops)
{
	int err;

	err = kverbs_conn_open(conn, &bench->a, &bench->b, &bench->config, &bench->listener);
	if (err)
		return err;
	err = post(bench, conn, &ops[0], &ops[1]);
	if (!err)
		err = kverbs_op_wait(&ops[0]);
	if (!err)
		err = kverbs_op_wait(&ops[1]);
	kverbs_conn_close(conn);
	return err;
}

/**
 * bench_connect - connect, SEND, disconnect
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_connect(struct bench *bench)
{
	struct bench_sample begin = {}, now = {};
	struct kverbs_conn *conn;
	struct kverbs_op *ops;
	u32 done = 0;
	int err;

	bench->params.cm = 1;
	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	ops = kcalloc(2, sizeof(*ops), GFP_KERNEL);
	err = conn && ops ? bench_open(bench, bench->params.size, 16, 64) : -ENOMEM;
	if (!err)
		err = one(bench, conn, ops);
	bench_clocks(&begin);
	do {
		if (!err)
			err = one(bench, conn, ops);
		done++;
	} while (!err && ktime_get_ns() - begin.wall < bench->params.ms * (u64)NSEC_PER_MSEC);
	bench_clocks(&now);
	bench_close(bench);
	kfree(ops);
	kfree(conn);
	now.ops = done;
	now.bytes = (u64)done * bench->params.size;
	if (!err)
		bench_report(bench, &begin, &now);
	return err;
}
