// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of user memory: on-demand paging with advise_mr, dma-buf, rereg_mr, and kinds of memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "lib.h"

#define RW	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_ATOMIC)
#define ODP	(RW | IBV_ACCESS_ON_DEMAND)
#define HUGE	(2 * 1024 * 1024)

static void *map(size_t len, int more)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1,
			0);

	return at == MAP_FAILED ? NULL : at;
}

static struct ibv_mr *reg(void *at, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, at, len, access);

	if (!mr)
		die("ibv_reg_mr");
	return mr;
}

static bool filled(const void *at, int with, size_t len)
{
	const uint8_t *p = at;

	while (len--)
		if (*p++ != with)
			return false;
	return true;
}

/* Pages of anonymous memory that are there */
static size_t resident(void *at, size_t len)
{
	uint8_t vec[4096];
	size_t i, n = 0;

	if (mincore(at, len, vec))
		die("mincore");
	for (i = 0; i < len / page; i++)
		n += vec[i] & 1;
	return n;
}

static bool no_paging(void)
{
	struct ibv_odp_caps caps = {};

	if (!query_odp(&caps) && caps.general_caps & IBV_ODP_SUPPORT)
		return false;
	skip("the device has no on-demand paging");
	return true;
}

/* Fresh pages everywhere: source, receive, peer's memory; sizes from one byte to many pages */
static void odp_rc(void)
{
	static const uint32_t sizes[] = { 1, 4095, 4097, 100001, 4 << 20 };
	struct ibv_mr *from, *to;
	struct end a, b;
	uint8_t *x, *y;
	size_t i;

	if (no_paging())
		return;
	pair_open(&a, &b, IBV_QPT_RC);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t n = sizes[i];

		x = map(2 * n + 2 * page, 0);
		y = map(2 * n + 2 * page, 0);
		from = reg(x, 2 * n + 2 * page, ODP);
		to = reg(y, 2 * n + 2 * page, ODP);

		/* a read of zeroes into nothing, then real bytes */
		check_wc(run_op(&a, IBV_WR_RDMA_READ, x, n, from->lkey, (uintptr_t)y, to->rkey),
			 IBV_WC_SUCCESS);
		check(filled(x, 0, n));
		madvise(y, n, MADV_DONTNEED);
		memset(x, 0x5a, n);
		check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, n, from->lkey, (uintptr_t)y + 1,
				to->rkey), IBV_WC_SUCCESS);
		check(filled(y + 1, 0x5a, n) && !y[0] && !y[n + 1]);
		madvise(x, 2 * n + 2 * page, MADV_DONTNEED);
		check_wc(run_op(&a, IBV_WR_RDMA_READ, x, n, from->lkey, (uintptr_t)y + 1,
				to->rkey), IBV_WC_SUCCESS);
		check(filled(x, 0x5a, n));
		madvise(y, 2 * n + 2 * page, MADV_DONTNEED);
		check(!post_recv(&b, 1, y + 1, n, to->lkey));
		check_wc(run_op(&a, IBV_WR_SEND, x, n, from->lkey, 0, 0), IBV_WC_SUCCESS);
		check_wc(wait_wc(&b).status, IBV_WC_SUCCESS);
		check(filled(y + 1, 0x5a, n));
		ibv_dereg_mr(from);
		ibv_dereg_mr(to);
		munmap(x, 2 * n + 2 * page);
		munmap(y, 2 * n + 2 * page);
	}
	pair_close(&a, &b);
}

static void odp_atomic(void)
{
	uint64_t *x = map(page, 0), *y = map(page, 0);
	struct ibv_mr *from, *to;
	struct end a, b;

	if (no_paging())
		return;
	from = reg(x, page, ODP);
	to = reg(y, page, ODP);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, x, 8, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_SUCCESS);
	check(x[0] == 0 && y[0] == 1);
	madvise(x, page, MADV_DONTNEED);
	check_wc(run_op(&a, IBV_WR_ATOMIC_CMP_AND_SWP, x, 8, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_SUCCESS);
	check(x[0] == 1 && y[0] == 2);
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
}

static void odp_uc_ud(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .num_sge = 1 };
	uint8_t *x = map(16 * page, 0), *y = map(16 * page, 0);
	struct ibv_sge sge = { .addr = (uintptr_t)x, .length = 1000 };
	struct ibv_ah_attr av = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 8 },
	};
	struct ibv_mr *from, *to;
	struct ibv_wc wc;
	struct end a, b;

	if (no_paging())
		return;
	from = reg(x, 16 * page, ODP);
	to = reg(y, 16 * page, ODP);
	pair_open(&a, &b, IBV_QPT_UC);
	check(!post_recv(&b, 1, y, 10000, to->lkey));
	check_wc(run_op(&a, IBV_WR_SEND, x, 10000, from->lkey, 0, 0), IBV_WC_SUCCESS);
	check_wc(wait_wc(&b).status, IBV_WC_SUCCESS);
	check(filled(y, 0, 10000));
	pair_close(&a, &b);

	pair_open(&a, &b, IBV_QPT_UD);
	madvise(x, 16 * page, MADV_DONTNEED);
	madvise(y, 16 * page, MADV_DONTNEED);
	wr.sg_list = &sge;
	sge.lkey = from->lkey;
	wr.wr.ud.ah = ibv_create_ah(pd, &av);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	check(!post_recv(&b, 1, y, 2000, to->lkey) && !post_recv(&b, 2, y + 2000, 2000, to->lkey));
	check(!post(&a, &wr));
	check_wc(wait_wc(&a).status, IBV_WC_SUCCESS);
	wc = wait_wc(&b);
	check_wc(wc.status, IBV_WC_SUCCESS);
	check(wc.wr_id == 1 && wc.byte_len == 1040 && filled(y + 40, 0, 1000));
	memset(x, 7, 1000);
	check(!post(&a, &wr));
	check_wc(wait_wc(&a).status, IBV_WC_SUCCESS);
	wc = wait_wc(&b);
	check(wc.wr_id == 2 && filled(y + 2040, 7, 1000));
	ibv_destroy_ah(wr.wr.ud.ah);
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
}

/* Where there is nothing, or not for writing, is an error like any that a key causes */
static void odp_holes(void)
{
	uint8_t *x = map(4 * page, 0), *y = map(4 * page, 0);
	struct ibv_mr *from, *to;
	struct end a, b;

	if (no_paging())
		return;
	from = reg(x, 4 * page, ODP);
	to = reg(y, 4 * page, ODP);
	memset(x, 1, page);
	munmap(y + page, page);
	mprotect(y + 2 * page, page, PROT_READ);
	munmap(x + page, page);

	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 10, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_SUCCESS);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 10, from->lkey, (uintptr_t)y + page - 5,
			to->rkey), IBV_WC_REM_ACCESS_ERR);
	check(filled(y + page - 5, 0, 5));
	pair_close(&a, &b);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 10, from->lkey, (uintptr_t)y + 2 * page,
			to->rkey), IBV_WC_REM_ACCESS_ERR);
	pair_close(&a, &b);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, 10, from->lkey, (uintptr_t)y + page + 100,
			to->rkey), IBV_WC_REM_ACCESS_ERR);
	pair_close(&a, &b);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x + page, 10, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_LOC_PROT_ERR);
	pair_close(&a, &b);
	pair_open(&a, &b, IBV_QPT_RC);
	check(!post_recv(&b, 1, y + page, 10, to->lkey));
	check(!post_op(&a, IBV_WR_SEND, x, 10, from->lkey, 0, 0));
	check_wc(wait_wc(&b).status, IBV_WC_LOC_PROT_ERR);
	check_wc(wait_wc(&a).status, IBV_WC_REM_OP_ERR);
	pair_close(&a, &b);

	/* reading is enough for a region that nobody writes */
	ibv_dereg_mr(to);
	to = reg(y, 4 * page, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, 10, from->lkey, (uintptr_t)y + 2 * page,
			to->rkey), IBV_WC_SUCCESS);
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
}

/* What is beside the fence: a peer that writes and writes, and whatever becomes of it */
struct writer {
	pthread_t	thread;
	struct ibv_mr	*from;
	uint64_t	remote;
	uint32_t	rkey;
	uint32_t	len;
	enum ibv_wr_opcode op;
	atomic_int	stop;
	atomic_int	writes;
};

static void *write_on(void *arg)
{
	struct writer *w = arg;
	struct end a, b;

	while (!w->stop) {
		pair_open(&a, &b, IBV_QPT_RC);
		while (!w->stop &&
		       run_op(&a, w->op, w->from->addr, w->len, w->from->lkey, w->remote,
			      w->rkey) == IBV_WC_SUCCESS)
			w->writes++;
		pair_close(&a, &b);
	}
	return NULL;
}

static void writer_start(struct writer *w)
{
	if (pthread_create(&w->thread, NULL, write_on, w))
		die("pthread_create");
	while (!w->writes)
		usleep(100);
}

static void writer_stop(struct writer *w)
{
	w->stop = 1;
	pthread_join(w->thread, NULL);
}

/*
 * F42: the pages move elsewhere while a peer writes into the region. From the moment that the mm
 * has taken them away, which is before mremap() returns, nobody writes to them.
 */
static void odp_f42_moved_pages_are_left_alone(void)
{
	const size_t len = 64 * 1024;
	uint8_t *x = map(len, 0), *y = map(len, 0), *z = map(len, 0), *copy = malloc(len);
	struct writer w = { .op = IBV_WR_RDMA_WRITE, .len = len };
	struct ibv_mr *to;
	int i, n;

	if (no_paging())
		return;
	w.from = reg(x, len, RW);
	to = reg(y, len, ODP);
	w.remote = (uintptr_t)y;
	w.rkey = to->rkey;
	writer_start(&w);
	for (i = 1; i <= 200; i++) {
		/* leaves no hole, which the other thread might map something into */
		if (mremap(y, len, len, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, z) ==
		    MAP_FAILED)
			die("mremap");
		memcpy(copy, z, len);
		/* what the writer sends from now on is different */
		memset(x, i % 251 + 1, len);
		n = w.writes;
		while (w.writes < n + 2)
			usleep(100);
		if (!check(!memcmp(copy, z, len)))
			break;
	}
	writer_stop(&w);
	ibv_dereg_mr(to);
	ibv_dereg_mr(w.from);
	munmap(x, len);
	munmap(y, len);
	munmap(z, len);
	free(copy);
}

/* A parent's pages become its child's too: what comes later is the parent's alone */
static void odp_fork(void)
{
	const size_t len = 32 * 1024;
	uint8_t *x = map(len, 0), *y = map(len, 0);
	struct ibv_mr *from, *to;
	struct end a, b;
	int i, status;

	if (no_paging())
		return;
	from = reg(x, len, ODP);
	to = reg(y, len, ODP);
	pair_open(&a, &b, IBV_QPT_RC);
	for (i = 1; i < 20; i++) {
		pid_t child;
		int go[2];
		char c;

		memset(x, i, len);
		check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, len, from->lkey, (uintptr_t)y,
				to->rkey), IBV_WC_SUCCESS);
		if (pipe(go))
			die("pipe");
		child = fork();
		if (!child) {
			close(go[1]);
			_exit(read(go[0], &c, 1) != 0 || !filled(y, i, len));
		}
		memset(x, 100 + i, len);
		check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, len, from->lkey, (uintptr_t)y,
				to->rkey), IBV_WC_SUCCESS);
		check(filled(y, 100 + i, len));
		close(go[0]);
		close(go[1]);
		check(waitpid(child, &status, 0) == child && !status);
	}
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
}

/* A file, which is written back meanwhile; and memory that is given back again and again */
static void odp_files_and_dontneed(void)
{
	const size_t len = 256 * 1024;
	uint8_t *x = map(len, 0), *y;
	struct ibv_mr *from, *to;
	struct end a, b;
	char *back;
	int fd, i;

	if (no_paging())
		return;
	from = reg(x, len, RW);
	fd = open("/tmp/odp-file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, len))
		die("/tmp/odp-file");
	y = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	to = reg(y, len, ODP);
	back = malloc(len);
	pair_open(&a, &b, IBV_QPT_RC);
	for (i = 0; i < 10; i++) {
		memset(x, i + 1, len);
		check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, len, from->lkey, (uintptr_t)y, to->rkey),
			 IBV_WC_SUCCESS);
		if (i & 1)
			check(!msync(y, len, MS_SYNC));
		else
			check(!madvise(y, len, MADV_DONTNEED));
		check(pread(fd, back, len, 0) == (ssize_t)len && filled(back, i + 1, len));
	}
	/* what the file has no more is an error, not SIGBUS and not a page that is nobody's */
	check(!ftruncate(fd, page));
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, len, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_REM_ACCESS_ERR);
	pair_close(&a, &b);
	ibv_dereg_mr(to);
	ibv_dereg_mr(from);
	munmap(y, len);
	close(fd);
	unlink("/tmp/odp-file");
	free(back);
}

static void odp_windows(void)
{
	uint8_t *x = map(4 * page, 0), *y = map(4 * page, 0);
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };
	struct ibv_mr *from, *to;
	struct ibv_mw *mw;
	struct end a, b;

	if (no_paging())
		return;
	from = reg(x, 4 * page, RW);
	to = reg(y, 4 * page, ODP | IBV_ACCESS_MW_BIND);
	pair_open(&a, &b, IBV_QPT_RC);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	if (!mw)
		die("ibv_alloc_mw");
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info.mr = to;
	wr.bind_mw.bind_info.addr = (uintptr_t)y + 100;
	wr.bind_mw.bind_info.length = 2 * page;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	check(!post(&b, &wr));
	check_wc(wait_wc(&b).status, IBV_WC_SUCCESS);
	memset(x, 3, page);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, page, from->lkey, (uintptr_t)y + 100 + page,
			wr.bind_mw.rkey), IBV_WC_SUCCESS);
	check(filled(y + 100 + page, 3, page));
	pair_close(&a, &b);
	check(!ibv_dealloc_mw(mw));
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
}

static void odp_huge_pages(void)
{
	uint8_t *x = map(HUGE, 0), *y = map(2 * HUGE, MAP_HUGETLB);
	struct ibv_mr *from, *to;
	struct end a, b;

	if (no_paging())
		return;
	if (!y) {
		skip("no huge pages (vm.nr_hugepages)");
		return;
	}
	from = reg(x, HUGE, ODP);
	to = reg(y, 2 * HUGE, ODP | IBV_ACCESS_HUGETLB);
	memset(x, 9, HUGE);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, HUGE, from->lkey, (uintptr_t)y + HUGE / 2,
			to->rkey), IBV_WC_SUCCESS);
	check(filled(y + HUGE / 2, 9, HUGE) && filled(y, 0, HUGE / 2));
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
	munmap(y, 2 * HUGE);
	munmap(x, HUGE);
}

static void odp_advise(void)
{
	const size_t len = 64 * page;
	uint8_t *x = map(len, 0);
	struct ibv_sge sge = { .addr = (uintptr_t)x, .length = len / 2 };
	struct ibv_mr *mr, *ro, *pinned;
	struct ibv_pd *other;

	if (no_paging())
		return;
	/* one page each, or it would count in 2 MiB */
	madvise(x, len, MADV_NOHUGEPAGE);
	mr = reg(x, len, ODP);
	ro = reg(x, len, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	sge.lkey = mr->lkey;
	check(!advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 0, &sge, 1));
	check(resident(x, len) == 0);
	check(!advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE,
		      IB_UVERBS_ADVISE_MR_FLAG_FLUSH, &sge, 1));
	check(resident(x, len) == len / 2 / page);
	sge.addr += len / 2;
	check(!advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));

	sge.length = len;
	check(advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == -EFAULT);
	sge.addr = (uintptr_t)x;
	sge.lkey = ro->lkey;
	check(!advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
	check(advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &sge, 1) == -EFAULT);
	sge.lkey = mr->lkey + 1;
	check(advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == -EINVAL);
	sge.lkey = mr->lkey;
	other = ibv_alloc_pd(ctx);
	check(advise(other, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == -EINVAL);
	ibv_dealloc_pd(other);
	munmap(x + page, page);
	check(advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == -EFAULT);
	ibv_dereg_mr(ro);
	ibv_dereg_mr(mr);
	pinned = reg(x, page, RW);
	sge.lkey = pinned->lkey;
	sge.length = page;
	check(advise(pd, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1) == -EINVAL);
	ibv_dereg_mr(pinned);
	munmap(x, len);
}

/* Only explicit regions are offered; rights that make no sense are refused */
static void odp_refused(void)
{
	uint8_t *x = map(page, 0);

	if (no_paging())
		return;
	check(!ibv_reg_mr(pd, NULL, SIZE_MAX, ODP));
	check(!ibv_reg_mr(pd, x, page, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_WRITE));
	check(!ibv_reg_mr(pd, x, page, RW | IBV_ACCESS_HUGETLB));
	munmap(x, page);
}

/* udmabuf exports pages of a memfd, also visible at @at */
static int make_dmabuf(size_t len, uint8_t **at)
{
	struct udmabuf_create create = { .size = len };
	int dev = open("/dev/udmabuf", O_RDWR), fd;

	if (dev < 0)
		return -1;
	create.memfd = memfd_create("ward", MFD_ALLOW_SEALING);
	if ((int)create.memfd < 0 || ftruncate(create.memfd, len) ||
	    fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		die("memfd_create");
	*at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, create.memfd, 0);
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	if (fd < 0)
		die("UDMABUF_CREATE");
	close(create.memfd);
	close(dev);
	return fd;
}

static void dmabuf(void)
{
	const size_t len = 64 * page;
	uint8_t *x = map(len, 0), *y;
	uint32_t handle, key, more, morekey;
	struct ibv_mr *from;
	struct end a, b;
	int fd, err;

	fd = make_dmabuf(len, &y);
	if (fd < 0) {
		skip("no /dev/udmabuf");
		return;
	}
	from = reg(x, len, RW);
	memset(x, 0x77, len);
	pair_open(&a, &b, IBV_QPT_RC);
	/* from a page and a bit on, under another address */
	err = reg_dmabuf(pd, page + 16, 8 * page, 0x10000010, fd, RW, &handle, &key);
	if (err == -EOPNOTSUPP) {
		skip("the device has none");
		goto out;
	}
	if (!check(!err)) {
		printf("# %s\n", strerror(-err));
		goto out;
	}
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 8 * page, from->lkey, 0x10000010, key),
		 IBV_WC_SUCCESS);
	check(filled(y, 0, page + 16) && filled(y + page + 16, 0x77, 8 * page) &&
	      filled(y + 9 * page + 16, 0, page));
	y[page + 16] = 1;
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, 8, from->lkey, 0x10000010, key), IBV_WC_SUCCESS);
	check(x[0] == 1);
	/* as a source and a destination of our own */
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, (void *)0x10000010, 8, key, (uintptr_t)x + page,
			from->rkey), IBV_WC_SUCCESS);
	check(x[page] == 1);
	check_wc(run_op(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, x, 8, from->lkey, 0x10000010, key),
		 IBV_WC_SUCCESS);
	check(y[page + 16] == 2);

	/* a second region of the same buffer; rights and PD of the first change */
	check(!reg_dmabuf(pd, 0, len, 0, fd, IBV_ACCESS_REMOTE_READ, &more, &morekey));
	check(!rereg(handle, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0, IBV_ACCESS_REMOTE_READ, NULL));
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, page, from->lkey, 0, morekey), IBV_WC_SUCCESS);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, 0x10000010, key),
		 IBV_WC_REM_ACCESS_ERR);
	pair_close(&a, &b);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, 16, from->lkey, 0x10000010 + 8 * page - 8, key),
		 IBV_WC_REM_ACCESS_ERR);

	/* the buffer lives on when its descriptor is closed, until it is deregistered */
	close(fd);
	fd = -1;
	pair_close(&a, &b);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, page, from->lkey, 0, morekey), IBV_WC_SUCCESS);
	check(!dereg_handle(handle) && !dereg_handle(more));
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, page, from->lkey, 0, morekey),
		 IBV_WC_REM_ACCESS_ERR);
out:
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	close(fd);
	munmap(y, len);
	munmap(x, len);
}

static void dmabuf_refused(void)
{
	uint32_t handle, key;
	uint8_t *y;
	int fd = make_dmabuf(4 * page, &y), null = open("/dev/null", O_RDWR);

	if (fd < 0) {
		skip("no /dev/udmabuf");
		return;
	}
	if (reg_dmabuf(pd, 0, page, 0, fd, RW, &handle, &key) == -EOPNOTSUPP) {
		skip("the device has none");
		return;
	}
	check(!dereg_handle(handle));
	check(reg_dmabuf(pd, 0, 4 * page + 1, 0, fd, RW, &handle, &key) == -EINVAL);
	check(reg_dmabuf(pd, 5 * page, 1, 0, fd, RW, &handle, &key) == -EINVAL);
	check(reg_dmabuf(pd, UINT64_MAX - 8, 16, 0, fd, RW, &handle, &key) == -EINVAL);
	check(reg_dmabuf(pd, 0, page, 0, null, RW, &handle, &key) == -EINVAL);
	check(reg_dmabuf(pd, 0, page, 0, 999, RW, &handle, &key) == -EBADF);
	check(reg_dmabuf(pd, 0, page, 0, fd, IBV_ACCESS_REMOTE_WRITE, &handle, &key) == -EINVAL);
	close(null);
	close(fd);
	munmap(y, 4 * page);
}

static void rereg_changes(void)
{
	const int READ = IBV_ACCESS_REMOTE_READ;
	uint8_t *x = map(4 * page, 0), *y = map(4 * page, 0), *z = map(4 * page, 0);
	struct ibv_mr *from = reg(x, 4 * page, RW), *to = reg(y, 4 * page, RW);
	struct ibv_pd *other = ibv_alloc_pd(ctx);
	struct end a, b;

	memset(x, 1, page);
	/* rights */
	check(!rereg(to->handle, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0, READ, NULL));
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_READ, x, 8, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_SUCCESS);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_REM_ACCESS_ERR);
	pair_close(&a, &b);
	check(!rereg(to->handle, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0, RW, NULL));
	/* another place, under an address of its own */
	check(!rereg(to->handle, IBV_REREG_MR_CHANGE_TRANSLATION, z, 2 * page, 0x7000, 0, NULL));
	memset(x, 5, page);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, page, from->lkey, 0x7000 + page, to->rkey),
		 IBV_WC_SUCCESS);
	check(filled(z + page, 5, page) && filled(z, 0, page) && filled(y, 0, 4 * page));
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_REM_ACCESS_ERR);
	pair_close(&a, &b);
	/* another PD, and back */
	check(!rereg(to->handle, IBV_REREG_MR_CHANGE_PD, NULL, 0, 0, 0, other));
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, 8, from->lkey, 0x7000, to->rkey),
		 IBV_WC_REM_ACCESS_ERR);
	pair_close(&a, &b);
	check(ibv_dealloc_pd(other) != 0);
	/* all at once; what fails changes nothing */
	check(rereg(to->handle, IBV_REREG_MR_CHANGE_TRANSLATION, (void *)page, page, page, 0, NULL)
	      < 0);
	check(rereg(to->handle, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, 0, IBV_ACCESS_REMOTE_WRITE,
		    NULL) == -EINVAL);
	check(!rereg(to->handle, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
		     IBV_REREG_MR_CHANGE_ACCESS, y, 4 * page, (uintptr_t)y, RW, pd));
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, page, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_SUCCESS);
	check(filled(y, 5, page));
	pair_close(&a, &b);
	check(!ibv_dealloc_pd(other));
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
	munmap(x, 4 * page);
	munmap(y, 4 * page);
	munmap(z, 4 * page);
}

/* F41: when it returns, nobody writes to the old place, although a peer never stops */
static void rereg_f41_old_place_is_left_alone(void)
{
	const size_t len = 64 * 1024;
	uint8_t *x = map(len, 0), *y[2] = { map(len, 0), map(len, 0) };
	struct writer w = { .op = IBV_WR_RDMA_WRITE, .len = len, .remote = 0x10000 };
	struct ibv_mr *to;
	int i, n;

	w.from = reg(x, len, RW);
	to = ibv_reg_mr_iova(pd, y[0], len, 0x10000, RW);
	if (!to)
		die("ibv_reg_mr_iova");
	w.rkey = to->rkey;
	memset(x, 0xaa, len);
	writer_start(&w);
	for (i = 1; i < 200; i++) {
		uint8_t *old = y[!(i & 1)];

		if (!check(!rereg(to->handle, IBV_REREG_MR_CHANGE_TRANSLATION, y[i & 1], len,
				  0x10000, 0, NULL)))
			break;
		memset(old, 0x55, len);
		n = w.writes;
		while (w.writes < n + 2)
			usleep(100);
		if (!check(filled(old, 0x55, len)))
			break;
	}
	writer_stop(&w);
	ibv_dereg_mr(to);
	ibv_dereg_mr(w.from);
	munmap(x, len);
	munmap(y[0], len);
	munmap(y[1], len);
}

/* F19 */
static void dereg_f19_memory_is_left_alone(void)
{
	const size_t len = 64 * 1024;
	uint8_t *x = map(len, 0), *y = map(len, 0);
	struct ibv_mr *from = reg(x, len, RW), *to;
	int i;

	memset(x, 0xaa, len);
	for (i = 0; i < 100; i++) {
		struct writer w = { .op = IBV_WR_RDMA_WRITE, .len = len, .from = from,
				    .remote = (uintptr_t)y };

		to = reg(y, len, i & 1 && !no_paging() ? ODP : RW);
		w.rkey = to->rkey;
		writer_start(&w);
		check(!ibv_dereg_mr(to));
		memset(y, 0x55, len);
		usleep(2000);
		writer_stop(&w);
		if (!check(filled(y, 0x55, len)))
			break;
	}
	skip(NULL);
	ibv_dereg_mr(from);
	munmap(x, len);
	munmap(y, len);
}

static void write_through(void *y, size_t len)
{
	uint8_t *x = map(len, 0);
	struct ibv_mr *from = reg(x, len, RW), *to = reg(y, len, RW);
	struct end a, b;

	memset(x, 0x42, len);
	pair_open(&a, &b, IBV_QPT_RC);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, len, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_SUCCESS);
	check(filled(y, 0x42, len));
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
	munmap(x, len);
}

static void pinned_huge_pages(void)
{
	uint8_t *y = map(2 * HUGE, MAP_HUGETLB);

	if (!y) {
		skip("no huge pages (vm.nr_hugepages)");
		return;
	}
	write_through(y + 12345, HUGE);
	munmap(y, 2 * HUGE);
}

static void pinned_transparent_huge_pages(void)
{
	uint8_t *y = map(8 * HUGE, 0);

	madvise(y, 8 * HUGE, MADV_HUGEPAGE);
	write_through(y + 1, 8 * HUGE - 2);
	munmap(y, 8 * HUGE);
}

static void pinned_memfd(void)
{
	int fd = memfd_create("ward", 0);
	uint8_t *y;

	if (fd < 0 || ftruncate(fd, 64 * page))
		die("memfd_create");
	y = mmap(NULL, 64 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	write_through(y, 64 * page);
	munmap(y, 64 * page);
	close(fd);
}

static void pinned_read_only_mapping(void)
{
	uint8_t *x = map(page, 0), *y = map(2 * page, 0);
	struct ibv_mr *from = reg(x, page, RW), *to;
	struct end a, b;

	memset(y, 6, page);
	mprotect(y, 2 * page, PROT_READ);
	check(!ibv_reg_mr(pd, y, page, RW));
	check(errno == EFAULT);
	/* and across the border to one that is not */
	mprotect(y + page, page, PROT_READ | PROT_WRITE);
	check(!ibv_reg_mr(pd, y, 2 * page, IBV_ACCESS_LOCAL_WRITE));
	to = ibv_reg_mr(pd, y, page, IBV_ACCESS_REMOTE_READ);
	if (check(to)) {
		pair_open(&a, &b, IBV_QPT_RC);
		check_wc(run_op(&a, IBV_WR_RDMA_READ, x, page, from->lkey, (uintptr_t)y, to->rkey),
			 IBV_WC_SUCCESS);
		check(filled(x, 6, page));
		check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, page, from->lkey, (uintptr_t)y,
				to->rkey), IBV_WC_REM_ACCESS_ERR);
		pair_close(&a, &b);
		ibv_dereg_mr(to);
	}
	ibv_dereg_mr(from);
	munmap(x, page);
	munmap(y, 2 * page);
}

/* A child has a copy of pinned memory, or none with MADV_DONTFORK; the parent keeps the pages */
static void pinned_fork(void)
{
	const size_t len = 16 * 4096;
	uint8_t *x = map(len, 0), *y = map(len, 0);
	struct ibv_mr *from = reg(x, len, RW), *to = reg(y, len, RW);
	struct end a, b;
	int status, go[2];
	pid_t child;
	char c;

	pair_open(&a, &b, IBV_QPT_RC);
	memset(y, 1, len);
	if (pipe(go))
		die("pipe");
	child = fork();
	if (!child) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0 || !filled(y, 1, len));
	}
	y[0] = 2;	/* would break a shared page away from the device */
	memset(x, 9, len);
	check_wc(run_op(&a, IBV_WR_RDMA_WRITE, x, len, from->lkey, (uintptr_t)y, to->rkey),
		 IBV_WC_SUCCESS);
	check(filled(y, 9, len));
	close(go[0]);
	close(go[1]);
	check(waitpid(child, &status, 0) == child && !status);
	pair_close(&a, &b);
	ibv_dereg_mr(from);
	ibv_dereg_mr(to);
}

static const struct test tests[] = {
	{ "odp_rc", odp_rc },
	{ "odp_atomic", odp_atomic },
	{ "odp_uc_ud", odp_uc_ud },
	{ "odp_holes", odp_holes },
	{ "odp_f42_moved_pages_are_left_alone", odp_f42_moved_pages_are_left_alone },
	{ "odp_fork", odp_fork },
	{ "odp_files_and_dontneed", odp_files_and_dontneed },
	{ "odp_windows", odp_windows },
	{ "odp_huge_pages", odp_huge_pages },
	{ "odp_advise", odp_advise },
	{ "odp_refused", odp_refused },
	{ "dmabuf", dmabuf },
	{ "dmabuf_refused", dmabuf_refused },
	{ "rereg_changes", rereg_changes },
	{ "rereg_f41_old_place_is_left_alone", rereg_f41_old_place_is_left_alone },
	{ "dereg_f19_memory_is_left_alone", dereg_f19_memory_is_left_alone },
	{ "pinned_huge_pages", pinned_huge_pages },
	{ "pinned_transparent_huge_pages", pinned_transparent_huge_pages },
	{ "pinned_memfd", pinned_memfd },
	{ "pinned_read_only_mapping", pinned_read_only_mapping },
	{ "pinned_fork", pinned_fork },
};

int main(int argc, char **argv)
{
	return run_tests(tests, ARRAY_SIZE(tests), argc, argv);
}
