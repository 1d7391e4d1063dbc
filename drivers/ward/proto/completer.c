// SPDX-License-Identifier: GPL-2.0
/*
 * The completer's judgement of what a responder sent.
 *
 * All PSNs are taken as distances from una, the oldest PSN under way, so that
 * the wrap of 24 bits needs no thought, and up to 2^24 - 1 packets can be under
 * way. "Inside" means from una on and before nxt. A stranger who does not hit
 * the inside cannot do a thing: that is DROP, whatever the packet contains.
 *
 * First of all, for every kind of packet
 *
 *	it is a request, or its PSN is not inside	DROP
 *	its syndrome has a reserved value, or it is a
 *	response with data and its syndrome is no ACK	DROP
 *
 * which includes an ACK of una - 1 (just old), and a sequence NAK of nxt, which
 * nobody who follows the rules can send.
 *
 * Acknowledge packets. "Awaited" are the PSNs from resp_psn on when resp_wait:
 * a responder answers in order, so what speaks of later PSNs than resp_psn was
 * sent after the response that is still awaited, and that response is lost. It
 * is not lost when the responder refuses it: a NAK of resp_psn itself.
 *
 *	ACK, before what is awaited			ACK, up to its PSN
 *	ACK, resp_psn or after it			LOST, at resp_psn
 *	RNR, sequence or other NAK,
 *	  up to and including resp_psn			RNR, SEQ, FATAL, at its PSN
 *	  after resp_psn				LOST, at resp_psn
 *
 * Responses with data (READ response, atomic acknowledge):
 *
 *	nothing is awaited				DROP
 *	before resp_psn					DROP
 *	after resp_last					LOST, at resp_psn
 *	of the other kind than what is awaited		BAD
 *	after resp_psn					LOST, at resp_psn
 *	resp_psn, of the wrong length			BAD
 *	resp_psn					DATA, at resp_psn
 *
 * Nothing awaited, or a PSN before what is awaited, means that the place belongs
 * to a SEND or WRITE: an answer of that kind is senseless, but more likely a
 * packet of an earlier life of the connection than a peer gone mad, and if the
 * peer has gone mad, the timer will tell.
 *
 * The length of a READ response decides whether it fits, not whether it is
 * called FIRST or LAST: when a part of a READ is asked for once more, its answer
 * has other names for the same bytes than the answer to the first request, which
 * may still arrive. It has MTU bytes, or what is left if that is less; one that
 * is not called last leaves some.
 *
 * DATA and LOST acknowledge, as all the others do, what lies before their PSN.
 * LOST may come once for each packet after the hole: whoever sends again does so
 * once per hole.
 */
#include "completer.h"
#include "psn.h"

static u32 distance(const struct ward_flight *f, u32 psn)
{
	return ward_psn_distance(f->una, psn);
}

static struct ward_answer_at answer(enum ward_answer what, u32 psn)
{
	return (struct ward_answer_at){ .what = what, .psn = psn };
}

static enum ward_answer acknowledge_kind(u8 syndrome)
{
	switch (syndrome & WARD_AETH_TYPE_MASK) {
	case WARD_AETH_ACK:
		return WARD_ANS_ACK;
	case WARD_AETH_RNR:
		return WARD_ANS_RNR;
	}
	switch (syndrome) {
	case WARD_NAK_SEQUENCE:
		return WARD_ANS_SEQ;
	case WARD_NAK_INVALID:
	case WARD_NAK_ACCESS:
	case WARD_NAK_OPERATION:
		return WARD_ANS_FATAL;
	}
	return WARD_ANS_DROP;
}

static struct ward_answer_at judge_acknowledge(const struct ward_flight *f,
					       const struct ward_pkt *pkt)
{
	enum ward_answer what = acknowledge_kind(pkt->syndrome);
	struct ward_answer_at at = answer(what, pkt->psn);

	if (what == WARD_ANS_DROP)
		return at;

	if (f->resp_wait) {
		u32 ack = distance(f, pkt->psn), resp = distance(f, f->resp_psn);

		if (ack > resp || (ack == resp && what == WARD_ANS_ACK))
			return answer(WARD_ANS_LOST, f->resp_psn);
	}

	if (what == WARD_ANS_RNR || what == WARD_ANS_FATAL)
		at.syndrome = pkt->syndrome;
	return at;
}

static bool response_fits(const struct ward_flight *f, const struct ward_pkt *pkt)
{
	if (f->resp_atomic)
		return true;
	if (pkt->len != (f->resp_bytes < f->mtu ? f->resp_bytes : f->mtu))
		return false;
	return pkt->op->flags & WARD_IS_LAST || pkt->len < f->resp_bytes;
}

static struct ward_answer_at judge_response(const struct ward_flight *f,
					    const struct ward_pkt *pkt)
{
	const u32 at = distance(f, pkt->psn), resp = distance(f, f->resp_psn);
	const bool atomic = pkt->op->msg == WARD_MSG_ATOMIC_ACK;

	if (pkt->op->flags & WARD_HAS_AETH && acknowledge_kind(pkt->syndrome) != WARD_ANS_ACK)
		return answer(WARD_ANS_DROP, pkt->psn);
	if (!f->resp_wait || at < resp)
		return answer(WARD_ANS_DROP, pkt->psn);
	if (at > distance(f, f->resp_last))
		return answer(WARD_ANS_LOST, f->resp_psn);
	if (atomic != f->resp_atomic)
		return answer(WARD_ANS_BAD, pkt->psn);
	if (at > resp)
		return answer(WARD_ANS_LOST, f->resp_psn);
	if (!response_fits(f, pkt))
		return answer(WARD_ANS_BAD, pkt->psn);
	return answer(WARD_ANS_DATA, pkt->psn);
}

/**
 * ward_answer_judge() - what does this response mean?
 * @f:   what the requester has under way
 * @pkt: a response that ward_pkt_parse() accepted; for anything else the answer is DROP
 *
 * The whole decision table stands at the top of this file. It changes nothing:
 * the caller completes, moves @f on, or sends again.
 *
 * Context: Any; the caller's lock keeps @f still.
 * Return: the answer. Its psn is inside what is under way for every answer but DROP.
 */
struct ward_answer_at ward_answer_judge(const struct ward_flight *f, const struct ward_pkt *pkt)
{
	if (distance(f, pkt->psn) >= distance(f, f->nxt))
		return answer(WARD_ANS_DROP, pkt->psn);

	switch (pkt->op->msg) {
	case WARD_MSG_ACK:
		return judge_acknowledge(f, pkt);
	case WARD_MSG_READ_RESP:
	case WARD_MSG_ATOMIC_ACK:
		return judge_response(f, pkt);
	default:
		return answer(WARD_ANS_DROP, pkt->psn);
	}
}
