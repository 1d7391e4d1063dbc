// SPDX-License-Identifier: GPL-2.0
/*
 * wardstat: devices, queue pairs and exposures.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "wardstat.h"

/* Refusals that are listed; the file has more */
#define LAST	5

static void list_qp(const char *device, const char *qpn)
{
	struct table qp;
	const char *peer, *waits;

	if (!read_facts(&qp, device, text_of("qps/%s/state", qpn)))
		return;		/* it has gone meanwhile */
	peer = fact(&qp, "peer_gid");
	waits = fact(&qp, "sq_waits_for");
	printf("  %-10s %-4s %-6s %-8s %-30s %-6s %s%s\n", qpn, fact(&qp, "type"),
	       fact(&qp, "state"), fact(&qp, "consumer"),
	       strcmp(peer, "::") ? text_of("%s %s", peer, fact(&qp, "peer_qpn")) : "-",
	       fact(&qp, "sq_outstanding"), waits,
	       strcmp(fact(&qp, "snapshot"), "busy") ? "" : " (held)");
}

static void list_exposed(const struct table *mrs)
{
	int row;

	printf("\n  %-10s %-9s %-10s %-6s %-6s %-30s %s\n", "EXPOSED", "FOR", "LENGTH", "RIGHTS",
	       "PD", "LAST PEER", "LAST ACCESS");
	for (row = 0; row < mrs->rows; row++) {
		const char *peer = cell(mrs, row, "peer_gid");
		bool used = strcmp(peer, "-");

		printf("  %-10s %-9s %-10s %-6s %-6s %-30s %s%s\n", cell(mrs, row, "key"),
		       ago(number(cell(mrs, row, "exposed_us"))),
		       bytes(number(cell(mrs, row, "length_bytes"))), cell(mrs, row, "rights"),
		       cell(mrs, row, "pd"),
		       used ? text_of("%s %s", peer, cell(mrs, row, "peer_qpn")) : "-",
		       used ? text_of("%s, %s ago", cell(mrs, row, "last_op"),
				      ago(number(cell(mrs, row, "last_us_ago")))) : "none",
		       strcmp(cell(mrs, row, "orphaned"), "yes") ? "" : "  ORPHANED");
	}
}

/* The last ones */
static void list_refused(const char *device)
{
	struct table t;
	int row;

	if (!read_table(&t, device, "violations") || !t.rows)
		return;
	printf("\n  %-20s %-8s %-30s %-12s %-11s %-19s %-10s %s\n", "REFUSED AT", "QP", "PEER",
	       "OPERATION", "KEY", "ADDRESS", "LENGTH", "RULE");
	for (row = t.rows > LAST ? t.rows - LAST : 0; row < t.rows; row++) {
		time_t when = number(cell(&t, row, "time_s"));
		struct tm utc;
		char text[32] = "?";

		if (gmtime_r(&when, &utc))
			strftime(text, sizeof(text), "%F %T", &utc);
		printf("  %-20s %-8s %-30s %-12s %-11s %-19s %-10s %s\n", text,
		       cell(&t, row, "qpn"),
		       strcmp(cell(&t, row, "peer_gid"), "::") ?
		       text_of("%s %s", cell(&t, row, "peer_gid"), cell(&t, row, "peer_qpn")) :
		       "itself", cell(&t, row, "op"), cell(&t, row, "key"), cell(&t, row, "va"),
		       bytes(number(cell(&t, row, "length_bytes"))), cell(&t, row, "rule"));
	}
}

static void list_device(const char *device)
{
	unsigned long long exposed = 0;
	struct table info, mrs;
	int row, num, orphaned = 0, i;
	char **qps;

	if (!read_facts(&info, device, "info"))
		return;
	if (!read_table(&mrs, device, "mrs.exposed"))
		mrs.rows = 0;
	for (row = 0; row < mrs.rows; row++) {
		exposed += number(cell(&mrs, row, "length_bytes"));
		orphaned += !strcmp(cell(&mrs, row, "orphaned"), "yes");
	}
	qps = list_folder(text_of("%s/%s/qps", debugfs, device), &num);
	printf("%s on %s, port %s: %s, %s, of which peers can reach %d (%s)", device,
	       fact(&info, "netdev"), fact(&info, "port_state"), plural(num, "queue pair"),
	       plural(number(fact(&info, "regions")), "region"), mrs.rows, bytes(exposed));
	if (orphaned)
		printf(", %d of them orphaned", orphaned);
	putchar('\n');
	if (num)
		printf("\n  %-10s %-4s %-6s %-8s %-30s %-6s %s\n", "QP", "TYPE", "STATE",
		       "OWNER", "PEER", "SENDS", "WAITS FOR");
	for (i = 0; i < num; i++)
		list_qp(device, qps[i]);
	if (mrs.rows)
		list_exposed(&mrs);
	list_refused(device);
}

int list(const struct devices *devs)
{
	int i;

	for (i = 0; i < devs->num; i++) {
		if (i)
			putchar('\n');
		list_device(devs->names[i]);
	}
	return DONE;
}
