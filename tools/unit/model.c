// SPDX-License-Identifier: GPL-2.0
/*
 * A small requester and a small responder talk over a bad channel, with nothing
 * but proto/ between them and the bytes.
 *
 * The channel loses packets, doubles them, brings them in another order, and
 * flips bits. Whatever it does: each message must arrive once and in order, each
 * byte of a WRITE be written once, each READ bring the right bytes, each atomic
 * be executed once, and nobody give up.
 *
 * Both sides count packets from 0 in 32 bits, which never wrap here; PSNs exist
 * only in packets and in what is handed to proto/.
 */
#include <stdlib.h>
#include <kunit/test.h>
#include <asm/byteorder.h>
#include <linux/minmax.h>
#include "../../drivers/ward/proto/completer.h"
#include "../../drivers/ward/proto/icrc.h"
#include "../../drivers/ward/proto/packet.h"
#include "../../drivers/ward/proto/psn.h"
#include "../../drivers/ward/proto/responder.h"
#include "../../drivers/ward/proto/segment.h"
#include "../../kunit/random.h"

#define MTU		256
#define WORK		60		/* work requests of a round */
#define MAX_BYTES	(6 * MTU)	/* longest message */
#define WINDOW		24		/* packets under way */
#define RECORDS		64		/* READs and atomics that a responder remembers */
#define HEADERS		(20 + 8)
#define MAX_PACKET	(HEADERS + WARD_MAX_HDR + MTU + WARD_ICRC_SIZE)
#define CHANNEL		512

struct packet {
	u8	bytes[MAX_PACKET];
	u32	len;
};

struct channel {
	struct packet packet[CHANNEL];
	u32	count;
};

struct work {
	enum ward_msg msg;
	enum ward_tail tail;
	u32	extra;			/* immediate, key to invalidate */
	u32	first;			/* packets */
	u32	last;
	u32	bytes;
	u32	va;
	u8	data[MAX_BYTES];	/* to send, or what a READ must bring */
	u8	result[MAX_BYTES];
	u64	orig;
};

struct record {
	bool	atomic;
	u32	first;
	u32	last;
	u32	va;
	u32	bytes;
	u64	orig;
};

static struct {
	struct kunit *test;
	u32	round;
	u32	seed;
	u32	base;			/* PSN of packet 0 */
	struct channel to_responder;
	struct channel to_requester;

	/* requester */
	struct work work[WORK];
	u32	una;
	u32	snd;
	u32	nxt;
	u32	rewound;		/* to una + 1, 0 when not */

	/* responder */
	struct ward_order order;
	u32	expected;
	u32	msn;
	u32	va;			/* of the WRITE under way */
	u8	inbox[MAX_BYTES];
	u32	sends;			/* index of the next SEND to arrive */
	u8	memory[WORK * MAX_BYTES];
	u8	writes[WORK * MAX_BYTES];
	u64	counter;
	struct record record[RECORDS];
	u32	records;
} m;

/* How often each judgement came, over all rounds */
static u32 verdicts[WARD_INVALID + 1], answers[WARD_ANS_BAD + 1];

#define CHECK(c, ...)								\
	do {									\
		if (!(c)) {							\
			snprintf(m.test->param, sizeof(m.test->param), "[round %u] ", m.round); \
			KUNIT_FAIL_AND_ABORT(m.test, #c " " __VA_ARGS__);	\
			abort();						\
		}								\
	} while (0)

static u32 chance(u32 percent)
{
	return ward_random(&m.seed) % 100 < percent;
}

static u32 psn_of(u32 number)
{
	return ward_psn_add(m.base, (s32)number);
}

/* The channel */

static void put(struct channel *c, const struct ward_pkt *in, const u8 *payload)
{
	struct packet *p = &c->packet[c->count];
	u8 *bth = p->bytes + HEADERS;
	struct ward_pkt pkt = *in;
	__le32 icrc;
	u32 crc;

	CHECK(c->count < CHANNEL, "channel overflows");
	pkt.pad = -pkt.len & 3;
	pkt.pkey = WARD_DEFAULT_PKEY;
	pkt.qpn = 0x123456;

	memset(p, 0, sizeof(*p));
	p->bytes[0] = 0x45;
	p->len = HEADERS + ward_pkt_build(&pkt, bth);
	CHECK(p->len > HEADERS, "opcode is not known");
	if (pkt.len)
		memcpy(p->bytes + p->len, payload, pkt.len);
	p->len += pkt.len + pkt.pad;
	crc = ward_icrc_begin(p->bytes, p->bytes + 20, bth);
	crc = ward_crc32(crc, bth + 12, p->len - HEADERS - 12);
	icrc = ward_icrc_end(crc);
	memcpy(p->bytes + p->len, &icrc, sizeof(icrc));
	p->len += sizeof(icrc);

	if (chance(4))
		return;
	if (chance(2)) {
		u32 bit = ward_random(&m.seed) % (p->len * 8);

		p->bytes[bit / 8] ^= 1 << bit % 8;
	}
	c->count++;
	if (chance(3) && c->count < CHANNEL) {
		c->packet[c->count] = *p;
		c->count++;
	}
}

static void take(struct channel *c, struct packet *p)
{
	u32 at = chance(5) ? ward_random(&m.seed) % c->count : 0;

	*p = c->packet[at];
	c->count--;
	memmove(&c->packet[at], &c->packet[at + 1], (c->count - at) * sizeof(*p));
}

/* What a driver does before it looks for the QP; a packet in memory of its very size */
static bool understand(const struct packet *p, struct ward_pkt *pkt, const u8 **payload)
{
	const u8 *bth = p->bytes + HEADERS;
	const u32 len = p->len - HEADERS;
	enum ward_parse parse;
	__le32 icrc;
	u8 *exact;
	u32 crc;

	if (p->bytes[0] != 0x45)
		return false;
	exact = malloc(len);
	memcpy(exact, bth, len);
	parse = WARD_PARSE_LENGTH;
	if (ward_opcode(exact[0])->hdr_len <= len)
		parse = ward_pkt_parse(pkt, exact, len);
	free(exact);
	if (parse != WARD_PARSE_OK)
		return false;

	crc = ward_icrc_begin(p->bytes, p->bytes + 20, bth);
	crc = ward_crc32(crc, bth + 12, len - 12 - WARD_ICRC_SIZE);
	icrc = ward_icrc_end(crc);
	if (memcmp(p->bytes + p->len - WARD_ICRC_SIZE, &icrc, WARD_ICRC_SIZE))
		return false;
	CHECK(pkt->qpn == 0x123456);
	*payload = bth + pkt->hdr_len;
	return true;
}

/* The responder */

static void acknowledge(u32 number, u8 syndrome)
{
	struct ward_pkt pkt = {
		.opcode = WARD_ACKNOWLEDGE,
		.psn = psn_of(number),
		.syndrome = syndrome,
		.msn = m.msn,
	};

	put(&m.to_requester, &pkt, NULL);
}

static void respond_read(u32 number, u32 va, u32 bytes)
{
	u32 count = ward_seg_count(bytes, MTU), i;

	for (i = 0; i < count; i++) {
		struct ward_pkt pkt = {
			.opcode = ward_seg_opcode(WARD_RC, WARD_MSG_READ_RESP, WARD_TAIL_PLAIN,
						  !i, i == count - 1),
			.psn = psn_of(number + i),
			.len = i == count - 1 ? bytes - i * MTU : MTU,
			.syndrome = WARD_AETH_NO_CREDIT,
			.msn = m.msn,
		};

		put(&m.to_requester, &pkt, m.memory + va + i * MTU);
	}
}

static void respond_atomic(u32 number, u64 orig)
{
	struct ward_pkt pkt = {
		.opcode = WARD_ATOMIC_ACK,
		.psn = psn_of(number),
		.syndrome = WARD_AETH_NO_CREDIT,
		.orig = orig,
	};

	put(&m.to_requester, &pkt, NULL);
}

static void duplicate(const struct ward_pkt *pkt)
{
	const u32 number = m.expected - ward_psn_distance(pkt->psn, m.order.epsn);
	u32 i;

	if (pkt->op->msg == WARD_MSG_SEND || pkt->op->msg == WARD_MSG_WRITE) {
		acknowledge(m.expected - 1, WARD_AETH_NO_CREDIT);
		return;
	}
	for (i = 0; i < m.records; i++) {
		const struct record *r = &m.record[i];
		const u32 skip = (number - r->first) * MTU;

		if (number < r->first || number > r->last)
			continue;
		CHECK(r->atomic == (pkt->op->msg == WARD_MSG_ATOMIC));
		if (r->atomic) {
			respond_atomic(number, r->orig);
		} else {
			CHECK(pkt->va == r->va + skip);
			CHECK(pkt->dma_len == r->bytes - skip);
			respond_read(number, r->va + skip, r->bytes - skip);
		}
		return;
	}
	CHECK(false, "no record of it");
}

static void message_arrived(const struct ward_pkt *pkt, u32 bytes)
{
	const struct work *w = &m.work[m.sends];

	while (m.sends < WORK && w->msg != WARD_MSG_SEND)
		w = &m.work[++m.sends];
	CHECK(m.sends < WORK, "a SEND too many");
	CHECK(bytes == w->bytes);
	CHECK(!memcmp(m.inbox, w->data, bytes), "wrong bytes");
	CHECK(!!(pkt->op->flags & WARD_HAS_IMM) == (w->tail == WARD_TAIL_IMM));
	CHECK(!!(pkt->op->flags & WARD_HAS_IETH) == (w->tail == WARD_TAIL_INV));
	if (w->tail == WARD_TAIL_IMM)
		CHECK(pkt->imm == cpu_to_be32(w->extra));
	if (w->tail == WARD_TAIL_INV)
		CHECK(pkt->inv_rkey == w->extra);
	m.sends++;
}

static void execute(const struct ward_pkt *pkt, const u8 *payload)
{
	const bool first = pkt->op->flags & WARD_IS_FIRST, last = pkt->op->flags & WARD_IS_LAST;
	struct ward_order *o = &m.order;
	const u32 number = m.expected;
	u32 packets = 1, i;

	o->naked = false;
	if (first) {
		o->got = 0;
		o->write_len = pkt->dma_len;
		m.va = pkt->va;
	}

	switch (pkt->op->msg) {
	case WARD_MSG_SEND:
		memcpy(m.inbox + o->got, payload, pkt->len);
		o->got += pkt->len;
		if (last)
			message_arrived(pkt, o->got);
		break;
	case WARD_MSG_WRITE:
		for (i = 0; i < pkt->len; i++)
			m.writes[m.va + o->got + i]++;
		memcpy(m.memory + m.va + o->got, payload, pkt->len);
		o->got += pkt->len;
		break;
	case WARD_MSG_READ:
		packets = ward_seg_count(pkt->dma_len, MTU);
		m.record[m.records++] = (struct record){
			.first = number, .last = number + packets - 1,
			.va = pkt->va, .bytes = pkt->dma_len,
		};
		break;
	case WARD_MSG_ATOMIC:
		m.record[m.records++] = (struct record){
			.atomic = true, .first = number, .last = number, .orig = m.counter,
		};
		m.counter += pkt->swap_add;
		break;
	}
	o->msg = last ? WARD_MSG_NONE : pkt->op->msg;
	m.msn += last;
	m.expected += packets;
	o->epsn = psn_of(m.expected);

	if (pkt->op->msg == WARD_MSG_READ)
		respond_read(number, pkt->va, pkt->dma_len);
	else if (pkt->op->msg == WARD_MSG_ATOMIC)
		respond_atomic(number, m.record[m.records - 1].orig);
	else if (pkt->ackreq)
		acknowledge(number, WARD_AETH_NO_CREDIT);
}

static void responder_receives(void)
{
	enum ward_verdict verdict;
	const u8 *payload;
	struct ward_pkt pkt;
	struct packet p;

	take(&m.to_responder, &p);
	if (!understand(&p, &pkt, &payload))
		return;
	verdict = ward_order_judge(&m.order, &pkt);
	verdicts[verdict]++;
	switch (verdict) {
	case WARD_EXECUTE:
		if (pkt.op->msg == WARD_MSG_SEND && pkt.op->flags & WARD_IS_FIRST && chance(20)) {
			m.order.naked = true;
			acknowledge(m.expected, WARD_AETH_RNR | 1);
		} else {
			execute(&pkt, payload);
		}
		break;
	case WARD_DUPLICATE:
		duplicate(&pkt);
		break;
	case WARD_NAK_SEQ:
		m.order.naked = true;
		acknowledge(m.expected, WARD_NAK_SEQUENCE);
		break;
	case WARD_IGNORE:
		break;
	case WARD_INVALID:
		CHECK(false, "a good request was called invalid");
	}
}

/* The requester */

static struct work *work_at(u32 number)
{
	struct work *w;

	for (w = m.work; w < m.work + WORK; w++) {
		if (number >= w->first && number <= w->last)
			return w;
	}
	return NULL;
}

static bool has_response(const struct work *w)
{
	return w->msg == WARD_MSG_READ || w->msg == WARD_MSG_ATOMIC;
}

static bool requester_may_send(void)
{
	return m.snd <= m.work[WORK - 1].last && m.snd - m.una < WINDOW;
}

static void requester_sends(void)
{
	const struct work *w = work_at(m.snd);
	const u32 at = m.snd - w->first, skip = at * MTU;
	const bool first = !at, last = m.snd == w->last;
	struct ward_pkt pkt = {
		.psn = psn_of(m.snd),
		.va = w->va,
		.dma_len = w->bytes,
		.imm = cpu_to_be32(w->extra),
		.inv_rkey = w->extra,
		.ackreq = last || chance(20),
	};

	switch (w->msg) {
	case WARD_MSG_READ:
		pkt.opcode = WARD_READ_REQUEST;
		pkt.va += skip;
		pkt.dma_len -= skip;
		m.snd = w->last;
		break;
	case WARD_MSG_ATOMIC:
		pkt.opcode = WARD_FETCH_ADD;
		pkt.swap_add = w->extra;
		break;
	default:
		pkt.opcode = ward_seg_opcode(WARD_RC, w->msg, w->tail, first, last);
		pkt.len = last ? w->bytes - skip : MTU;
	}
	m.snd++;
	m.nxt = max(m.nxt, m.snd);
	put(&m.to_responder, &pkt, w->data + skip);
}

static struct ward_flight flight(void)
{
	struct ward_flight f = { .una = psn_of(m.una), .nxt = psn_of(m.nxt), .mtu = MTU };
	const struct work *w;
	u32 from;

	for (w = m.work; w < m.work + WORK && w->first < m.nxt; w++) {
		if (w->last < m.una || !has_response(w))
			continue;
		from = max(m.una, w->first);
		f.resp_wait = true;
		f.resp_atomic = w->msg == WARD_MSG_ATOMIC;
		f.resp_psn = psn_of(from);
		f.resp_last = psn_of(w->last);
		f.resp_bytes = w->bytes - (from - w->first) * MTU;
		break;
	}
	return f;
}

/* All before @number is acknowledged: nothing with a response may be among it */
static void advance(u32 number)
{
	u32 i;

	CHECK(number >= m.una && number <= m.nxt);
	for (i = m.una; i < number; i++)
		CHECK(!has_response(work_at(i)), "a response was skipped");
	if (number > m.una)
		m.rewound = 0;
	m.una = number;
	m.snd = max(m.snd, m.una);
}

static void rewind_once(void)
{
	if (m.rewound == m.una + 1)
		return;
	m.rewound = m.una + 1;
	m.snd = m.una;
}

static void data(const struct ward_pkt *pkt, const u8 *payload)
{
	struct work *w = work_at(m.una);

	if (w->msg == WARD_MSG_ATOMIC)
		w->orig = pkt->orig;
	else
		memcpy(w->result + (m.una - w->first) * MTU, payload, pkt->len);
	m.una++;
	m.rewound = 0;
	m.snd = max(m.snd, m.una);
}

static void requester_receives(void)
{
	const struct ward_flight f = flight();
	struct ward_answer_at at;
	const u8 *payload;
	struct ward_pkt pkt;
	struct packet p;
	u32 number;

	take(&m.to_requester, &p);
	if (!understand(&p, &pkt, &payload))
		return;
	at = ward_answer_judge(&f, &pkt);
	answers[at.what]++;
	number = m.una + ward_psn_distance(f.una, at.psn);
	switch (at.what) {
	case WARD_ANS_DROP:
		break;
	case WARD_ANS_ACK:
		advance(number + 1);
		break;
	case WARD_ANS_DATA:
		advance(number);
		data(&pkt, payload);
		break;
	case WARD_ANS_LOST:
	case WARD_ANS_SEQ:
		advance(number);
		rewind_once();
		break;
	case WARD_ANS_RNR:
		CHECK(at.syndrome == (WARD_AETH_RNR | 1));
		advance(number);
		m.snd = m.una;
		break;
	case WARD_ANS_FATAL:
	case WARD_ANS_BAD:
		CHECK(false, "the requester gave up");
	}
}

static void timer_fires(void)
{
	m.snd = m.una;
	m.rewound = 0;
}

/* A round */

static void begin(u32 round)
{
	static const u32 sizes[] = { 0, 1, 3, MTU - 1, MTU, MTU + 1, 2 * MTU, MAX_BYTES };
	static const enum ward_msg kinds[] = {
		WARD_MSG_SEND, WARD_MSG_WRITE, WARD_MSG_READ, WARD_MSG_ATOMIC,
	};
	struct kunit *test = m.test;
	u32 number = 0, i, j;

	memset(&m, 0, sizeof(m));
	m.test = test;
	m.round = round;
	m.seed = round * 0x01000193;
	m.base = round % 3 ? 0xffffff - ward_random(&m.seed) % 100 : ward_random(&m.seed);
	m.base &= WARD_24BITS;
	m.order = (struct ward_order){ .epsn = m.base, .mtu = MTU };

	for (i = 0; i < WORK; i++) {
		struct work *w = &m.work[i];

		w->msg = kinds[ward_random(&m.seed) % ARRAY_SIZE(kinds)];
		w->tail = ward_random(&m.seed) % 3;
		if (w->msg == WARD_MSG_WRITE && w->tail == WARD_TAIL_INV)
			w->tail = WARD_TAIL_PLAIN;
		w->extra = ward_random(&m.seed);
		w->va = i * MAX_BYTES;
		if (w->msg == WARD_MSG_ATOMIC)
			w->bytes = 8;
		else if (chance(50))
			w->bytes = sizes[ward_random(&m.seed) % ARRAY_SIZE(sizes)];
		else
			w->bytes = ward_random(&m.seed) % (MAX_BYTES + 1);
		for (j = 0; j < w->bytes; j++)
			w->data[j] = ward_random(&m.seed);
		if (w->msg == WARD_MSG_READ)
			memcpy(m.memory + w->va, w->data, w->bytes);
		w->first = number;
		number += w->msg == WARD_MSG_ATOMIC ? 1 : ward_seg_count(w->bytes, MTU);
		w->last = number - 1;
	}
}

static void run(void)
{
	u32 steps;

	for (steps = 0; m.una <= m.work[WORK - 1].last; steps++) {
		u32 what = ward_random(&m.seed) % 3;

		CHECK(steps < 1000000, "no end in sight");
		if (what == 0 && requester_may_send())
			requester_sends();
		else if (what == 1 && m.to_responder.count)
			responder_receives();
		else if (what == 2 && m.to_requester.count)
			requester_receives();
		else if (!m.to_responder.count && !m.to_requester.count && !requester_may_send())
			timer_fires();
	}
}

static void check(void)
{
	u64 counter = 0;
	u32 i, j, left = 0;

	for (i = 0; i < WORK; i++) {
		const struct work *w = &m.work[i];

		switch (w->msg) {
		case WARD_MSG_SEND:
			left += i >= m.sends;
			break;
		case WARD_MSG_WRITE:
			CHECK(!memcmp(m.memory + w->va, w->data, w->bytes), "WRITE");
			for (j = 0; j < MAX_BYTES; j++)
				CHECK(m.writes[w->va + j] == (j < w->bytes), "times written");
			break;
		case WARD_MSG_READ:
			CHECK(!memcmp(w->result, w->data, w->bytes), "READ");
			break;
		default:
			CHECK(w->orig == counter, "atomic");
			counter += w->extra;
		}
	}
	CHECK(!left, "a SEND did not arrive");
	CHECK(m.counter == counter);
	CHECK(m.msn == WORK);
}

static u32 setting(const char *name, u32 otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

static void everything_arrives_once_and_in_order(struct kunit *test)
{
	u32 from = setting("WARD_UNIT_SEED", 1), rounds = setting("WARD_UNIT_ROUNDS", 300), i;

	m.test = test;
	for (i = from; i < from + rounds; i++) {
		begin(i);
		run();
		check();
	}

	/* a channel that is too good shows nothing */
	for (i = WARD_EXECUTE; i < WARD_INVALID && rounds >= 100; i++)
		CHECK(verdicts[i] > rounds, "verdict %u is rare", i);
	for (i = WARD_ANS_DROP; i < WARD_ANS_FATAL && rounds >= 100; i++)
		CHECK(answers[i] > rounds, "answer %u is rare", i);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(everything_arrives_once_and_in_order),
	{}
};

static struct kunit_suite ward_model_suite = {
	.name = "ward_model",
	.test_cases = cases,
};

kunit_test_suite(ward_model_suite);
