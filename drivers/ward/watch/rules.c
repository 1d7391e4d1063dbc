// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the fault injector.
 *
 * A rule that is not understood to the last word is refused, and changes nothing: a test that
 * believes in a fault which never comes is worse than none.
 */
#include <linux/array_size.h>
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/prandom.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "../proto/opcode.h"
#include "rules.h"

#define MAX_RULES	64
#define MAX_TEXT	160
/* Longer than any test should take, short enough for jiffies on 32 bits */
#define MAX_MS		(24 * 3600 * 1000)

struct rule {
	struct list_head	entry;
	u32			id;
	enum ward_injection		fault;
	u32			arg;

	u8			dirs;
	u32			qpn;		/* 0: any */
	u8			msg;		/* 0: any */
	int			opcode;		/* -1: any */
	bool			has_peer, has_psn;
	union ib_gid		peer;
	u32			psn, psn_end;
	u32			nth, times;	/* 0: all */
	u32			percent;
	struct rnd_state	rnd;
	bool			ends;
	unsigned long		end;		/* jiffies */

	struct ward_rule_counts	n;
	char			text[MAX_TEXT];
};

static const struct word {
	const char	*name;
	u32		value;
} naks[] = {
	{ "sequence", WARD_NAK_SEQUENCE },
	{ "invalid", WARD_NAK_INVALID },
	{ "access", WARD_NAK_ACCESS },
	{ "operation", WARD_NAK_OPERATION },
	{}
}, places[] = {
#define X(id, name) { #name, WARD_AT_##id },
	WARD_INJECT_PLACES(X)
#undef X
	{}
}, corruption_words[] = {
	{ "icrc", WARD_CORRUPT_ICRC },
	{ "payload", WARD_CORRUPT_PAYLOAD },
	{ "header", WARD_CORRUPT_HEADER },
	{}
}, dirs[] = {
	{ "in", WARD_INJECT_IN },
	{ "out", WARD_INJECT_OUT },
	{ "local", WARD_INJECT_LOCAL },
	{}
}, ops[] = {
	{ "send", WARD_MSG_SEND },
	{ "write", WARD_MSG_WRITE },
	{ "read", WARD_MSG_READ },
	{ "atomic", WARD_MSG_ATOMIC },
	{ "atomic-write", WARD_MSG_ATOMIC_WRITE },
	{ "flush", WARD_MSG_FLUSH },
	{ "response", WARD_MSG_READ_RESP },
	{ "ack", WARD_MSG_ACK },
	{ "atomic-ack", WARD_MSG_ATOMIC_ACK },
	{}
};

#define PACKETS		(WARD_INJECT_IN | WARD_INJECT_OUT)
#define TAKEN		(WARD_INJECT_IN | WARD_INJECT_LOCAL)

/* @words, or @max: what may stand behind "="; @must: something has to */
static const struct fault {
	const char		*name;
	u8			dirs;
	bool			must;
	const struct word	*words;
	u32			max;
} faults[] = {
	[WARD_FAULT_DROP]	= { "drop", PACKETS },
	[WARD_FAULT_DUPLICATE]	= { "duplicate", PACKETS, .max = MAX_MS },
	[WARD_FAULT_DELAY]	= { "delay", PACKETS, true, .max = MAX_MS },
	[WARD_FAULT_REORDER]	= { "reorder", PACKETS },
	[WARD_FAULT_CORRUPT]	= { "corrupt", PACKETS, true, corruption_words },
	[WARD_FAULT_NAK]	= { "nak", WARD_INJECT_IN, true, naks },
	[WARD_FAULT_RNR]	= { "rnr", WARD_INJECT_IN, .max = 31 },
	[WARD_FAULT_HOLD]	= { "hold", PACKETS | WARD_INJECT_LOCAL, .max = MAX_MS },
	[WARD_FAULT_HOLD_LAST]	= { "hold-last", TAKEN, .max = MAX_MS },
	[WARD_FAULT_FAIL]	= { "fail", 0, false, places },
};

/**
 * ward_rules_init() - no rules
 * @rules: of a new device
 */
void ward_rules_init(struct ward_rules *rules)
{
	spin_lock_init(&rules->lock);
	INIT_LIST_HEAD(&rules->list);
}

static bool is_hold(const struct rule *r)
{
	return r->fault == WARD_FAULT_HOLD || r->fault == WARD_FAULT_HOLD_LAST;
}

static bool find_word(const struct word *words, const char *name, u32 *value)
{
	for (; words->name; words++) {
		if (strcmp(words->name, name))
			continue;
		*value = words->value;
		return true;
	}
	return false;
}

static bool number(const char *text, u32 min, u32 max, u32 *value)
{
	return text && !kstrtou32(text, 0, value) && *value >= min && *value <= max;
}

static const char *parse_fault(struct rule *r, const char *name, const char *value)
{
	const struct fault *f;
	int i;

	for (i = 1; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(faults[i].name, name))
			break;
	if (i == ARRAY_SIZE(faults))
		return "no such fault";
	f = &faults[i];
	r->fault = i;
	r->dirs = f->dirs;
	if (!value)
		return f->must ? "needs a value" : NULL;
	if (f->words)
		return find_word(f->words, value, &r->arg) ? NULL : "no such value";
	if (!f->max)
		return "takes no value";
	return number(value, 0, f->max, &r->arg) ? NULL : "value out of range";
}

static const char *parse_peer(struct rule *r, const char *value)
{
	struct in6_addr *addr = (struct in6_addr *)r->peer.raw;
	__be32 in4;

	r->has_peer = true;
	if (in4_pton(value, -1, (u8 *)&in4, -1, NULL))
		ipv6_addr_set_v4mapped(in4, addr);
	else if (!in6_pton(value, -1, addr->s6_addr, -1, NULL))
		return "no address";
	return NULL;
}

static const char *parse_psn(struct rule *r, char *value)
{
	char *from = strsep(&value, "-");

	r->has_psn = true;
	if (!number(from, 0, WARD_24BITS, &r->psn))
		return "no PSN";
	r->psn_end = r->psn;
	if (value && !number(value, 0, WARD_24BITS, &r->psn_end))
		return "no PSN";
	return NULL;
}

/* Return: the reason for a refusal, or NULL; @seed is for later, it may stand before prob= */
static const char *parse_filter(struct rule *r, const char *name, char *value, u32 *seed)
{
	u32 n;

	if (!value || !*value)
		return "needs a value";
	if (!strcmp(name, "nth"))
		return number(value, 1, U32_MAX, &r->nth) ? NULL : "no number from 1 on";
	if (!strcmp(name, "times"))
		return number(value, 1, U32_MAX, &r->times) ? NULL : "no number from 1 on";
	if (!strcmp(name, "prob"))
		return number(value, 0, 100, &r->percent) ? NULL : "no number from 0 to 100";
	if (!strcmp(name, "seed"))
		return number(value, 0, U32_MAX, seed) ? NULL : "no number";
	if (!strcmp(name, "for")) {
		if (!number(value, 1, MAX_MS, &n))
			return "no number of ms";
		r->ends = true;
		r->end = jiffies + msecs_to_jiffies(n);
		return NULL;
	}
	if (r->fault == WARD_FAULT_FAIL)
		return "not for allocations";
	if (!strcmp(name, "dir")) {
		if (!find_word(dirs, value, &n))
			return "no direction";
		if (!(r->dirs & n))
			return "not for this fault";
		r->dirs = n;
		return NULL;
	}
	if (!strcmp(name, "qp"))
		return number(value, 1, WARD_24BITS, &r->qpn) ? NULL : "no QP number";
	if (!strcmp(name, "peer"))
		return parse_peer(r, value);
	if (!strcmp(name, "psn"))
		return parse_psn(r, value);
	if (!strcmp(name, "op")) {
		if (find_word(ops, value, &n)) {
			r->msg = n;
			return NULL;
		}
		if (!number(value, 0, U8_MAX, &n))
			return "no operation";
		r->opcode = n;
		return NULL;
	}
	return "no such word";
}

/* Return: the reason for a refusal, or NULL; @word becomes the word that it is about */
static const char *parse(struct rule *r, char *text, const char **word)
{
	const char *why;
	u32 seed = 0;
	char *name;

	r->opcode = -1;
	r->percent = 100;
	*word = "";
	while ((name = strsep(&text, " \t"))) {
		char *value = name;

		if (!*name)
			continue;
		strsep(&value, "=");
		*word = name;
		why = r->fault ? parse_filter(r, name, value, &seed) :
		      parse_fault(r, name, value);
		if (why)
			return why;
	}
	prandom_seed_state(&r->rnd, seed);
	return r->fault ? NULL : "no fault";
}

static void set_error(struct ward_rules *rules, const char *word, const char *why)
{
	pr_err("inject: %s: %s\n", word, why);
	spin_lock_irq(&rules->lock);
	snprintf(rules->error, sizeof(rules->error), "%s: %s", word, why);
	spin_unlock_irq(&rules->lock);
}

static void count_kinds(struct ward_rules *rules, const struct rule *r, int change)
{
	if (is_hold(r))
		WRITE_ONCE(rules->holds, rules->holds + change);
	if (r->dirs && !(r->dirs & WARD_INJECT_LOCAL))
		WRITE_ONCE(rules->packets, rules->packets + change);
}

/**
 * ward_rules_add() - add a rule
 * @rules: the rules
 * @text:  the rule, without a newline; rules.h tells what it may say
 *
 * Context: may sleep.
 * Return: the number of the rule, -EINVAL with a reason in the log and in the file, or -ENOMEM.
 */
int ward_rules_add(struct ward_rules *rules, const char *text)
{
	struct rule *r = kzalloc(sizeof(*r), GFP_KERNEL);
	char *copy = kstrdup(text, GFP_KERNEL);
	const char *word = "", *why;
	int id = -EINVAL;

	if (!r || !copy) {
		id = -ENOMEM;
		goto out;
	}
	if (strscpy(r->text, text, sizeof(r->text)) < 0)
		why = "the line is too long";
	else
		why = parse(r, copy, &word);
	if (!why) {
		spin_lock_irq(&rules->lock);
		if (rules->num < MAX_RULES) {
			id = ++rules->last;
			r->id = id;
			rules->num++;
			count_kinds(rules, r, 1);
			list_add_tail(&r->entry, &rules->list);
			r = NULL;
		} else {
			why = "too many rules";
		}
		spin_unlock_irq(&rules->lock);
	}
	if (why)
		set_error(rules, word, why);
out:
	kfree(copy);
	kfree(r);
	return id;
}

/**
 * ward_rules_clear() - remove a rule, or all
 * @rules: the rules
 * @id:    its number; 0: all
 *
 * Context: may sleep.
 * Return: how many were removed.
 */
int ward_rules_clear(struct ward_rules *rules, u32 id)
{
	struct rule *r, *next;
	LIST_HEAD(gone);
	int n = 0;

	spin_lock_irq(&rules->lock);
	list_for_each_entry_safe(r, next, &rules->list, entry) {
		if (id && r->id != id)
			continue;
		count_kinds(rules, r, -1);
		list_move(&r->entry, &gone);
		rules->num--;
		n++;
	}
	spin_unlock_irq(&rules->lock);
	list_for_each_entry_safe(r, next, &gone, entry)
		kfree(r);
	return n;
}

static bool is_over(const struct rule *r)
{
	return r->ends && time_after(jiffies, r->end);
}

/**
 * ward_rules_show() - all rules, with their counts
 * @rules: the rules
 * @s:     to this file
 *
 * Context: may sleep.
 */
void ward_rules_show(struct ward_rules *rules, struct seq_file *s)
{
	struct rule *r;

	seq_puts(s, "# number\tseen\thits\theld\tstate\trule\n");
	spin_lock_irq(&rules->lock);
	list_for_each_entry(r, &rules->list, entry)
		seq_printf(s, "%u\t%u\t%u\t%u\t%s\t%s\n", r->id, r->n.seen, r->n.hits, r->n.held,
			   is_over(r) ? "over" : "on", r->text);
	if (rules->error[0])
		seq_printf(s, "# last error: %s\n", rules->error);
	spin_unlock_irq(&rules->lock);
}

static bool psn_fits(const struct rule *r, u32 psn)
{
	/* a range may go beyond the highest PSN */
	return ((psn - r->psn) & WARD_24BITS) <= ((r->psn_end - r->psn) & WARD_24BITS);
}

static bool applies(const struct rule *r, const struct ward_happening *at)
{
	if (is_over(r))
		return false;
	if (r->fault == WARD_FAULT_FAIL)
		return !r->arg || r->arg == at->place;
	return (r->dirs & at->dir) &&
	       (!r->qpn || r->qpn == at->qpn) &&
	       (!r->msg || r->msg == ward_opcode(at->opcode)->msg) &&
	       (r->opcode < 0 || r->opcode == at->opcode) &&
	       (!r->has_psn || psn_fits(r, at->psn)) &&
	       (!r->has_peer || !memcmp(&r->peer, &at->peer, sizeof(r->peer)));
}

static bool fires(struct rule *r, const struct ward_happening *at)
{
	if (!applies(r, at))
		return false;
	r->n.seen++;
	if (r->nth && r->n.seen != r->nth)
		return false;
	if (r->times && r->n.hits >= r->times)
		return false;
	if (r->percent < 100 && prandom_u32_state(&r->rnd) % 100 >= r->percent)
		return false;
	r->n.hits++;
	return true;
}

/**
 * ward_rules_match() - what shall happen here
 * @rules:  the rules
 * @faults: bits of enum ward_injection that can happen here
 * @at:     where it is
 * @fault:  returns the fault
 * @arg:    returns its value
 *
 * Context: any.
 * Return: the number of the first rule that fires, or 0.
 */
u32 ward_rules_match(struct ward_rules *rules, unsigned long faults,
		     const struct ward_happening *at, enum ward_injection *fault, u32 *arg)
{
	unsigned long flags;
	struct rule *r;
	u32 id = 0;

	*fault = WARD_FAULT_NONE;
	spin_lock_irqsave(&rules->lock, flags);
	list_for_each_entry(r, &rules->list, entry) {
		if (!(faults & BIT(r->fault)) || !fires(r, at))
			continue;
		id = r->id;
		*fault = r->fault;
		*arg = r->arg;
		break;
	}
	spin_unlock_irqrestore(&rules->lock, flags);
	return id;
}

static struct rule *find_locked(struct ward_rules *rules, u32 id)
{
	struct rule *r;

	lockdep_assert_held(&rules->lock);
	list_for_each_entry(r, &rules->list, entry)
		if (r->id == id)
			return r;
	return NULL;
}

/**
 * ward_rules_hold() - whether a rule that holds is still in force
 * @rules:  the rules
 * @id:     its number
 * @change: what to add to the number of those who are held by it
 * @arg:    returns its value
 *
 * Context: any.
 * Return: whether it is.
 */
bool ward_rules_hold(struct ward_rules *rules, u32 id, int change, u32 *arg)
{
	unsigned long flags;
	struct rule *r;
	bool holds;

	spin_lock_irqsave(&rules->lock, flags);
	r = find_locked(rules, id);
	holds = r && !is_over(r);
	if (r) {
		r->n.held += change;
		*arg = r->arg;
	}
	spin_unlock_irqrestore(&rules->lock, flags);
	return holds;
}

/**
 * ward_rules_counts() - how often a rule has applied
 * @rules:  the rules
 * @id:     its number
 * @counts: filled in
 *
 * Context: any.
 * Return: 0, or -ENOENT.
 */
int ward_rules_counts(struct ward_rules *rules, u32 id, struct ward_rule_counts *counts)
{
	unsigned long flags;
	struct rule *r;

	spin_lock_irqsave(&rules->lock, flags);
	r = find_locked(rules, id);
	if (r)
		*counts = r->n;
	spin_unlock_irqrestore(&rules->lock, flags);
	return r ? 0 : -ENOENT;
}
