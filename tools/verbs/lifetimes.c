// SPDX-License-Identifier: GPL-2.0
/*
 * Ends of processes and of devices, in whatever state the other one is.
 *
 *	lifetimes DEVICE kill...	processes that are killed, each in a state of its own
 *	lifetimes DEVICE removal	says "ready" and waits for the device to go
 *	lifetimes DEVICE memlock	RLIMIT_MEMLOCK, without the right to pass it
 *	lifetimes DEVICE cgroup N	creates PDs, N of which are allowed
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

#define RW	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define BUF	(1024 * 1024)

static const char *device;

/* What a victim has */
static struct end a, b;
static struct ibv_mr *mr;
static uint8_t *buf;

static void set_up(enum ibv_qp_type type)
{
	open_device(device);
	buf = mmap(NULL, 2 * BUF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mr = ibv_reg_mr(pd, buf, 2 * BUF, RW | IBV_ACCESS_MW_BIND);
	if (!mr)
		die("ibv_reg_mr");
	pair_open(&a, &b, type);
}

/* Requests that are under way for ever: the peer has no receive, and the requester patience */
static void waits_for_receiver(void)
{
	int i;

	set_up(IBV_QPT_RC);
	for (i = 0; i < 32; i++)
		post_op(&a, IBV_WR_SEND, buf, 100000, mr->lkey, 0, 0);
}

static void peer_is_gone(void)
{
	set_up(IBV_QPT_RC);
	ibv_destroy_qp(b.qp);
	post_op(&a, IBV_WR_RDMA_WRITE, buf, BUF, mr->lkey, (uintptr_t)buf + BUF, mr->rkey);
	post_op(&a, IBV_WR_RDMA_READ, buf, BUF, mr->lkey, (uintptr_t)buf + BUF, mr->rkey);
}

static void *busy(void *op)
{
	for (;;) {
		struct ibv_wc wc;

		post_op(&a, (uintptr_t)op, buf, BUF, mr->lkey, (uintptr_t)buf + BUF, mr->rkey);
		/* others want the CPU as well, even if it is the only one */
		usleep(100);
		ibv_poll_cq(a.cq, 1, &wc);
	}
	return NULL;
}

static void busy_writing(void)
{
	pthread_t t;

	set_up(IBV_QPT_RC);
	pthread_create(&t, NULL, busy, (void *)IBV_WR_RDMA_WRITE);
}

static void busy_reading(void)
{
	pthread_t t;

	set_up(IBV_QPT_RC);
	pthread_create(&t, NULL, busy, (void *)IBV_WR_RDMA_READ);
}

static void busy_uc(void)
{
	pthread_t t;

	set_up(IBV_QPT_UC);
	pthread_create(&t, NULL, busy, (void *)IBV_WR_RDMA_WRITE);
}

static void *move_pages(void *arg)
{
	for (;;)
		madvise(buf, 2 * BUF, MADV_DONTNEED);
	return arg;
}

static void busy_paging(void)
{
	pthread_t t;

	set_up(IBV_QPT_RC);
	ibv_dereg_mr(mr);
	mr = ibv_reg_mr(pd, buf, 2 * BUF, RW | IBV_ACCESS_ON_DEMAND);
	if (!mr)
		return;
	pthread_create(&t, NULL, busy, (void *)IBV_WR_RDMA_WRITE);
	pthread_create(&t, NULL, move_pages, NULL);
}

static void *register_on(void *arg)
{
	for (;;) {
		struct ibv_mr *more = ibv_reg_mr(pd, buf, 2 * BUF, RW);

		if (more)
			ibv_dereg_mr(more);
	}
	return arg;
}

static void busy_registering(void)
{
	pthread_t t;
	int i;

	set_up(IBV_QPT_RC);
	for (i = 0; i < 4; i++)
		pthread_create(&t, NULL, register_on, NULL);
}

static void *create_on(void *arg)
{
	for (;;) {
		struct end e;

		end_open(&e, pd, IBV_QPT_RC, NULL);
		end_close(&e);
	}
	return arg;
}

static void busy_creating(void)
{
	pthread_t t;
	int i;

	set_up(IBV_QPT_RC);
	for (i = 0; i < 4; i++)
		pthread_create(&t, NULL, create_on, NULL);
}

/* All kinds of objects, none of them cleaned up */
static void owns_much(void)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 100, .max_sge = 4 } };
	struct ibv_ah_attr av = { .is_global = 1, .port_num = 1 };
	union ibv_gid group = { .raw = { [10] = 0xff, [11] = 0xff, 239, 1, 2, 3 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };
	struct ibv_comp_channel *channel;
	struct ibv_recv_wr *bad;
	struct ibv_sge sge;
	struct ibv_srq *s;
	struct ibv_mw *mw;
	struct end ud;
	int i;

	set_up(IBV_QPT_RC);
	av.grh.dgid = gid;
	av.grh.sgid_index = gid_index;
	for (i = 0; i < 50; i++) {
		struct ibv_recv_wr rwr = { .sg_list = &sge, .num_sge = 1 };

		sge = (struct ibv_sge){ (uintptr_t)buf, 100, mr->lkey };
		ibv_create_ah(pd, &av);
		ibv_alloc_pd(ctx);
		s = ibv_create_srq(pd, &srq);
		ibv_post_srq_recv(s, &rwr, &bad);
		ibv_reg_mr(pd, buf + i, BUF, RW);
		ibv_alloc_mw(pd, IBV_MW_TYPE_1);
		channel = ibv_create_comp_channel(ctx);
		ibv_req_notify_cq(ibv_create_cq(ctx, 10, NULL, channel, 0), 0);
	}
	end_open(&ud, pd, IBV_QPT_UD, NULL);
	if (ibv_attach_mcast(ud.qp, &group, 0))
		die("ibv_attach_mcast");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)buf;
	wr.bind_mw.bind_info.length = 1000;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	post(&a, &wr);
	if (wait_wc(&a).status)
		die("bind");
}

/* Events that nobody reads, completions that nobody polls */
static void has_unread(void)
{
	int i;

	set_up(IBV_QPT_RC);
	for (i = 0; i < 8; i++)
		post_op(&a, IBV_WR_RDMA_WRITE, buf, 100, mr->lkey, (uintptr_t)buf + BUF, mr->rkey);
	post_op(&a, IBV_WR_RDMA_WRITE, buf, 100, mr->lkey, (uintptr_t)buf + BUF, mr->rkey ^ 1);
}

static void *sleep_in_event(void *arg)
{
	struct ibv_async_event event;

	ibv_get_async_event(ctx, &event);
	return arg;
}

static void sleeps_in_events(void)
{
	struct ibv_comp_channel *channel;
	pthread_t t;

	set_up(IBV_QPT_RC);
	channel = ibv_create_comp_channel(ctx);
	ibv_req_notify_cq(ibv_create_cq(ctx, 10, NULL, channel, 0), 0);
	pthread_create(&t, NULL, sleep_in_event, NULL);
}

/* A child keeps the descriptor, and dies later */
static void leaves_a_child(void)
{
	waits_for_receiver();
	if (!fork()) {
		usleep(500000);
		_exit(0);
	}
}

static void in_error(void)
{
	set_up(IBV_QPT_RC);
	post_recv(&b, 1, buf, 100, mr->lkey);
	to_error(&a);
	to_error(&b);
}

static const struct {
	const char	*name;
	void		(*get_there)(void);
} states[] = {
	{ "waits_for_receiver", waits_for_receiver },
	{ "peer_is_gone", peer_is_gone },
	{ "busy_writing", busy_writing },
	{ "busy_reading", busy_reading },
	{ "busy_uc", busy_uc },
	{ "busy_paging", busy_paging },
	{ "busy_registering", busy_registering },
	{ "busy_creating", busy_creating },
	{ "owns_much", owns_much },
	{ "has_unread", has_unread },
	{ "sleeps_in_events", sleeps_in_events },
	{ "leaves_a_child", leaves_a_child },
	{ "in_error", in_error },
};

/* Kills each a few times, sooner and later. The caller looks for what is left */
static int kill_all(void)
{
	unsigned int i, round;
	int bad = 0, status;

	for (i = 0; i < ARRAY_SIZE(states); i++) {
		bool good = true;

		for (round = 0; round < 4; round++) {
			int ready[2];
			pid_t child;
			char c;

			if (pipe(ready))
				die("pipe");
			child = fork();
			if (!child) {
				/* should this process die */
				alarm(60);
				states[i].get_there();
				if (write(ready[1], "", 1) != 1)
					_exit(1);
				for (;;)
					pause();
			}
			close(ready[1]);
			if (read(ready[0], &c, 1) != 1)
				good = false;
			usleep(round * 20000);
			kill(child, SIGKILL);
			alarm(30);
			if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
				good = false;
			alarm(0);
			close(ready[0]);
		}
		printf("%s killed: %s\n", good ? "ok" : "not ok", states[i].name);
		bad |= !good;
	}
	return bad;
}

static bool wait_event(enum ibv_event_type type)
{
	struct pollfd p = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	int n;

	while ((n = poll(&p, 1, PATIENCE_MS)) == 1) {
		if (ibv_get_async_event(ctx, &event))
			break;
		ibv_ack_async_event(&event);
		if (event.event_type == type)
			return true;
		printf("# %s\n", ibv_event_type_str(event.event_type));
	}
	printf("# poll: %d, %#x, %s\n", n, p.revents, strerror(errno));
	return false;
}

static void *wait_for_completion(void *channel)
{
	struct ibv_cq *cq;
	void *context;

	return (void *)(uintptr_t)ibv_get_cq_event(channel, &cq, &context);
}

static int removal(void)
{
	struct ibv_comp_channel *channel;
	pthread_t t, waiter;
	struct ibv_wc wc;
	void *result = NULL;
	struct ibv_pd *more;
	int bad = 0;

	set_up(IBV_QPT_RC);
	channel = ibv_create_comp_channel(ctx);
	ibv_req_notify_cq(ibv_create_cq(ctx, 10, NULL, channel, 0), 0);
	pthread_create(&waiter, NULL, wait_for_completion, channel);
	pthread_create(&t, NULL, busy, (void *)IBV_WR_RDMA_WRITE);
	printf("ready\n");
	fflush(stdout);
	if (!wait_event(IBV_EVENT_DEVICE_FATAL))
		bad |= printf("not ok IBV_EVENT_DEVICE_FATAL comes\n");
	usleep(100000);
	errno = 0;
	more = ibv_alloc_pd(ctx);
	if (more || errno != EIO)
		bad |= printf("not ok a new PD: %s, not EIO\n", more ? "success" : strerror(errno));
	if (to_error(&b) != EIO)
		bad |= printf("not ok modify_qp is EIO\n");
	/* it has gone on all the time, and does not fault */
	ibv_poll_cq(a.cq, 1, &wc);
	pthread_cancel(t);
	pthread_join(t, NULL);
	if (pthread_tryjoin_np(waiter, &result)) {
		/* an error or a signal of the end is what it may have got, and may not */
		pthread_cancel(waiter);
		pthread_join(waiter, NULL);
	}
	ibv_destroy_qp(a.qp);
	ibv_destroy_qp(b.qp);
	ibv_dereg_mr(mr);
	if (ibv_close_device(ctx))
		bad |= printf("not ok the context is closed\n");
	if (!bad)
		printf("ok IBV_EVENT_DEVICE_FATAL, then EIO\n");
	return !!bad;
}

static void drop_right(int cap)
{
	struct __user_cap_header_struct hdr = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &hdr, data))
		die("capget");
	data[0].effective &= ~(1U << cap);
	data[0].permitted &= ~(1U << cap);
	if (syscall(SYS_capset, &hdr, data))
		die("capset");
}

static int memlock(void)
{
	const struct rlimit limit = { 4 * BUF, 4 * BUF };
	struct ibv_mr *one, *two, *three;
	int bad = 0;

	open_device(device);
	buf = mmap(NULL, 8 * BUF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	drop_right(CAP_IPC_LOCK);
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		die("setrlimit");
	one = ibv_reg_mr(pd, buf, 2 * BUF, RW);
	two = ibv_reg_mr(pd, buf, 3 * BUF, RW);
	if (!one || two || errno != ENOMEM)
		bad |= printf("not ok past RLIMIT_MEMLOCK is ENOMEM\n");
	/* nothing is pinned for those */
	three = ibv_reg_mr(pd, buf, 6 * BUF, RW | IBV_ACCESS_ON_DEMAND);
	if (!three && errno != EOPNOTSUPP && errno != EINVAL)
		bad |= printf("not ok on-demand paging needs no room: %s\n", strerror(errno));
	if (one)
		ibv_dereg_mr(one);
	two = ibv_reg_mr(pd, buf, 3 * BUF, RW);
	if (!two)
		bad |= printf("not ok what is deregistered makes room\n");
	/* what fails half way takes nothing */
	if (two)
		ibv_dereg_mr(two);
	munmap(buf + BUF, BUF);
	if (ibv_reg_mr(pd, buf, 3 * BUF, RW))
		bad |= printf("not ok a hole cannot be registered\n");
	one = ibv_reg_mr(pd, buf + 2 * BUF, 4 * BUF, RW);
	if (!one)
		bad |= printf("not ok what has failed has taken nothing: %s\n", strerror(errno));
	if (!bad)
		printf("ok RLIMIT_MEMLOCK\n");
	return !!bad;
}

static int rdma_cgroup(int allowed)
{
	struct ibv_pd *pds[64];
	int n, again;

	open_device(device);
	/* the one of open_device() counts, and the contexts do not */
	for (n = 0; n < 64; n++) {
		pds[n] = ibv_alloc_pd(ctx);
		if (!pds[n])
			break;
	}
	if (n + 1 > allowed || n == 64 || errno != EAGAIN) {
		printf("not ok rdma cgroup: %d of %d, %s\n", n + 1, allowed, strerror(errno));
		return 1;
	}
	ibv_dealloc_pd(pds[--n]);
	pds[n] = ibv_alloc_pd(ctx);
	again = !!pds[n];
	printf("%s rdma cgroup: refused at its limit, and one that goes makes room\n",
	       again ? "ok" : "not ok");
	return !again;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: %s DEVICE kill|removal|memlock|cgroup N\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	device = argv[1];
	if (!strcmp(argv[2], "kill"))
		return kill_all();
	if (!strcmp(argv[2], "removal"))
		return removal();
	if (!strcmp(argv[2], "memlock"))
		return memlock();
	return rdma_cgroup(argc > 3 ? atoi(argv[3]) : 0);
}
