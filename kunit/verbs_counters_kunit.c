// SPDX-License-Identifier: GPL-2.0
/*
 * Every counter is bumped by its own kind of fault, by exactly one, and by no other: for each there
 * is a fault here, or the name of the test elsewhere that covers it. The list of counters decides.
 */
#include <linux/delay.h>
#include <rdma/rdma_user_rxe.h>
#include "verbs.h"
#include "../drivers/ward/mem/region.h"
#include "../drivers/ward/net/path.h"
#include "../drivers/ward/proto/psn.h"
#include "../drivers/ward/qp/qp.h"
#include "../drivers/ward/qp/txpkt.h"
#include "../drivers/ward/verbs/ah.h"

#define PATIENCE_MS	10000
#define REMOTE		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

static struct link wire;

/* What happens in good times too, so that a fault may bring some of it about */
static bool is_traffic(enum ward_counter id)
{
	switch (id) {
	case WARD_CNT_SENT_PKTS:
	case WARD_CNT_SENT_BYTES:
	case WARD_CNT_RCVD_PKTS:
	case WARD_CNT_RCVD_BYTES:
	case WARD_CNT_RDMA_SENDS:
	case WARD_CNT_RDMA_RECVS:
	case WARD_CNT_MR_REG:
	case WARD_CNT_INJECTED:
		return true;
	default:
		return false;
	}
}

/*
 * Packets as no QP would send them, from A to B, or from B to A: sealed by the owner of the QP
 * that they pretend to be of.
 */
static struct ward_pkt forged(struct verbs_end *to, u8 opcode, s32 ahead)
{
	struct ward_qp *qp = to_ward_qp(to->qp);

	return (struct ward_pkt){
		.opcode = qp->transport | opcode,
		.mig = true,
		.ackreq = true,
		.pkey = WARD_DEFAULT_PKEY,
		.qpn = to->qp->qp_num,
		.psn = ward_psn_add(qp->resp.order.epsn, ahead),
		.qkey = VERBS_QKEY,
	};
}

static void forge_by(struct kunit *test, struct verbs_end *from, struct ward_path *path,
		     const struct ward_pkt *pkt, void (*spoil)(struct ward_txpkt *tx),
		     void (*tamper)(struct ward_txpkt *tx))
{
	struct ward_txpkt tx = {};
	struct ward_run run;
	u8 *payload;

	ward_qp_own(to_ward_qp(from->qp), &run);
	local_bh_disable();
	payload = ward_txpkt_begin(&tx, pkt);
	if (payload) {
		memset(payload, 0, pkt->len);
		if (spoil)
			spoil(&tx);
		ward_txpkt_seal(&tx, path);
		if (tamper)
			tamper(&tx);
		ward_txpkt_send(run.qp, &tx, path);
	}
	ward_txpkt_drop_buf(&tx);
	local_bh_enable();
	ward_qp_disown(&run);
	KUNIT_ASSERT_NOT_NULL(test, payload);
}

static void forge(struct kunit *test, struct verbs_end *from, const struct ward_pkt *pkt)
{
	forge_by(test, from, ward_qp_path(to_ward_qp(from->qp)), pkt, NULL, NULL);
}

/* Along a way of its own, as datagrams go */
static void forge_along(struct kunit *test, struct verbs_end *from, struct verbs_end *to,
			const struct ward_pkt *pkt)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	verbs_path(from, to, &attr);
	ah = rdma_create_ah(from->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	forge_by(test, from, rcu_access_pointer(to_ward_ah(ah)->path), pkt, NULL, NULL);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static void spoilt(struct kunit *test, struct verbs *v, u8 opcode,
		   void (*spoil)(struct ward_txpkt *tx))
{
	struct ward_pkt pkt = forged(&v->b, opcode, 0);

	forge_by(test, &v->a, ward_qp_path(to_ward_qp(v->a.qp)), &pkt, spoil, NULL);
}

static struct verbs_op *write_to(struct kunit *test, struct verbs *v, u32 rkey, u64 va, u32 len)
{
	return verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma, v->a.pd->local_dma_lkey, len,
			  va, rkey);
}

static struct verbs_op *atomic(struct kunit *test, struct verbs *v, u32 rkey, u64 va)
{
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = { v->a.dma, 8, v->a.pd->local_dma_lkey };
	struct ib_atomic_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
			.send_flags = IB_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
		},
		.remote_addr = va,
		.compare_add = 1,
		.rkey = rkey,
	};

	KUNIT_ASSERT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
	return op;
}

/* Nothing is received while this lasts, so that what is sent stays unanswered */
static void deaf(struct verbs_end *end, struct ward_run *run)
{
	ward_qp_own(to_ward_qp(end->qp), run);
}

static void a_send(struct kunit *test, struct verbs *v)
{
	struct verbs_op *recv = verbs_recv(test, &v->b, 0, 100);

	ASSERT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
	ASSERT_STATUS(test, recv, IB_WC_SUCCESS);
}

static void make_short(struct ward_txpkt *tx)
{
	tx->len = sizeof(struct ward_bth);
}

static void too_short(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	forge_by(test, &v->a, ward_qp_path(to_ward_qp(v->a.qp)), &pkt, NULL, make_short);
}

static void set_opcode(struct ward_txpkt *tx)
{
	tx->buf[0] = WARD_OPCODE_NONE;
}

static void bad_opcode(struct kunit *test, struct verbs *v)
{
	spoilt(test, v, WARD_SEND_ONLY, set_opcode);
}

static void make_odd(struct ward_txpkt *tx)
{
	tx->len--;
}

static void odd_length(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	pkt.len = 8;
	forge_by(test, &v->a, ward_qp_path(to_ward_qp(v->a.qp)), &pkt, NULL, make_odd);
}

static void set_pad(struct ward_txpkt *tx)
{
	tx->buf[1] |= 1 << WARD_BTH_PAD_SHIFT;
}

static void pad_in_first(struct kunit *test, struct verbs *v)
{
	spoilt(test, v, WARD_SEND_FIRST, set_pad);
}

static void set_version(struct ward_txpkt *tx)
{
	tx->buf[1] |= 1;
}

static void other_version(struct kunit *test, struct verbs *v)
{
	spoilt(test, v, WARD_SEND_ONLY, set_version);
}

static void group_qpn_to_host(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	pkt.qpn = WARD_MULTICAST_QPN;
	forge(test, &v->a, &pkt);
}

static void no_such_qp(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	pkt.qpn ^= 0x5a5a5a;
	forge(test, &v->a, &pkt);
}

static void other_transport(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_UC | WARD_SEND_ONLY, 0);

	forge(test, &v->a, &pkt);
}

static void other_pkey(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	pkt.pkey = 0x1234;
	forge(test, &v->a, &pkt);
}

static void other_qkey(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	pkt.qkey ^= 1;
	forge_along(test, &v->a, &v->b, &pkt);
}

static void no_receive(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	forge_along(test, &v->a, &v->b, &pkt);
}

static void flip_bit(struct ward_txpkt *tx)
{
	tx->buf[tx->len - 1] ^= 1;
}

static void bad_icrc(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	forge_by(test, &v->a, ward_qp_path(to_ward_qp(v->a.qp)), &pkt, NULL, flip_bit);
}

/* From B's own address, which is not that of its peer */
static void other_source(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	forge_along(test, &v->b, &v->b, &pkt);
}

static void in_error(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 0);

	verbs_to_error(test, &v->b);
	forge(test, &v->a, &pkt);
}

/* One more than fits; those that do are duplicates */
static void backlog(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, -1);
	struct ward_run run;
	int i;

	deaf(&v->b, &run);
	for (i = 0; i <= WARD_INBOX_MAX; i++) {
		forge(test, &v->a, &pkt);
		/* as slowly as the netdev's own backlog wants it */
		if (!(i % 64))
			usleep_range(1000, 2000);
	}
	msleep(50);
	ward_qp_disown(&run);
}

static void middle_without_first(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_MIDDLE, 0);

	pkt.len = 1024;
	forge(test, &v->a, &pkt);
}

static void answer_to_nothing(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_ACKNOWLEDGE, 0);

	pkt.psn = ward_psn_add(v->b.psn, 1000);
	pkt.syndrome = WARD_AETH_NO_CREDIT;
	forge(test, &v->a, &pkt);
}

static void duplicate(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, -1);

	forge(test, &v->a, &pkt);
}

static void too_early(struct kunit *test, struct verbs *v)
{
	struct ward_pkt pkt = forged(&v->b, WARD_SEND_ONLY, 5);

	forge(test, &v->a, &pkt);
}

static void not_ready(struct kunit *test, struct verbs *v)
{
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0),
		      IB_WC_RNR_RETRY_EXC_ERR);
}

/* B's answer to a request that it has not seen yet */
static void told(struct kunit *test, struct verbs *v, u8 syndrome)
{
	struct ward_pkt pkt = forged(&v->a, WARD_ACKNOWLEDGE, 0);
	struct ward_qp *a = to_ward_qp(v->a.qp);
	struct verbs_op *recv = verbs_recv(test, &v->b, 0, 100);
	struct ward_run run;
	struct verbs_op *op;
	struct ward_txpkt tx = {};

	deaf(&v->b, &run);
	op = verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	pkt.psn = v->a.psn;
	pkt.syndrome = syndrome;
	local_bh_disable();
	if (ward_txpkt_begin(&tx, &pkt)) {
		ward_txpkt_seal(&tx, ward_qp_path(run.qp));
		ward_txpkt_send(run.qp, &tx, ward_qp_path(run.qp));
		ward_txpkt_drop_buf(&tx);
	}
	local_bh_enable();
	usleep_range(5000, 10000);
	ward_qp_disown(&run);
	verbs_status(op);
	if (a->state == IB_QPS_RTS)
		verbs_status(recv);
}

static void told_of_hole(struct kunit *test, struct verbs *v)
{
	told(test, v, WARD_NAK_SEQUENCE);
}

static void told_of_fault(struct kunit *test, struct verbs *v)
{
	told(test, v, WARD_NAK_INVALID);
}

/* B is deaf for longer than the retries last */
static void never_answered(struct kunit *test, struct verbs *v)
{
	struct ward_run run;
	struct verbs_op *op;

	deaf(&v->b, &run);
	op = verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	EXPECT_STATUS(test, op, IB_WC_RETRY_EXC_ERR);
	ward_qp_disown(&run);
}

static void response_lost(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);

	verbs_rule(test, &v->b, "drop dir=out op=response nth=2");
	EXPECT_STATUS(test, verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma,
				       v->a.pd->local_dma_lkey, 8192, mr->iova, mr->rkey),
		      IB_WC_SUCCESS);
	verbs_unrule(test, &v->b, 0);
}

/* The acknowledgement of the SEND behind a READ that takes more than one run to answer */
static void ack_behind_read(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, VERBS_BUF, REMOTE);
	struct verbs_op *recv = verbs_recv(test, &v->b, 0, 100), *read, *send;
	struct ward_run run;

	deaf(&v->b, &run);
	read = verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma, v->a.pd->local_dma_lkey,
			  VERBS_BUF, mr->iova, mr->rkey);
	send = verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0);
	ward_qp_disown(&run);
	EXPECT_STATUS(test, read, IB_WC_SUCCESS);
	EXPECT_STATUS(test, send, IB_WC_SUCCESS);
	EXPECT_STATUS(test, recv, IB_WC_SUCCESS);
}

static void stack_refuses(struct kunit *test, struct verbs *v)
{
	verbs_recv(test, &v->b, 0, 100);
	verbs_rule(test, &v->a, "fail=skb nth=1");
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_SUCCESS);
	verbs_unrule(test, &v->a, 0);
}

static void port_down(struct kunit *test, struct verbs *v)
{
	rtnl_lock();
	dev_change_flags(v->b.link->netdev, v->b.link->netdev->flags & ~IFF_UP, NULL);
	dev_change_flags(v->b.link->netdev, v->b.link->netdev->flags | IFF_UP, NULL);
	rtnl_unlock();
}

static void wrong_key(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

	EXPECT_STATUS(test, write_to(test, v, mr->rkey ^ 1, mr->iova, 8), IB_WC_REM_ACCESS_ERR);
}

static void invalidated(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

	ASSERT_STATUS(test, verbs_inv(test, &v->b, mr->rkey), IB_WC_SUCCESS);
	EXPECT_STATUS(test, write_to(test, v, mr->rkey, mr->iova, 8), IB_WC_REM_ACCESS_ERR);
}

static void other_pd(struct kunit *test, struct verbs *v)
{
	struct ib_pd *pd = verbs_pd(test, &v->b);

	EXPECT_STATUS(test, write_to(test, v, pd->local_dma_lkey, v->b.dma, 8),
		      IB_WC_REM_ACCESS_ERR);
}

static void other_qp(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

	to_ward_mr(mr)->qpn = v->b.qp->qp_num ^ 1;
	EXPECT_STATUS(test, write_to(test, v, mr->rkey, mr->iova, 8), IB_WC_REM_ACCESS_ERR);
}

static void no_right(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, IB_ACCESS_REMOTE_READ);

	EXPECT_STATUS(test, write_to(test, v, mr->rkey, mr->iova, 8), IB_WC_REM_ACCESS_ERR);
}

static void out_of_range(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

	EXPECT_STATUS(test, write_to(test, v, mr->rkey, mr->iova + 4090, 8),
		      IB_WC_REM_ACCESS_ERR);
}

static void not_allowed(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

	EXPECT_STATUS(test, atomic(test, v, mr->rkey, mr->iova), IB_WC_REM_INV_REQ_ERR);
}

/* One READ more than B has room for, all in one of its runs */
static void too_many_reads(struct kunit *test, struct verbs *v)
{
	struct ward_run run;
	int i;

	deaf(&v->b, &run);
	for (i = 0; i < 5; i++) {
		struct ward_pkt pkt = forged(&v->b, WARD_READ_REQUEST, i);

		forge(test, &v->a, &pkt);
	}
	msleep(50);
	ward_qp_disown(&run);
}

/* An address that is aligned, of memory that is not */
static void misaligned(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 4, 4096, REMOTE);
	struct ward_mr *region = to_ward_mr(mr);

	region->access |= IB_ACCESS_REMOTE_ATOMIC;
	region->iova -= 4;
	to_ward_qp(v->b.qp)->attr.qp_access_flags |= IB_ACCESS_REMOTE_ATOMIC;
	EXPECT_STATUS(test, atomic(test, v, mr->rkey, region->iova), IB_WC_REM_INV_REQ_ERR);
}

static void longer_than_receive(struct kunit *test, struct verbs *v)
{
	verbs_recv(test, &v->b, 0, 10);
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0),
		      IB_WC_REM_INV_REQ_ERR);
}

/* As only a process can write it, into the ring that it shares */
static void receive_of_nonsense(struct kunit *test, struct verbs *v)
{
	struct ward_recvq *rq = &to_ward_qp(v->b.qp)->rq;
	struct rxe_recv_wqe *slot = ward_ring_slot(&rq->ring, rq->tail);

	verbs_recv(test, &v->b, 0, 100);
	slot->dma.num_sge = 1000;
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND, 0, 100, 0), IB_WC_REM_OP_ERR);
}

static void registration(struct kunit *test, struct verbs *v)
{
	verbs_region(test, &v->b, 0, 4096, REMOTE);
}

static void local_invalidate(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

	EXPECT_STATUS(test, verbs_inv(test, &v->b, mr->rkey), IB_WC_SUCCESS);
}

static void remote_invalidate(struct kunit *test, struct verbs *v)
{
	struct ib_mr *mr = verbs_region(test, &v->b, 0, 4096, REMOTE);

	verbs_recv(test, &v->b, 0, 100);
	EXPECT_STATUS(test, verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 100, mr->rkey),
		      IB_WC_SUCCESS);
}

static void injected(struct kunit *test, struct verbs *v)
{
	verbs_rule(test, &v->b, "duplicate dir=in op=send nth=1");
	a_send(test, v);
	verbs_unrule(test, &v->b, 0);
}

/**
 * struct fault - what bumps a counter
 * @id:    the counter
 * @cause: the fault
 * @at_a:  A counts it, else B
 * @here:  both are of one device
 * @by:    so many; 0: at least one, how many is a matter of time
 * @type:  of the QPs
 * @also:  what it brings about besides, as often as it likes
 * @rnr_retry: as in struct verbs
 * @retry: as in struct verbs
 */
struct fault {
	enum ward_counter	id;
	void			(*cause)(struct kunit *test, struct verbs *v);
	bool			at_a;
	bool			here;
	u32			by;
	enum ib_qp_type		type;
	enum ward_counter	also[4];
	u8			retry;
	u8			rnr_retry;
};

/* The last column of also[] that is not used is SENT_PKTS, which is traffic */
#define AT_B(_id, _cause, ...) \
	{ .id = WARD_CNT_##_id, .cause = _cause, .by = 1, .type = IB_QPT_RC, .retry = 6, \
	  .rnr_retry = 7, __VA_ARGS__ }
#define ALSO(...)	.also = { __VA_ARGS__ }

static const struct fault faults[] = {
	AT_B(SENT_PKTS, a_send, .at_a = true),
	AT_B(SENT_BYTES, a_send, .at_a = true, .by = 12 + 100 + 4),
	AT_B(RCVD_PKTS, a_send),
	AT_B(RCVD_BYTES, a_send, .by = 12 + 100 + 4),
	AT_B(RDMA_SENDS, a_send, .at_a = true),
	AT_B(RDMA_RECVS, a_send),
	AT_B(DUPLICATE, duplicate),
	AT_B(OUT_OF_SEQ, too_early),
	AT_B(SENT_RNR, not_ready, .rnr_retry = 0),
	AT_B(RCVD_RNR, not_ready, .at_a = true, .rnr_retry = 0, ALSO(WARD_CNT_RNR_EXC)),
	AT_B(RNR_EXC, not_ready, .at_a = true, .rnr_retry = 0, ALSO(WARD_CNT_RCVD_RNR)),
	AT_B(RCVD_SEQ, told_of_hole, .at_a = true,
	     ALSO(WARD_CNT_RETRANSMITTED, WARD_CNT_DROP_RESPONSE, WARD_CNT_TIMEOUTS)),
	AT_B(RETRANSMITTED, told_of_hole, .at_a = true, .by = 0,
	     ALSO(WARD_CNT_RCVD_SEQ, WARD_CNT_DROP_RESPONSE, WARD_CNT_TIMEOUTS)),
	AT_B(RCVD_NAK, told_of_fault, .at_a = true,
	     ALSO(WARD_CNT_DROP_STATE, WARD_CNT_RETRANSMITTED, WARD_CNT_TIMEOUTS)),
	AT_B(ACK_DEFERRED, ack_behind_read, .by = 0, ALSO(WARD_CNT_DUPLICATE)),
	AT_B(RESP_LOST, response_lost, .at_a = true, .by = 0,
	     ALSO(WARD_CNT_RETRANSMITTED, WARD_CNT_DROP_RESPONSE)),
	AT_B(TIMEOUTS, never_answered, .at_a = true, .retry = 0,
	     ALSO(WARD_CNT_RETRANSMITTED, WARD_CNT_RETRY_EXC, WARD_CNT_DROP_STATE)),
	AT_B(RETRY_EXC, never_answered, .at_a = true, .retry = 0,
	     ALSO(WARD_CNT_RETRANSMITTED, WARD_CNT_TIMEOUTS, WARD_CNT_DROP_STATE)),
	AT_B(SEND_ERR, stack_refuses, .at_a = true,
	     ALSO(WARD_CNT_RETRANSMITTED, WARD_CNT_TIMEOUTS)),
	AT_B(DROP_SHORT, too_short),
	AT_B(DROP_OPCODE, bad_opcode),
	AT_B(DROP_LENGTH, odd_length),
	AT_B(DROP_PAD, pad_in_first),
	AT_B(DROP_VERSION, other_version),
	AT_B(DROP_IP, group_qpn_to_host),
	AT_B(DROP_QPN, no_such_qp),
	AT_B(DROP_TRANSPORT, other_transport),
	AT_B(DROP_PKEY, other_pkey),
	AT_B(DROP_QKEY, other_qkey, .type = IB_QPT_UD),
	AT_B(DROP_ICRC, bad_icrc),
	AT_B(DROP_SOURCE, other_source),
	AT_B(DROP_STATE, in_error),
	AT_B(DROP_BACKLOG, backlog, ALSO(WARD_CNT_DUPLICATE)),
	AT_B(DROP_NO_RECV, no_receive, .type = IB_QPT_UD),
	AT_B(DROP_MESSAGE, middle_without_first, .type = IB_QPT_UC),
	AT_B(DROP_RESPONSE, answer_to_nothing),
	AT_B(NAK_INVALID, not_allowed, ALSO(WARD_CNT_REFUSED_OP)),
	AT_B(NAK_ACCESS, wrong_key, ALSO(WARD_CNT_REFUSED_KEY)),
	AT_B(NAK_OPERATION, receive_of_nonsense, ALSO(WARD_CNT_REFUSED_RECV)),
	AT_B(REFUSED_KEY, wrong_key, ALSO(WARD_CNT_NAK_ACCESS)),
	AT_B(REFUSED_STATE, invalidated, ALSO(WARD_CNT_NAK_ACCESS, WARD_CNT_MR_LOCAL_INV)),
	AT_B(REFUSED_PD, other_pd, ALSO(WARD_CNT_NAK_ACCESS)),
	AT_B(REFUSED_QP, other_qp, ALSO(WARD_CNT_NAK_ACCESS)),
	AT_B(REFUSED_RIGHTS, no_right, ALSO(WARD_CNT_NAK_ACCESS)),
	AT_B(REFUSED_RANGE, out_of_range, ALSO(WARD_CNT_NAK_ACCESS)),
	AT_B(REFUSED_OP, not_allowed, ALSO(WARD_CNT_NAK_INVALID)),
	AT_B(REFUSED_DEPTH, too_many_reads, ALSO(WARD_CNT_NAK_INVALID)),
	AT_B(REFUSED_ORDER, middle_without_first, ALSO(WARD_CNT_NAK_INVALID)),
	AT_B(REFUSED_ALIGN, misaligned, ALSO(WARD_CNT_NAK_INVALID)),
	AT_B(REFUSED_LENGTH, longer_than_receive, ALSO(WARD_CNT_NAK_INVALID)),
	AT_B(REFUSED_RECV, receive_of_nonsense, ALSO(WARD_CNT_NAK_OPERATION)),
	AT_B(LOCAL_STEPS, a_send, .here = true, ALSO(WARD_CNT_LOCAL_BYTES)),
	AT_B(LOCAL_BYTES, a_send, .here = true, .by = 100, ALSO(WARD_CNT_LOCAL_STEPS)),
	AT_B(MR_REG, registration),
	AT_B(MR_LOCAL_INV, local_invalidate),
	AT_B(MR_REMOTE_INV, remote_invalidate),
	AT_B(INJECTED, injected, ALSO(WARD_CNT_DUPLICATE)),
	/* the last one: what had the port comes back later */
	AT_B(LINK_DOWNED, port_down),
};

/* Counters that only a process can bump, and who tests them */
static const struct {
	enum ward_counter	id;
	const char		*test;
} elsewhere[] = {
	{ WARD_CNT_MW_BIND, "tools/vm/tests/27-memory.sh" },
	{ WARD_CNT_PAGE_FAULTS, "tools/vm/tests/27-memory.sh" },
};

static const char * const names[] = {
#define X(id, name, text) [WARD_CNT_##id] = #name,
	WARD_COUNTERS(X)
#undef X
};

static void fault_desc(const struct fault *f, char *desc)
{
	strscpy(desc, names[f->id], KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fault, faults, fault_desc);

struct counted {
	u64	v[WARD_CNT_MAX];
};

static void take(struct verbs_end *end, struct counted *c)
{
	int id;

	for (id = 0; id < WARD_CNT_MAX; id++)
		c->v[id] = ward_counter_sum(to_ward(end->link->ibdev), id);
}

static bool is_expected(const struct fault *f, int id)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(f->also); i++)
		if (f->also[i] == id)
			return true;
	return is_traffic(id);
}

static void each_fault_has_its_counter(struct kunit *test)
{
	const struct fault *f = test->param_value;
	struct verbs *v = verbs_start(test, f->type, &wire.end[0],
				      &wire.end[!f->here], false);
	struct verbs_end *end = f->at_a ? &v->a : &v->b;
	struct counted *before = kunit_kzalloc(test, sizeof(*before), GFP_KERNEL);
	struct counted *after = kunit_kzalloc(test, sizeof(*after), GFP_KERNEL);
	int id, ms;

	KUNIT_ASSERT_TRUE(test, before && after);
	v->retry = f->retry;
	v->rnr_retry = f->rnr_retry;
	verbs_connect(test, v);
	take(end, before);
	f->cause(test, v);
	for (ms = 0; ms < PATIENCE_MS; ms += 10) {
		take(end, after);
		if (after->v[f->id] >= before->v[f->id] + max(f->by, 1U))
			break;
		usleep_range(10000, 20000);
	}
	/* what would be one too many */
	msleep(20);
	take(end, after);
	if (f->by)
		KUNIT_EXPECT_EQ(test, after->v[f->id] - before->v[f->id], f->by);
	else
		KUNIT_EXPECT_GE(test, after->v[f->id] - before->v[f->id], 1);
	for (id = 0; id < WARD_CNT_MAX; id++)
		if (id != f->id && !is_expected(f, id))
			KUNIT_EXPECT_EQ_MSG(test, after->v[id], before->v[id], "%s", names[id]);
}

static void each_counter_has_a_test(struct kunit *test)
{
	int id, i, n;

	for (id = 0; id < WARD_CNT_MAX; id++) {
		n = 0;
		for (i = 0; i < ARRAY_SIZE(faults); i++)
			n += faults[i].id == id;
		for (i = 0; i < ARRAY_SIZE(elsewhere); i++)
			n += elsewhere[i].id == id;
		KUNIT_EXPECT_EQ_MSG(test, n, 1, "counter %s", names[id]);
	}
}

static int counters_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	if (err)
		link_down(&wire);
	return err;
}

static void counters_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case counters_cases[] = {
	KUNIT_CASE(each_counter_has_a_test),
	KUNIT_CASE_PARAM(each_fault_has_its_counter, fault_gen_params),
	{}
};

static struct kunit_suite counters_suite = {
	.name = "ward-counters",
	.suite_init = counters_init,
	.suite_exit = counters_exit,
	.exit = verbs_exit,
	.test_cases = counters_cases,
};

kunit_test_suite(counters_suite);
