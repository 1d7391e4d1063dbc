// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "lib.h"

#define DEPTH	64
#define QKEY	0x11111111

struct ibv_context *ctx;
struct ibv_pd *pd;
int gid_index;
union ibv_gid gid;
size_t page;

void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

/* Takes the first GID that is an IPv4 address: a link-local one may be nobody's */
void open_device(const char *name)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	page = sysconf(_SC_PAGESIZE);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (!ctx)
		die(name);
	ibv_free_device_list(list);
	for (gid_index = 0; gid_index < 256; gid_index++)
		if (!ibv_query_gid(ctx, 1, gid_index, &gid) && !memcmp(&gid, v4, sizeof(v4)))
			break;
	if (gid_index == 256)
		die("no GID of an IPv4 address");
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		die("ibv_alloc_pd");
}

void end_open(struct end *e, struct ibv_pd *pd, enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type,
		.srq = srq,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = srq ? 0 : DEPTH,
			 .max_send_sge = 4, .max_recv_sge = srq ? 0 : 4, .max_inline_data = 64 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	e->pd = pd;
	e->cq = ibv_create_cq(ctx, 4 * DEPTH, NULL, NULL, 0);
	if (!e->cq)
		die("ibv_create_cq");
	init.send_cq = e->cq;
	init.recv_cq = e->cq;
	e->qp = ibv_create_qp(pd, &init);
	if (!e->qp)
		die("ibv_create_qp");
	if (ibv_modify_qp(e->qp, &attr, mask | (type == IBV_QPT_UD ? IBV_QP_QKEY :
						IBV_QP_ACCESS_FLAGS)))
		die("to INIT");
}

void end_close(struct end *e)
{
	if (ibv_destroy_qp(e->qp) || ibv_destroy_cq(e->cq))
		die("destroy");
}

static void to_rts(struct end *e, uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 10,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 8 } },
	};
	int rtr = IBV_QP_STATE, rts = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (e->qp->qp_type != IBV_QPT_UD)
		rtr |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (e->qp->qp_type == IBV_QPT_RC) {
		rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		rts |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		       IBV_QP_MAX_QP_RD_ATOMIC;
	}
	if (ibv_modify_qp(e->qp, &attr, rtr))
		die("to RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(e->qp, &attr, rts))
		die("to RTS");
}

void connect_ends(struct end *a, struct end *b)
{
	to_rts(a, b->qp->qp_num);
	if (b != a)
		to_rts(b, a->qp->qp_num);
}

void pair_open(struct end *a, struct end *b, enum ibv_qp_type type)
{
	end_open(a, pd, type, NULL);
	end_open(b, pd, type, NULL);
	connect_ends(a, b);
}

void pair_close(struct end *a, struct end *b)
{
	end_close(a);
	end_close(b);
}

int to_error(struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
}

int post_recv(struct end *e, uint64_t id, void *at, uint32_t len, uint32_t lkey)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = len, .lkey = lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(e->qp, &wr, &bad);
}

int post(struct end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return ibv_post_send(e->qp, wr, &bad);
}

int post_op(struct end *e, enum ibv_wr_opcode op, void *at, uint32_t len, uint32_t lkey,
	    uint64_t remote, uint32_t rkey)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = len, .lkey = lkey };
	struct ibv_send_wr wr = { .opcode = op, .sg_list = &sge, .num_sge = 1 };

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD || op == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.swap = 2;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = rkey;
	}
	return post(e, &wr);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

struct ibv_wc wait_wc(struct end *e)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	struct ibv_wc wc = {};

	while (!ibv_poll_cq(e->cq, 1, &wc)) {
		if (now_ms() > end) {
			fprintf(stderr, "no completion came\n");
			exit(3);
		}
		usleep(10);
	}
	return wc;
}

int run_op(struct end *e, enum ibv_wr_opcode op, void *at, uint32_t len, uint32_t lkey,
	   uint64_t remote, uint32_t rkey)
{
	if (post_op(e, op, at, len, lkey, remote, rkey))
		die("post");
	return wait_wc(e).status;
}

/* The write ABI: a header, the command, and where the answer goes */
static int old_command(uint32_t command, void *cmd, size_t len, size_t resp_len)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint8_t cmd[128];
	} msg = { .hdr = { .command = command, .in_words = (sizeof(msg.hdr) + len) / 4,
			   .out_words = resp_len / 4 } };

	memcpy(msg.cmd, cmd, len);
	return write(ctx->cmd_fd, &msg, sizeof(msg.hdr) + len) < 0 ? -errno : 0;
}

int rereg(uint32_t handle, int flags, void *at, size_t len, uint64_t iova, int access,
	  struct ibv_pd *pd)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ib_uverbs_rereg_mr cmd = {
		.response = (uintptr_t)&resp,
		.mr_handle = handle,
		.flags = flags,
		.start = (uintptr_t)at,
		.length = len,
		.hca_va = iova,
		.access_flags = access,
		.pd_handle = pd ? pd->handle : 0,
	};

	return old_command(IB_USER_VERBS_CMD_REREG_MR, &cmd, sizeof(cmd), sizeof(resp));
}

int dereg_handle(uint32_t handle)
{
	struct ib_uverbs_dereg_mr cmd = { .mr_handle = handle };

	return old_command(IB_USER_VERBS_CMD_DEREG_MR, &cmd, sizeof(cmd), 0);
}

struct ioctl {
	struct ib_uverbs_ioctl_hdr	hdr;
	struct ib_uverbs_attr		attrs[16];
};

static void arg(struct ioctl *c, uint16_t id, uint16_t len, uint64_t data)
{
	c->attrs[c->hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
}

static int call(struct ioctl *c, uint16_t object, uint16_t method)
{
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	/* the kernel compares it: rxe's, which ward has as well, or siw's */
	c->hdr.driver_id = ctx->device->node_type == IBV_NODE_RNIC ? RDMA_DRIVER_SIW :
								     RDMA_DRIVER_RXE;
	c->hdr.length = sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attrs[0]);
	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, c) ? -errno : 0;
}

int reg_dmabuf(struct ibv_pd *pd, uint64_t offset, uint64_t len, uint64_t iova, int fd, int access,
	       uint32_t *handle, uint32_t *key)
{
	struct ioctl c = {};
	uint32_t rkey = 0;
	int err;

	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd->handle);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, sizeof(uint64_t), offset);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, sizeof(uint64_t), len);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_IOVA, sizeof(uint64_t), iova);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_FD, sizeof(uint32_t), fd);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, sizeof(uint32_t), access);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, sizeof(*key), (uintptr_t)key);
	arg(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, sizeof(rkey), (uintptr_t)&rkey);
	err = call(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	*handle = c.attrs[0].data;
	return err;
}

int advise(struct ibv_pd *pd, int advice, uint32_t flags, struct ibv_sge *sge, int n)
{
	struct ioctl c = {};

	arg(&c, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd->handle);
	arg(&c, UVERBS_ATTR_ADVISE_MR_ADVICE, sizeof(uint64_t), advice);
	arg(&c, UVERBS_ATTR_ADVISE_MR_FLAGS, sizeof(uint32_t), flags);
	arg(&c, UVERBS_ATTR_ADVISE_MR_SGE_LIST, n * sizeof(*sge), (uintptr_t)sge);
	return call(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR);
}

int query_odp(struct ibv_odp_caps *caps)
{
	struct ibv_device_attr_ex attr = {};

	if (ibv_query_device_ex(ctx, NULL, &attr))
		return -errno;
	*caps = attr.odp_caps;
	return 0;
}

static const char *skipped;
static int bad;
/* the first thing that was wrong */
static char why[200];

static void complain(const char *text, const char *file, int line)
{
	if (!bad++)
		snprintf(why, sizeof(why), "%s:%d: %s", strrchr(file, '/') ?
			 strrchr(file, '/') + 1 : file, line, text);
}

bool check_at(bool good, const char *text, const char *file, int line)
{
	if (!good)
		complain(text, file, line);
	return good;
}

bool check_wc_at(int got, int want, const char *file, int line)
{
	char text[120];

	if (got == want)
		return true;
	snprintf(text, sizeof(text), "completed with \"%s\", not with \"%s\"",
		 ibv_wc_status_str(got), ibv_wc_status_str(want));
	complain(text, file, line);
	return false;
}

void skip(const char *why)
{
	skipped = why;
}

/* argv[1] is the device, what follows are names of tests, or their beginnings; none: all */
int run_tests(const struct test *tests, size_t n, int argc, char **argv)
{
	int failed = 0, j;
	size_t i;

	if (argc < 2) {
		fprintf(stderr, "usage: %s DEVICE [TEST...]\n", argv[0]);
		return 2;
	}
	open_device(argv[1]);
	for (i = 0; i < n; i++) {
		for (j = 2; j < argc; j++)
			if (!strncmp(tests[i].name, argv[j], strlen(argv[j])))
				break;
		if (argc > 2 && j == argc)
			continue;
		bad = 0;
		skipped = NULL;
		tests[i].run();
		failed += !!bad;
		if (bad)
			printf("not ok %s - %s\n", tests[i].name, why);
		else if (skipped)
			printf("# skipped %s: %s\n", tests[i].name, skipped);
		else
			printf("ok %s\n", tests[i].name);
	}
	return !!failed;
}
