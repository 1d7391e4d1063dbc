// SPDX-License-Identifier: GPL-2.0
/*
 * The fault injector: what the rules do.
 *
 * Packets that go on later are kept in a list of the device. Those in belong to a QP, those out
 * to a QP and a path; they go with the QP (ward_inject_forget()), so nothing that the core wants
 * back waits for them.
 */
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../net/path.h"
#include "../net/rx.h"
#include "../qp/qp.h"
#include "inject.h"
#include "trace.h"

/* Who is held looks so often whether the device goes, which nobody tells it */
#define LOOK		(HZ / 20)

/* A packet that waits for the next one to overtake it waits no longer than this */
#define REORDER_MS	20

#define PACKET_FAULTS	(BIT(WARD_FAULT_DROP) | BIT(WARD_FAULT_DUPLICATE) |		\
			 BIT(WARD_FAULT_DELAY) | BIT(WARD_FAULT_REORDER) |		\
			 BIT(WARD_FAULT_CORRUPT))

DEFINE_STATIC_KEY_FALSE(ward_inject_key);
struct workqueue_struct *ward_inject_wq;
/* Runs that are held, of all devices */
static atomic_t held;

/**
 * struct kept - a packet that goes on later
 * @entry: in ward_inject.kept
 * @qp:    its QP
 * @path:  out: where to, referenced. In: NULL
 * @skb:   the packet
 * @id:    out: IPv4 identification
 * @due:   when, in jiffies
 * @overtaken: when the next one of its QP and direction has gone, if that is sooner
 */
struct kept {
	struct list_head	entry;
	struct ward_qp		*qp;
	struct ward_path	*path;
	struct sk_buff		*skb;
	u16			id;
	unsigned long		due;
	bool			overtaken;
};

/* Context: any, under RCU */
static u32 match(struct ward_qp *qp, unsigned long which, struct ward_happening *at,
		 const struct ward_path *path, enum ward_injection *fault, u32 *arg)
{
	u32 id;

	at->qpn = qp->qpn;
	if (path)
		at->peer = path->dgid;
	id = ward_rules_match(&qp->dev->inject.rules, which, at, fault, arg);
	if (id) {
		ward_count(qp->dev, INJECTED);
		trace_ward_inject(qp->dev, at->qpn, at->psn, id);
	}
	return id;
}

/* Kept packets that fit, out of the list; those in have a reference of their QP then */
static void take_kept(struct ward_inject *inj, const struct ward_qp *qp,
		      bool (*fits)(const struct kept *k, const struct ward_qp *qp, bool out),
		      bool out, struct list_head *to)
{
	struct kept *k, *next;
	unsigned long flags;

	spin_lock_irqsave(&inj->rules.lock, flags);
	list_for_each_entry_safe(k, next, &inj->kept, entry) {
		if (!fits(k, qp, out))
			continue;
		/* one that is being destroyed comes for them itself */
		if (!k->path && !kref_get_unless_zero(&k->qp->ref))
			continue;
		list_move_tail(&k->entry, to);
		inj->num_kept--;
	}
	spin_unlock_irqrestore(&inj->rules.lock, flags);
}

static bool is_overtaken(const struct kept *k, const struct ward_qp *qp, bool out)
{
	return k->qp == qp && k->overtaken && !!k->path == out;
}

static bool is_due(const struct kept *k, const struct ward_qp *qp, bool out)
{
	return !time_before(jiffies, k->due);
}

/* Let the packets go on */
static void release(struct list_head *list)
{
	struct kept *k, *next;

	local_bh_disable();
	list_for_each_entry_safe(k, next, list, entry) {
		if (k->path) {
			ward_path_send(k->path, k->skb, k->id);
			ward_path_put(k->path);
		} else {
			ward_qp_deliver(k->qp, k->skb);
			ward_qp_put(k->qp);
		}
		kfree(k);
	}
	local_bh_enable();
}

static void set_work(struct ward_inject *inj)
{
	unsigned long now = jiffies, first = now + MAX_JIFFY_OFFSET, flags;
	struct kept *k;

	spin_lock_irqsave(&inj->rules.lock, flags);
	list_for_each_entry(k, &inj->kept, entry)
		if (time_before(k->due, first))
			first = k->due;
	if (!list_empty(&inj->kept))
		mod_delayed_work(ward_inject_wq, &inj->work,
				 time_after(first, now) ? first - now : 0);
	spin_unlock_irqrestore(&inj->rules.lock, flags);
}

static void kept_work(struct work_struct *work)
{
	struct ward_inject *inj = container_of(work, struct ward_inject, work.work);
	LIST_HEAD(due);

	take_kept(inj, NULL, is_due, false, &due);
	release(&due);
	set_work(inj);
}

/* Takes @skb; without memory, or when there are too many already, it is lost, and counted */
static void keep(struct ward_qp *qp, struct ward_path *path, struct sk_buff *skb, u16 id, u32 ms,
		 bool overtaken)
{
	struct ward_inject *inj = &qp->dev->inject;
	struct kept *k = kzalloc(sizeof(*k), GFP_ATOMIC);
	unsigned long flags;
	bool may;

	if (!k)
		goto lost;
	*k = (struct kept){
		.qp = qp, .path = path, .skb = skb, .id = id, .overtaken = overtaken,
		.due = jiffies + msecs_to_jiffies(ms),
	};
	spin_lock_irqsave(&inj->rules.lock, flags);
	may = inj->num_kept < WARD_MAX_KEPT;
	if (may) {
		if (path)
			ward_path_get(path);
		list_add_tail(&k->entry, &inj->kept);
		inj->num_kept++;
	}
	spin_unlock_irqrestore(&inj->rules.lock, flags);
	if (may) {
		set_work(inj);
		return;
	}
lost:
	ward_count(qp->dev, DROP_BACKLOG);
	kfree(k);
	kfree_skb(skb);
}

/**
 * ward_inject_forget() - drop the packets that are kept for a QP
 * @qp: the QP; nobody has a reference of it any more
 *
 * Context: may sleep.
 */
void ward_inject_forget(struct ward_qp *qp)
{
	struct ward_inject *inj = &qp->dev->inject;
	struct kept *k, *next;
	LIST_HEAD(list);

	spin_lock_irq(&inj->rules.lock);
	list_for_each_entry_safe(k, next, &inj->kept, entry)
		if (k->qp == qp) {
			list_move(&k->entry, &list);
			inj->num_kept--;
		}
	spin_unlock_irq(&inj->rules.lock);
	list_for_each_entry_safe(k, next, &list, entry) {
		kfree_skb(k->skb);
		ward_path_put(k->path);
		kfree(k);
	}
	/* one that was due may be on its way with a path, which has to be gone soon */
	flush_delayed_work(&inj->work);
}

/* @end: where the headers end; a bit is turned where nothing but the ICRC looks */
static void corrupt(struct sk_buff *skb, u32 bth, u32 end, u32 what)
{
	u32 at = skb->len - 1;

	if (what == WARD_CORRUPT_HEADER)
		at = bth + sizeof(struct ward_bth) - 1;		/* of the PSN */
	else if (what == WARD_CORRUPT_PAYLOAD && end < skb->len - WARD_ICRC_SIZE)
		at = end;
	skb->data[at] ^= 0x10;
}

/**
 * ward_inject_out() - send a packet, or what the rules make of it
 * @qp:   the QP that sends
 * @path: where to
 * @skb:  the packet, from the BTH on; taken
 * @id:   IPv4 identification
 *
 * Context: BH off.
 * Return: what ward_path_send() says, or 0.
 */
int ward_inject_out(struct ward_qp *qp, struct ward_path *path, struct sk_buff *skb, u16 id)
{
	struct ward_happening at = { .dir = WARD_INJECT_OUT };
	unsigned long which = PACKET_FAULTS;
	struct sk_buff *copy;
	enum ward_injection fault;
	struct ward_pkt pkt;
	LIST_HEAD(kept);
	int err = 0;
	u32 arg;

	take_kept(&qp->dev->inject, qp, is_overtaken, true, &kept);
	if (!list_empty(&kept))
		which &= ~BIT(WARD_FAULT_REORDER);
	ward_pkt_parse(&pkt, skb->data, skb->len);
	at.opcode = pkt.opcode;
	at.psn = pkt.psn;
	match(qp, which, &at, path, &fault, &arg);

	switch (fault) {
	case WARD_FAULT_DROP:
		kfree_skb(skb);
		break;
	case WARD_FAULT_DELAY:
		keep(qp, path, skb, id, arg, false);
		break;
	case WARD_FAULT_REORDER:
		keep(qp, path, skb, id, REORDER_MS, true);
		break;
	case WARD_FAULT_CORRUPT:
		/* the bytes are also those of the packet that is kept, to be sent again */
		copy = skb_copy(skb, GFP_ATOMIC);
		kfree_skb(skb);
		if (copy) {
			corrupt(copy, 0, pkt.hdr_len, arg);
			err = ward_path_send(path, copy, id);
		}
		break;
	case WARD_FAULT_DUPLICATE:
		copy = skb_copy(skb, GFP_ATOMIC);
		if (copy && arg)
			keep(qp, path, copy, id, arg, false);
		else if (copy)
			ward_path_send(path, copy, id);
		fallthrough;
	default:
		err = ward_path_send(path, skb, id);
		break;
	}
	release(&kept);
	return err;
}

/**
 * ward_inject_in() - what the rules make of a packet received
 * @qp:  the QP
 * @skb: the packet; taken
 *
 * Context: softirq, under RCU.
 * Return: the packet to go on with, or NULL.
 */
struct sk_buff *ward_inject_in(struct ward_qp *qp, struct sk_buff *skb)
{
	struct ward_happening at = { .dir = WARD_INJECT_IN };
	unsigned long which = PACKET_FAULTS;
	union ib_gid dgid;
	enum ward_injection fault;
	struct sk_buff *copy;
	struct ward_pkt pkt;
	LIST_HEAD(kept);
	u32 arg;

	take_kept(&qp->dev->inject, qp, is_overtaken, false, &kept);
	if (!list_empty(&kept))
		which &= ~BIT(WARD_FAULT_REORDER);
	ward_rx_parse(skb, &pkt);
	ward_rx_gids(skb, &at.peer, &dgid);
	at.opcode = pkt.opcode;
	at.psn = pkt.psn;
	match(qp, which, &at, NULL, &fault, &arg);

	switch (fault) {
	case WARD_FAULT_DROP:
		kfree_skb(skb);
		skb = NULL;
		break;
	case WARD_FAULT_DELAY:
		keep(qp, NULL, skb, 0, arg, false);
		skb = NULL;
		break;
	case WARD_FAULT_REORDER:
		keep(qp, NULL, skb, 0, REORDER_MS, true);
		skb = NULL;
		break;
	case WARD_FAULT_CORRUPT:
		copy = skb_copy(skb, GFP_ATOMIC);
		kfree_skb(skb);
		skb = copy;
		if (!skb)
			break;
		corrupt(skb, ward_rx_cb(skb)->bth, ward_rx_cb(skb)->bth + pkt.hdr_len, arg);
		ward_rx_parse(skb, &pkt);
		if (ward_rx_icrc_ok(skb, &pkt))
			break;
		ward_count(qp->dev, DROP_ICRC);
		kfree_skb(skb);
		skb = NULL;
		break;
	case WARD_FAULT_DUPLICATE:
		copy = skb_copy(skb, GFP_ATOMIC);
		if (copy && arg)
			keep(qp, NULL, copy, 0, arg, false);
		else if (copy)
			ward_qp_deliver(qp, copy);
		break;
	default:
		break;
	}
	if (skb && !list_empty(&kept)) {
		ward_qp_deliver(qp, skb);
		skb = NULL;
	}
	release(&kept);
	return skb;
}

/**
 * ward_inject_nak() - whether a request is to be refused
 * @qp:  the QP, owned
 * @pkt: the request, in its turn
 *
 * Context: under RCU with BH off.
 * Return: the AETH syndrome to refuse it with, or 0.
 */
u8 ward_inject_nak(struct ward_qp *qp, const struct ward_pkt *pkt)
{
	struct ward_happening at = {
		.dir = WARD_INJECT_IN, .opcode = pkt->opcode, .psn = pkt->psn,
	};
	enum ward_injection fault;
	u32 arg;

	match(qp, BIT(WARD_FAULT_NAK) | BIT(WARD_FAULT_RNR), &at, ward_qp_path(qp), &fault, &arg);
	switch (fault) {
	case WARD_FAULT_NAK:
		return arg;
	case WARD_FAULT_RNR:
		return WARD_AETH_RNR | arg;
	default:
		return 0;
	}
}

bool __ward_inject_fails(struct ward_device *dev, enum ward_inject_place place)
{
	struct ward_happening at = { .place = place };
	enum ward_injection fault;
	u32 arg;

	if (!ward_rules_match(&dev->inject.rules, BIT(WARD_FAULT_FAIL), &at, &fault, &arg))
		return false;
	/* a device that is not registered yet has none */
	if (dev->counters)
		ward_count(dev, INJECTED);
	return true;
}

static u32 holds(struct ward_run *run, enum ward_injection which, enum ward_inject_dir dir,
		 u8 opcode, u32 psn)
{
	struct ward_happening at = { .dir = dir, .opcode = opcode, .psn = psn };
	enum ward_injection fault;
	u32 arg;

	if (!run->may_sleep)
		return 0;
	return match(run->qp, BIT(which), &at, ward_qp_path(run->qp), &fault, &arg);
}

static bool still_held(struct ward_device *dev, u32 id, int change, u32 *ms)
{
	/* taken by whoever unregisters the device or moves it, and by nobody else */
	return ward_rules_hold(&dev->inject.rules, id, change, ms) &&
	       !mutex_is_locked(&dev->ib.unregistration_lock);
}

static void hold(struct ward_device *dev, u32 id)
{
	struct ward_inject *inj = &dev->inject;
	unsigned long since = jiffies;
	u32 ms = 0, unused;

	if (atomic_inc_return(&held) > WARD_MAX_HELD)
		goto out;
	rcu_read_unlock();
	local_bh_enable();
	still_held(dev, id, 1, &ms);
	while (still_held(dev, id, 0, &unused)) {
		long left = LOOK;

		if (ms) {
			left = since + msecs_to_jiffies(ms) - jiffies;
			if (left <= 0)
				break;
		}
		wait_event_idle_timeout(inj->wait, !still_held(dev, id, 0, &unused),
					min_t(long, left, LOOK));
	}
	still_held(dev, id, -1, &unused);
	local_bh_disable();
	rcu_read_lock();
out:
	atomic_dec(&held);
}

void __ward_inject_arm(struct ward_run *run, struct ward_access *a, enum ward_inject_dir dir,
		       u8 opcode, u32 psn)
{
	a->hold = holds(run, WARD_FAULT_HOLD, dir, opcode, psn);
	a->hold_last = holds(run, WARD_FAULT_HOLD_LAST, dir, opcode, psn);
}

void __ward_inject_pause(u32 *id, struct ward_access *a)
{
	u32 rule = *id;

	if (!rule)
		return;
	*id = 0;
	hold(a->who.dev, rule);
}

void __ward_inject_hold(struct ward_run *run, enum ward_inject_dir dir, u8 opcode, u32 psn)
{
	u32 id = holds(run, WARD_FAULT_HOLD, dir, opcode, psn);

	if (id)
		hold(run->qp->dev, id);
}

/**
 * ward_inject_add() - add a rule
 * @dev:  the device
 * @text: the rule, as rules.h has it
 *
 * It applies to what begins from now on.
 *
 * Context: may sleep.
 * Return: its number, -EINVAL (the log tells why), or -ENOMEM.
 */
int ward_inject_add(struct ward_device *dev, const char *text)
{
	int id;

	static_branch_inc(&ward_inject_key);
	id = ward_rules_add(&dev->inject.rules, text);
	if (id < 0)
		static_branch_dec(&ward_inject_key);
	return id;
}

/**
 * ward_inject_clear() - remove a rule, or all
 * @dev: the device
 * @id:  its number; 0: all
 *
 * Whoever is held by it goes on, and so does every packet that is kept.
 *
 * Context: may sleep.
 * Return: 0, or -ENOENT for a number that no rule has.
 */
int ward_inject_clear(struct ward_device *dev, u32 id)
{
	struct ward_inject *inj = &dev->inject;
	int n = ward_rules_clear(&inj->rules, id), i;
	struct kept *k;

	wake_up_all(&inj->wait);
	spin_lock_irq(&inj->rules.lock);
	list_for_each_entry(k, &inj->kept, entry)
		k->due = jiffies;
	spin_unlock_irq(&inj->rules.lock);
	set_work(inj);
	for (i = 0; i < n; i++)
		static_branch_dec(&ward_inject_key);
	return id && !n ? -ENOENT : 0;
}

/**
 * ward_inject_line() - do what a line of the file says
 * @dev:  the device
 * @line: a rule, "clear", "clear NUMBER", a comment, or nothing; may be written to
 *
 * Context: may sleep.
 * Return: 0, or a negative errno.
 */
int ward_inject_line(struct ward_device *dev, char *line)
{
	u32 id = 0;
	int n;

	line = strim(line);
	if (!*line || *line == '#')
		return 0;
	n = str_has_prefix(line, "clear");
	if (n && (!line[n] || isspace(line[n]))) {
		if (line[n] && (kstrtou32(skip_spaces(line + n), 0, &id) || !id)) {
			pr_err("inject: clear: no number of a rule\n");
			return -EINVAL;
		}
		return ward_inject_clear(dev, id);
	}
	n = ward_inject_add(dev, line);
	return n < 0 ? n : 0;
}

static ssize_t inject_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	struct ward_device *dev = ((struct seq_file *)file->private_data)->private;
	char *text, *rest, *line;
	int err = 0;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (len > PAGE_SIZE)
		return -EINVAL;
	text = memdup_user_nul(from, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while (!err && (line = strsep(&rest, "\n")))
		err = ward_inject_line(dev, line);
	kfree(text);
	return err ?: len;
}

static int inject_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;

	ward_rules_show(&dev->inject.rules, s);
	return 0;
}

static int inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, inject_show, inode->i_private);
}

static const struct file_operations inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.read = seq_read,
	.write = inject_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * ward_inject_show_in() - make the file
 * @dev: the device, whose folder there is
 */
void ward_inject_show_in(struct ward_device *dev)
{
	debugfs_create_file("inject", 0600, dev->debugfs, dev, &inject_fops);
}

/**
 * ward_inject_init() - no faults
 * @dev: a new device
 */
void ward_inject_init(struct ward_device *dev)
{
	struct ward_inject *inj = &dev->inject;

	ward_rules_init(&inj->rules);
	init_waitqueue_head(&inj->wait);
	INIT_LIST_HEAD(&inj->kept);
	INIT_DELAYED_WORK(&inj->work, kept_work);
}

/**
 * ward_inject_exit() - clear all rules
 * @dev: the device; it has no QP and no file any more
 *
 * Context: may sleep.
 */
void ward_inject_exit(struct ward_device *dev)
{
	ward_inject_clear(dev, 0);
	cancel_delayed_work_sync(&dev->inject.work);
}

/**
 * ward_inject_module_init() - before the first device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_inject_module_init(void)
{
	/* each run that is held takes a worker */
	ward_inject_wq = alloc_workqueue("ward_inject", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return ward_inject_wq ? 0 : -ENOMEM;
}

/**
 * ward_inject_module_exit() - after the last device
 *
 * Context: may sleep.
 */
void ward_inject_module_exit(void)
{
	destroy_workqueue(ward_inject_wq);
}
