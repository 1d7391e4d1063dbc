// SPDX-License-Identifier: GPL-2.0
/*
 * The fence rules that a process can see, on a device of any kind. A line for each:
 *
 *	F18 PASS
 *	F19 FAIL the memory was written to after ibv_dereg_mr()
 *	F40 UNSUPPORTED no memory windows
 *
 *	user DEVICE [RULE...]
 *
 * Each rule is tried in a process of its own, which may crash or hang without hiding the others. A
 * race is tried some hundred times; that none was lost says less than one that was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../verbs/lib.h"

#define LOCAL	IBV_ACCESS_LOCAL_WRITE
#define READ	IBV_ACCESS_REMOTE_READ
#define WRITE	IBV_ACCESS_REMOTE_WRITE
#define ATOMIC	IBV_ACCESS_REMOTE_ATOMIC
#define BIND	IBV_ACCESS_MW_BIND
#define RW	(LOCAL | READ | WRITE | ATOMIC)
#define LEN	(64 * 1024)
#define RACES	150
/* A rule that takes longer hangs */
#define LIMIT	120

enum { PASS, FAIL, UNSUPPORTED };
static const char * const words[] = { "PASS", "FAIL", "UNSUPPORTED" };

static jmp_buf out;
static char reason[200];

static noreturn void end(int verdict, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	longjmp(out, 1 + verdict);
}

#define fail(...)	end(FAIL, __VA_ARGS__)
#define must(x)		do { if (!(x)) fail("line %d: not so: %s", __LINE__, #x); } while (0)

/* What an operation completes with */
static void must_be_at(int got, int want, const char *what, int line)
{
	if (got != want)
		fail("line %d: %s: \"%s\", not \"%s\"", line, what, ibv_wc_status_str(got),
		     ibv_wc_status_str(want));
}

#define must_be(got, want, what) must_be_at(got, want, what, __LINE__)

/* A's memory, and B's */
static uint8_t *x, *y;
static struct ibv_mr *from, *to;
static struct end a, b;

static void memory(int access)
{
	x = mmap(NULL, 2 * LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	y = mmap(NULL, 2 * LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	from = ibv_reg_mr(pd, x, 2 * LEN, RW);
	if (!from)
		die("ibv_reg_mr");
	memset(x, 0xaa, 2 * LEN);
	if (!access)
		return;
	to = ibv_reg_mr(pd, y, 2 * LEN, access);
	if (!to)
		fail("ibv_reg_mr: %s", strerror(errno));
}

/* Each refusal ends a connection, so each probe has one of its own */
static void fresh(void)
{
	if (a.qp)
		pair_close(&a, &b);
	pair_open(&a, &b, IBV_QPT_RC);
}

static int try(enum ibv_wr_opcode op, uint32_t len, void *at, uint32_t rkey)
{
	int status;

	fresh();
	status = run_op(&a, op, x, len, from->lkey, (uintptr_t)at, rkey);
	pair_close(&a, &b);
	a.qp = NULL;
	return status;
}

/* --- windows ---------------------------------------------------------------------------------- */

static struct ibv_mw *window(enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, type);

	if (!mw)
		end(UNSUPPORTED, "no memory windows of type %d", type);
	return mw;
}

static int bind_as(struct end *e, struct ibv_mw *mw, struct ibv_mr *mr, void *at, uint64_t len,
		   int access, uint32_t *rkey)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = { .mr = mr, .addr = (uintptr_t)at, .length = len,
				       .mw_access_flags = access },
		},
	};
	int status;

	if (mw->type == IBV_MW_TYPE_1) {
		struct ibv_mw_bind bind = { .bind_info = wr.bind_mw.bind_info };

		if (ibv_bind_mw(e->qp, mw, &bind))
			return IBV_WC_MW_BIND_ERR;
		status = wait_wc(e).status;
		*rkey = mw->rkey;
		return status;
	}
	if (post(e, &wr))
		return IBV_WC_MW_BIND_ERR;
	status = wait_wc(e).status;
	*rkey = wr.bind_mw.rkey;
	if (!status)
		mw->rkey = wr.bind_mw.rkey;
	return status;
}

static int send_inv(struct end *e, uint32_t rkey)
{
	struct ibv_sge sge = { .addr = (uintptr_t)x, .length = 8, .lkey = from->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND_WITH_INV, .sg_list = &sge, .num_sge = 1,
				  .invalidate_rkey = rkey };

	if (post(e, &wr))
		fail("SEND_WITH_INV is not taken");
	return wait_wc(e).status;
}

static int local_inv(struct end *e, uint32_t rkey)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = rkey };

	if (post(e, &wr))
		fail("LOCAL_INV is not taken");
	return wait_wc(e).status;
}

static void f15(void)
{
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	mw = window(IBV_MW_TYPE_2);
	memory(RW | BIND);
	fresh();
	must_be(bind_as(&b, mw, to, y, LEN, WRITE, &key), IBV_WC_SUCCESS, "bind");
	must(!post_recv(&b, 1, y, 64, to->lkey) && !post_recv(&b, 2, y, 64, to->lkey));
	must_be(send_inv(&a, key), IBV_WC_SUCCESS, "the first invalidate");
	wc = wait_wc(&b);
	must(!wc.status && wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == key);
	if (send_inv(&a, key) == IBV_WC_SUCCESS)
		fail("a second invalidate of the same window succeeds");
}

static void f16(void)
{
	struct end c, d;
	struct ibv_mw *mw;
	uint32_t key;

	mw = window(IBV_MW_TYPE_2);
	memory(RW | BIND);
	fresh();
	pair_open(&c, &d, IBV_QPT_RC);
	must_be(bind_as(&b, mw, to, y, LEN, WRITE, &key), IBV_WC_SUCCESS, "bind");
	must_be(run_op(&c, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y, key),
		IBV_WC_REM_ACCESS_ERR, "a write through another queue pair");
	must(y[0] != 0xaa);
	pair_close(&c, &d);
	pair_open(&c, &d, IBV_QPT_RC);
	must(!post_recv(&d, 1, y, 64, to->lkey));
	if (send_inv(&c, key) == IBV_WC_SUCCESS)
		fail("an invalidate through another queue pair succeeds");
	must_be(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y, key),
		IBV_WC_SUCCESS, "a write through its own");
	pair_close(&c, &d);
}

/* One bind on a fresh connection and a fresh window */
static void bind_is(enum ibv_mw_type type, struct ibv_mr *mr, void *at, uint64_t len, int access,
		    bool good, const char *what)
{
	struct ibv_mw *mw = window(type);
	uint32_t key;
	int status;

	fresh();
	status = bind_as(&b, mw, mr, at, len, access, &key);
	if (good != !status)
		fail("type %d, %s: \"%s\"", type, what, ibv_wc_status_str(status));
	pair_close(&a, &b);
	a.qp = NULL;
	ibv_dealloc_mw(mw);
}

static void f17(void)
{
	struct ibv_mr *no_bind, *no_write, *foreign;
	struct ibv_mw *mw, *foreign_mw;
	struct ibv_pd *other;
	uint32_t key;
	int type;

	window(IBV_MW_TYPE_2);
	memory(RW | BIND);
	no_bind = ibv_reg_mr(pd, y, LEN, RW);
	no_write = ibv_reg_mr(pd, y, LEN, READ | BIND);
	other = ibv_alloc_pd(ctx);
	foreign = ibv_reg_mr(other, y, LEN, RW | BIND);
	foreign_mw = ibv_alloc_mw(other, IBV_MW_TYPE_2);
	for (type = 1; type <= 2; type++) {
		bind_is(type, to, y, LEN, WRITE | READ | ATOMIC, true, "a bind");
		bind_is(type, to, y + LEN, LEN, READ, true, "a bind to its end");
		bind_is(type, to, y + LEN, LEN + 1, READ, false, "a bind past the end");
		bind_is(type, to, y - 1, LEN, READ, false, "a bind before the beginning");
		bind_is(type, to, y, UINT64_MAX, READ, false, "a bind of everything");
		bind_is(type, to, (void *)(UINTPTR_MAX - 4096), 8192, READ, false,
			"a bind around the end of the address space");
		bind_is(type, no_bind, y, 8, READ, false, "a bind without MW_BIND");
		bind_is(type, no_write, y, 8, READ, true, "a bind for reading");
		bind_is(type, no_write, y, 8, WRITE, false, "a bind for writing without the right");
		bind_is(type, foreign, y, 8, READ, false, "a bind to another PD's region");
	}
	bind_is(IBV_MW_TYPE_2, to, y, 0, READ, false, "an empty bind");
	fresh();
	if (bind_as(&b, foreign_mw, to, y, 8, READ, &key) == IBV_WC_SUCCESS)
		fail("another PD's window is bound");

	mw = window(IBV_MW_TYPE_2);
	fresh();
	must_be(bind_as(&b, mw, to, y, 8, READ, &key), IBV_WC_SUCCESS, "bind");
	if (bind_as(&b, mw, to, y, 8, READ, &key) == IBV_WC_SUCCESS)
		fail("a window of type 2 is bound twice");

	mw = window(IBV_MW_TYPE_1);
	fresh();
	must_be(bind_as(&b, mw, to, y, 8, WRITE, &key), IBV_WC_SUCCESS, "bind");
	must_be(bind_as(&b, mw, to, y + 8, 8, WRITE, &key), IBV_WC_SUCCESS, "type 1 again");
	must_be(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y + 8, key),
		IBV_WC_SUCCESS, "through it");
	must_be(bind_as(&b, mw, to, y, 0, 0, &key), IBV_WC_SUCCESS, "type 1 of length zero");
	must_be(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y + 8, key),
		IBV_WC_REM_ACCESS_ERR, "through one that is not bound");
}

static void f18(void)
{
	struct ibv_mw *mw;
	uint32_t key;

	mw = window(IBV_MW_TYPE_2);
	memory(RW | BIND);
	fresh();
	must_be(bind_as(&b, mw, to, y + 100, 100, WRITE, &key), IBV_WC_SUCCESS, "bind");
	must_be(run_op(&a, IBV_WR_RDMA_WRITE, x, 100, from->lkey, (uintptr_t)y + 100, key),
		IBV_WC_SUCCESS, "all of it");
	must_be(run_op(&a, IBV_WR_RDMA_WRITE, x, 100, from->lkey, (uintptr_t)y + 101, key),
		IBV_WC_REM_ACCESS_ERR, "one byte past it");
	must(y[200] != 0xaa);
	ibv_dealloc_mw(mw);

	mw = window(IBV_MW_TYPE_2);
	fresh();
	must_be(bind_as(&b, mw, to, y + 300, 100, WRITE, &key), IBV_WC_SUCCESS, "bind");
	must_be(run_op(&a, IBV_WR_RDMA_READ, x, 8, from->lkey, (uintptr_t)y + 300, key),
		IBV_WC_REM_ACCESS_ERR, "a read of one for writing");
}

/* --- races ------------------------------------------------------------------------------------ */

/* Somebody who writes through a key until that is refused, and tries again */
struct peer {
	pthread_t	thread;
	struct end	*own;		/* a connection to use and not to renew */
	uint64_t	at;
	atomic_uint	rkey;
	atomic_int	stop, writes;
};

static void *write_on(void *arg)
{
	struct peer *p = arg;
	struct end c, d;

	while (!p->stop) {
		if (!p->own)
			pair_open(&c, &d, IBV_QPT_RC);
		while (!p->stop && run_op(p->own ?: &c, IBV_WR_RDMA_WRITE, x, LEN, from->lkey,
					  p->at, p->rkey) == IBV_WC_SUCCESS)
			p->writes++;
		if (p->own)
			break;
		pair_close(&c, &d);
	}
	return NULL;
}

static void peer_start(struct peer *p)
{
	p->stop = 0;
	p->writes = 0;
	if (pthread_create(&p->thread, NULL, write_on, p))
		die("pthread_create");
	while (!p->writes)
		usleep(50);
}

static void peer_stop(struct peer *p)
{
	p->stop = 1;
	pthread_join(p->thread, NULL);
}

/* From now on @at is ours: nobody else writes to it */
static void is_ours(void *at, const char *after)
{
	uint8_t *p = at;
	int i, j;

	memset(at, 0x55, LEN);
	for (i = 0; i < 4; i++) {
		usleep(500);
		for (j = 0; j < LEN; j++)
			if (p[j] != 0x55)
				fail("byte %d was written to after %s", j, after);
	}
}

static void f19(void)
{
	struct peer p = {};
	struct ibv_mw *mw;
	uint32_t key;
	int i;

	memory(0);
	p.at = (uintptr_t)y;
	for (i = 0; i < RACES; i++) {
		to = ibv_reg_mr(pd, y, LEN, RW);
		p.rkey = to->rkey;
		peer_start(&p);
		must(!ibv_dereg_mr(to));
		is_ours(y, "ibv_dereg_mr()");
		peer_stop(&p);
	}
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	if (!mw)
		return;
	to = ibv_reg_mr(pd, y, LEN, RW | BIND);
	fresh();
	must_be(bind_as(&b, mw, to, y, 8, READ, &key), IBV_WC_SUCCESS, "bind");
	if (!ibv_dereg_mr(to))
		fail("ibv_dereg_mr() succeeds while a window is bound");
	must(!ibv_dealloc_mw(mw));
	must(!ibv_dereg_mr(to));
}

static void f40(void)
{
	struct peer p = {};
	struct ibv_mw *mw;
	uint32_t key;
	int i;

	window(IBV_MW_TYPE_2);
	memory(RW | BIND);
	p.at = (uintptr_t)y;
	for (i = 0; i < RACES; i++) {
		mw = window(i % 3 == 0 ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
		fresh();
		must_be(bind_as(&b, mw, to, y, LEN, WRITE, &key), IBV_WC_SUCCESS, "bind");
		p.own = &a;
		p.rkey = key;
		peer_start(&p);
		switch (i % 4) {
		case 0:
		case 3:
			if (mw->type == IBV_MW_TYPE_2) {
				must_be(local_inv(&b, key), IBV_WC_SUCCESS, "LOCAL_INV");
				is_ours(y, "LOCAL_INV of a window");
				break;
			}
			must_be(bind_as(&b, mw, to, y, 0, 0, &key), IBV_WC_SUCCESS, "unbind");
			is_ours(y, "a bind of length zero");
			break;
		case 1:
			if (mw->type == IBV_MW_TYPE_1) {
				must_be(bind_as(&b, mw, to, y + LEN, 8, WRITE, &key),
					IBV_WC_SUCCESS, "bind elsewhere");
				is_ours(y, "a bind elsewhere");
				break;
			}
			must(!ibv_dealloc_mw(mw));
			mw = NULL;
			is_ours(y, "ibv_dealloc_mw()");
			break;
		default:
			must(!ibv_dealloc_mw(mw));
			mw = NULL;
			is_ours(y, "ibv_dealloc_mw()");
			break;
		}
		peer_stop(&p);
		if (mw)
			ibv_dealloc_mw(mw);
	}
}

static void f41(void)
{
	struct peer p = {};
	int i, err;

	memory(0);
	to = ibv_reg_mr_iova(pd, y, LEN, 0x10000, RW);
	if (!to)
		end(UNSUPPORTED, "ibv_reg_mr_iova: %s", strerror(errno));
	p.at = 0x10000;
	p.rkey = to->rkey;
	err = rereg(to->handle, IBV_REREG_MR_CHANGE_TRANSLATION, y, LEN, 0x10000, 0, NULL);
	if (err)
		end(UNSUPPORTED, "rereg_mr: %s", strerror(-err));
	peer_start(&p);
	for (i = 0; i < RACES; i++) {
		uint8_t *old = i & 1 ? y + LEN : y, *next = i & 1 ? y : y + LEN;

		must(!rereg(to->handle, IBV_REREG_MR_CHANGE_TRANSLATION, next, LEN, 0x10000, 0,
			    NULL));
		is_ours(old, "rereg_mr");
	}
	/* a right that is taken away */
	must(!rereg(to->handle, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0, READ, NULL));
	is_ours(y, "rereg_mr without the right to write");
	peer_stop(&p);
}

static void f42(void)
{
	uint8_t *z, *copy = malloc(LEN);
	struct ibv_odp_caps caps = {};
	struct peer p = {};
	int i, n;

	if (query_odp(&caps) || !(caps.general_caps & IBV_ODP_SUPPORT) ||
	    !(caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_WRITE))
		end(UNSUPPORTED, "no on-demand paging");
	memory(RW | IBV_ACCESS_ON_DEMAND);
	z = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p.at = (uintptr_t)y;
	p.rkey = to->rkey;
	peer_start(&p);
	for (i = 0; i < RACES; i++) {
		if (mremap(y, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, z) ==
		    MAP_FAILED)
			die("mremap");
		memcpy(copy, z, LEN);
		memset(x, i % 200 + 1, LEN);
		n = p.writes;
		while (p.writes < n + 2)
			usleep(50);
		if (memcmp(copy, z, LEN))
			fail("a page was written to after the process had moved it");
	}
	peer_stop(&p);
}

/* --- keys and rights -------------------------------------------------------------------------- */

static void f9(void)
{
	memory(RW);
	must_be(try(IBV_WR_RDMA_WRITE, 8, y, to->rkey), IBV_WC_SUCCESS, "the key");
	must_be(try(IBV_WR_RDMA_WRITE, 8, y, to->rkey ^ 1), IBV_WC_REM_ACCESS_ERR,
		"another variant");
	must_be(try(IBV_WR_RDMA_WRITE, 8, y, to->rkey ^ 0x80), IBV_WC_REM_ACCESS_ERR,
		"another variant");
	must_be(try(IBV_WR_RDMA_READ, 8, y, to->rkey + 256), IBV_WC_REM_ACCESS_ERR,
		"another index");
	from->lkey ^= 1;
	must_be(try(IBV_WR_RDMA_WRITE, 8, y, to->rkey), IBV_WC_LOC_PROT_ERR,
		"another variant of an lkey");
}

static void f12(void)
{
	memory(RW);
	fresh();
	must(!post_recv(&b, 1, y, 64, to->lkey));
	if (send_inv(&a, to->rkey) == IBV_WC_SUCCESS)
		fail("SEND_WITH_INV of a plain region succeeds");
	must_be(try(IBV_WR_RDMA_WRITE, 8, y, to->rkey), IBV_WC_SUCCESS, "it is valid afterwards");
}

static void f14(void)
{
	struct ibv_wc wc;
	int status;

	memory(RW);
	fresh();
	must(!post_recv(&b, 1, y, 64, to->lkey));
	status = send_inv(&a, to->rkey ^ 0x5a5a5a5a);
	if (status == IBV_WC_SUCCESS)
		fail("the requester is told of success");
	must_be(status, IBV_WC_REM_ACCESS_ERR, "the requester");
	wc = wait_wc(&b);
	must_be(wc.status, IBV_WC_REM_INV_REQ_ERR, "the receive");
}

static void f20(void)
{
	static const struct {
		enum ibv_wr_opcode	op;
		int			right;
	} ops[] = {
		{ IBV_WR_RDMA_WRITE, WRITE }, { IBV_WR_RDMA_READ, READ },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, ATOMIC }, { IBV_WR_ATOMIC_CMP_AND_SWP, ATOMIC },
	};
	struct ibv_mr *ro;
	size_t i;
	int rights;

	memory(0);
	for (rights = 0; rights < 8; rights++) {
		int access = LOCAL | (rights & 1 ? WRITE : 0) | (rights & 2 ? READ : 0) |
			     (rights & 4 ? ATOMIC : 0);

		to = ibv_reg_mr(pd, y, LEN, access);
		for (i = 0; i < ARRAY_SIZE(ops); i++)
			must_be(try(ops[i].op, 8, y, to->rkey), access & ops[i].right ?
				IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR, "remote");
		ibv_dereg_mr(to);
	}
	to = ibv_reg_mr(pd, y, LEN, RW);
	/* the right of the queue pair */
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		struct ibv_qp_attr attr = { .qp_access_flags = RW & ~LOCAL & ~ops[i].right };

		fresh();
		must(!ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS));
		must_be(run_op(&a, ops[i].op, x, 8, from->lkey, (uintptr_t)y, to->rkey),
			IBV_WC_REM_INV_REQ_ERR, "a queue pair without the right");
	}
	/* local */
	ro = ibv_reg_mr(pd, x, LEN, 0);
	fresh();
	must_be(run_op(&a, IBV_WR_RDMA_READ, x, 8, ro->lkey, (uintptr_t)y, to->rkey),
		IBV_WC_LOC_PROT_ERR, "a read into what is read-only");
	fresh();
	must(!post_recv(&b, 1, x, 8, ro->lkey));
	must(!post_op(&a, IBV_WR_SEND, x, 8, from->lkey, 0, 0));
	must_be(wait_wc(&b).status, IBV_WC_LOC_PROT_ERR, "a receive into what is read-only");
}

static void f21(void)
{
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_mr *foreign;

	memory(0);
	foreign = ibv_reg_mr(other, y, LEN, RW);
	must_be(try(IBV_WR_RDMA_WRITE, 8, y, foreign->rkey), IBV_WC_REM_ACCESS_ERR, "an R_key");
	to = ibv_reg_mr(pd, y, LEN, RW);
	fresh();
	must_be(run_op(&a, IBV_WR_RDMA_WRITE, y, 8, foreign->lkey, (uintptr_t)y, to->rkey),
		IBV_WC_LOC_PROT_ERR, "an lkey of a source");
	fresh();
	must(!post_recv(&b, 1, y, 64, foreign->lkey));
	must(!post_op(&a, IBV_WR_SEND, x, 8, from->lkey, 0, 0));
	must_be(wait_wc(&b).status, IBV_WC_LOC_PROT_ERR, "an lkey of a receive");
}

/* The events of a queue pair that come within a second */
static int events(struct ibv_qp *qp, enum ibv_event_type type)
{
	struct pollfd p = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int n = 0;

	while (poll(&p, 1, 1000) == 1 && !ibv_get_async_event(ctx, &event)) {
		n += event.event_type == type && event.element.qp == qp;
		ibv_ack_async_event(&event);
	}
	return n;
}

static void f22(void)
{
	struct ibv_qp_attr attr = { .qp_access_flags = 0 };
	struct ibv_qp_init_attr init;
	int n;

	memory(RW);
	fresh();
	run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y, to->rkey ^ 1);
	n = events(b.qp, IBV_EVENT_QP_ACCESS_ERR);
	if (n != 1)
		fail("%d events of an R_key violation", n);
	must(!ibv_query_qp(b.qp, &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_ERR);
	fresh();
	attr.qp_access_flags = 0;
	must(!ibv_modify_qp(b.qp, &attr, IBV_QP_ACCESS_FLAGS));
	run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y, to->rkey);
	n = events(b.qp, IBV_EVENT_QP_REQ_ERR);
	if (n != 1)
		fail("%d events of an invalid request", n);
}

static void f24(void)
{
	memory(RW);
	must_be(try(IBV_WR_RDMA_WRITE, 0, (void *)12345, 0xdeadbeef), IBV_WC_SUCCESS, "a write");
	must_be(try(IBV_WR_RDMA_READ, 0, (void *)12345, 0xdeadbeef), IBV_WC_SUCCESS, "a read");
}

static void f25(void)
{
	struct ibv_mr *high;

	memory(RW);
	must_be(try(IBV_WR_RDMA_WRITE, 2, (void *)UINTPTR_MAX, to->rkey), IBV_WC_REM_ACCESS_ERR,
		"a range that wraps");
	must_be(try(IBV_WR_RDMA_WRITE, 2, y + 2 * LEN - 1, to->rkey), IBV_WC_REM_ACCESS_ERR,
		"one byte past the end");
	must_be(try(IBV_WR_RDMA_READ, 1, y - 1, to->rkey), IBV_WC_REM_ACCESS_ERR,
		"one byte before the beginning");
	must_be(try(IBV_WR_RDMA_READ, 1, y + 2 * LEN - 1, to->rkey), IBV_WC_SUCCESS,
		"the last byte");
	/* a region at the end of the address space */
	high = ibv_reg_mr_iova(pd, y, LEN, -(uint64_t)LEN - 4096, RW);
	if (!high)
		return;
	must_be(try(IBV_WR_RDMA_WRITE, 8192, (void *)(UINTPTR_MAX - 4095 - 4096), high->rkey),
		IBV_WC_REM_ACCESS_ERR, "across its end and around");
}

static void f34(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);
	int i, n;

	if (!srq)
		end(UNSUPPORTED, "no shared receive queues");
	memory(RW);
	for (i = 0; i < 3; i++) {
		end_open(&a, pd, IBV_QPT_RC, srq);
		end_open(&b, pd, IBV_QPT_RC, srq);
		connect_ends(&a, &b);
		must(!to_error(&b));
		n = events(b.qp, IBV_EVENT_QP_LAST_WQE_REACHED);
		if (n != 1)
			fail("it is told %d times", n);
		must(!to_error(&b));
		n = events(b.qp, IBV_EVENT_QP_LAST_WQE_REACHED);
		if (n)
			fail("it is told again for a queue pair that is in error");
		pair_close(&a, &b);
		a.qp = NULL;
	}
}

/* Keys of the kernel's own, which name all memory: that they are kept from processes */
static void f43(void)
{
	static const uint32_t keys[] = { 0, 1, 0x100, 0x101, 0xffffffff };
	size_t i;

	memory(RW);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		fresh();
		must_be(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, keys[i], (uintptr_t)y, to->rkey),
			IBV_WC_LOC_PROT_ERR, "a key that is nobody's, or the kernel's");
	}
}

static void f44(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct ibv_srq *srq = ibv_create_srq(other, &attr);
	struct ibv_recv_wr wr = { .num_sge = 1 }, *bad;
	struct ibv_sge sge;
	struct ibv_mr *theirs;
	int i;

	if (!srq)
		end(UNSUPPORTED, "no shared receive queues");
	memory(RW);
	theirs = ibv_reg_mr(other, y + LEN, LEN, RW);
	for (i = 0; i < 2; i++) {
		end_open(&a, pd, IBV_QPT_RC, NULL);
		end_open(&b, pd, IBV_QPT_RC, srq);
		connect_ends(&a, &b);
		/* in the PD of the SRQ; then in that of the queue pair */
		sge = (struct ibv_sge){ (uintptr_t)y + LEN, 64, i ? to->lkey : theirs->lkey };
		wr.sg_list = &sge;
		must(!ibv_post_srq_recv(srq, &wr, &bad));
		must(!post_op(&a, IBV_WR_SEND, x, 64, from->lkey, 0, 0));
		must_be(wait_wc(&b).status, i ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS,
			i ? "a key in the PD of the queue pair" : "a key in the PD of the SRQ");
		pair_close(&a, &b);
		a.qp = NULL;
	}
}

static void f45(void)
{
	struct ibv_ah_attr av = { .is_global = 1, .port_num = 1,
				  .grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 8 } };
	struct ibv_sge sge = { .length = 8 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	struct ibv_pd *other = ibv_alloc_pd(ctx);

	wr.wr.ud.ah = ibv_create_ah(other, &av);
	if (!wr.wr.ud.ah)
		end(UNSUPPORTED, "no address handles");
	memory(RW);
	sge.addr = (uintptr_t)x;
	sge.lkey = from->lkey;
	pair_open(&a, &b, IBV_QPT_UD);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	must(!post_recv(&b, 1, y, LEN, to->lkey));
	if (post(&a, &wr))
		return;
	if (wait_wc(&a).status == IBV_WC_SUCCESS)
		fail("an address handle of another PD is used");
}

static void f46(void)
{
	int i;

	memory(0);
	for (i = 0; i < 20000; i++) {
		to = ibv_reg_mr(pd, y, 1, LOCAL);
		if (!to)
			fail("ibv_reg_mr: %s", strerror(errno));
		must(to->lkey && to->rkey);
		ibv_dereg_mr(to);
	}
}

static const struct {
	const char	*name;
	void		(*run)(void);
} rules[] = {
	{ "F9", f9 }, { "F12", f12 }, { "F14", f14 }, { "F15", f15 }, { "F16", f16 },
	{ "F17", f17 }, { "F18", f18 }, { "F19", f19 }, { "F20", f20 }, { "F21", f21 },
	{ "F22", f22 }, { "F24", f24 }, { "F25", f25 }, { "F34", f34 }, { "F40", f40 },
	{ "F41", f41 }, { "F42", f42 }, { "F43", f43 }, { "F44", f44 }, { "F45", f45 },
	{ "F46", f46 },
};

static void try_rule(size_t i, const char *device)
{
	int status, verdict;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		alarm(LIMIT);
		open_device(device);
		verdict = setjmp(out);
		if (!verdict) {
			rules[i].run();
			verdict = 1 + PASS;
		}
		printf("%s %s%s%s\n", rules[i].name, words[verdict - 1], *reason ? " " : "",
		       reason);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s FAIL %s\n", rules[i].name, WTERMSIG(status) == SIGALRM ? "it hangs" :
		       strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		printf("%s FAIL %s\n", rules[i].name, WEXITSTATUS(status) == 3 ?
		       "no completion came" : "it cannot be tried");
}

int main(int argc, char **argv)
{
	size_t i;
	int j;

	if (argc < 2) {
		fprintf(stderr, "usage: %s DEVICE [RULE...]\n", argv[0]);
		return 2;
	}
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		for (j = 2; j < argc; j++)
			if (!strcmp(argv[j], rules[i].name))
				break;
		if (argc == 2 || j < argc)
			try_rule(i, argv[1]);
	}
	return 0;
}
