/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading what ward shows in debugfs, as KUnit suites do.
 */
#ifndef _WARD_KUNIT_WATCH_H
#define _WARD_KUNIT_WATCH_H

#include <linux/fs.h>
#include "verbs.h"

char *watch_read(struct kunit *test, const struct file_operations *fops, void *private);
char *watch_line(struct kunit *test, const char *text, const char *first);
char *watch_column(struct kunit *test, const char *text, const char *line, const char *name);
char *watch_fact(struct kunit *test, const char *text, const char *name);

#endif /* _WARD_KUNIT_WATCH_H */
