// SPDX-License-Identifier: GPL-2.0
/*
 * See read.h.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"

const char *debugfs = "/sys/kernel/debug/ward";

struct kept {
	struct kept	*next;
	char		mem[] __attribute__((aligned(16)));
};

static struct kept *all;

void *keep(size_t size)
{
	struct kept *k = calloc(1, sizeof(*k) + size);

	if (!k) {
		fputs("wardstat: out of memory\n", stderr);
		exit(1);
	}
	k->next = all;
	all = k;
	return k->mem;
}

void read_reset(void)
{
	while (all) {
		struct kept *k = all;

		all = k->next;
		free(k);
	}
}

char *text_of(const char *format, ...)
{
	char *text, *kept;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	kept = keep(len < 0 ? 1 : len + 1);
	if (len >= 0) {
		memcpy(kept, text, len);
		free(text);
	}
	return kept;
}

/* All of a file, as it changes while it is read */
static char *slurp(const char *path)
{
	size_t size = 64 * 1024, len = 0, n;
	char *text = NULL, *more;
	FILE *f = fopen(path, "r");
	int err;

	if (!f)
		return NULL;
	do {
		size *= 2;
		more = keep(size);
		if (text)
			memcpy(more, text, len);
		text = more;
		n = fread(text + len, 1, size - len - 1, f);
		len += n;
	} while (len == size - 1);
	err = ferror(f) ? errno : 0;
	fclose(f);
	if (err) {
		errno = err;
		return NULL;
	}
	return text;
}

static int count_lines(const char *text)
{
	int n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

bool read_table(struct table *t, const char *device, const char *file)
{
	char *text = slurp(text_of("%s/%s/%s", debugfs, device, file)), *line, *word;
	int col;

	*t = (struct table){ 0 };
	if (!text)
		return false;
	line = strsep(&text, "\n");
	if (line[0] != '#') {
		errno = EPROTO;
		return false;
	}
	line++;
	while ((word = strsep(&line, " ")))
		if (*word && t->cols < MAX_COLUMNS)
			t->heads[t->cols++] = word;
	if (!text)
		return true;
	t->cells = keep(count_lines(text) * t->cols * sizeof(*t->cells));
	while ((line = strsep(&text, "\n"))) {
		if (!*line || *line == '#')
			continue;
		for (col = 0; col < t->cols; col++)
			t->cells[t->rows * t->cols + col] = "";
		col = 0;
		while ((word = strsep(&line, " ")))
			if (*word && col < t->cols)
				t->cells[t->rows * t->cols + col++] = word;
		t->rows++;
	}
	return true;
}

bool read_facts(struct table *t, const char *device, const char *file)
{
	char *text = slurp(text_of("%s/%s/%s", debugfs, device, file)), *line, *name;

	*t = (struct table){ .heads = { "name", "value" }, .cols = 2 };
	if (!text)
		return false;
	t->cells = keep(count_lines(text) * 2 * sizeof(*t->cells));
	while ((line = strsep(&text, "\n"))) {
		name = strsep(&line, "\t");
		if (!line)
			continue;
		t->cells[t->rows * 2] = name;
		t->cells[t->rows * 2 + 1] = line;
		t->rows++;
	}
	return true;
}

const char *cell(const struct table *t, int row, const char *head)
{
	int col;

	for (col = 0; col < t->cols && row >= 0 && row < t->rows; col++)
		if (!strcmp(t->heads[col], head))
			return t->cells[row * t->cols + col];
	return "";
}

int find_row(const struct table *t, const char *head, const char *value)
{
	int row;

	for (row = 0; row < t->rows; row++)
		if (!strcmp(cell(t, row, head), value))
			return row;
	return -1;
}

const char *fact(const struct table *t, const char *name)
{
	return cell(t, find_row(t, "name", name), "value");
}

unsigned long long number(const char *text)
{
	return strtoull(text, NULL, 0);
}

static int compare(const void *a, const void *b)
{
	const char *x = *(char **)a, *y = *(char **)b;
	unsigned long long m = number(x), n = number(y);

	return m != n ? (m < n ? -1 : 1) : strcmp(x, y);
}

char **list_folder(const char *path, int *num)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char **names = NULL;
	int max = 0;

	*num = 0;
	if (!dir)
		return NULL;
	names = keep(sizeof(*names));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (*num == max) {
			char **more = keep((2 * max + 16) * sizeof(*more));

			memcpy(more, names, *num * sizeof(*more));
			names = more;
			max = 2 * max + 16;
		}
		names[(*num)++] = text_of("%s", entry->d_name);
	}
	closedir(dir);
	qsort(names, *num, sizeof(*names), compare);
	return names;
}
