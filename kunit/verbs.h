/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Verbs for KUnit suites: two ends, each with a PD, a CQ, a queue pair and a buffer, and
 * work requests that can be waited for.
 */
#ifndef _WARD_KUNIT_VERBS_H
#define _WARD_KUNIT_VERBS_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <rdma/ib_verbs.h>
#include "../drivers/ward/verbs/device.h"
#include "link.h"

#define VERBS_BUF	(64 * 1024)
#define VERBS_DEPTH	64
#define VERBS_QKEY	0x11111111

/**
 * struct verbs_end - one end
 * @link:      its device
 * @gid_index: of its address in the GID table
 * @gid:       that GID
 * @psn:       its first PSN
 * @pd, @cq, @qp: its objects
 * @srq: taken by verbs_connect(), if not NULL; goes after the queue pair
 * @events: asynchronous events of the queue pairs, by type
 * @buf:       VERBS_BUF bytes
 * @dma:       the address of @buf for work requests
 */
struct verbs_end {
	struct link_end	*link;
	int		gid_index;
	union ib_gid	gid;
	u32		psn;
	struct ib_pd	*pd;
	struct ib_cq	*cq;
	struct ib_qp	*qp;
	struct ib_srq	*srq;
	atomic_t	events[IB_EVENT_WQ_FATAL];
	u8		*buf;
	u64		dma;
};

/**
 * struct verbs - two ends that talk to each other
 * @a, @b: the ends; by habit @a asks and @b answers
 * @type:  of the queue pairs
 * @retry: retry_cnt
 * @rnr_retry: rnr_retry
 * @timeout: timeout
 * @more:  from verbs_more()
 */
struct verbs {
	struct verbs_end	a, b;
	enum ib_qp_type		type;
	u8			retry;
	u8			rnr_retry;
	u8			timeout;
	struct verbs		*more;
};

/* A timeout that no test outlasts: packets are lost by rules only, and holds may take long */
#define VERBS_NO_TIMEOUT	22

/**
 * struct verbs_op - a work request
 * @cqe:   of the request
 * @done:  its completion came
 * @wc:    what that said
 * @order: completions of all requests are numbered
 */
struct verbs_op {
	struct ib_cqe		cqe;
	struct completion	done;
	struct ib_wc		wc;
	int			order;
};

struct verbs *verbs_start(struct kunit *test, enum ib_qp_type type, struct link_end *a,
			  struct link_end *b, bool ipv6);
void verbs_exit(struct kunit *test);
struct verbs *verbs_more(struct kunit *test, struct verbs *v);
struct verbs *verbs_more_pd(struct kunit *test, struct verbs *v, struct ib_pd *a, struct ib_pd *b);
void verbs_connect(struct kunit *test, struct verbs *v);
void verbs_to_error(struct kunit *test, struct verbs_end *end);
void verbs_path(struct verbs_end *from, struct verbs_end *to, struct rdma_ah_attr *attr);
struct ib_pd *verbs_pd(struct kunit *test, struct verbs_end *end);

struct verbs_op *verbs_op(struct kunit *test);
struct verbs_op *verbs_recv(struct kunit *test, struct verbs_end *end, u32 offset, u32 len);
struct verbs_op *verbs_send(struct kunit *test, struct verbs_end *end, enum ib_wr_opcode opcode,
			    u32 offset, u32 len, u32 imm_or_key);
struct verbs_op *verbs_rdma(struct kunit *test, struct verbs_end *end, enum ib_wr_opcode opcode,
			    u64 addr, u32 lkey, u32 len, u64 remote, u32 rkey);
struct verbs_op *verbs_reg(struct kunit *test, struct verbs_end *end, struct ib_mr *mr, u32 key,
			   int access);
struct verbs_op *verbs_inv(struct kunit *test, struct verbs_end *end, u32 key);
bool verbs_completed(struct verbs_op *op);
const char *verbs_status(struct verbs_op *op);

struct ib_mr *verbs_mr_of(struct kunit *test, struct verbs_end *end, enum ib_mr_type type,
			  u32 pages);
struct ib_mr *verbs_mr(struct kunit *test, struct verbs_end *end, u32 pages);
void verbs_map(struct kunit *test, struct ib_mr *mr, struct verbs_end *end, u32 offset, u32 len);
struct ib_mr *verbs_region(struct kunit *test, struct verbs_end *end, u32 offset, u32 len,
			   int access);

/* The fault injector of an end's device; verbs_exit() clears all rules */
int verbs_rule(struct kunit *test, struct verbs_end *end, const char *rule);
void verbs_unrule(struct kunit *test, struct verbs_end *end, int rule);
u32 verbs_hits(struct kunit *test, struct verbs_end *end, int rule);
void verbs_wait_held(struct kunit *test, struct verbs_end *end, int rule);
u64 verbs_counted(struct verbs_end *end, enum ward_counter id);

/* Compares by name, so that a failure says "remote access error" */
#define EXPECT_STATUS(test, op, status) \
	KUNIT_EXPECT_STREQ(test, verbs_status(op), ib_wc_status_msg(status))
#define ASSERT_STATUS(test, op, status) \
	KUNIT_ASSERT_STREQ(test, verbs_status(op), ib_wc_status_msg(status))

#endif /* _WARD_KUNIT_VERBS_H */
