// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/ward/<device>/: the folders.
 *
 * That of a device is there from before consumers are told of the device until after the last of
 * them has left; removing it waits for readers, so whoever reads finds the device. debugfs may be
 * missing or closed: then there is nothing to see, and nothing fails.
 *
 * That of a QP goes later than the QP. Readers may take long, as what they read into may be
 * paged in over this very QP; so the QP does not wait for them, a work item does.
 */
#include <linux/debugfs.h>
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "../qp/qp.h"
#include "../verbs/device.h"
#include "debugfs.h"
#include "inject.h"
#include "orphans.h"

static struct dentry *root;

static const struct {
	const char			*name;
	const struct file_operations	*fops;
} files[] = {
	{ "info", &ward_info_fops },
	{ "counters", &ward_counters_fops },
	{ "exposure.hist", &ward_hist_fops },
	{ "violations", &ward_violations_fops },
	{ "peers", &ward_peers_fops },
	{ "mrs", &ward_mrs_fops },
	{ "mrs.exposed", &ward_exposed_fops },
	{ "mws", &ward_mws_fops },
	{ "pds", &ward_pds_fops },
	{ "cqs", &ward_cqs_fops },
	{ "srqs", &ward_srqs_fops },
	{ "ahs", &ward_ahs_fops },
};

/* Folders of QPs that have gone */
static LLIST_HEAD(gone_qps);

static void remove_gone(struct work_struct *work)
{
	struct ward_shown_qp *shown, *next;

	llist_for_each_entry_safe(shown, next, llist_del_all(&gone_qps), entry) {
		debugfs_remove(shown->dir);
		kfree(shown);
	}
}

static DECLARE_WORK(gone_work, remove_gone);

/**
 * ward_debugfs_init() - make the folder of the module
 */
void ward_debugfs_init(void)
{
	root = debugfs_create_dir("ward", NULL);
}

/**
 * ward_debugfs_exit() - remove it, after the last device
 */
void ward_debugfs_exit(void)
{
	debugfs_remove(root);
}

/**
 * ward_debugfs_add() - make the folder of a device
 * @dev: the device; it has a name
 *
 * Called again for a device that has moved to another namespace: the folder is there, then.
 *
 * Context: may sleep.
 */
void ward_debugfs_add(struct ward_device *dev)
{
	int i;

	if (dev->debugfs)
		return;
	dev->debugfs = debugfs_create_dir(dev_name(&dev->ib.dev), root);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		debugfs_create_file(files[i].name, 0400, dev->debugfs, dev, files[i].fops);
	dev->debugfs_qps = debugfs_create_dir("qps", dev->debugfs);
	ward_inject_show_in(dev);
	ward_probe_show_in(dev);
	ward_orphans_show_in(dev);
}

/**
 * ward_debugfs_remove() - remove it
 * @dev: the device; nobody can make an object on it any more
 *
 * Context: may sleep; waits for readers.
 */
void ward_debugfs_remove(struct ward_device *dev)
{
	/* its QPs have gone, their folders may not have */
	flush_work(&gone_work);
	debugfs_remove(dev->debugfs);
	dev->debugfs = NULL;
}

/**
 * ward_debugfs_add_qp() - make the folder of a QP
 * @qp: the QP, which can be found by its number
 *
 * Context: may sleep.
 */
void ward_debugfs_add_qp(struct ward_qp *qp)
{
	struct ward_shown_qp *shown;
	char name[16];

	if (IS_ERR_OR_NULL(qp->dev->debugfs_qps))
		return;
	shown = kzalloc(sizeof(*shown), GFP_KERNEL);
	/* it is not seen, then */
	if (!shown)
		return;
	shown->dev = qp->dev;
	shown->qpn = qp->qpn;
	snprintf(name, sizeof(name), "%u", qp->qpn);
	shown->dir = debugfs_create_dir(name, qp->dev->debugfs_qps);
	debugfs_create_file("state", 0400, shown->dir, shown, &ward_state_fops);
	debugfs_create_file("wqes", 0400, shown->dir, shown, &ward_wqes_fops);
	qp->shown = shown;
}

/**
 * ward_debugfs_del_qp() - remove it, soon
 * @qp: the QP
 *
 * Context: any.
 */
void ward_debugfs_del_qp(struct ward_qp *qp)
{
	if (!qp->shown)
		return;
	if (llist_add(&qp->shown->entry, &gone_qps))
		schedule_work(&gone_work);
	qp->shown = NULL;
}

/**
 * ward_table_start() - seq_operations.start for the objects of an xarray
 * @s:   the file
 * @xa:  the xarray, whose objects are freed after a grace period of RCU
 * @pos: as for start()
 *
 * Context: takes RCU, until ward_table_stop().
 * Return: SEQ_START_TOKEN for the headings, an object, or NULL at the end.
 */
void *ward_table_start(struct seq_file *s, struct xarray *xa, loff_t *pos)
	__acquires(RCU)
{
	unsigned long index = *pos;
	void *v;

	rcu_read_lock();
	if (!index)
		return SEQ_START_TOKEN;
	v = xa_find(xa, &index, ULONG_MAX, XA_PRESENT);
	*pos = index;
	return v;
}

/**
 * ward_table_next() - seq_operations.next likewise
 * @xa:  the xarray; its index 0 is not used
 * @v:   what was shown last
 * @pos: as for next()
 *
 * Context: under the RCU of ward_table_start().
 * Return: an object, or NULL at the end.
 */
void *ward_table_next(struct xarray *xa, void *v, loff_t *pos)
{
	unsigned long index = *pos;

	v = xa_find_after(xa, &index, ULONG_MAX, XA_PRESENT);
	/* at the end, too, the position moves on */
	*pos = v ? index : *pos + 1;
	return v;
}

/**
 * ward_table_stop() - seq_operations.stop likewise
 */
void ward_table_stop(void)
	__releases(RCU)
{
	rcu_read_unlock();
}
