// SPDX-License-Identifier: GPL-2.0
/*
 * wardstat --json: what the files say, for programs. Names are those of columns and facts;
 * numbers stay numbers, "-" becomes null.
 */
#include <stdio.h>
#include <string.h>

#include "wardstat.h"

static void string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* A JSON number has no 0 in front, no base, and may be large */
static bool is_number(const char *text)
{
	size_t len = strlen(text);

	return len && strspn(text, "0123456789") == len && (text[0] != '0' || len == 1);
}

static void value(const char *text)
{
	if (!strcmp(text, "-"))
		fputs("null", stdout);
	else if (is_number(text))
		fputs(text, stdout);
	else
		string(text);
}

static void row_of(const struct table *t, int row)
{
	int col;

	putchar('{');
	for (col = 0; col < t->cols; col++) {
		if (col)
			putchar(',');
		string(t->heads[col]);
		putchar(':');
		value(t->cells[row * t->cols + col]);
	}
	putchar('}');
}

static void rows_of(const struct table *t)
{
	int row;

	putchar('[');
	for (row = 0; row < t->rows; row++) {
		if (row)
			fputs(",\n  ", stdout);
		row_of(t, row);
	}
	putchar(']');
}

static void members_of(const struct table *facts)
{
	int row;

	for (row = 0; row < facts->rows; row++) {
		if (row)
			putchar(',');
		string(facts->cells[2 * row]);
		putchar(':');
		value(facts->cells[2 * row + 1]);
	}
}

static bool qp(const char *device, const char *qpn, const char *before)
{
	struct table state, wqes;

	if (!read_facts(&state, device, text_of("qps/%s/state", qpn)) || !state.rows)
		return false;
	fputs(before, stdout);
	fputs("{\"device\":", stdout);
	string(device);
	putchar(',');
	members_of(&state);
	if (read_table(&wqes, device, text_of("qps/%s/wqes", qpn))) {
		fputs(",\"wqes\":", stdout);
		rows_of(&wqes);
	}
	putchar('}');
	return true;
}

static void device(const char *name)
{
	static const char *const files[] = {
		"pds", "mrs", "mrs.exposed", "mws", "cqs", "srqs", "ahs", "peers", "violations",
		"exposure.hist", "counters",
	};
	struct table info, t;
	unsigned int f;
	bool any = false;
	char **qps;
	int i, num;

	fputs("{\"name\":", stdout);
	string(name);
	if (read_facts(&info, name, "info")) {
		fputs(",\n \"info\":{", stdout);
		members_of(&info);
		putchar('}');
	}
	fputs(",\n \"qps\":[", stdout);
	qps = list_folder(text_of("%s/%s/qps", debugfs, name), &num);
	for (i = 0; i < num; i++)
		any |= qp(name, qps[i], any ? ",\n  " : "");
	putchar(']');
	for (f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		if (!read_table(&t, name, files[f]))
			continue;
		fputs(",\n ", stdout);
		string(files[f]);
		putchar(':');
		rows_of(&t);
	}
	putchar('}');
}

int json_all(const struct devices *devs)
{
	int i;

	fputs("{\"devices\":[", stdout);
	for (i = 0; i < devs->num; i++) {
		if (i)
			fputs(",\n", stdout);
		device(devs->names[i]);
	}
	fputs("]}\n", stdout);
	return DONE;
}

int json_qp(const struct devices *devs, const char *qpn)
{
	bool any = false;
	int i;

	putchar('[');
	for (i = 0; i < devs->num; i++)
		any |= qp(devs->names[i], text_of("%llu", number(qpn)), any ? ",\n" : "");
	fputs("]\n", stdout);
	return any ? DONE : NOT_FOUND;
}

/* The rows of some files in which a column has a value, as a number */
int json_row(const struct devices *devs, const char *const *files, const char *head,
	     const char *wanted)
{
	bool any = false;
	struct table t;
	int i, row;

	putchar('[');
	for (; *files; files++) {
		for (i = 0; i < devs->num; i++) {
			if (!read_table(&t, devs->names[i], *files))
				continue;
			for (row = 0; row < t.rows; row++) {
				if (number(cell(&t, row, head)) != number(wanted))
					continue;
				if (any)
					fputs(",\n", stdout);
				row_of(&t, row);
				any = true;
			}
		}
	}
	fputs("]\n", stdout);
	return any ? DONE : NOT_FOUND;
}
