// SPDX-License-Identifier: GPL-2.0
/*
 * Latency: a SEND, or a WRITE with immediate, that the peer answers with the same. Half of the
 * time from posting until the answer's completion is handled is reported.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include "bench.h"

#define SAMPLES		65536
#define RECEIVES	16
#define SIGNAL_EVERY	8

struct player {
	struct kverbs_side	*side;
	struct ib_cqe		sent, received;
	struct pingpong		*game;
	struct ib_mr		*mr;	/* that the other one writes to */
	u32			posted;
};

struct pingpong {
	struct bench		*bench;
	struct kverbs_conn	conn;
	enum ib_wr_opcode	opcode;
	struct player		a, b;
	bool			ended;
	u64			begin, rounds;
	u32			*samples;
};

static int player_receive(struct player *player)
{
	struct kverbs_end *end = player->side->end;
	struct ib_sge sge = { end->dma, player->game->bench->params.size, end->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &player->received, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(player->side->qp, &wr, NULL);
}

static int player_send(struct player *player, struct player *peer)
{
	struct pingpong *game = player->game;
	struct kverbs_end *end = player->side->end;
	struct ib_sge sge = { end->dma, game->bench->params.size, end->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &player->sent, .opcode = game->opcode, .sg_list = &sge,
			.num_sge = 1,
			.send_flags = player->posted++ % SIGNAL_EVERY ? 0 : IB_SEND_SIGNALED,
		},
	};

	if (peer->mr) {
		wr.remote_addr = peer->mr->iova;
		wr.rkey = peer->mr->rkey;
	}
	return ib_post_send(player->side->qp, &wr.wr, NULL);
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct player *player = container_of(wc->wr_cqe, struct player, sent);

	if (wc->status && !READ_ONCE(player->game->ended))
		bench_fail(player->game->bench, wc->status);
}

static void next_round(struct pingpong *game)
{
	int err;

	game->begin = ktime_get_ns();
	err = player_send(&game->a, &game->b);
	if (err)
		bench_fail(game->bench, err);
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct player *player = container_of(wc->wr_cqe, struct player, received);
	struct pingpong *game = player->game;
	struct bench *bench = game->bench;
	int err;

	if (READ_ONCE(game->ended))
		return;
	err = wc->status ?: player_receive(player);
	if (err) {
		bench_fail(bench, err);
		return;
	}
	if (player == &game->b) {
		err = player_send(player, &game->a);
		if (err)
			bench_fail(bench, err);
		return;
	}
	game->samples[game->rounds++ % SAMPLES] = ktime_get_ns() - game->begin;
	if (READ_ONCE(bench->stop)) {
		WRITE_ONCE(game->ended, true);
		wake_up(&bench->idle);
	} else {
		next_round(game);
	}
}

static int player_open(struct player *player, struct pingpong *game, struct kverbs_side *side)
{
	int i, err = 0;

	player->game = game;
	player->side = side;
	player->sent.done = sent;
	player->received.done = received;
	if (game->opcode != IB_WR_SEND) {
		player->mr = kverbs_mr_open(side, 0, game->bench->params.size ?: 1,
					    IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
		if (IS_ERR(player->mr))
			return PTR_ERR(player->mr);
	}
	for (i = 0; i < RECEIVES && !err; i++)
		err = player_receive(player);
	return err;
}

static void player_close(struct player *player)
{
	if (!IS_ERR_OR_NULL(player->mr))
		ib_dereg_mr(player->mr);
}

static void count(void *ctx, struct bench_sample *sample)
{
	struct pingpong *game = ctx;

	sample->ops = 2 * READ_ONCE(game->rounds);
	sample->bytes = sample->ops * game->bench->params.size;
}

static int compare(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 : *(const u32 *)a > *(const u32 *)b;
}

static void report(struct pingpong *game)
{
	u32 n = min_t(u64, game->rounds, SAMPLES);

	if (!n)
		return;
	sort(game->samples, n, sizeof(u32), compare, NULL);
	bench_put(game->bench, "lat_p50_ns=%u lat_min_ns=%u lat_p99_ns=%u ",
		  game->samples[n / 2] / 2, game->samples[0] / 2,
		  game->samples[n - 1 - n / 100] / 2);
}

static int play(struct pingpong *game)
{
	struct bench *bench = game->bench;
	int err;

	err = bench_open(bench, max(bench->params.size, 1U), 64, 256);
	if (!err)
		err = kverbs_conn_open(&game->conn, &bench->a, &bench->b, &bench->config,
				       bench_listener(bench));
	if (!err)
		err = player_open(&game->a, game, &game->conn.a);
	if (!err)
		err = player_open(&game->b, game, &game->conn.b);
	if (err)
		return err;
	next_round(game);
	bench_window(bench, count, game);
	if (!wait_event_timeout(bench->idle, READ_ONCE(game->ended) || bench->error,
				KVERBS_PATIENCE))
		err = -ETIMEDOUT;
	WRITE_ONCE(game->ended, true);
	return err;
}

/**
 * bench_pingpong - latency
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_pingpong(struct bench *bench)
{
	struct pingpong *game = kzalloc(sizeof(*game), GFP_KERNEL);
	int err = -ENOMEM;

	if (!game)
		return -ENOMEM;
	game->bench = bench;
	game->opcode = *bench->params.op == 'w' ? IB_WR_RDMA_WRITE_WITH_IMM : IB_WR_SEND;
	game->samples = kvcalloc(SAMPLES, sizeof(u32), GFP_KERNEL);
	if (game->samples)
		err = play(game);
	player_close(&game->a);
	player_close(&game->b);
	kverbs_conn_close(&game->conn);
	bench_close(bench);
	if (!err)
		report(game);
	kvfree(game->samples);
	kfree(game);
	return err;
}
