/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading what ward shows in debugfs: tables with headings, and lists of facts. Memory is kept
 * until the program ends, or until read_reset() in a program that goes on.
 */
#ifndef WARDSTAT_READ_H
#define WARDSTAT_READ_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_COLUMNS	32

/**
 * struct table - a file with a line of headings, or a list of facts
 * @heads: names of the columns
 * @cols:  how many
 * @cells: @rows times @cols values; of facts, two columns: name and value
 * @rows:  how many
 */
struct table {
	const char	*heads[MAX_COLUMNS];
	int		cols;
	const char	**cells;
	int		rows;
};

/* Where the folders of devices are; tests and people with recorded ones change it */
extern const char *debugfs;

void *keep(size_t size);
char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
void read_reset(void);

/* In the folder of a device. False, with errno, when the file cannot be read */
bool read_table(struct table *t, const char *device, const char *file);
bool read_facts(struct table *t, const char *device, const char *file);

/* Never NULL; "" for what is not there */
const char *cell(const struct table *t, int row, const char *head);
const char *fact(const struct table *t, const char *name);
unsigned long long number(const char *text);
int find_row(const struct table *t, const char *head, const char *value);

/* Names in a folder, sorted by number, or else by name; NULL with errno */
char **list_folder(const char *path, int *num);

#endif
