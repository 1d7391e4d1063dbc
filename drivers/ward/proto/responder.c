// SPDX-License-Identifier: GPL-2.0
/*
 * The responder's judgement of a request.
 *
 * The PSN comes first: only the request that is expected may be called invalid,
 * because that verdict ends the connection, and a stranger who does not know
 * the PSN must not get there.
 *
 *	PSN before the expected one		DUPLICATE, whatever it contains
 *	PSN after it, not told yet		NAK_SEQ
 *	PSN after it, told already		IGNORE
 *
 * Of the expected request, in this order:
 *
 *	no message is half received, and it begins none			INVALID
 *	a message is half received, and it does not go on with it	INVALID
 *	FIRST or MIDDLE of other than MTU bytes				INVALID
 *	ONLY of more than MTU bytes					INVALID
 *	LAST of no bytes, or of more than MTU				INVALID
 *	SEND that grows beyond 2^31 bytes				INVALID
 *	WRITE or READ of more than 2^31 bytes				INVALID
 *	WRITE that ends before or goes beyond its RETH length		INVALID
 *	atomic whose address is not a multiple of 8			INVALID
 *	anything else							EXECUTE
 *
 * A packet that does not end its message must leave room for one that does. So
 * a FIRST or MIDDLE that brings the total to its limit is invalid at once: no
 * legal packet can follow.
 *
 * UC has no NAKs, and a gap only costs the message it falls into:
 *
 *	not the expected PSN, or it begins a message	what is half received is given up
 *	then, with its PSN for the expected one,
 *	what is INVALID on RC				IGNORE, with the rest of its message
 *	anything else					EXECUTE
 *
 * What is left of a message that was given up is IGNOREd because it neither goes
 * on with one nor begins one. UD has no order to judge.
 */
#include "psn.h"
#include "responder.h"

/* A packet of SEND or WRITE: its length, and what it makes of the message's total */
static bool lengths_fit(const struct ward_order *o, const struct ward_pkt *pkt)
{
	const bool first = pkt->op->flags & WARD_IS_FIRST;
	const bool last = pkt->op->flags & WARD_IS_LAST;
	const bool write = pkt->op->msg == WARD_MSG_WRITE;
	u32 limit = WARD_MAX_MSG;
	u32 total;

	if (!last && pkt->len != o->mtu)
		return false;
	if (pkt->len > o->mtu || (!first && !pkt->len))
		return false;

	if (write) {
		limit = first ? pkt->dma_len : o->write_len;
		if (limit > WARD_MAX_MSG)
			return false;
	}

	/* got is below 2^31 and len at most the MTU: the sum is safe */
	total = (first ? 0 : o->got) + pkt->len;
	if (!last)
		return total < limit;
	return write ? total == limit : total <= limit;
}

/**
 * ward_order_judge() - may this request be executed here and now?
 * @o:   where the responder stands
 * @pkt: a request that ward_pkt_parse() accepted; for anything else the verdict is IGNORE
 *
 * Looks at order and shape only. It changes nothing: on EXECUTE the caller
 * moves @o on, by the number of its response packets where it is a READ. Of a
 * DUPLICATE only the PSN was looked at; who answers a READ or an atomic once
 * more compares it with what was answered then.
 *
 * Context: Any; the caller's lock keeps @o still.
 * Return: the verdict.
 */
enum ward_verdict ward_order_judge(const struct ward_order *o, const struct ward_pkt *pkt)
{
	const struct ward_opcode *op = pkt->op;
	s32 ahead = ward_psn_diff(pkt->psn, o->epsn);
	bool fits;

	if (!(op->flags & WARD_IS_REQUEST))
		return WARD_IGNORE;

	if (ahead < 0)
		return WARD_DUPLICATE;
	if (ahead > 0)
		return o->naked ? WARD_IGNORE : WARD_NAK_SEQ;

	if (o->msg == WARD_MSG_NONE) {
		if (!(op->flags & WARD_IS_FIRST))
			return WARD_INVALID;
	} else if (op->flags & WARD_IS_FIRST || op->msg != o->msg) {
		return WARD_INVALID;
	}

	switch (op->msg) {
	case WARD_MSG_SEND:
	case WARD_MSG_WRITE:
		fits = lengths_fit(o, pkt);
		break;
	case WARD_MSG_READ:
		fits = pkt->dma_len <= WARD_MAX_MSG;
		break;
	case WARD_MSG_ATOMIC:
		fits = !(pkt->va & 7);
		break;
	case WARD_MSG_ATOMIC_WRITE:
		fits = !(pkt->va & 7) && pkt->len == 8 && pkt->dma_len == 8;
		break;
	case WARD_MSG_FLUSH:
		fits = pkt->dma_len <= WARD_MAX_MSG && pkt->flush_level <= WARD_FLUSH_MR;
		break;
	default:
		fits = false;
	}
	return fits ? WARD_EXECUTE : WARD_INVALID;
}

/**
 * ward_order_give_up() - drop a message of UC, and be ready for the next one
 * @o:   where the responder stands
 * @pkt: the packet at which the message is given up
 *
 * Context: Any; the caller's lock keeps @o still.
 */
void ward_order_give_up(struct ward_order *o, const struct ward_pkt *pkt)
{
	o->epsn = ward_psn_add(pkt->psn, 1);
	o->msg = WARD_MSG_NONE;
	o->got = 0;
}

/**
 * ward_order_judge_uc() - may this request of UC be executed here and now?
 * @o:   where the responder stands: moves to @pkt if that is not the expected one, and beyond it
 *       on IGNORE
 * @pkt: a request that ward_pkt_parse() accepted; for anything else the verdict is IGNORE, and
 *       nothing changes
 *
 * Context: Any; the caller's lock keeps @o still.
 * Return: EXECUTE, after which the caller moves @o on as for RC, or IGNORE.
 */
enum ward_verdict ward_order_judge_uc(struct ward_order *o, const struct ward_pkt *pkt)
{
	if (!(pkt->op->flags & WARD_IS_REQUEST))
		return WARD_IGNORE;

	if (pkt->psn != o->epsn || pkt->op->flags & WARD_IS_FIRST) {
		o->epsn = pkt->psn;
		o->msg = WARD_MSG_NONE;
		o->got = 0;
	}
	if (ward_order_judge(o, pkt) == WARD_EXECUTE)
		return WARD_EXECUTE;
	ward_order_give_up(o, pkt);
	return WARD_IGNORE;
}
