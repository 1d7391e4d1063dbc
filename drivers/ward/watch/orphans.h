/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exposures that have outlived their connections: memory that a peer could still reach, if there
 * were a QP through which to reach it. A new QP of the protection domain opens it again, so
 * somebody forgot to invalidate it.
 */
#ifndef _WARD_WATCH_ORPHANS_H
#define _WARD_WATCH_ORPHANS_H

#include <linux/types.h>

struct ward_device;
struct ward_mr;

bool ward_mr_is_exposed(const struct ward_mr *mr);
bool ward_mr_is_orphaned(const struct ward_mr *mr);
void ward_orphans_show_in(struct ward_device *dev);

#endif /* _WARD_WATCH_ORPHANS_H */
