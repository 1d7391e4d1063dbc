// SPDX-License-Identifier: GPL-2.0
/*
 * wardstat top: exposures and peers, again and again. Longest exposures first; orphaned ones in
 * red, those that last longer than the consumer should need in yellow.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "wardstat.h"

#define RED	"\033[31m"
#define YELLOW	"\033[33m"
#define BOLD	"\033[1m"
#define PLAIN	"\033[0m"

static struct termios before;
static bool is_terminal;
static volatile sig_atomic_t stop;

static void restore(void)
{
	tcsetattr(0, TCSANOW, &before);
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
}

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void on_resize(int sig)
{
	(void)sig;	/* it has interrupted poll(), and that is what it is for */
}

static void set_up(void)
{
	struct sigaction end = { .sa_handler = on_signal }, resize = { .sa_handler = on_resize };
	struct termios raw;

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGWINCH, &resize, NULL);
	is_terminal = isatty(1) && !tcgetattr(0, &before);
	if (!is_terminal)
		return;
	raw = before;
	raw.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(0, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", stdout);
	atexit(restore);
}

static void size_of(int *rows, int *cols)
{
	struct winsize ws;

	*rows = 1000000;
	*cols = 200;
	if (is_terminal && !ioctl(1, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col) {
		*rows = ws.ws_row;
		*cols = ws.ws_col;
	}
}

/* A line, cut to the width of the terminal; false when there is no room below */
static bool line(int *left, int cols, const char *colour, const char *text)
{
	if (*left <= 0)
		return false;
	--*left;
	if (is_terminal)
		printf("%s%.*s%s\033[K\r\n", colour, cols, text, *colour ? PLAIN : "");
	else
		printf("%s\n", text);
	return true;
}

/* What a QP had sent and received the last time */
struct before {
	char			name[96];
	unsigned long long	out, in;
};

static struct before *seen;
static int num_seen;

static struct before *seen_of(const char *name)
{
	int i;

	for (i = 0; i < num_seen; i++)
		if (!strcmp(seen[i].name, name))
			return &seen[i];
	seen = realloc(seen, (num_seen + 1) * sizeof(*seen));
	if (!seen)
		exit(1);
	memset(&seen[num_seen], 0, sizeof(*seen));
	snprintf(seen[num_seen].name, sizeof(seen->name), "%s", name);
	return &seen[num_seen++];
}

static void show_exposed(const char *device, double overdue, int *left, int cols, int most)
{
	struct table mrs;
	int row;

	if (!read_table(&mrs, device, "mrs.exposed"))
		return;
	line(left, cols, BOLD, text_of("%s: %s exposed", device, plural(mrs.rows, "region")));
	for (row = 0; row < mrs.rows && row < most; row++) {
		unsigned long long us = number(cell(&mrs, row, "exposed_us"));
		bool orphaned = !strcmp(cell(&mrs, row, "orphaned"), "yes");
		bool late = us > overdue * 1e6;

		line(left, cols, orphaned ? RED : late ? YELLOW : "",
		     text_of("  %-10s %-9s %-10s %-6s pd %-5s %s %s%s", cell(&mrs, row, "key"),
			     ago(us), bytes(number(cell(&mrs, row, "length_bytes"))),
			     cell(&mrs, row, "rights"), cell(&mrs, row, "pd"),
			     cell(&mrs, row, "peer_gid"), cell(&mrs, row, "last_op"),
			     orphaned ? " ORPHANED" : late ? " OVERDUE" : ""));
	}
}

static void show_peers(const char *device, double seconds, int *left, int cols)
{
	struct table peers;
	int row;

	if (!read_table(&peers, device, "peers"))
		return;
	line(left, cols, BOLD, text_of("  %-8s %-6s %-30s %-12s %-12s %-8s %s", "QP", "STATE",
				       "PEER", "OUT/s", "IN/s", "RESENT", "RNR"));
	for (row = 0; row < peers.rows; row++) {
		unsigned long long out = number(cell(&peers, row, "bytes_out"));
		unsigned long long in = number(cell(&peers, row, "bytes_in"));
		struct before *was = seen_of(text_of("%s %s", device, cell(&peers, row, "qpn")));
		bool first = !was->out && !was->in;

		line(left, cols, "",
		     text_of("  %-8s %-6s %-30s %-12s %-12s %-8s %s", cell(&peers, row, "qpn"),
			     cell(&peers, row, "state"),
			     text_of("%s %s", cell(&peers, row, "peer_gid"),
				     cell(&peers, row, "peer_qpn")),
			     first ? "-" : bytes((out - was->out) / seconds),
			     first ? "-" : bytes((in - was->in) / seconds),
			     cell(&peers, row, "resent"), cell(&peers, row, "rnrs_in")));
		was->out = out;
		was->in = in;
	}
}

/* Waits; false when the user wants to stop */
static bool wait_for_key(double seconds)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	char c;

	if (!is_terminal) {
		struct timespec ts = {
			.tv_sec = seconds, .tv_nsec = (seconds - (long)seconds) * 1e9,
		};

		nanosleep(&ts, NULL);
		return !stop;
	}
	if (poll(&in, 1, seconds * 1000) > 0 && read(0, &c, 1) == 1 && (c == 'q' || c == 'Q'))
		return false;
	return !stop;
}

int top(const struct devices *devs, double interval, int times, double overdue)
{
	char **names = calloc(devs->num + 1, sizeof(*names));
	int i, num, rows, cols;

	/* what was read is forgotten each time, the names are not */
	for (i = 0; names && i < devs->num; i++)
		names[i] = strdup(devs->names[i]);
	if (!names)
		return 1;
	set_up();
	num = devs->num;
	do {
		int left;

		size_of(&rows, &cols);
		left = rows - 1;
		if (is_terminal)
			fputs("\033[H", stdout);
		for (i = 0; i < num; i++) {
			show_exposed(names[i], overdue, &left, cols, rows / 2);
			show_peers(names[i], interval, &left, cols);
		}
		if (is_terminal)
			fputs("\033[J", stdout);
		fflush(stdout);
		read_reset();
		if (times && !--times)
			break;
	} while (wait_for_key(interval));
	for (i = 0; i < num; i++)
		free(names[i]);
	free(names);
	return DONE;
}
