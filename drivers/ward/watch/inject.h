/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fault injector: what can go wrong, on purpose. rules.h has the language of its rules;
 * root writes them to /sys/kernel/debug/ward/<device>/inject, a line each, and "clear" or
 * "clear NUMBER". Without a rule on any device every hook is a jump that is not taken.
 *
 * Hold
 * ====
 * A hold stops a QP between the check of a key and the copy, inside the guard of the region and
 * as the owner of the QP. So whoever has to wait for the access (an invalidate, dereg_mr), or for
 * the QP (modify_qp, destroy_qp, query_qp), does; all other QPs run on, and what comes for the
 * QP meanwhile waits in its inbox, which is bounded. The copy goes on when the rule's time is
 * over, when the rule is cleared, or when the device begins to be unregistered or to move to
 * another namespace, in whatever way.
 *
 * Softirqs cannot wait. Therefore, while a device has a rule that holds, its runs are work items
 * (qp/qp.c), and a hold simply sleeps. A run that had begun before is not held. There is nothing
 * to park and resume for the caller: after a hook the world is as it was before.
 *
 * For that a hook may be called only from a run, as deep as one likes, but with BH disabled and
 * RCU held once (by the run itself), without a lock, and nothing that was found under RCU may
 * be used after it unless something else keeps it: the guard a region, the ownership the path.
 *
 * How to call it:
 * - where check and copy are two calls, and for local copies, between them:
 *	ward_access_begin(a, ...);
 *	ward_inject_hold(run, WARD_INJECT_LOCAL, opcode, 0);
 *	copy...
 * - where they are one call (ward_sges_*), before it; then the next ward_access_read(), _write()
 *   and so on through this access is held, which is after the check:
 *	ward_inject_arm(run, &run->local, WARD_INJECT_OUT, pkt->opcode, pkt->psn);
 *	ward_sges_read(&run->local, ...);
 */
#ifndef _WARD_WATCH_INJECT_H
#define _WARD_WATCH_INJECT_H

#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../mem/copy.h"
#include "probe.h"
#include "rules.h"

struct sk_buff;
struct ward_access;
struct ward_device;
struct ward_path;
struct ward_pkt;
struct ward_qp;
struct ward_run;

/* Runs held at a time, each of which takes a worker that all devices share; more are not held */
#define WARD_MAX_HELD	64
/* Packets that one device keeps for later; more are lost */
#define WARD_MAX_KEPT	4096

/**
 * struct ward_inject - the fault injector of a device
 * @rules:  its rules
 * @wait:   runs that are held wait here
 * @kept:   packets that go on later; under rules.lock
 * @num_kept: how many they are; under rules.lock
 * @work:   takes care of them
 * @probe:  the question last asked (probe.h); under rules.lock
 */
struct ward_inject {
	struct ward_rules	rules;
	wait_queue_head_t	wait;
	struct list_head	kept;
	u32			num_kept;
	struct delayed_work	work;
	struct ward_probe	probe;
};

/* On while any device has a rule */
DECLARE_STATIC_KEY_FALSE(ward_inject_key);
#define ward_injecting()	static_branch_unlikely(&ward_inject_key)

/* Runs of devices whose rules hold; like ward_wq */
extern struct workqueue_struct *ward_inject_wq;

int ward_inject_module_init(void);
void ward_inject_module_exit(void);
void ward_inject_init(struct ward_device *dev);
void ward_inject_exit(struct ward_device *dev);
void ward_inject_show_in(struct ward_device *dev);
void ward_inject_forget(struct ward_qp *qp);

/* For debugfs and KUnit */
int ward_inject_add(struct ward_device *dev, const char *text);
int ward_inject_clear(struct ward_device *dev, u32 id);
int ward_inject_line(struct ward_device *dev, char *line);

/* Hooks; to be called while ward_injecting() */
int ward_inject_out(struct ward_qp *qp, struct ward_path *path, struct sk_buff *skb, u16 id);
struct sk_buff *ward_inject_in(struct ward_qp *qp, struct sk_buff *skb);
u8 ward_inject_nak(struct ward_qp *qp, const struct ward_pkt *pkt);
bool __ward_inject_fails(struct ward_device *dev, enum ward_inject_place place);
void __ward_inject_arm(struct ward_run *run, struct ward_access *a, enum ward_inject_dir dir,
		       u8 opcode, u32 psn);
void __ward_inject_pause(u32 *id, struct ward_access *a);
void __ward_inject_hold(struct ward_run *run, enum ward_inject_dir dir, u8 opcode, u32 psn);

/* ward_inject_fails() - whether an allocation is to fail. Any context. */
static inline bool ward_inject_fails(struct ward_device *dev, enum ward_inject_place place)
{
	return ward_injecting() && __ward_inject_fails(dev, place);
}

/* ward_inject_arm() - hold the next copy through @a if a rule says so; see above */
static inline void ward_inject_arm(struct ward_run *run, struct ward_access *a,
				   enum ward_inject_dir dir, u8 opcode, u32 psn)
{
	if (ward_injecting())
		__ward_inject_arm(run, a, dir, opcode, psn);
}

/* ward_inject_pause() - the next copy through @a comes now; mem/copy.c calls it */
static inline void ward_inject_pause(struct ward_access *a)
{
	if (ward_injecting())
		__ward_inject_pause(&a->hold, a);
}

/* ward_inject_pause_last() - so does the last word of the message */
static inline void ward_inject_pause_last(struct ward_access *a)
{
	if (ward_injecting())
		__ward_inject_pause(&a->hold_last, a);
}

/* ward_inject_hold() - hold the run here if a rule says so; see above */
static inline void ward_inject_hold(struct ward_run *run, enum ward_inject_dir dir, u8 opcode,
				    u32 psn)
{
	if (ward_injecting())
		__ward_inject_hold(run, dir, opcode, psn);
}

#endif /* _WARD_WATCH_INJECT_H */
