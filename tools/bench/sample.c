// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks, and the window of time between two readings of them.
 */
#include <linux/cpumask.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/tick.h>
#include <linux/timer.h>
#include "bench.h"

#ifdef CONFIG_UML
#include <linux/time64.h>

/*
 * User-mode Linux is a process of a host, and may ask it. The time that this process has used is
 * the time of everything in this kernel but its processes, to the nanosecond, and free of what
 * else the host does; the time for which it was ready to run but did not is lost to others.
 */
static long host_call(long number, long a, long b, long c)
{
	asm volatile("syscall" : "+a" (number) : "D" (a), "S" (b), "d" (c)
		     : "rcx", "r11", "memory");
	return number;
}

#define HOST_READ		0
#define HOST_OPEN		2
#define HOST_CLOSE		3
#define HOST_CLOCK_GETTIME	228
#define HOST_CLOCK_CPUTIME	2

static u64 cpu_ns(void)
{
	struct __kernel_timespec ts = {};

	if (host_call(HOST_CLOCK_GETTIME, HOST_CLOCK_CPUTIME, (long)&ts, 0))
		return 0;
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static u64 lost_ns(void)
{
	char text[64] = {};
	u64 ran, waited;
	long fd, n;

	fd = host_call(HOST_OPEN, (long)"/proc/self/schedstat", 0, 0);
	if (fd < 0)
		return 0;
	n = host_call(HOST_READ, fd, (long)text, sizeof(text) - 1);
	host_call(HOST_CLOSE, fd, 0, 0);
	return n > 0 && sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
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

static u64 lost_ns(void)
{
	return 0;
}
#endif

/**
 * bench_clocks - reads the clocks
 * @sample: gets wall, lost and CPU time
 */
void bench_clocks(struct bench_sample *sample)
{
	sample->wall = ktime_get_ns();
	sample->lost = lost_ns();
	sample->cpu = cpu_ns();
}

/* Nothing is divided by zero. */
static u64 per(u64 amount, u64 by)
{
	return by ? div64_u64(amount, by) : 0;
}

/* Of the measurement under way: there is one at a time */
static struct window {
	struct bench		*bench;
	struct timer_list	timer;
	struct completion	closed;
	void			(*count)(void *ctx, struct bench_sample *sample);
	void			*ctx;
	bool			open;
	struct bench_sample	begin, end;
} window;

static void window_timer(struct timer_list *timer)
{
	struct bench *bench = window.bench;
	struct bench_sample *sample = window.open ? &window.end : &window.begin;

	window.count(window.ctx, sample);
	bench_clocks(sample);
	if (!window.open && !READ_ONCE(bench->stop)) {
		window.open = true;
		mod_timer(timer, jiffies + msecs_to_jiffies(bench->params.ms));
		return;
	}
	WRITE_ONCE(bench->stop, true);
	complete(&window.closed);
}

/**
 * bench_window - lets a measurement run for a while and notes what happened
 * @bench: under way already; will be told to stop
 * @count: reads the counters, in softirq
 * @ctx:   for @count
 *
 * The first quarter of the time is for caches and windows to warm up. A timer ends it, and not a
 * process that sleeps: on one CPU it might not get to run while a driver's thread has work.
 */
void bench_window(struct bench *bench, void (*count)(void *ctx, struct bench_sample *sample),
		  void *ctx)
{
	window = (struct window) { .bench = bench, .count = count, .ctx = ctx };
	init_completion(&window.closed);
	timer_setup(&window.timer, window_timer, 0);
	mod_timer(&window.timer, jiffies + msecs_to_jiffies(bench->params.ms / 4));
	wait_for_completion(&window.closed);
	timer_shutdown_sync(&window.timer);
	if (window.open)
		bench_report(bench, &window.begin, &window.end);
}

/**
 * bench_report - the figures of the time between two readings
 * @bench: gets them: mb_s, ops_s and ns_per_op are for a host that does nothing else
 * @begin: the first reading
 * @end:   the second
 */
void bench_report(struct bench *bench, const struct bench_sample *begin,
		  const struct bench_sample *end)
{
	const u64 ops = end->ops - begin->ops, bytes = end->bytes - begin->bytes;
	const u64 lost = end->lost - begin->lost, cpu = end->cpu - begin->cpu;
	const u64 wall = end->wall - begin->wall, ns = wall - min(wall, lost);

	bench_put(bench, "ops=%llu bytes=%llu wall_ns=%llu lost_ns=%llu cpu_ns=%llu ", ops, bytes,
		  wall, lost, cpu);
	if (ops)
		bench_put(bench, "ops_s=%llu ns_per_op=%llu cpu_ns_per_op=%llu ",
			  per(ops * NSEC_PER_SEC, ns), per(ns, ops), per(cpu, ops));
	if (bytes)
		bench_put(bench, "mb_s=%llu cpu_us_per_gb=%llu ", per(bytes * 1000, ns),
			  div64_u64(cpu * 1000000, bytes));
}

/**
 * bench_clock - wall and CPU time by now
 * @bench: the measurement
 *
 * Return: 0
 */
int bench_clock(struct bench *bench)
{
	struct bench_sample now;

	bench_clocks(&now);
	bench_put(bench, "wall_ns=%llu lost_ns=%llu cpu_ns=%llu ", now.wall, now.lost, now.cpu);
	return 0;
}
