// SPDX-License-Identifier: GPL-2.0
/*
 * Would an access pass?
 */
#include <linux/debugfs.h>
#include <linux/kstrtox.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <ward/wire.h>

#include "../net/net.h"
#include "../qp/qp.h"
#include "../verbs/srq.h"
#include "probe.h"

static struct ward_probed refused(const char *rule, const char *why)
{
	return (struct ward_probed){ .rule = rule, .why = why };
}

static struct ward_probed granted(const char *rule, const char *why)
{
	return (struct ward_probed){ .granted = true, .rule = rule, .why = why };
}

static const int rights[] = {
	[WARD_PROBE_READ]		= IB_ACCESS_REMOTE_READ,
	[WARD_PROBE_WRITE]		= IB_ACCESS_REMOTE_WRITE,
	[WARD_PROBE_ATOMIC]		= IB_ACCESS_REMOTE_ATOMIC,
	[WARD_PROBE_LOCAL_READ]		= 0,
	[WARD_PROBE_LOCAL_WRITE]	= IB_ACCESS_LOCAL_WRITE,
	[WARD_PROBE_RECEIVE]		= IB_ACCESS_LOCAL_WRITE,
};

static bool is_remote(u32 right)
{
	return right <= WARD_PROBE_ATOMIC;
}

/* What the responder asks before it looks at a key. NULL rule: nothing is wrong */
static struct ward_probed ask_qp(const struct ward_qp *qp, const struct ward_probe *probe)
{
	if (probe->right == WARD_PROBE_LOCAL_READ || probe->right == WARD_PROBE_LOCAL_WRITE)
		return READ_ONCE(qp->state) == IB_QPS_RTS ? granted(NULL, NULL) :
		       refused("F32", "the queue pair is not in RTS: it executes nothing");
	if (!ward_qp_receives(READ_ONCE(qp->state)))
		return refused("F32", "the queue pair receives nothing in its state");
	if (is_remote(probe->right) && !(qp->attr.qp_access_flags & rights[probe->right]))
		return refused("F20", "the queue pair does not grant the right");
	return granted(NULL, NULL);
}

static struct ward_probed explain(enum ward_refusal why, const struct ward_mr *mr,
				  const struct ward_asker *who, u32 key)
{
	bool window = mr && ward_mr_is_window(mr);

	switch (why) {
	case WARD_GRANTED:
		return granted("-", "the registration is valid and lets it in");
	case WARD_REFUSED_KEY:
		if (mr && mr->kind == WARD_KIND_DMA && who->user)
			return refused("F43", "the key of all memory is for the kernel only");
		if (window && READ_ONCE(mr->key) == key)
			return refused("F20", "the key of a window is an R_key only");
		return refused("F9", "no registration has this key");
	case WARD_REFUSED_STATE:
		return refused("F1", "the registration is not valid");
	case WARD_REFUSED_PD:
		return refused("F21", "it is of another protection domain");
	case WARD_REFUSED_QP:
		if (window)
			return refused("F16", "the window is bound to another queue pair");
		return refused("strict", "another queue pair has registered it");
	case WARD_REFUSED_RIGHTS:
		return refused("F20", "the registration does not grant the right");
	case WARD_REFUSED_RANGE:
		if (window)
			return refused("F18", "it is outside of the window");
		return refused("F25", "it is outside of the registration");
	case WARD_PARKED:
		/* only who copies asks for pages */
		break;
	}
	return refused("-", "");
}

static struct ward_probed ask(struct ward_qp *qp, const struct ward_probe *probe)
{
	struct ward_asker who = {
		.dev = qp->dev, .pd = qp->pd, .qpn = qp->qpn, .user = qp->user,
	};
	struct ward_probed answer = ask_qp(qp, probe);
	const struct ward_mr *mr;
	u64 va = probe->va;

	if (!answer.granted)
		return answer;
	if (is_remote(probe->right) && !probe->len)
		return granted("F24", "no bytes, no key");
	/* F44 */
	if (probe->right == WARD_PROBE_RECEIVE && qp->srq)
		who.pd = qp->srq->ib.pd;
	mr = ward_mr_find(qp->dev, probe->key);
	if (!probe->has_va && mr)
		va = READ_ONCE(mr->iova);
	return explain(ward_mr_probe(&who, probe->key, va, probe->len, rights[probe->right]), mr,
		       &who, probe->key);
}

/**
 * ward_probe() - would an access pass?
 * @dev:   the device
 * @probe: the access
 *
 * Nothing is counted, and nothing changes. Another moment may have another answer.
 *
 * Context: process.
 * Return: the answer.
 */
struct ward_probed ward_probe(struct ward_device *dev, const struct ward_probe *probe)
{
	struct ward_probed answer = refused("-", "the device has no such queue pair");
	struct ward_net *wn = dev->net;
	struct ward_qp *qp;

	local_bh_disable();
	rcu_read_lock();
	qp = xa_load(&wn->qps, ward_unpermute(&wn->qpn, probe->qpn));
	/* held, or its PD and SRQ may be freed meanwhile */
	if (qp && qp->dev == dev && kref_get_unless_zero(&qp->ref)) {
		answer = ask(qp, probe);
		ward_qp_put(qp);
	}
	rcu_read_unlock();
	local_bh_enable();
	return answer;
}

static const char *const right_words[] = {
	[WARD_PROBE_NONE]		= "",
	[WARD_PROBE_READ]		= "read",
	[WARD_PROBE_WRITE]		= "write",
	[WARD_PROBE_ATOMIC]		= "atomic",
	[WARD_PROBE_LOCAL_READ]		= "local-read",
	[WARD_PROBE_LOCAL_WRITE]	= "local-write",
	[WARD_PROBE_RECEIVE]		= "receive",
};

static bool parse_word(struct ward_probe *probe, const char *name, const char *value)
{
	int i;

	if (!value)
		return false;
	if (!strcmp(name, "qp"))
		return !kstrtou32(value, 0, &probe->qpn) && probe->qpn &&
		       probe->qpn <= WARD_24BITS;
	if (!strcmp(name, "key"))
		return !kstrtou32(value, 0, &probe->key);
	if (!strcmp(name, "va")) {
		probe->has_va = true;
		return !kstrtou64(value, 0, &probe->va);
	}
	if (!strcmp(name, "len"))
		return !kstrtou64(value, 0, &probe->len);
	if (strcmp(name, "right"))
		return false;
	i = match_string(right_words, ARRAY_SIZE(right_words), value);
	if (i <= WARD_PROBE_NONE)
		return false;
	probe->right = i;
	return true;
}

static int parse(struct ward_probe *probe, char *text)
{
	bool has_key = false;
	char *name;

	*probe = (struct ward_probe){ .len = U64_MAX };
	text = strim(text);
	while ((name = strsep(&text, " \t"))) {
		char *value = name;

		if (!*name)
			continue;
		strsep(&value, "=");
		if (!parse_word(probe, name, value)) {
			pr_err("probe: not understood: %s\n", name);
			return -EINVAL;
		}
		has_key |= !strcmp(name, "key");
	}
	if (!probe->qpn || !has_key || !probe->right) {
		pr_err("probe: qp=, key= and right= are needed\n");
		return -EINVAL;
	}
	if (probe->len == U64_MAX)
		probe->len = probe->right == WARD_PROBE_ATOMIC ? sizeof(u64) : 1;
	return 0;
}

static ssize_t probe_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct ward_device *dev = ((struct seq_file *)file->private_data)->private;
	struct ward_probe probe;
	char *text;
	int err;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (len > PAGE_SIZE)
		return -EINVAL;
	text = memdup_user_nul(from, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = parse(&probe, text);
	kfree(text);
	if (err)
		return err;
	spin_lock_irq(&dev->inject.rules.lock);
	dev->inject.probe = probe;
	spin_unlock_irq(&dev->inject.rules.lock);
	return len;
}

/* The question that was asked last, answered as of now */
static int probe_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;
	struct ward_probed answer;
	struct ward_probe probe;

	spin_lock_irq(&dev->inject.rules.lock);
	probe = dev->inject.probe;
	spin_unlock_irq(&dev->inject.rules.lock);
	if (!probe.right)
		return 0;
	answer = ward_probe(dev, &probe);
	seq_printf(s, "%s\t%s\t%s\n", answer.granted ? "granted" : "refused", answer.rule,
		   answer.why);
	return 0;
}

static int probe_open(struct inode *inode, struct file *file)
{
	return single_open(file, probe_show, inode->i_private);
}

static const struct file_operations probe_fops = {
	.owner = THIS_MODULE,
	.open = probe_open,
	.read = seq_read,
	.write = probe_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * ward_probe_show_in() - make the file
 * @dev: the device, whose folder there is
 */
void ward_probe_show_in(struct ward_device *dev)
{
	debugfs_create_file("probe", 0600, dev->debugfs, dev, &probe_fops);
}
