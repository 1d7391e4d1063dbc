// SPDX-License-Identifier: GPL-2.0
/*
 * wardstat timeline: a recording as one HTML page that needs nothing else. What is drawn, and how,
 * is in timeline.html; this puts the data in front of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wardstat.h"

/* The page, without its data: timeline_page of wardstat.h */
__asm__(".section .rodata\n"
	".globl timeline_page, timeline_page_end\n"
	"timeline_page: .incbin \"" TEMPLATE "\"\n"
	"timeline_page_end: .byte 0\n"
	".previous\n");

/* The value of "name=" in a line, up to the next blank, or "" */
static const char *field(const char *line, const char *name, char *value, size_t size)
{
	size_t len = strlen(name), n = 0;
	const char *p = line;

	while ((p = strstr(p, name))) {
		if (p > line && p[-1] == ' ' && p[len] == '=')
			break;
		p++;
	}
	if (p)
		for (p += len + 1; *p && *p != ' ' && *p != '\n' && n + 1 < size; p++)
			value[n++] = *p;
	value[n] = 0;
	return value;
}

/* "12.345678: ward_x: dev=...": when, and which. False for a line that is none of ours */
static bool parse(const char *line, double *time, char *event, size_t size)
{
	const char *name = strstr(line, ": ward_"), *from;
	size_t n = 0;

	if (!name)
		return false;
	for (from = name; from > line && from[-1] != ' '; from--)
		;
	*time = strtod(from, NULL);
	for (name += 7; *name && *name != ':' && n + 1 < size; name++)
		event[n++] = *name;
	event[n] = 0;
	return *time > 0;
}

/* A name in JSON, inside of a script: nothing in it may end either */
static void put_text(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++)
		if ((unsigned char)*text >= 0x20 && !strchr("\"\\<>&", *text))
			fputc(*text, to);
	fputc('"', to);
}

/* [time, event, device, qpn, key, more, more]: times in us since the first event */
static void put_event(FILE *to, const char *line, double us, const char *event)
{
	char v[64];

	fprintf(to, "[%.1f,", us);
	put_text(to, event);
	fputc(',', to);
	put_text(to, field(line, "dev", v, sizeof(v)));
	fprintf(to, ",%llu,", number(field(line, "qpn", v, sizeof(v))));
	put_text(to, field(line, "key", v, sizeof(v)));
	if (!strcmp(event, "mr_invalidated")) {
		fprintf(to, ",%llu", number(field(line, "exposure_ns", v, sizeof(v))));
		fprintf(to, ",%llu,", number(field(line, "drain_ns", v, sizeof(v))));
		put_text(to, field(line, "by", v, sizeof(v)));
	} else {
		char psn[16], why[32];

		field(line, "psn", psn, sizeof(psn));
		field(line, !strcmp(event, "refused") ? "rule" : !strcmp(event, "inject") ? "rule" :
		      "why", why, sizeof(why));
		fprintf(to, ",%llu,", number(psn));
		put_text(to, why);
	}
	fputs("],\n", to);
}

int timeline(const char *from_file, const char *to_file)
{
	FILE *from = fopen(from_file, "r"), *to;
	double first = -1, time;
	char line[1024], event[32];
	bool bad;

	if (!from) {
		fprintf(stderr, "wardstat: cannot read %s: %s\n", from_file, strerror(errno));
		return NOT_FOUND;
	}
	to = fopen(to_file, "w");
	if (!to) {
		fprintf(stderr, "wardstat: cannot write %s: %s\n", to_file, strerror(errno));
		fclose(from);
		return USAGE;
	}
	fputs("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<script>\nconst events = [\n", to);
	while (fgets(line, sizeof(line), from)) {
		if (!parse(line, &time, event, sizeof(event)))
			continue;
		if (first < 0)
			first = time;
		put_event(to, line, (time - first) * 1e6, event);
	}
	fputs("];\n</script>\n", to);
	fwrite(timeline_page, 1, timeline_page_end - timeline_page, to);
	bad = ferror(to);
	bad |= fclose(to);
	fclose(from);
	if (bad)
		fprintf(stderr, "wardstat: cannot write %s\n", to_file);
	return bad ? 1 : DONE;
}
