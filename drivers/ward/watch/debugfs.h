/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /sys/kernel/debug/ward/<device>/: what a device shows of itself to people.
 */
#ifndef _WARD_WATCH_DEBUGFS_H
#define _WARD_WATCH_DEBUGFS_H

struct ward_device;

void ward_debugfs_init(void);
void ward_debugfs_exit(void);
void ward_debugfs_add(struct ward_device *dev);
void ward_debugfs_remove(struct ward_device *dev);

#endif /* _WARD_WATCH_DEBUGFS_H */
