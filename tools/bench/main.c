// SPDX-License-Identifier: GPL-2.0
/*
 * The module: /sys/kernel/debug/verbs-bench takes a line, measures while the writer waits, and
 * gives a line.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "bench.h"

static const struct {
	const char *name;
	int (*run)(struct bench *bench);
} operations[] = {
	/* bytes and requests per second */
	{ "write", bench_stream }, { "send", bench_stream }, { "read", bench_stream },
	/* there and back: half of it is reported */
	{ "send_lat", bench_pingpong }, { "write_lat", bench_pingpong },
	/* REG_MR and LOCAL_INV; REG_MR and the peer's SEND_WITH_INV */
	{ "reg", bench_register }, { "send_inv", bench_send_inv },
	/* connect, one SEND, disconnect */
	{ "connect", bench_connect },
	/* memory of objects */
	{ "idle_qps", bench_idle_qps }, { "idle_mrs", bench_idle_mrs },
	/* what nobody can beat: copy, CRC, both; a TCP stream between the same netdevs */
	{ "memcpy", bench_memory }, { "crc", bench_memory }, { "memcpy_crc", bench_memory },
	{ "tcp", bench_tcp },
	/* a file, for what is mounted over a transport */
	{ "file_write", bench_file }, { "file_read", bench_file },
	/* what the clocks say, for measurements from outside */
	{ "clock", bench_clock },
};

static DEFINE_MUTEX(lock);
static char last[1024];
static struct dentry *file;

/**
 * bench_put - adds to the result
 * @bench:  whose
 * @format: as printf()
 */
void bench_put(struct bench *bench, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bench->len += vscnprintf(bench->result + bench->len, sizeof(bench->result) - bench->len,
				 format, args);
	va_end(args);
}

/**
 * bench_fail - notes that something went wrong, and ends the measurement
 * @bench: whose
 * @error: an ib_wc_status or a negative error. Any context.
 */
void bench_fail(struct bench *bench, int error)
{
	cmpxchg(&bench->error, 0, error);
	WRITE_ONCE(bench->stop, true);
	wake_up(&bench->idle);
}

/**
 * bench_listener - what kverbs_conn_open() is to be given
 * @bench: opened
 *
 * Return: the listener, or NULL for connections by hand
 */
struct kverbs_listener *bench_listener(struct bench *bench)
{
	return bench->listener.id ? &bench->listener : NULL;
}

/**
 * bench_open - makes both ends
 * @bench:       with its parameters
 * @buffer:      bytes that each end needs
 * @depth:       of the queues
 * @completions: entries that each CQ needs
 *
 * Return: 0 or an error; bench_close() is due in any case
 */
int bench_open(struct bench *bench, size_t buffer, u32 depth, u32 completions)
{
	const struct bench_params *params = &bench->params;
	const int flags = (params->ipv6 ? KVERBS_IPV6 : 0) | (params->global ? KVERBS_GLOBAL : 0);
	const enum ib_poll_context context = strcmp(params->poll, "workqueue") ?
		IB_POLL_SOFTIRQ : IB_POLL_WORKQUEUE;
	int err;

	bench->config = (struct kverbs_config) {
		.depth = depth, .sge = 1, .mtu = params->mtu, .timeout = params->timeout,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	err = kverbs_end_open(&bench->a, params->a, flags, buffer);
	if (!err)
		err = kverbs_end_open(&bench->b, params->b, flags, buffer);
	if (!err)
		err = kverbs_end_cq(&bench->a, completions + params->cqe, context);
	if (!err)
		err = kverbs_end_cq(&bench->b, completions + params->cqe, context);
	if (!err && (params->cm || rdma_protocol_iwarp(bench->a.dev, 1)))
		err = kverbs_listen(&bench->listener, &bench->b);
	return err;
}

/**
 * bench_close - takes the ends apart
 * @bench: without connections. No completion handler runs afterwards.
 */
void bench_close(struct bench *bench)
{
	kverbs_unlisten(&bench->listener);
	kverbs_end_close(&bench->a);
	kverbs_end_close(&bench->b);
}

static int measure(struct bench *bench)
{
	const struct bench_params *params = &bench->params;
	int i, err;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		if (!strcmp(operations[i].name, params->op))
			break;
	if (i == ARRAY_SIZE(operations))
		return -EINVAL;
	init_waitqueue_head(&bench->idle);
	bench_put(bench, "op=%s a=%s b=%s size=%u qps=%u depth=%u mtu=%u poll=%s ", params->op,
		  params->a, params->b, params->size, params->qps, params->depth, params->mtu,
		  params->poll);
	err = operations[i].run(bench);
	if (err && !bench->error)
		bench->error = err;
	bench_put(bench, "error=%d", bench->error);
	if (bench->error > 0)
		bench_put(bench, " (%s)", ib_wc_status_msg(bench->error));
	strscpy(last, bench->result, sizeof(last));
	return 0;
}

static ssize_t bench_write(struct file *filp, const char __user *from, size_t count, loff_t *pos)
{
	struct bench *bench;
	char *line;
	int err;

	line = memdup_user_nul(from, min_t(size_t, count, 1024));
	if (IS_ERR(line))
		return PTR_ERR(line);
	bench = kzalloc(sizeof(*bench), GFP_KERNEL);
	err = bench ? bench_params_parse(&bench->params, line) : -ENOMEM;
	if (!err) {
		mutex_lock(&lock);
		*last = 0;
		err = measure(bench);
		mutex_unlock(&lock);
	}
	kfree(bench);
	kfree(line);
	return err ?: count;
}

static int bench_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&lock);
	seq_printf(seq, "%s\n", last);
	mutex_unlock(&lock);
	return 0;
}

static int bench_file_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, bench_show, NULL);
}

static const struct file_operations bench_fops = {
	.owner = THIS_MODULE,
	.open = bench_file_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = bench_write,
	.release = single_release,
};

static int __init bench_init(void)
{
	file = debugfs_create_file("verbs-bench", 0600, NULL, NULL, &bench_fops);
	return PTR_ERR_OR_ZERO(file);
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	debugfs_remove(file);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("A benchmark of verbs in the kernel");
MODULE_LICENSE("GPL");
