// SPDX-License-Identifier: GPL-2.0
/*
 * One TCP stream between the netdevs of the two devices, without a process in between.
 */
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <net/sock.h>
#include "bench.h"
#include "compat.h"

struct tcp {
	struct bench		*bench;
	struct socket		*listener, *from, *to;
	struct task_struct	*sender, *receiver;
	u64			bytes;
};

static int tcp_send(void *data)
{
	struct tcp *tcp = data;
	struct bench *bench = tcp->bench;
	int n = 1;

	while (!kthread_should_stop() && !READ_ONCE(bench->stop) && n > 0) {
		struct kvec vec = { bench->a.buf, bench->params.size };
		struct msghdr msg = {};

		n = kernel_sendmsg(tcp->from, &msg, &vec, 1, vec.iov_len);
	}
	kernel_sock_shutdown(tcp->from, SHUT_WR);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 100);
	return 0;
}

static int tcp_receive(void *data)
{
	struct tcp *tcp = data;
	struct bench *bench = tcp->bench;
	int n;

	do {
		struct kvec vec = { bench->b.buf, bench->params.size };
		struct msghdr msg = {};

		n = kernel_recvmsg(tcp->to, &msg, &vec, 1, vec.iov_len, 0);
		if (n > 0)
			tcp->bytes += n;
	} while (n > 0);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 100);
	return 0;
}

static void tcp_count(void *ctx, struct bench_sample *sample)
{
	struct tcp *tcp = ctx;

	sample->bytes = READ_ONCE(tcp->bytes);
	sample->ops = div_u64(sample->bytes, tcp->bench->params.size);
}

static int tcp_connect(struct tcp *tcp)
{
	struct bench *bench = tcp->bench;
	const int len = bench->b.addr.ss_family == AF_INET ? sizeof(struct sockaddr_in) :
			sizeof(struct sockaddr_in6);
	const int family = bench->b.addr.ss_family;
	struct sockaddr_storage addr = bench->b.addr;
	int err;

	err = sock_create_kern(bench->b.net, family, SOCK_STREAM, IPPROTO_TCP, &tcp->listener);
	if (!err)
		err = kernel_bind(tcp->listener, (struct bench_sockaddr *)&addr, len);
	if (!err)
		err = kernel_listen(tcp->listener, 1);
	if (!err)
		err = kernel_getsockname(tcp->listener, (struct sockaddr *)&addr) < 0;
	if (!err)
		err = sock_create_kern(bench->a.net, family, SOCK_STREAM, IPPROTO_TCP, &tcp->from);
	if (!err)
		err = kernel_connect(tcp->from, (struct bench_sockaddr *)&addr, len, 0);
	if (!err)
		err = kernel_accept(tcp->listener, &tcp->to, 0);
	return err;
}

static int tcp_start(struct tcp *tcp)
{
	tcp->receiver = kthread_run(tcp_receive, tcp, "bench_receive");
	if (IS_ERR(tcp->receiver))
		return PTR_ERR(tcp->receiver);
	tcp->sender = kthread_run(tcp_send, tcp, "bench_send");
	return PTR_ERR_OR_ZERO(tcp->sender);
}

static void tcp_end(struct tcp *tcp)
{
	WRITE_ONCE(tcp->bench->stop, true);
	if (tcp->from)
		kernel_sock_shutdown(tcp->from, SHUT_RDWR);
	if (!IS_ERR_OR_NULL(tcp->sender))
		kthread_stop(tcp->sender);
	if (tcp->to)
		kernel_sock_shutdown(tcp->to, SHUT_RDWR);
	if (!IS_ERR_OR_NULL(tcp->receiver))
		kthread_stop(tcp->receiver);
	if (tcp->to)
		sock_release(tcp->to);
	if (tcp->from)
		sock_release(tcp->from);
	if (tcp->listener)
		sock_release(tcp->listener);
}

/**
 * bench_tcp - one stream between the addresses of the two devices, @size bytes a call
 * @bench: the measurement
 *
 * Return: 0 or an error
 */
int bench_tcp(struct bench *bench)
{
	struct tcp *tcp = kzalloc(sizeof(*tcp), GFP_KERNEL);
	int err = -ENOMEM;

	if (!tcp)
		return -ENOMEM;
	tcp->bench = bench;
	if (bench->params.size)
		err = bench_open(bench, bench->params.size, 1, 1);
	if (!err)
		err = tcp_connect(tcp);
	if (!err)
		err = tcp_start(tcp);
	if (!err)
		bench_window(bench, tcp_count, tcp);
	tcp_end(tcp);
	bench_close(bench);
	kfree(tcp);
	return err;
}
