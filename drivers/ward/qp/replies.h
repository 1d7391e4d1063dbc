/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a responder owes its peer: the answers to READs, atomics and flushes, in
 * their order, and acknowledgements.
 */
#ifndef _WARD_QP_REPLIES_H
#define _WARD_QP_REPLIES_H

#include <linux/types.h>

struct ward_qp;
struct ward_run;

/**
 * struct ward_reply - one answer that is owed
 * @atomic: to an atomic: the answer is @orig. Else to a READ; one of no bytes serves flushes too
 * @first:  nothing of it has been sent
 * @fresh:  it is asked for the first time
 * @psn:    of the next packet
 * @msn:    message sequence number
 * @orig:   atomic: what was there before
 * @va:     READ: address of the next byte
 * @rkey:   READ: key
 * @left:   READ: bytes to send
 */
struct ward_reply {
	bool	atomic;
	bool	first;
	bool	fresh;
	u32	psn;
	u32	msn;
	u64	orig;
	u64	va;
	u32	rkey;
	u32	left;
};

/**
 * struct ward_replies - all that are owed; the owner's
 * @ring:    oldest at @head; room for two times @max, as the peer may ask once more for each
 * @max:     requests that the peer may have outstanding: max_dest_rd_atomic
 * @head:    see @ring
 * @num:     how many there are
 * @num_new: of these, asked for the first time
 */
struct ward_replies {
	struct ward_reply	*ring;
	u32			max;
	u32			head;
	u32			num;
	u32			num_new;
};

enum ward_replied {
	WARD_REPLIED,		/* one packet was sent */
	WARD_REPLY_LATER,	/* there is no memory just now */
	WARD_REPLY_PARKED,	/* the QP waits for pages */
	WARD_REPLY_REFUSED,	/* the region has been invalidated meanwhile; all is dropped */
};

int ward_replies_setup(struct ward_replies *a, u32 max);
void ward_replies_exit(struct ward_replies *a);
void ward_replies_forget(struct ward_replies *a);
bool ward_replies_add(struct ward_replies *a, const struct ward_reply *answer);
enum ward_replied ward_replies_send(struct ward_run *run, u32 *psn);
void ward_ack_send(struct ward_qp *qp, u8 syndrome, u32 psn);

/* ward_replies_full() - whether the peer has as many requests outstanding as it may */
static inline bool ward_replies_full(const struct ward_replies *a)
{
	return a->num_new == a->max;
}

#endif /* _WARD_QP_REPLIES_H */
