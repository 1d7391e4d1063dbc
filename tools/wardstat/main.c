// SPDX-License-Identifier: GPL-2.0
/*
 * wardstat: what the RDMA devices of ward are doing, from debugfs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wardstat.h"

static const char usage[] =
	"usage: wardstat [-d DEVICE] [--json] [list]\n"
	"       wardstat [-d DEVICE] [-i SECONDS] [-n TIMES] [-O SECONDS] top\n"
	"       wardstat [-d DEVICE] [--json] qp NUMBER\n"
	"       wardstat [-d DEVICE] [--json] mr KEY\n"
	"       wardstat [-d DEVICE] [--json] pd NUMBER\n"
	"       wardstat [-s SECONDS] -o FILE record\n"
	"       wardstat -o PAGE timeline FILE\n"
	"\n"
	"Shows devices, queue pairs and what peers can reach; top does so again and\n"
	"again; qp, mr and pd explain one object; record and timeline draw exposures\n"
	"over time. See wardstat(8).\n"
	"\n"
	"  -d, --device DEVICE     only this one\n"
	"  -j, --json              for programs\n"
	"  -i, --interval SECONDS  top: between two looks (2)\n"
	"  -n, --times TIMES       top: looks, then end\n"
	"  -O, --overdue SECONDS   top: longer exposures are overdue (30)\n"
	"  -o, --output FILE       record: the recording; timeline: the HTML page\n"
	"  -s, --seconds SECONDS   record: so long; else until it is interrupted\n"
	"      --debugfs FOLDER    instead of /sys/kernel/debug/ward\n"
	"  -h, --help\n";

static const struct option options[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "json", no_argument, NULL, 'j' },
	{ "interval", required_argument, NULL, 'i' },
	{ "times", required_argument, NULL, 'n' },
	{ "overdue", required_argument, NULL, 'O' },
	{ "output", required_argument, NULL, 'o' },
	{ "seconds", required_argument, NULL, 's' },
	{ "debugfs", required_argument, NULL, 'D' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int bad_usage(const char *text)
{
	fprintf(stderr, "wardstat: %s\n%s", text, usage);
	return USAGE;
}

/* A device that may be read: debugfs lists files that lockdown does not let anybody open */
static bool readable(const char *device, int *err)
{
	struct table info;

	if (read_facts(&info, device, "info"))
		return true;
	*err = errno;
	return false;
}

static int find_devices(struct devices *devs, const char *only)
{
	int i, err = 0;

	devs->names = list_folder(debugfs, &devs->num);
	if (!devs->names)
		return errno;
	for (i = 0; only && i < devs->num; i++) {
		if (strcmp(devs->names[i], only))
			continue;
		devs->names += i;
		devs->num = 1;
		only = NULL;
	}
	if (only) {
		fprintf(stderr, "wardstat: there is no device %s\n", only);
		exit(NOT_FOUND);
	}
	if (devs->num && !readable(devs->names[0], &err))
		return err;
	return 0;
}

static int one(const struct devices *devs, const char *what, const char *which, bool json)
{
	static const char *const mrs[] = { "mrs", "mws", NULL }, *const pds[] = { "pds", NULL };
	char *end;

	strtoull(which, &end, 0);
	if (!*which || *end)
		return bad_usage(text_of("\"%s\" is no number", which));
	if (!strcmp(what, "qp"))
		return json ? json_qp(devs, which) : explain_qp(devs, which);
	if (!strcmp(what, "mr"))
		return json ? json_row(devs, mrs, "key", which) : explain_mr(devs, which);
	return json ? json_row(devs, pds, "pd", which) : explain_pd(devs, which);
}

int main(int argc, char **argv)
{
	const char *device = NULL, *output = NULL, *what;
	double interval = 2, overdue = 30, seconds = 0;
	struct devices devs;
	bool json = false;
	int opt, err, times = 0;

	while ((opt = getopt_long(argc, argv, "d:ji:n:O:o:s:h", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			device = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'i':
			interval = atof(optarg);
			break;
		case 'n':
			times = atoi(optarg);
			break;
		case 'O':
			overdue = atof(optarg);
			break;
		case 'o':
			output = optarg;
			break;
		case 's':
			seconds = atof(optarg);
			break;
		case 'D':
			debugfs = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return DONE;
		default:
			fputs(usage, stderr);
			return USAGE;
		}
	}
	if (interval < 0.1)
		return bad_usage("the interval must be 0.1 seconds at least");
	what = optind < argc ? argv[optind++] : "list";
	if (!strcmp(what, "record") || !strcmp(what, "timeline")) {
		bool draw = what[0] == 't';

		if (!output || optind + draw != argc)
			return bad_usage(draw ? "timeline takes a recording and -o PAGE" :
					 "record takes -o FILE");
		return draw ? timeline(argv[optind], output) : record(output, seconds);
	}
	if (!strcmp(what, "list") || !strcmp(what, "top")) {
		if (optind != argc)
			return bad_usage(text_of("%s takes nothing", what));
	} else if (!strcmp(what, "qp") || !strcmp(what, "mr") || !strcmp(what, "pd")) {
		if (optind + 1 != argc)
			return bad_usage(text_of("%s takes one number", what));
	} else {
		return bad_usage(text_of("what is \"%s\"?", what));
	}

	err = find_devices(&devs, device);
	if (err)
		return closed(err);
	if (!devs.num && !json)
		puts("There is no device: rdma link add NAME type ward netdev NETDEV");
	if (!strcmp(what, "list"))
		return json ? json_all(&devs) : list(&devs);
	if (!strcmp(what, "top"))
		return top(&devs, interval, times, overdue);
	return one(&devs, what, argv[optind], json);
}
