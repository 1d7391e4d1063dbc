// SPDX-License-Identifier: GPL-2.0
/*
 * What objects cost that do nothing: memory, and the time to make and unmake them.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "bench.h"

struct reading {
	struct bench_sample	clocks;
	u64			free;
};

static void take(struct reading *reading)
{
	struct sysinfo info;

	bench_clocks(&reading->clocks);
	si_meminfo(&info);
	reading->free = (u64)info.freeram * info.mem_unit;
}

static void report(struct bench *bench, const struct reading *begin, const struct reading *made,
		   const struct reading *end, u32 objects)
{
	bench_put(bench, "objects=%u bytes_per_object=%lld make_ns=%llu unmake_ns=%llu ", objects,
		  div_s64((s64)(begin->free - made->free), objects),
		  div_u64(made->clocks.cpu - begin->clocks.cpu, objects),
		  div_u64(end->clocks.cpu - made->clocks.cpu, objects));
	bench_put(bench, "make_wall_ns=%llu unmake_wall_ns=%llu ",
		  div_u64(made->clocks.wall - begin->clocks.wall, objects),
		  div_u64(end->clocks.wall - made->clocks.wall, objects));
}

/**
 * bench_idle_qps - connected queue pairs, @count of them
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_idle_qps(struct bench *bench)
{
	const u32 n = DIV_ROUND_UP(bench->params.count, 2);
	struct reading begin, made, end;
	struct kverbs_conn *conns;
	u32 i;
	int err;

	conns = kvcalloc(n, sizeof(*conns), GFP_KERNEL);
	if (!conns)
		return -ENOMEM;
	err = bench_open(bench, PAGE_SIZE, bench->params.depth, 64);
	take(&begin);
	for (i = 0; i < n && !err; i++) {
		err = kverbs_conn_open(&conns[i], &bench->a, &bench->b, &bench->config,
				       bench_listener(bench));
		cond_resched();
	}
	take(&made);
	while (i--) {
		kverbs_conn_close(&conns[i]);
		cond_resched();
	}
	take(&end);
	bench_close(bench);
	kvfree(conns);
	if (!err)
		report(bench, &begin, &made, &end, 2 * n);
	return err;
}

/**
 * bench_idle_mrs - fast registration regions, @count of them
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_idle_mrs(struct bench *bench)
{
	const u32 n = bench->params.count;
	struct reading begin, made, end;
	struct ib_mr **mrs;
	u32 i;
	int err;

	mrs = kvcalloc(n, sizeof(*mrs), GFP_KERNEL);
	if (!mrs)
		return -ENOMEM;
	err = bench_open(bench, PAGE_SIZE, bench->params.depth, 64);
	take(&begin);
	for (i = 0; i < n && !err; i++) {
		mrs[i] = ib_alloc_mr(bench->b.pd, IB_MR_TYPE_MEM_REG, bench->params.pages);
		err = PTR_ERR_OR_ZERO(mrs[i]);
		cond_resched();
	}
	take(&made);
	while (i--) {
		if (!IS_ERR(mrs[i]))
			ib_dereg_mr(mrs[i]);
		cond_resched();
	}
	take(&end);
	bench_close(bench);
	kvfree(mrs);
	if (!err)
		report(bench, &begin, &made, &end, n);
	return err;
}
