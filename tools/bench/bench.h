/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A benchmark of verbs in the kernel, for any RDMA device. One measurement is one line of
 * key=value pairs written to /sys/kernel/debug/verbs-bench, its result what is read from there.
 */
#ifndef _BENCH_H
#define _BENCH_H

#include "kverbs/kverbs.h"

#define BENCH_NAME	32

/**
 * struct bench_params - one measurement
 * @op:      what is measured, see the table in main.c
 * @a, @b:   devices; @b is @a unless given
 * @size:    bytes of a message
 * @qps:     connections
 * @depth:   requests under way on each connection
 * @ms:      for how long
 * @mtu:     path MTU
 * @pages:   of a region that is registered
 * @mrs:     regions that take turns, of each connection
 * @cqe:     additional entries of the CQs
 * @count:   of objects, or MiB of a file
 * @path:    of the file
 * @timeout: of the queue pairs
 * @cm:      connect by rdma_cm (iWARP has no other way)
 * @ipv6:    addresses
 * @global:  the peer's key is that of all memory, not a registration
 * @poll:    where completions are handled: "softirq" or "workqueue"
 */
struct bench_params {
	char	op[BENCH_NAME], a[BENCH_NAME], b[BENCH_NAME], poll[BENCH_NAME], path[BENCH_NAME];
	u32	size, qps, depth, ms, mtu, pages, mrs, cqe, count, timeout;
	u32	cm, ipv6, global;
};

/* A reading of all clocks and counters */
struct bench_sample {
	u64	wall, lost, cpu;	/* ns; lost: to others on the host */
	u64	ops, bytes;
};

/**
 * struct bench - a measurement under way
 * @params: what is wanted
 * @a, @b: the ends
 * @listener: of @b when rdma_cm makes the connections
 * @config: of the connections
 * @stop:   nobody posts anything new
 * @error:  the first completion or call that failed: an ib_wc_status, or a negative error
 * @idle:   woken when something has ended
 * @result: the line, @len bytes of it so far
 */
struct bench {
	struct bench_params	params;
	struct kverbs_end	a, b;
	struct kverbs_listener	listener;
	struct kverbs_config	config;
	bool			stop;
	int			error;
	wait_queue_head_t	idle;
	char			result[1024];
	int			len;
};

int bench_params_parse(struct bench_params *params, char *line);

__printf(2, 3) void bench_put(struct bench *bench, const char *format, ...);
int bench_open(struct bench *bench, size_t buffer, u32 depth, u32 completions);
void bench_close(struct bench *bench);
void bench_fail(struct bench *bench, int error);
struct kverbs_listener *bench_listener(struct bench *bench);

void bench_clocks(struct bench_sample *sample);
void bench_window(struct bench *bench, void (*count)(void *ctx, struct bench_sample *sample),
		  void *ctx);

void bench_report(struct bench *bench, const struct bench_sample *begin,
		  const struct bench_sample *end);

/* The operations: 0 or a negative error; what they have measured is in the result. */
int bench_stream(struct bench *bench);
int bench_pingpong(struct bench *bench);
int bench_register(struct bench *bench);
int bench_send_inv(struct bench *bench);
int bench_connect(struct bench *bench);
int bench_idle_qps(struct bench *bench);
int bench_idle_mrs(struct bench *bench);
int bench_memory(struct bench *bench);
int bench_tcp(struct bench *bench);
int bench_file(struct bench *bench);
int bench_clock(struct bench *bench);

#endif /* _BENCH_H */
