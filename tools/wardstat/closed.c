// SPDX-License-Identifier: GPL-2.0
/*
 * Why debugfs shows nothing, what to do about it, and what can be seen all the same: sysfs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "wardstat.h"

#define DEBUGFS_MAGIC	0x64626720

/* Tests change it */
#define SYSFS		(sysfs())

static const char *sysfs(void)
{
	const char *set = getenv("WARDSTAT_SYS");

	return set ? set : "/sys";
}

static bool first_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "r");
	bool ok = f && fgets(line, size, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

static bool locked_down(void)
{
	char line[128];

	return first_line(text_of("%s/kernel/security/lockdown", SYSFS), line, sizeof(line)) &&
	       !strstr(line, "[none]");
}

static bool mounted(void)
{
	const char *path = text_of("%s/kernel/debug", SYSFS);
	struct statfs fs;

	if (getenv("WARDSTAT_SYS"))
		return !access(path, X_OK) || errno == EACCES;
	return !statfs(path, &fs) && fs.f_type == DEBUGFS_MAGIC;
}

static void say_why(int err)
{
	if (access(text_of("%s/module/ward", SYSFS), F_OK)) {
		fputs("wardstat: the module ward is not loaded: modprobe ward\n", stderr);
	} else if (err == EPERM && locked_down()) {
		fputs("wardstat: debugfs is closed, as the kernel is in lockdown (Secure Boot)\n",
		      stderr);
	} else if (err == EACCES || err == EPERM) {
		fputs("wardstat: only root may read debugfs: sudo wardstat\n", stderr);
	} else if (!mounted()) {
		fputs("wardstat: debugfs is not mounted: mount -t debugfs none /sys/kernel/debug\n",
		      stderr);
	} else if (err == ENOENT) {
		fprintf(stderr, "wardstat: there is no %s: the kernel was built without debugfs, or it is off (debugfs=)\n",
			debugfs);
	} else {
		fprintf(stderr, "wardstat: cannot read %s: %s\n", debugfs, strerror(err));
	}
}

/* Counters of a port that are not 0 */
static void say_counters(const char *dev)
{
	const char *path = text_of("%s/class/infiniband/%s/ports/1/hw_counters", SYSFS, dev);
	char line[64];
	int i, num;
	char **names = list_folder(path, &num);

	for (i = 0; i < num; i++)
		if (strcmp(names[i], "lifespan") &&
		    first_line(text_of("%s/%s", path, names[i]), line, sizeof(line)) &&
		    strcmp(line, "0"))
			printf("  %-24s %s\n", names[i], line);
}

/*
 * Of any device of ward: only they have a group of options in sysfs. Return: CLOSED.
 */
int closed(int err)
{
	char state[64];
	char **names;
	int i, num, shown = 0;

	say_why(err);
	names = list_folder(text_of("%s/class/infiniband", SYSFS), &num);
	for (i = 0; i < num; i++) {
		if (access(text_of("%s/class/infiniband/%s/options/window", SYSFS, names[i]), F_OK))
			continue;
		if (!shown++)
			puts("What sysfs shows all the same:");
		if (!first_line(text_of("%s/class/infiniband/%s/ports/1/state", SYSFS, names[i]),
				state, sizeof(state)))
			snprintf(state, sizeof(state), "unknown");
		printf("%s: port state %s\n", names[i], state);
		say_counters(names[i]);
	}
	if (shown)
		puts("`rdma resource show qp -dd` and `rdma resource show mr -dd` show objects.");
	return CLOSED;
}
