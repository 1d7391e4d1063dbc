// SPDX-License-Identifier: GPL-2.0
/*
 * The module: "DEVICE-A DEVICE-B [RULE]" written to /sys/kernel/debug/verbs-fence runs the rules
 * while the writer waits; a line for each is there to be read, and in the kernel log at once, in
 * case that the driver does not survive the next.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "fence.h"

static DEFINE_MUTEX(lock);
static char report[8192];
static int report_len;
static struct dentry *file;

static void event_handler(struct ib_event *event, void *context)
{
	struct kverbs_side *side = context;
	struct fence *fence = side->conn->priv;

	if (fence && side == &side->conn->b && event->event < ARRAY_SIZE(fence->events))
		atomic_inc(&fence->events[event->event]);
}

static int fence_open(struct fence *fence, const char *a, const char *b, int flags)
{
	int err;

	INIT_LIST_HEAD(&fence->ops);
	fence->config = (struct kverbs_config) {
		.depth = 64, .sge = 1, .mtu = 1024, .timeout = 14,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
		.event = event_handler,
	};
	err = kverbs_end_open(&fence->a, a, 0, FENCE_BUF);
	if (!err)
		err = kverbs_end_open(&fence->b, b, flags, FENCE_BUF);
	if (!err)
		err = kverbs_end_cq(&fence->a, 1024, IB_POLL_SOFTIRQ);
	if (!err)
		err = kverbs_end_cq(&fence->b, 1024, IB_POLL_SOFTIRQ);
	if (err)
		return err;
	fence->iwarp = rdma_protocol_iwarp(fence->b.dev, 1);
	if (fence->iwarp)
		err = kverbs_listen(&fence->listener, &fence->b);
	if (!err)
		fence_connect(fence);
	return err;
}

static void fence_close(struct fence *fence)
{
	struct fence_op *op, *next;

	kverbs_conn_close(&fence->conn);
	kverbs_conn_close(&fence->second);
	while (fence->mr_count)
		ib_dereg_mr(fence->mrs[--fence->mr_count]);
	kverbs_unlisten(&fence->listener);
	kverbs_end_close(&fence->a);
	kverbs_end_close(&fence->b);
	/* no completion handler runs any more */
	list_for_each_entry_safe(op, next, &fence->ops, list)
		kfree(op);
}

static void run_rule(const struct fence_rule *rule, const char *a, const char *b)
{
	static const char * const verdicts[] = { "PASS", "FAIL", "UNSUPPORTED", "BROKEN" };
	struct fence *fence = kvzalloc(sizeof(*fence), GFP_KERNEL);
	char line[320];
	int err;

	if (!fence)
		return;
	err = fence_open(fence, a, b, rule->flags);
	if (err)
		fence_say(fence, FENCE_BROKEN, "no ends: %d", err);
	else if (!fence_over(fence))
		rule->run(fence);
	fence_close(fence);
	scnprintf(line, sizeof(line), "%-4s %-11s %s%s%s", rule->name, verdicts[fence->verdict],
		  rule->words, *fence->why ? ": " : "", fence->why);
	pr_info("verbs-fence: %s\n", line);
	report_len += scnprintf(report + report_len, sizeof(report) - report_len, "%s\n", line);
	kvfree(fence);
}

static void run_rules(const char *a, const char *b, const char *only)
{
	static const struct fence_rule * const all[] = {
		fence_key_rules, fence_order_rules, fence_race_rules,
	};
	const struct fence_rule *rule;
	int i;

	report_len = 0;
	*report = 0;
	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (rule = all[i]; rule->name; rule++)
			if (!only || !strcmp(only, rule->name))
				run_rule(rule, a, b);
}

static ssize_t fence_file_write(struct file *filp, const char __user *from, size_t count,
				loff_t *pos)
{
	char *line = memdup_user_nul(from, min_t(size_t, count, 256)), *rest, *a, *b, *only;

	if (IS_ERR(line))
		return PTR_ERR(line);
	rest = strim(line);
	a = strsep(&rest, " ");
	b = strsep(&rest, " ");
	only = strsep(&rest, " ");
	if (a && b) {
		mutex_lock(&lock);
		run_rules(a, b, only);
		mutex_unlock(&lock);
	}
	kfree(line);
	return a && b ? count : -EINVAL;
}

static int fence_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&lock);
	seq_puts(seq, report);
	mutex_unlock(&lock);
	return 0;
}

static int fence_file_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, fence_show, NULL);
}

static const struct file_operations fence_fops = {
	.owner = THIS_MODULE,
	.open = fence_file_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.write = fence_file_write,
	.release = single_release,
};

static int __init fence_init(void)
{
	file = debugfs_create_file("verbs-fence", 0600, NULL, NULL, &fence_fops);
	return PTR_ERR_OR_ZERO(file);
}
module_init(fence_init);

static void __exit fence_exit(void)
{
	debugfs_remove(file);
}
module_exit(fence_exit);

MODULE_DESCRIPTION("Fence rules as a kernel client of verbs sees them");
MODULE_LICENSE("GPL");
