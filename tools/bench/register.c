// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registrations per second. A cycle is what an upper layer does for a buffer: map, new key,
 * REG_MR, and the end of it, by LOCAL_INV or by a SEND_WITH_INV of the peer. The regions of a
 * connection take turns.
 */
#include <linux/slab.h>
#include "bench.h"

struct registrar;

/**
 * struct clerk - one connection
 * @conn:      the connection; its side b registers
 * @ended:     of LOCAL_INV, or of the receive
 * @told:      of REG_MR when the peer is to end it
 * @sent:      of the peer's SEND_WITH_INV
 * @registrar: whose
 * @mrs:       its regions
 * @next:      the region of the next cycle
 * @oldest:    the region of the oldest cycle under way
 * @told_next: the region whose REG_MR completes next
 * @busy:      cycles under way
 * @ops:       cycles that have ended
 */
struct clerk {
	struct kverbs_conn	conn;
	struct ib_cqe		ended, told, sent;
	struct registrar	*registrar;
	struct ib_mr		**mrs;
	u32			next, oldest, told_next;
	atomic_t		busy;
	u64			ops;
};

struct registrar {
	struct bench	*bench;
	bool		by_peer;
	u32		opened;
	struct clerk	clerks[];
};

static void turn(struct clerk *clerk, u32 *index)
{
	if (++*index == clerk->registrar->bench->params.mrs)
		*index = 0;
}

static int clerk_receive(struct clerk *clerk)
{
	struct kverbs_end *b = clerk->conn.b.end;
	struct ib_sge sge = { b->dma, 64, b->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &clerk->ended, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(clerk->conn.b.qp, &wr, NULL);
}

/* Begins a cycle. */
static int clerk_register(struct clerk *clerk)
{
	struct registrar *registrar = clerk->registrar;
	struct ib_mr *mr = clerk->mrs[clerk->next];
	struct ib_send_wr inv = {
		.wr_cqe = &clerk->ended, .opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_reg_wr reg = {
		.wr = { .wr_cqe = &clerk->told, .opcode = IB_WR_REG_MR },
		.mr = mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	int err;

	turn(clerk, &clerk->next);
	err = kverbs_map(mr, clerk->conn.b.end, 0, registrar->bench->params.pages * PAGE_SIZE);
	if (err)
		return err;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.key = mr->rkey;
	if (registrar->by_peer) {
		reg.wr.send_flags = IB_SEND_SIGNALED;
	} else {
		inv.ex.invalidate_rkey = mr->rkey;
		reg.wr.next = &inv;
	}
	return ib_post_send(clerk->conn.b.qp, &reg.wr, NULL);
}

static void clerk_next(struct clerk *clerk)
{
	struct bench *bench = clerk->registrar->bench;
	int err;

	if (READ_ONCE(bench->stop)) {
		atomic_dec(&clerk->busy);
		wake_up(&bench->idle);
		return;
	}
	err = clerk_register(clerk);
	if (err) {
		atomic_dec(&clerk->busy);
		bench_fail(bench, err);
	}
}

/* The registration is at its end. */
static void clerk_ended(struct ib_cq *cq, struct ib_wc *wc)
{
	struct clerk *clerk = container_of(wc->wr_cqe, struct clerk, ended);
	struct bench *bench = clerk->registrar->bench;
	struct ib_mr *mr = clerk->mrs[clerk->oldest];
	int err;

	if (wc->status)
		bench_fail(bench, wc->status);
	clerk->ops++;
	if (clerk->registrar->by_peer && !wc->status) {
		if (!(wc->wc_flags & IB_WC_WITH_INVALIDATE) || wc->ex.invalidate_rkey != mr->rkey)
			bench_fail(bench, -EPROTO);
		turn(clerk, &clerk->oldest);
		err = clerk_receive(clerk);
		if (err)
			bench_fail(bench, err);
	}
	clerk_next(clerk);
}

static void clerk_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct clerk *clerk = container_of(wc->wr_cqe, struct clerk, sent);

	if (wc->status)
		bench_fail(clerk->registrar->bench, wc->status);
}

/* REG_MR is done: the peer may end it. */
static void clerk_told(struct ib_cq *cq, struct ib_wc *wc)
{
	struct clerk *clerk = container_of(wc->wr_cqe, struct clerk, told);
	struct kverbs_end *a = clerk->conn.a.end;
	struct ib_sge sge = { a->dma, 64, a->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_cqe = &clerk->sent, .opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		.ex.invalidate_rkey = clerk->mrs[clerk->told_next]->rkey,
	};
	int err = wc->status;

	if (!err && clerk->registrar->by_peer) {
		turn(clerk, &clerk->told_next);
		err = ib_post_send(clerk->conn.a.qp, &wr, NULL);
	}
	if (err)
		bench_fail(clerk->registrar->bench, err);
}

static int clerk_open(struct registrar *registrar, struct clerk *clerk)
{
	struct bench *bench = registrar->bench;
	const struct bench_params *params = &bench->params;
	struct ib_mr *mr;
	u32 i;
	int err;

	clerk->registrar = registrar;
	clerk->ended.done = clerk_ended;
	clerk->told.done = clerk_told;
	clerk->sent.done = clerk_sent;
	clerk->mrs = kvcalloc(params->mrs, sizeof(*clerk->mrs), GFP_KERNEL);
	if (!clerk->mrs)
		return -ENOMEM;
	err = kverbs_conn_open(&clerk->conn, &bench->a, &bench->b, &bench->config,
			       bench_listener(bench));
	if (err)
		return err;
	for (i = 0; i < params->mrs; i++) {
		mr = ib_alloc_mr(bench->b.pd, IB_MR_TYPE_MEM_REG, params->pages);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		clerk->mrs[i] = mr;
	}
	for (i = 0; i < 2 * params->depth && registrar->by_peer && !err; i++)
		err = clerk_receive(clerk);
	return err;
}

static void clerk_close(struct clerk *clerk)
{
	u32 i;

	kverbs_conn_close(&clerk->conn);
	for (i = 0; clerk->mrs && i < clerk->registrar->bench->params.mrs; i++)
		if (clerk->mrs[i])
			ib_dereg_mr(clerk->mrs[i]);
}

static void clerk_start(struct clerk *clerk)
{
	u32 i;

	atomic_set(&clerk->busy, clerk->registrar->bench->params.depth);
	for (i = 0; i < clerk->registrar->bench->params.depth; i++)
		clerk_next(clerk);
}

static bool all_idle(struct registrar *registrar)
{
	u32 i;

	for (i = 0; i < registrar->opened; i++)
		if (atomic_read(&registrar->clerks[i].busy))
			return false;
	return true;
}

static void count(void *ctx, struct bench_sample *sample)
{
	struct registrar *registrar = ctx;
	u32 i;

	sample->ops = 0;
	for (i = 0; i < registrar->opened; i++)
		sample->ops += READ_ONCE(registrar->clerks[i].ops);
	sample->bytes = sample->ops * registrar->bench->params.pages * PAGE_SIZE;
}

static int run(struct bench *bench, bool by_peer)
{
	const struct bench_params *params = &bench->params;
	struct registrar *registrar;
	u32 i;
	int err;

	registrar = kvzalloc(struct_size(registrar, clerks, params->qps), GFP_KERNEL);
	if (!registrar)
		return -ENOMEM;
	registrar->bench = bench;
	registrar->by_peer = by_peer;
	err = bench_open(bench, params->pages * PAGE_SIZE, 2 * params->depth + 2,
			 params->qps * (4 * params->depth + 4));
	for (i = 0; i < params->qps && !err; i++) {
		registrar->opened++;
		err = clerk_open(registrar, &registrar->clerks[i]);
	}
	if (!err) {
		for (i = 0; i < params->qps; i++)
			clerk_start(&registrar->clerks[i]);
		bench_put(bench, "mrs=%u pages=%u ", params->mrs, params->pages);
		bench_window(bench, count, registrar);
		if (!wait_event_timeout(bench->idle, all_idle(registrar) || bench->error,
					KVERBS_PATIENCE))
			err = -ETIMEDOUT;
	}
	for (i = 0; i < registrar->opened; i++)
		clerk_close(&registrar->clerks[i]);
	bench_close(bench);
	for (i = 0; i < registrar->opened; i++)
		kvfree(registrar->clerks[i].mrs);
	kvfree(registrar);
	return err;
}

/**
 * bench_register - cycles of REG_MR and LOCAL_INV
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_register(struct bench *bench)
{
	return run(bench, false);
}

/**
 * bench_send_inv - cycles of REG_MR and the peer's SEND_WITH_INV
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_send_inv(struct bench *bench)
{
	return run(bench, true);
}
