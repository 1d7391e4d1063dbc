// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks, and the window of time between two readings of them.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/tick.h>
#include "bench.h"

#ifdef CONFIG_UML
#include <linux/time64.h>

/*
 * User-mode Linux is a process of a host. The time that this has used is the time of everything
 * in this kernel but its processes, to the nanosecond, and free of what else the host does.
 */
static u64 cpu_ns(void)
{
	struct __kernel_timespec ts = {};
	long ret = 228;	/* clock_gettime on the host */

	asm volatile("syscall" : "+a" (ret) : "D" (2L /* CLOCK_PROCESS_CPUTIME_ID */), "S" (&ts)
		     : "rcx", "r11", "memory");
	return ret ? 0 : ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}
#else
/* Time that has not been idle, of all CPUs */
static u64 cpu_ns(void)
{
	u64 wall = ktime_get_ns() * num_online_cpus(), idle = 0, us;
	int cpu;

	for_each_online_cpu(cpu) {
		us = get_cpu_idle_time_us(cpu, NULL);
		if (us == (u64)-1)
			return 0;
		idle += us * NSEC_PER_USEC;
	}
	return wall - idle;
}
#endif

/**
 * bench_clocks - reads the clocks
 * @sample: gets wall and CPU time
 */
void bench_clocks(struct bench_sample *sample)
{
	sample->wall = ktime_get_ns();
	sample->cpu = cpu_ns();
}

/* Nothing is divided by zero. */
static u64 per(u64 amount, u64 by)
{
	return by ? div64_u64(amount, by) : 0;
}

/**
 * bench_window - lets a measurement run for a while and notes what happened
 * @bench: under way already; will be told to stop
 * @count: reads the counters
 * @ctx:   for @count
 *
 * The first quarter of the time is for caches and windows to warm up.
 */
void bench_window(struct bench *bench, void (*count)(void *ctx, struct bench_sample *sample),
		  void *ctx)
{
	struct bench_sample begin, end;
	u64 ops, bytes, wall, cpu;

	msleep(bench->params.ms / 4);
	count(ctx, &begin);
	bench_clocks(&begin);
	msleep(bench->params.ms);
	count(ctx, &end);
	bench_clocks(&end);
	WRITE_ONCE(bench->stop, true);

	ops = end.ops - begin.ops;
	bytes = end.bytes - begin.bytes;
	wall = end.wall - begin.wall;
	cpu = end.cpu - begin.cpu;
	bench_put(bench, "ops=%llu bytes=%llu wall_ns=%llu cpu_ns=%llu ops_s=%llu mb_s=%llu ",
		  ops, bytes, wall, cpu, per(ops * NSEC_PER_SEC, wall), per(bytes * 1000, wall));
	bench_put(bench, "ns_per_op=%llu cpu_ns_per_op=%llu cpu_us_per_gb=%llu ",
		  per(wall, ops), per(cpu, ops), per(cpu, per(bytes, 1000000)));
}
