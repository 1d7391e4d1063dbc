/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rules of the fault injector: their text, and what they apply to.
 *
 *	FAULT [FILTER]...
 *
 *	drop			the packet is lost
 *	duplicate[=MS]		it comes twice, the second time so much later
 *	delay=MS		it comes later
 *	reorder			it comes after the next one of its QP and direction
 *	corrupt=icrc|payload|header	a bit of it is wrong
 *	nak=sequence|invalid|access|operation	the responder refuses the request
 *	rnr[=TIMER]		the responder has no receive for it (a code of the AETH)
 *	hold[=MS]		the QP stops between the check of a key and the copy
 *	hold-last[=MS]		likewise, before the last word of a message is stored
 *	fail[=PLACE]		an allocation fails; WARD_INJECT_PLACES has the names
 *
 *	dir=in|out|local	packets received, packets sent, copies within the host
 *	qp=NUMBER		of the QP on this device
 *	peer=ADDRESS		IPv4 or IPv6
 *	op=NAME|NUMBER		send, write, read, atomic, atomic-write, flush, response (of a
 *				READ), ack, atomic-ack; or an opcode of the BTH
 *	psn=NUMBER[-NUMBER]
 *	nth=NUMBER		only the so manyth that all of the above applies to
 *	times=NUMBER		so many of them at most
 *	prob=PERCENT		by chance, the same one for the same seed=NUMBER
 *	for=MS			from now on
 */
#ifndef _WARD_WATCH_RULES_H
#define _WARD_WATCH_RULES_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct seq_file;

enum ward_injection {
	WARD_FAULT_NONE,
	WARD_FAULT_DROP,
	WARD_FAULT_DUPLICATE,	/* arg: ms */
	WARD_FAULT_DELAY,	/* arg: ms */
	WARD_FAULT_REORDER,
	WARD_FAULT_CORRUPT,	/* arg: WARD_CORRUPT_* */
	WARD_FAULT_NAK,		/* arg: AETH syndrome */
	WARD_FAULT_RNR,		/* arg: timer code */
	WARD_FAULT_HOLD,	/* arg: ms, 0: until the rule is cleared */
	WARD_FAULT_HOLD_LAST,	/* arg: the same */
	WARD_FAULT_FAIL,	/* arg: enum ward_inject_place, 0: any */
};

enum {
	WARD_CORRUPT_ICRC,
	WARD_CORRUPT_PAYLOAD,
	WARD_CORRUPT_HEADER,
};

/* Where something happens; bits */
enum ward_inject_dir {
	WARD_INJECT_IN		= 1,
	WARD_INJECT_OUT		= 2,
	WARD_INJECT_LOCAL	= 4,
};

/* Allocations that a rule can have fail. X(enum name, name in rules) */
#define WARD_INJECT_PLACES(X) \
	X(PACKET, packet)	/* a packet that is kept until it is acknowledged */ \
	X(REPLY, reply)		/* an answer or an acknowledgement */ \
	X(DATAGRAM, datagram)	/* a datagram to send */ \
	X(SKB, skb)		/* what carries a packet through the stack */ \
	X(MR, mr)		/* a region or window */ \
	X(PAGES, pages)		/* the page list of a region, by a verb */ \
	X(STAGE, stage)		/* the same, by map_mr_sg */ \
	X(PATH, path)		/* an address vector */ \
	X(QP, qp)		/* a queue pair */ \
	X(QUEUE, queue)		/* its queues */ \
	X(READS, reads)		/* what its responder needs for READs */

enum ward_inject_place {
	WARD_AT_ANY,
#define X(id, name) WARD_AT_##id,
	WARD_INJECT_PLACES(X)
#undef X
	WARD_AT_MAX
};

/**
 * struct ward_happening - what rules are asked about
 * @dir:    where
 * @qpn:    QP on this device
 * @opcode: of the BTH
 * @psn:    PSN
 * @peer:   address of the other side; all zero: unknown
 * @place:  an allocation; then nothing else is looked at
 */
struct ward_happening {
	enum ward_inject_dir	dir;
	u32			qpn;
	u8			opcode;
	u32			psn;
	union ib_gid		peer;
	enum ward_inject_place	place;
};

/**
 * struct ward_rules - the rules of a device
 * @lock:  all of it; taken with interrupts off
 * @list:  rules, the oldest first
 * @num:   how many
 * @last:  number of the newest
 * @holds: how many of them hold; read anywhere
 * @packets: how many are about packets only, so that there must be packets; read anywhere
 * @error: why the last line that was refused was
 */
struct ward_rules {
	spinlock_t		lock;	/* see above */
	struct list_head	list;
	u32			num;
	u32			last;
	u32			holds;
	u32			packets;
	char			error[128];
};

/* Counts of a rule, for those who watch one */
struct ward_rule_counts {
	u32	seen;
	u32	hits;
	u32	held;
};

void ward_rules_init(struct ward_rules *rules);
int ward_rules_add(struct ward_rules *rules, const char *text);
int ward_rules_clear(struct ward_rules *rules, u32 id);
void ward_rules_show(struct ward_rules *rules, struct seq_file *s);
u32 ward_rules_match(struct ward_rules *rules, unsigned long faults,
		     const struct ward_happening *at, enum ward_injection *fault, u32 *arg);
bool ward_rules_hold(struct ward_rules *rules, u32 id, int change, u32 *arg);
int ward_rules_counts(struct ward_rules *rules, u32 id, struct ward_rule_counts *counts);

#endif /* _WARD_WATCH_RULES_H */
