/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The completer's judgement of a response by its PSN, syndrome and shape.
 */
#ifndef _WARD_PROTO_COMPLETER_H
#define _WARD_PROTO_COMPLETER_H

#include <linux/types.h>
#include "packet.h"

/**
 * struct ward_flight - what a requester has under way
 * @una:        oldest PSN that is not acknowledged
 * @nxt:        PSN after the newest that was ever sent, so it does not go back when the requester
 *              sends again; @una == @nxt when nothing is under way
 * @resp_psn:   first PSN that is still awaited of the oldest READ or atomic without full
 *              response; not below @una. It moves on with each packet of a READ response,
 *              and then @una with it, so READ responses that came already lie below @una
 * @resp_last:  its last PSN
 * @resp_wait:  whether there is one
 * @resp_atomic: it is an atomic
 * @resp_bytes: READ: payload bytes still awaited
 * @mtu:        path MTU in bytes
 */
struct ward_flight {
	u32	una;
	u32	nxt;
	u32	resp_psn;
	u32	resp_last;
	bool	resp_wait;
	bool	resp_atomic;
	u32	resp_bytes;
	u32	mtu;
};

enum ward_answer {
	WARD_ANS_DROP,		/* old, from nowhere, or of a reserved kind */
	WARD_ANS_ACK,		/* all up to and including .psn is acknowledged */
	WARD_ANS_DATA,		/* the awaited response packet; all before .psn is acknowledged */
	WARD_ANS_LOST,		/* the response at .psn was lost: all before .psn is acknowledged,
				 * send again from there
				 */
	WARD_ANS_RNR,		/* all before .psn is acknowledged, wait, send again from there */
	WARD_ANS_SEQ,		/* likewise, without waiting */
	WARD_ANS_FATAL,		/* likewise; .syndrome tells why the peer gave up */
	WARD_ANS_BAD,		/* a response that contradicts the request */
};

/**
 * struct ward_answer_at - a judgement
 * @what:     the answer
 * @psn:      see enum ward_answer
 * @syndrome: AETH syndrome for RNR and FATAL
 */
struct ward_answer_at {
	enum ward_answer what;
	u32	psn;
	u8	syndrome;
};

struct ward_answer_at ward_answer_judge(const struct ward_flight *f, const struct ward_pkt *pkt);

#endif /* _WARD_PROTO_COMPLETER_H */
