/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way to a QP of this host without packets: local steps.
 *
 * The run of the requester becomes the owner of the peer as well, and executes a
 * step of a work request, of at most WARD_STEP bytes, from memory to memory, in
 * the responder of the peer. While it does, both QPs have one owner; so whoever
 * owns one of them, a verb that is a fence above all (F32, F33), knows that no
 * step is under way, and nothing has to be called back.
 */
#ifndef _WARD_QP_LOCAL_H
#define _WARD_QP_LOCAL_H

#include <linux/types.h>

struct ward_run;
struct ward_swqe;

/* How the next bytes of a work request go */
enum ward_way {
	WARD_PACKETS,	/* as packets */
	WARD_LOCAL,	/* as a local step; the peer is owned */
	WARD_WAIT,	/* not now: a run will come when it can be told */
};

enum ward_way ward_local_way(struct ward_run *run, struct ward_swqe *wqe);
bool ward_local_step(struct ward_run *run, struct ward_swqe *wqe);
void ward_local_resume(struct ward_run *run);
void ward_local_end(struct ward_run *run);

#endif /* _WARD_QP_LOCAL_H */
