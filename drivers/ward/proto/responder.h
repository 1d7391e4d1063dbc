/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The responder's judgement of a request by its order and its shape, before
 * anything is looked up or moved.
 */
#ifndef _WARD_PROTO_RESPONDER_H
#define _WARD_PROTO_RESPONDER_H

#include <linux/types.h>
#include "packet.h"

/**
 * struct ward_order - where a responder stands in the stream of its peer
 * @epsn:     expected PSN
 * @mtu:      path MTU in bytes
 * @msg:      WARD_MSG_SEND or _WRITE while such a message is half received, else _NONE
 * @got:      payload bytes received of that message
 * @write_len: RETH length of that message, when it is a WRITE
 * @naked:    a sequence NAK for @epsn was sent already
 */
struct ward_order {
	u32	epsn;
	u32	mtu;
	u8	msg;
	u32	got;
	u32	write_len;
	bool	naked;
};

enum ward_verdict {
	WARD_EXECUTE,		/* in order and well formed */
	WARD_DUPLICATE,		/* seen before */
	WARD_NAK_SEQ,		/* from the future, to be told once */
	WARD_IGNORE,		/* from the future, told already */
	WARD_INVALID,		/* in order and against the rules: NAK invalid request */
};

enum ward_verdict ward_order_judge(const struct ward_order *o, const struct ward_pkt *pkt);
enum ward_verdict ward_order_judge_uc(struct ward_order *o, const struct ward_pkt *pkt);
void ward_order_give_up(struct ward_order *o, const struct ward_pkt *pkt);

#endif /* _WARD_PROTO_RESPONDER_H */
