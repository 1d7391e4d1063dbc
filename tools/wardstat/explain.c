// SPDX-License-Identifier: GPL-2.0
/*
 * wardstat qp, mr, pd: one object in sentences.
 */
#include <stdio.h>
#include <string.h>

#include "wardstat.h"

static bool is(const char *text, const char *word)
{
	return !strcmp(text, word);
}

static void say_qp(const char *device, const struct table *qp)
{
	const char *why = fact(qp, "why"), *detail = fact(qp, "why_detail");

	printf("Queue pair %s (%s) of a %s on %s has been in state %s for %s", fact(qp, "qpn"),
	       fact(qp, "type"), is(fact(qp, "consumer"), "kernel") ? "kernel user" : "process",
	       device, fact(qp, "state"), ago(number(fact(qp, "since_us"))));
	if (is(why, "created"))
		puts(": it is new.");
	else if (is(why, "modify_qp"))
		puts(": its consumer wanted it so (modify_qp).");
	else if (is(why, "destroy_qp"))
		puts(": it is being destroyed.");
	else if (is(why, "send-failed"))
		printf(" because a work request to send failed: %s.\n", detail);
	else if (is(why, "peer-refused"))
		printf(" because a request of the peer was refused; it was told: %s. See violations.\n",
		       detail);
	else if (is(why, "receive-failed"))
		printf(" because a receive failed: %s.\n", detail);
	else
		printf(" (%s).\n", why);
	if (is(fact(qp, "snapshot"), "busy"))
		puts("Somebody has held it for more than 100 ms, as the fault injector does: what follows may not belong together.");
	if (is(fact(qp, "peer_gid"), "::"))
		return;
	printf("Its peer is queue pair %s at %s; ", fact(qp, "peer_qpn"), fact(qp, "peer_gid"));
	if (is(fact(qp, "peer_seen_us"), "-"))
		puts("no packet has come from there yet.");
	else
		printf("the last packet from there came %s ago.\n",
		       ago(number(fact(qp, "peer_seen_us"))));
}

/* The region that keeps an invalidate waiting */
static void say_inside(const char *device, const char *key)
{
	struct table mrs;
	int row;

	if (!read_table(&mrs, device, "mrs"))
		return;
	row = find_row(&mrs, "key", key);
	if (row < 0)
		return;
	printf("Inside that region %s now",
	       is(cell(&mrs, row, "users"), "1") ? "is 1 access" :
	       text_of("are %s accesses", cell(&mrs, row, "users")));
	if (is(cell(&mrs, row, "peer_gid"), "-"))
		puts("; no peer's access has come to its end there yet.");
	else
		printf("; the last peer that was there before is queue pair %s at %s (%s).\n",
		       cell(&mrs, row, "peer_qpn"), cell(&mrs, row, "peer_gid"),
		       cell(&mrs, row, "last_op"));
}

static void say_retries(const struct table *qp)
{
	unsigned long long max = number(fact(qp, "retries_max"));
	unsigned long long left = number(fact(qp, "retries_left"));
	const char *in = fact(qp, "timeout_in_us");

	printf(", retry %llu of %llu", max - left, max);
	if (!number(fact(qp, "timeout_us")))
		printf("; there is no timeout, so it would wait for ever");
	else if (in[0] != '-')
		printf("; the next one is due in %s", ago(number(in)));
	puts(".");
}

static void say_waits(const char *device, const struct table *qp, const char *since)
{
	const char *waits = fact(qp, "sq_waits_for");

	if (is(waits, "nothing")) {
		puts("All that was posted to send is complete.");
	} else if (is(waits, "ack")) {
		printf("The send queue waits for an acknowledgement of PSN %s since %s",
		       fact(qp, "psn_unacknowledged"), since);
		say_retries(qp);
	} else if (is(waits, "rnr-timer")) {
		printf("The send queue waits %s more, because the peer has no receive posted and said so (RNR NAK); ",
		       ago(number(fact(qp, "rnr_left_us"))));
		if (is(fact(qp, "rnr_retries_max"), "7"))
			puts("it will try for ever.");
		else
			printf("%s of %s retries are left.\n", fact(qp, "rnr_retries_left"),
			       fact(qp, "rnr_retries_max"));
	} else if (is(waits, "drain")) {
		printf("The send queue waits, with an invalidate, until the last access to the region with key %s has ended.\n",
		       fact(qp, "sq_drain_key"));
		say_inside(device, fact(qp, "sq_drain_key"));
	} else if (is(waits, "own-reads")) {
		puts("The send queue waits, with a LOCAL_INV, for the answers of its own READs into that memory.");
	} else if (is(waits, "fence")) {
		puts("The send queue waits, with a work request that has the fence flag, for the answers of earlier READs and atomics.");
	} else if (is(waits, "pages")) {
		puts("The queue pair waits for pages of a region with on-demand paging.");
	} else if (is(waits, "state")) {
		printf("In state %s nothing is sent.\n", fact(qp, "state"));
	} else if (is(waits, "turn")) {
		puts("The send queue has work that it can do at once.");
	} else {
		printf("The send queue waits for: %s.\n", waits);
	}
}

static void say_sends(const char *device, const struct table *qp)
{
	const char *since = "a moment", *out = fact(qp, "sq_outstanding");
	struct table wqes;

	if (!is(out, "0") &&
	    read_table(&wqes, device, text_of("qps/%s/wqes", fact(qp, "qpn"))) && wqes.rows) {
		since = ago(1000 * number(cell(&wqes, 0, "age_ms")));
		printf("%s to send %s outstanding, of %s; the oldest is a %s of %s, posted %s ago, %s.\n",
		       plural(number(out), "work request"), is(out, "1") ? "is" : "are",
		       fact(qp, "sq_depth"), cell(&wqes, 0, "opcode"),
		       bytes(number(cell(&wqes, 0, "length_bytes"))), since,
		       cell(&wqes, 0, "state"));
	}
	say_waits(device, qp, since);
	if (!is(fact(qp, "psn_resending"), "-"))
		printf("Packets are being sent again, from PSN %s on.\n",
		       fact(qp, "psn_resending"));
	if (!is(fact(qp, "count retransmitted_pkts"), "0"))
		printf("So far %s.\n",
		       text_of("%s %s been sent again",
			       plural(number(fact(qp, "count retransmitted_pkts")), "packet"),
			       is(fact(qp, "count retransmitted_pkts"), "1") ? "has" : "have"));
}

static void say_receives(const char *device, const struct table *qp)
{
	printf("It expects PSN %s; %s of the peer %s complete.\n", fact(qp, "psn_expected"),
	       plural(number(fact(qp, "msn")), "message"), is(fact(qp, "msn"), "1") ? "is" : "are");
	if (is(fact(qp, "srq"), "0"))
		printf("%s %s posted.\n", plural(number(fact(qp, "receives_posted")), "receive"),
		       is(fact(qp, "receives_posted"), "1") ? "is" : "are");
	else
		printf("Receives come from shared receive queue number %s.\n", fact(qp, "srq"));
	if (!is(fact(qp, "answers_owed"), "0"))
		printf("It owes the peer %s to READs, atomics or flushes.\n",
		       plural(number(fact(qp, "answers_owed")), "answer"));
	if (!is(fact(qp, "packets_early"), "0"))
		printf("%s came too early and are kept: one before them is missing.\n",
		       plural(number(fact(qp, "packets_early")), "packet"));
	if (is(fact(qp, "parked"), "yes")) {
		printf("A SEND_WITH_INV of the peer waits until the last access to the region with key %s has ended, and what follows it waits too.\n",
		       fact(qp, "parked_key"));
		say_inside(device, fact(qp, "parked_key"));
	}
	if (!is(fact(qp, "last_nak"), "-"))
		printf("The last NAK that it sent was: %s, for PSN %s.\n", fact(qp, "last_nak"),
		       fact(qp, "last_nak_psn"));
}

int explain_qp(const struct devices *devs, const char *qpn)
{
	int i, found = 0;

	qpn = text_of("%llu", number(qpn));
	for (i = 0; i < devs->num; i++) {
		struct table qp;

		if (!read_facts(&qp, devs->names[i], text_of("qps/%s/state", qpn)) || !qp.rows)
			continue;
		if (found++)
			putchar('\n');
		say_qp(devs->names[i], &qp);
		say_sends(devs->names[i], &qp);
		say_receives(devs->names[i], &qp);
	}
	if (!found)
		fprintf(stderr, "wardstat: there is no queue pair %s\n", qpn);
	return found ? DONE : NOT_FOUND;
}

static void say_rights(const char *rights)
{
	static const struct {
		char		letter;
		const char	*text;
	} all[] = {
		{ 'r', "read" }, { 'w', "write" }, { 'a', "do atomics on" },
		{ 'f', "flush" }, { 'p', "flush durably" },
	};
	const char *between = " can ";
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!strchr(rights, all[i].letter))
			continue;
		printf("%s%s", between, all[i].text);
		between = ", ";
	}
}

static void say_access(const struct table *t, int row)
{
	if (is(cell(t, row, "peer_gid"), "-"))
		puts("No peer has touched it.");
	else
		printf("Peers have read %s and written %s; the last was queue pair %s at %s, through queue pair %s here: %s, %s ago.\n",
		       bytes(number(cell(t, row, "read_bytes"))),
		       bytes(number(cell(t, row, "written_bytes"))), cell(t, row, "peer_qpn"),
		       cell(t, row, "peer_gid"), cell(t, row, "qpn"), cell(t, row, "last_op"),
		       ago(number(cell(t, row, "last_us_ago"))));
	if (!is(cell(t, row, "refused"), "0"))
		printf("%s to it %s been refused; %s/*/violations has the last ones.\n",
		       plural(number(cell(t, row, "refused")), "access"),
		       is(cell(t, row, "refused"), "1") ? "has" : "have", debugfs);
}

static void say_mr(const char *device, const struct table *t, int row, bool window)
{
	const char *state = cell(t, row, "state"), *rights = cell(t, row, "rights");
	bool exposed = !is(cell(t, row, "exposed_us"), "-");
	struct table mrs;
	int now;

	printf("%s %s on %s (%s, PD %s) is %s, in its generation %s.\n",
	       window ? "Window" : "Region", cell(t, row, "key"), device, cell(t, row, "kind"),
	       cell(t, row, "pd"), state, cell(t, row, "generation"));
	if (exposed) {
		printf("Peers with its key, through queue pairs of PD %s,", cell(t, row, "pd"));
		say_rights(rights);
		printf(" %s from address %s on, since %s.\n",
		       bytes(number(cell(t, row, "length_bytes"))), cell(t, row, "iova"),
		       ago(number(cell(t, row, "exposed_us"))));
		if (read_table(&mrs, device, "mrs.exposed")) {
			now = find_row(&mrs, "key", cell(t, row, "key"));
			if (is(cell(&mrs, now, "orphaned"), "yes"))
				puts("It is ORPHANED: no queue pair of its PD can receive, so nobody should have it open.");
		}
	} else if (is(state, "VALID")) {
		puts("No peer can reach it: its registration grants no remote right.");
	} else {
		puts("No peer can reach it.");
	}
	if (is(state, "DRAINING"))
		printf("It is being put out of reach (%s) and waits for %s inside.\n",
		       cell(t, row, "ended_by"), plural(number(cell(t, row, "users")), "user"));
	say_access(t, row);
	if (!is(cell(t, row, "exposures"), "0"))
		printf("It was exposed %s before, %s in all, %s at most; the last one ended by %s and took %s to drain.\n",
		       plural(number(cell(t, row, "exposures")), "time"),
		       ago(number(cell(t, row, "exposed_total_us"))),
		       ago(number(cell(t, row, "exposed_longest_us"))), cell(t, row, "ended_by"),
		       ago(number(cell(t, row, "drain_last_us"))));
}

/* By all of the key, or else by the 24 bits that stay */
static int find_key(const struct table *t, unsigned long long key)
{
	int row, near = -1;

	for (row = 0; row < t->rows; row++) {
		unsigned long long k = number(cell(t, row, "key"));

		if (k == key)
			return row;
		if (k >> 8 == key >> 8)
			near = row;
	}
	return near;
}

int explain_mr(const struct devices *devs, const char *key)
{
	static const char *const files[] = { "mrs", "mws" };
	int i, f, row, found = 0;

	for (i = 0; i < devs->num; i++) {
		for (f = 0; f < 2; f++) {
			struct table t;

			if (!read_table(&t, devs->names[i], files[f]))
				continue;
			row = find_key(&t, number(key));
			if (row < 0)
				continue;
			if (found++)
				putchar('\n');
			if (number(cell(&t, row, "key")) != number(key))
				printf("The region has another key by now: %s.\n",
				       cell(&t, row, "key"));
			say_mr(devs->names[i], &t, row, f);
		}
	}
	if (!found)
		fprintf(stderr, "wardstat: no region or window has the key %s\n", key);
	return found ? DONE : NOT_FOUND;
}

static void say_pd(const char *device, const struct table *pds, int row)
{
	const char *pd = cell(pds, row, "pd");
	struct table qp, mrs;
	int i, num = 0;
	char **qps;

	printf("PD %s on %s belongs to ", pd, device);
	if (is(cell(pds, row, "owner"), "process"))
		printf("process %s (%s).\n", cell(pds, row, "pid"), cell(pds, row, "name"));
	else
		printf("the kernel (%s).\n", cell(pds, row, "name"));
	printf("It has %s, %s, %s, %s and %s.\n",
	       plural(number(cell(pds, row, "qps")), "queue pair"),
	       plural(number(cell(pds, row, "mrs")), "region"),
	       plural(number(cell(pds, row, "mws")), "window"),
	       plural(number(cell(pds, row, "srqs")), "shared receive queue"),
	       plural(number(cell(pds, row, "ahs")), "address handle"));
	printf("Peers can reach %s of its memory now, through %s that can receive.\n",
	       bytes(number(cell(pds, row, "exposed_bytes"))),
	       plural(number(cell(pds, row, "qps_receiving")), "queue pair"));
	qps = list_folder(text_of("%s/%s/qps", debugfs, device), &num);
	for (i = 0; i < num; i++) {
		if (!read_facts(&qp, device, text_of("qps/%s/state", qps[i])) ||
		    !is(fact(&qp, "pd"), pd) || is(fact(&qp, "peer_gid"), "::"))
			continue;
		printf("  queue pair %s, %s: its peer is %s at %s\n", qps[i], fact(&qp, "state"),
		       fact(&qp, "peer_qpn"), fact(&qp, "peer_gid"));
	}
	if (!read_table(&mrs, device, "mrs.exposed"))
		return;
	for (i = 0; i < mrs.rows; i++)
		if (is(cell(&mrs, i, "pd"), pd))
			printf("  region %s: %s, rights %s, since %s%s\n", cell(&mrs, i, "key"),
			       bytes(number(cell(&mrs, i, "length_bytes"))),
			       cell(&mrs, i, "rights"),
			       ago(number(cell(&mrs, i, "exposed_us"))),
			       is(cell(&mrs, i, "orphaned"), "yes") ? ", ORPHANED" : "");
}

int explain_pd(const struct devices *devs, const char *pd)
{
	int i, row, found = 0;

	for (i = 0; i < devs->num; i++) {
		struct table pds;

		if (!read_table(&pds, devs->names[i], "pds"))
			continue;
		row = find_row(&pds, "pd", pd);
		if (row < 0)
			continue;
		if (found++)
			putchar('\n');
		say_pd(devs->names[i], &pds, row);
	}
	if (!found)
		fprintf(stderr, "wardstat: there is no PD %s\n", pd);
	return found ? DONE : NOT_FOUND;
}
