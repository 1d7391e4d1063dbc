/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of wardstat.
 */
#ifndef WARDSTAT_H
#define WARDSTAT_H

#include "read.h"

/* Exit status */
enum {
	DONE,
	NOT_FOUND,
	USAGE,
	CLOSED,		/* debugfs shows nothing */
};

/* A number of devices, by name */
struct devices {
	char	**names;
	int	num;
};

/* text.c: how numbers are written */
const char *ago(unsigned long long us);
const char *bytes(unsigned long long n);
const char *plural(unsigned long long n, const char *one);

/* list.c, explain.c, top.c, json.c: the commands; they return an exit status */
int list(const struct devices *devs);
int explain_qp(const struct devices *devs, const char *qpn);
int explain_mr(const struct devices *devs, const char *key);
int explain_pd(const struct devices *devs, const char *pd);
int top(const struct devices *devs, double interval, int times, double overdue);

/* record.c, timeline.c: files of trace events */
int record(const char *file, double seconds);
extern const char timeline_page[], timeline_page_end[];
int timeline(const char *from_file, const char *to_file);

int json_all(const struct devices *devs);
int json_qp(const struct devices *devs, const char *qpn);
int json_row(const struct devices *devs, const char *const *files, const char *head,
	     const char *value);

/* closed.c: why debugfs shows nothing, and what can be seen all the same */
int closed(int err);

#endif
