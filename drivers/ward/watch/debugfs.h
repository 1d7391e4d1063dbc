/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /sys/kernel/debug/ward/<device>/: what a device shows of itself to people, and to wardstat.
 * Documentation/debugfs.rst has the formats, which programs rely on.
 *
 * A file is either a table, with a line of headings that begins with '#' and one object a line, or
 * a list of facts, with a name, a tab and a value in each line. Units stand in headings and names.
 */
#ifndef _WARD_WATCH_DEBUGFS_H
#define _WARD_WATCH_DEBUGFS_H

#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/time64.h>

struct dentry;
struct ward_device;
struct ward_qp;
struct xarray;

void ward_debugfs_init(void);
void ward_debugfs_exit(void);
void ward_debugfs_add(struct ward_device *dev);
void ward_debugfs_remove(struct ward_device *dev);
void ward_debugfs_add_qp(struct ward_qp *qp);
void ward_debugfs_del_qp(struct ward_qp *qp);

/**
 * struct ward_shown_qp - what a QP's folder stands on
 * @dev:   device
 * @qpn:   number of the QP, by which readers look it up: they do not keep it
 * @dir:   the folder
 * @entry: folders to be removed
 *
 * The folder may stay for a moment when the QP has gone, since removing it waits for readers and
 * a QP must not.
 */
struct ward_shown_qp {
	struct ward_device	*dev;
	u32			qpn;
	struct dentry		*dir;
	struct llist_node	entry;
};

/* Inside of watch/: a table's lines, one by one under RCU, from an xarray */
void *ward_table_start(struct seq_file *s, struct xarray *xa, loff_t *pos);
void *ward_table_next(struct xarray *xa, void *v, loff_t *pos);
void ward_table_stop(void);

/* Between two objects of a table, which is found again by its index; under RCU */
static inline void ward_table_breathe(void)
{
	if (need_resched()) {
		rcu_read_unlock();
		cond_resched();
		rcu_read_lock();
	}
}

/* What a file is: show() of all of it, or seq_operations for its lines; both find @private set */
#define WARD_FILE_OF(name, open_it, release_it)				\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return open_it;							\
}									\
									\
const struct file_operations name##_fops = {				\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.llseek = seq_lseek,						\
	.release = release_it,						\
}

static inline int ward_open_lines(struct inode *inode, struct file *file,
				  const struct seq_operations *ops)
{
	int err = seq_open(file, ops);

	if (!err)
		((struct seq_file *)file->private_data)->private = inode->i_private;
	return err;
}

#define WARD_SHOWN_FILE(name) \
	WARD_FILE_OF(name, single_open(file, name##_show, inode->i_private), single_release)
#define WARD_LINES_FILE(name) \
	WARD_FILE_OF(name, ward_open_lines(inode, file, &name##_sops), seq_release)

/* ward_us() - microseconds of ns */
static inline u64 ward_us(u64 ns)
{
	return div_u64(ns, NSEC_PER_USEC);
}

extern const struct file_operations ward_info_fops;
extern const struct file_operations ward_counters_fops;
extern const struct file_operations ward_hist_fops;
extern const struct file_operations ward_violations_fops;
extern const struct file_operations ward_peers_fops;
extern const struct file_operations ward_state_fops;
extern const struct file_operations ward_wqes_fops;
extern const struct file_operations ward_mrs_fops;
extern const struct file_operations ward_mws_fops;
extern const struct file_operations ward_exposed_fops;
extern const struct file_operations ward_pds_fops;
extern const struct file_operations ward_cqs_fops;
extern const struct file_operations ward_srqs_fops;
extern const struct file_operations ward_ahs_fops;

#endif /* _WARD_WATCH_DEBUGFS_H */
