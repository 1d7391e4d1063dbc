// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/ward/<device>/.
 *
 * The folder is there from before consumers are told of the device until after the last of them
 * has left; removing it waits for readers, so whoever reads finds the device. debugfs may be
 * missing or closed: then there is nothing to see, and nothing fails.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "../verbs/device.h"
#include "debugfs.h"
#include "inject.h"
#include "orphans.h"

static struct dentry *root;

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

static int info_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;

	seq_printf(s, "netdev\t%s\n", netdev_name(dev->netdev));
	ward_options_show(s, dev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(info);

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
	if (dev->debugfs)
		return;
	dev->debugfs = debugfs_create_dir(dev_name(&dev->ib.dev), root);
	debugfs_create_file("info", 0400, dev->debugfs, dev, &info_fops);
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
	debugfs_remove(dev->debugfs);
	dev->debugfs = NULL;
}
