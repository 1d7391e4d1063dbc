// SPDX-License-Identifier: GPL-2.0
/*
 * wardstat record: the trace points that a timeline needs, in an instance of tracefs of its own,
 * so that nobody else's tracing is disturbed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "wardstat.h"

static const char *const events[] = {
	"ward_qp_state", "ward_nak_sent", "ward_nak_received", "ward_rnr_sent",
	"ward_rnr_received", "ward_retransmit", "ward_mr_expose", "ward_mr_invalidated",
	"ward_refused", "ward_bind", "ward_inject",
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static bool put(const char *folder, const char *file, const char *text)
{
	int fd = open(text_of("%s/%s", folder, file), O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Until the user stops it, or the time is over, and then what is there still */
static int copy(int from, FILE *to, double seconds)
{
	double end = now() + seconds;
	struct pollfd in = { .fd = from, .events = POLLIN };
	static char buf[65536];
	ssize_t n;

	for (;;) {
		bool over = stop || (seconds > 0 && now() >= end);

		n = read(from, buf, sizeof(buf));
		if (n > 0) {
			if (fwrite(buf, 1, n, to) != (size_t)n)
				return -1;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (over)
			return fflush(to);
		poll(&in, 1, 100);
	}
}

int record(const char *file, double seconds)
{
	const char *tracefs = getenv("WARDSTAT_TRACING") ?: "/sys/kernel/tracing";
	struct sigaction end = { .sa_handler = on_signal };
	const char *folder = text_of("%s/instances/wardstat-%d", tracefs, getpid());
	FILE *to = fopen(file, "w");
	unsigned int i;
	int from, err = -1;

	if (!to) {
		fprintf(stderr, "wardstat: cannot write %s: %s\n", file, strerror(errno));
		return USAGE;
	}
	if (mkdir(folder, 0700)) {
		fprintf(stderr, "wardstat: cannot trace: %s: %s. Is tracefs mounted, and are you root?\n",
			folder, strerror(errno));
		return CLOSED;
	}
	put(folder, "trace_clock", "mono");
	put(folder, "buffer_size_kb", "8192");
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (put(folder, text_of("events/ward/%s/enable", events[i]), "1"))
			continue;
		fprintf(stderr, "wardstat: there is no trace point %s: is the module ward loaded?\n",
			events[i]);
		rmdir(folder);
		return CLOSED;
	}
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	from = open(text_of("%s/trace_pipe", folder), O_RDONLY | O_NONBLOCK);
	if (from >= 0) {
		err = copy(from, to, seconds);
		close(from);
	}
	if (err)
		fprintf(stderr, "wardstat: recording failed: %s\n", strerror(errno));
	put(folder, "tracing_on", "0");
	rmdir(folder);
	fclose(to);
	return err ? 1 : DONE;
}
