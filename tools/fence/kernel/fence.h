/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fence rules as a kernel client of any RDMA device sees them: what is open to a peer and
 * what is shut, when. Each rule is a function; it runs on ends of its own, with a verdict and,
 * when that is FAIL, the first thing that was not so.
 *
 * Nothing is held back here: what depends on a race is tried many times, and PASS then means
 * that no try has shown the opposite.
 */
#ifndef _FENCE_H
#define _FENCE_H

#include "kverbs/kverbs.h"

#define FENCE_BUF	(2 << 20)
#define FENCE_PART	8192
#define FENCE_REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

enum fence_verdict { FENCE_PASS, FENCE_FAIL, FENCE_UNSUPPORTED, FENCE_BROKEN };

struct fence_op {
	struct kverbs_op	op;
	struct list_head	list;
	u8			*scribble;	/* is filled with 0x55 when the request completes */
	size_t			len;
};

/**
 * struct fence - a rule under way
 * @a, @b:   the ends; A asks, B answers
 * @listener: of B, for iWARP
 * @config:  of all connections
 * @conn:    the connection of most requests; fence_connect() makes it anew
 * @second:  another one of the same PDs
 * @iwarp:   a WRITE that the peer refuses has completed before
 * @events:  of B's queue pairs
 * @ops, @mrs: all that the rule has made
 * @verdict: so far
 * @why:     what was not so
 */
struct fence {
	struct kverbs_end	a, b;
	struct kverbs_listener	listener;
	struct kverbs_config	config;
	struct kverbs_conn	conn, second;
	bool			iwarp;
	atomic_t		events[IB_EVENT_WQ_FATAL];
	struct list_head	ops;
	struct ib_mr		*mrs[256];
	int			mr_count;
	enum fence_verdict	verdict;
	char			why[160];
};

/**
 * struct fence_rule - a rule
 * @name:  its number
 * @words: what it says
 * @run:   tries it
 * @flags: of B's end
 */
struct fence_rule {
	const char *name;
	const char *words;
	void (*run)(struct fence *fence);
	int flags;
};

extern const struct fence_rule fence_key_rules[], fence_order_rules[], fence_race_rules[];

__printf(3, 4) void fence_say(struct fence *fence, enum fence_verdict verdict,
			      const char *format, ...);

/* Notes what was not so; the rule goes on. */
#define EXPECT(fence, condition, ...)						\
	do {									\
		if (!(condition))						\
			fence_say(fence, FENCE_FAIL, __VA_ARGS__);		\
	} while (0)

bool fence_over(const struct fence *fence);
void fence_connect(struct fence *fence);
void fence_connect_second(struct fence *fence);
void fence_paint(struct fence *fence, u8 a, u8 b);

struct fence_op *fence_op(struct fence *fence);
int fence_wait(struct fence_op *op);
const char *fence_status(int status);

struct fence_op *fence_recv(struct fence *fence, struct kverbs_side *side, size_t offset, u32 len);
struct fence_op *fence_post(struct fence *fence, struct kverbs_side *side,
			    enum ib_wr_opcode opcode, size_t offset, u32 len, u32 key_or_imm,
			    int flags);
struct fence_op *fence_rdma(struct fence *fence, struct kverbs_side *side,
			    enum ib_wr_opcode opcode, u64 local, u32 lkey, u32 len, u64 remote,
			    u32 rkey);
struct fence_op *fence_write(struct fence *fence, u32 rkey, u64 addr, u32 len);
struct fence_op *fence_read(struct fence *fence, u32 rkey, u64 addr, u32 len);
struct fence_op *fence_reg(struct fence *fence, struct kverbs_side *side, struct ib_mr *mr,
			   u32 key, int access);
struct fence_op *fence_inv(struct fence *fence, u32 key);

struct ib_mr *fence_mr(struct fence *fence, struct ib_pd *pd, u32 pages);
struct ib_mr *fence_region(struct fence *fence, struct kverbs_side *side, size_t offset,
			   size_t len, int access);

bool fence_expect(struct fence *fence, struct fence_op *op, int status, const char *what);
void fence_expect_error(struct fence *fence, struct fence_op *op, const char *what);
void fence_expect_open(struct fence *fence, u32 rkey, u64 addr, const u8 *memory,
		       const char *what);
void fence_expect_shut(struct fence *fence, u32 rkey, u64 addr, const u8 *memory,
		       const char *what);
bool fence_is(const u8 *memory, u8 colour, size_t len);

#endif /* _FENCE_H */
