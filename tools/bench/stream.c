// SPDX-License-Identifier: GPL-2.0
/*
 * Bandwidth and operations per second: on each connection, @depth requests are under way. A SEND
 * is posted when a receive is there for it, as every protocol with credits does.
 */
#include <linux/slab.h>
#include "bench.h"

struct stream;

/**
 * struct lane - one connection
 * @conn:   the connection
 * @sent:   of its requests
 * @received: of the receives for them
 * @stream: whose
 * @slots:  requests that may still be posted
 * @credits: receives that the peer has for them
 * @ops:    completed requests
 */
struct lane {
	struct kverbs_conn	conn;
	struct ib_cqe		sent, received;
	struct stream		*stream;
	atomic_t		slots, credits;
	u64			ops;
};

struct stream {
	struct bench	*bench;
	enum ib_wr_opcode opcode;
	u32		lkey, rkey;
	u64		remote;
	struct ib_mr	*near, *far;
	u32		opened;
	struct lane	lanes[];
};

static void lane_post(struct lane *lane)
{
	const struct stream *stream = lane->stream;
	const struct kverbs_end *a = lane->conn.a.end;
	struct ib_sge sge = { a->dma, stream->bench->params.size, stream->lkey };
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &lane->sent, .opcode = stream->opcode,
			.send_flags = IB_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		},
		.remote_addr = stream->remote, .rkey = stream->rkey,
	};
	int err = ib_post_send(lane->conn.a.qp, &wr.wr, NULL);

	if (err) {
		atomic_inc(&lane->slots);
		bench_fail(stream->bench, err);
	}
}

static void lane_pump(struct lane *lane)
{
	const bool credits = lane->stream->opcode == IB_WR_SEND;

	while (!READ_ONCE(lane->stream->bench->stop) &&
	       atomic_dec_if_positive(&lane->slots) >= 0) {
		if (!credits || atomic_dec_if_positive(&lane->credits) >= 0) {
			lane_post(lane);
			continue;
		}
		/* whoever brings a credit and found no slot counts on this look */
		atomic_inc(&lane->slots);
		smp_mb__after_atomic();	/* with that of lane_received() */
		if (atomic_read(&lane->credits) <= 0)
			break;
	}
}

static void lane_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lane *lane = container_of(wc->wr_cqe, struct lane, sent);
	struct bench *bench = lane->stream->bench;

	atomic_inc(&lane->slots);
	lane->ops++;
	if (wc->status)
		bench_fail(bench, wc->status);
	if (unlikely(READ_ONCE(bench->stop)))
		wake_up(&bench->idle);
	else
		lane_pump(lane);
}

static int lane_receive(struct lane *lane)
{
	struct kverbs_end *b = lane->conn.b.end;
	struct ib_sge sge = { b->dma, lane->stream->bench->params.size, b->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &lane->received, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(lane->conn.b.qp, &wr, NULL);
}

static void lane_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct lane *lane = container_of(wc->wr_cqe, struct lane, received);
	struct bench *bench = lane->stream->bench;
	int err;

	if (READ_ONCE(bench->stop))
		return;
	err = wc->status ?: lane_receive(lane);
	if (err) {
		bench_fail(bench, err);
		return;
	}
	atomic_inc(&lane->credits);
	smp_mb__after_atomic();	/* with that of lane_pump() */
	lane_pump(lane);
}

static int lane_open(struct stream *stream, struct lane *lane)
{
	struct bench *bench = stream->bench;
	u32 i, receives = 2 * bench->params.depth;
	int err;

	lane->stream = stream;
	lane->sent.done = lane_sent;
	lane->received.done = lane_received;
	atomic_set(&lane->slots, bench->params.depth);
	err = kverbs_conn_open(&lane->conn, &bench->a, &bench->b, &bench->config,
			       bench_listener(bench));
	if (err || stream->opcode != IB_WR_SEND)
		return err;
	for (i = 0; i < receives && !err; i++)
		err = lane_receive(lane);
	atomic_set(&lane->credits, receives);
	return err;
}

/* The keys: registrations by the first connection, or what the PD has. */
static int stream_keys(struct stream *stream)
{
	struct bench *bench = stream->bench;
	const int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;

	stream->lkey = bench->a.pd->local_dma_lkey;
	stream->remote = bench->b.dma;
	if (stream->opcode == IB_WR_SEND)
		return 0;
	/* iWARP READs write through a key that the peer gets to know */
	if (stream->opcode == IB_WR_RDMA_READ && rdma_protocol_iwarp(bench->a.dev, 1)) {
		stream->near = kverbs_mr_open(&stream->lanes[0].conn.a, 0, bench->params.size,
					      access);
		if (IS_ERR(stream->near))
			return PTR_ERR(stream->near);
		stream->lkey = stream->near->lkey;
	}
	if (bench->params.global) {
		stream->rkey = bench->b.pd->unsafe_global_rkey;
		return 0;
	}
	stream->far = kverbs_mr_open(&stream->lanes[0].conn.b, 0, bench->params.size, access);
	if (IS_ERR(stream->far))
		return PTR_ERR(stream->far);
	stream->rkey = stream->far->rkey;
	stream->remote = stream->far->iova;
	return 0;
}

static bool stream_idle(struct stream *stream)
{
	u32 i;

	for (i = 0; i < stream->opened; i++)
		if (atomic_read(&stream->lanes[i].slots) != stream->bench->params.depth)
			return false;
	return true;
}

static void stream_count(void *ctx, struct bench_sample *sample)
{
	struct stream *stream = ctx;
	u32 i;

	sample->ops = 0;
	for (i = 0; i < stream->opened; i++)
		sample->ops += READ_ONCE(stream->lanes[i].ops);
	sample->bytes = sample->ops * stream->bench->params.size;
}

static int stream_begin(struct stream *stream)
{
	struct bench *bench = stream->bench;
	const struct bench_params *params = &bench->params;
	u32 i;
	int err;

	err = bench_open(bench, params->size, 2 * params->depth + 2,
			 params->qps * (2 * params->depth + 2));
	for (i = 0; i < params->qps && !err; i++) {
		stream->opened++;
		err = lane_open(stream, &stream->lanes[i]);
	}
	return err ?: stream_keys(stream);
}

static void stream_end(struct stream *stream)
{
	u32 i;

	if (!IS_ERR_OR_NULL(stream->near))
		ib_dereg_mr(stream->near);
	if (!IS_ERR_OR_NULL(stream->far))
		ib_dereg_mr(stream->far);
	for (i = 0; i < stream->opened; i++)
		kverbs_conn_close(&stream->lanes[i].conn);
	bench_close(stream->bench);
}

/**
 * bench_stream - WRITE, SEND or READ, as many as go
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_stream(struct bench *bench)
{
	struct stream *stream;
	u32 i;
	int err;

	stream = kvzalloc(struct_size(stream, lanes, bench->params.qps), GFP_KERNEL);
	if (!stream)
		return -ENOMEM;
	stream->bench = bench;
	switch (*bench->params.op) {
	case 'w':
		stream->opcode = IB_WR_RDMA_WRITE;
		break;
	case 'r':
		stream->opcode = IB_WR_RDMA_READ;
		break;
	default:
		stream->opcode = IB_WR_SEND;
	}
	err = stream_begin(stream);
	if (!err) {
		for (i = 0; i < stream->opened; i++)
			lane_pump(&stream->lanes[i]);
		bench_window(bench, stream_count, stream);
		if (!wait_event_timeout(bench->idle, stream_idle(stream), KVERBS_PATIENCE))
			err = -ETIMEDOUT;
	}
	stream_end(stream);
	kvfree(stream);
	return err;
}
