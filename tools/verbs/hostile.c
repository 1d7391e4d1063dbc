// SPDX-License-Identifier: GPL-2.0
/*
 * A process that writes whatever it likes into the rings that it shares with the kernel, from
 * several threads, while it rings the doorbells and changes the states of its queue pairs.
 *
 *	hostile DEVICE [SECONDS [SEED]]
 *
 * Some writes are bytes at random, some are work requests that could be, with fields at random. The
 * process dies in the middle of it, again and again, sometimes by a signal. Another one, in a
 * protection domain of its own, works meanwhile and finds its memory untouched.
 *
 * What to look for is in the kernel log.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "lib.h"

#define RW	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)
#define BUF	(64 * 1024)
#define QPS	6

struct ring {
	struct rxe_queue_buf	*buf;
	size_t			size;
	uint32_t		log2, mask;
};

static struct ring rings[64];
static int num_rings;
static struct end ends[QPS];
static struct ibv_ah *ah;
static struct ibv_mr *mr, *odp;
static struct ibv_mw *mw;
static atomic_int stop;

static uint64_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The rings are what this process maps of the device */
static void find_rings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/dev/infiniband/uverbs") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2 || num_rings == 64)
			continue;
		rings[num_rings].buf = (void *)from;
		rings[num_rings].size = to - from;
		rings[num_rings].log2 = rings[num_rings].buf->log2_elem_size;
		rings[num_rings].mask = rings[num_rings].buf->index_mask;
		num_rings++;
	}
	fclose(f);
	if (!num_rings) {
		fprintf(stderr, "no rings are mapped\n");
		exit(2);
	}
}

static uint32_t some_key(uint64_t *s)
{
	switch (rnd(s) % 64) {
	case 0:
		return rnd(s);
	case 1:
		return mr->lkey ^ 1;
	case 2:
		return mw ? mw->rkey : 0;
	case 3:
		return odp ? odp->lkey : 0;
	default:
		return mr->lkey;
	}
}

static uint64_t some_address(uint64_t *s)
{
	switch (rnd(s) % 64) {
	case 0:
		return rnd(s);
	case 1:
		return UINT64_MAX - rnd(s) % 4096;
	case 2:
		return (uintptr_t)mr->addr + BUF - rnd(s) % 64;
	default:
		return (uintptr_t)mr->addr + rnd(s) % (BUF / 2);
	}
}

static uint32_t some_length(uint64_t *s)
{
	switch (rnd(s) % 64) {
	case 0:
		return rnd(s);
	case 1:
		return 0x7fffffff + rnd(s) % 3;
	default:
		return rnd(s) % 4096;
	}
}

static void fill_sges(struct rxe_dma_info *dma, uint64_t *s)
{
	uint32_t i, n = rnd(s) % 32 ? rnd(s) % 5 : rnd(s);

	dma->length = some_length(s);
	dma->resid = dma->length;
	dma->cur_sge = rnd(s);
	dma->num_sge = n;
	dma->sge_offset = rnd(s);
	for (i = 0; i < 4; i++)
		dma->sge[i] = (struct rxe_sge){
			.addr = some_address(s), .length = some_length(s), .lkey = some_key(s),
		};
}

/* A work request that the kernel may well execute */
static void fill_plausible(struct ring *r, uint64_t *s)
{
	void *slot = r->buf->data + (((rnd(s) & r->mask)) << r->log2);
	struct rxe_send_wqe *wqe = slot;
	struct rxe_recv_wqe *rwqe = slot;

	/* too large to be the other kind */
	if ((1UL << r->log2) < sizeof(*wqe) + 4 * sizeof(struct rxe_sge)) {
		if ((1UL << r->log2) >= sizeof(*rwqe) + 4 * sizeof(struct rxe_sge))
			fill_sges(&rwqe->dma, s);
		return;
	}
	wqe->wr.opcode = rnd(s) % 16 ? rnd(s) % 12 : rnd(s);
	wqe->wr.send_flags = rnd(s) % 2 ? 2 : rnd(s);
	wqe->wr.wr_id = rnd(s);
	switch (rnd(s) % 4) {
	case 0:
		wqe->wr.wr.mw.addr = some_address(s);
		wqe->wr.wr.mw.length = some_length(s);
		wqe->wr.wr.mw.mr_lkey = some_key(s);
		wqe->wr.wr.mw.mw_rkey = some_key(s);
		wqe->wr.wr.mw.rkey = wqe->wr.wr.mw.mw_rkey + 1;
		wqe->wr.wr.mw.access = rnd(s);
		break;
	case 1:
		wqe->wr.wr.ud.remote_qpn = ends[rnd(s) % QPS].qp->qp_num;
		wqe->wr.wr.ud.remote_qkey = 0x11111111;
		wqe->wr.wr.ud.ah_num = rnd(s) % 4 ? ah->handle : rnd(s);
		break;
	default:
		wqe->wr.wr.rdma.remote_addr = some_address(s);
		wqe->wr.wr.rdma.rkey = some_key(s);
		break;
	}
	fill_sges(&wqe->dma, s);
}

static void *scribble(void *arg)
{
	uint64_t s = (uintptr_t)arg;

	/* some only write what could be, so that more of it is executed */
	int tame = (uintptr_t)arg / 16 % 4 != 0;

	while (!stop) {
		struct ring *r = &rings[rnd(&s) % num_rings];

		switch (tame ? 3 + rnd(&s) % 5 : rnd(&s) % 8) {
		case 0:		/* anything anywhere */
			((uint8_t *)r->buf)[rnd(&s) % r->size] = rnd(&s);
			break;
		case 1:
			r->buf->index_mask = rnd(&s) % 2 ? rnd(&s) : r->mask;
			r->buf->log2_elem_size = rnd(&s) % 2 ? rnd(&s) : r->log2;
			break;
		case 2:
			r->buf->consumer_index = rnd(&s) % 2 ? rnd(&s) : rnd(&s) & r->mask;
			break;
		case 3:
		case 4:
			r->buf->producer_index = tame || rnd(&s) % 4 ? rnd(&s) & r->mask : rnd(&s);
			break;
		default:
			fill_plausible(r, &s);
			break;
		}
	}
	return NULL;
}

static void command(uint32_t number, void *cmd, size_t len, size_t resp_len)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint8_t cmd[256];
	} msg = { .hdr = { .command = number, .in_words = (sizeof(msg.hdr) + len) / 4,
			   .out_words = resp_len / 4 } };

	memcpy(msg.cmd, cmd, len);
	if (write(ctx->cmd_fd, &msg, sizeof(msg.hdr) + len) < 0 && errno == EIO)
		stop = 1;
}

/* Not through librxe, which reads the rings itself */
static void ring_doorbell(struct ibv_qp *qp)
{
	struct ib_uverbs_post_send_resp resp;
	struct ib_uverbs_post_send cmd = {
		.response = (uintptr_t)&resp,
		.qp_handle = qp->handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};

	command(IB_USER_VERBS_CMD_POST_SEND, &cmd, sizeof(cmd), sizeof(resp));
}

static void *ring_doorbells(void *arg)
{
	uint64_t s = (uintptr_t)arg;

	while (!stop) {
		struct end *e = &ends[rnd(&s) % QPS];

		ring_doorbell(e->qp);
		if (rnd(&s) % 4 == 0) {
			struct ib_uverbs_req_notify_cq cmd = {
				.cq_handle = e->cq->handle, .solicited_only = rnd(&s) % 2,
			};

			command(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &cmd, sizeof(cmd), 0);
		}
	}
	return NULL;
}

static void *change_states(void *arg)
{
	uint64_t s = (uintptr_t)arg;

	while (!stop) {
		struct end *e = &ends[rnd(&s) % QPS];
		struct ibv_qp_attr attr = {
			.qp_state = rnd(&s) % 8 ? IBV_QPS_RESET : IBV_QPS_ERR,
		};

		usleep(rnd(&s) % 300);
		/* librxe looks at rings at RESET: those of its own bookkeeping only */
		ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
		if (attr.qp_state == IBV_QPS_RESET) {
			struct end *peer = &ends[(e - ends) ^ 1];
			struct ibv_qp_attr init = {
				.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111,
				.qp_access_flags = RW & ~IBV_ACCESS_MW_BIND,
			};
			struct ibv_qp_attr rtr = {
				.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_256,
				.dest_qp_num = peer->qp->qp_num, .max_dest_rd_atomic = 4,
				.max_rd_atomic = 4, .min_rnr_timer = 1, .timeout = 10,
				.retry_cnt = 2, .rnr_retry = 2,
				.ah_attr = { .is_global = 1, .port_num = 1,
					     .grh = { .dgid = gid, .sgid_index = gid_index,
						      .hop_limit = 8 } },
			};
			int ud = e->qp->qp_type == IBV_QPT_UD, rc = e->qp->qp_type == IBV_QPT_RC;

			ibv_modify_qp(e->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
			ibv_modify_qp(e->qp, &rtr, IBV_QP_STATE |
				      (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN) |
				      (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
			rtr.qp_state = IBV_QPS_RTS;
			ibv_modify_qp(e->qp, &rtr, IBV_QP_STATE | IBV_QP_SQ_PSN |
				      (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_MAX_QP_RD_ATOMIC : 0));
		}
	}
	return NULL;
}

/* A life: everything at once, and then death */
static void be_hostile(const char *device, uint64_t seed)
{
	static const enum ibv_qp_type types[QPS] = {
		IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RC,
	};
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 64, .max_sge = 4 } };
	struct ibv_ah_attr av = { .is_global = 1, .port_num = 1 };
	pthread_t threads[7];
	struct ibv_srq *srq;
	void *buf;
	size_t i;

	open_device(device);
	av.grh.dgid = gid;
	av.grh.sgid_index = gid_index;
	av.grh.hop_limit = 8;
	buf = mmap(NULL, BUF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mr = ibv_reg_mr(pd, buf, BUF, RW);
	odp = ibv_reg_mr(pd, buf, BUF, RW | IBV_ACCESS_ON_DEMAND);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	ah = ibv_create_ah(pd, &av);
	srq = ibv_create_srq(pd, &srq_attr);
	if (!mr || !ah || !srq)
		die("setting up");
	for (i = 0; i < QPS; i++)
		end_open(&ends[i], pd, types[i], i == 5 ? srq : NULL);
	for (i = 0; i < 4; i += 2)
		connect_ends(&ends[i], &ends[i + 1]);
	connect_ends(&ends[4], &ends[4]);
	connect_ends(&ends[5], &ends[5]);
	find_rings();
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, i < 3 ? scribble : i < 5 ? ring_doorbells :
			       change_states, (void *)(seed * 16 + i + 1));
	usleep(300000 + seed % 7 * 50000);
	/* in every state, with everything under way */
	if (seed & 1)
		raise(SIGKILL);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 2 ? atoi(argv[2]) : 10;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : (uint64_t)time(NULL);
	time_t end;
	uint8_t *x, *y, *z;
	struct ibv_mr *from, *to, *quiet;
	struct end a, b;
	int lives = 0, status, bad = 0, i;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: %s DEVICE [SECONDS [SEED]]\n", argv[0]);
		return 2;
	}
	printf("# seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	end = time(NULL) + seconds;
	child = fork();
	if (!child) {
		while (time(NULL) < end) {
			child = fork();
			if (!child)
				be_hostile(argv[1], seed + lives);
			waitpid(child, &status, 0);
			lives++;
			/* 2 is a failure of setting up */
			if (WIFEXITED(status) && WEXITSTATUS(status))
				_exit(1);
		}
		printf("# %d lives\n", lives);
		fflush(stdout);
		_exit(lives < 2);
	}

	open_device(argv[1]);
	x = mmap(NULL, 3 * BUF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	y = x + BUF;
	z = y + BUF;
	from = ibv_reg_mr(pd, x, BUF, RW);
	to = ibv_reg_mr(pd, y, BUF, RW);
	quiet = ibv_reg_mr(pd, z, BUF, RW);
	memset(z, 0x5c, BUF);
	pair_open(&a, &b, IBV_QPT_RC);
	for (i = 1; !waitpid(child, &status, WNOHANG); i++) {
		memset(x, i, BUF);
		if (run_op(&a, IBV_WR_RDMA_WRITE, x, BUF, from->lkey, (uintptr_t)y, to->rkey) ||
		    memcmp(x, y, BUF))
			bad = 1;
	}
	memset(x, 0x5c, BUF);
	printf("%s a process that shares nothing with it works meanwhile\n", bad ? "not ok" : "ok");
	printf("%s and its memory is untouched\n", memcmp(x, z, BUF) ? "not ok" : "ok");
	printf("%s the hostile process lived and died\n", status ? "not ok" : "ok");
	bad |= status || memcmp(x, z, BUF);
	ibv_dereg_mr(quiet);
	pair_close(&a, &b);
	return bad;
}
