/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What people read for numbers: one list for each kind, which trace points and debugfs share.
 *
 * A list takes two macros, X(number, name) and LAST(number, name) for its last entry, since an
 * initialiser of trace points may not end in a comma.
 */
#ifndef _WARD_WATCH_NAMES_H
#define _WARD_WATCH_NAMES_H

#include <linux/types.h>

/* enum ib_qp_state */
#define WARD_QP_STATES(X, LAST) \
	X(IB_QPS_RESET, "RESET") \
	X(IB_QPS_INIT, "INIT") \
	X(IB_QPS_RTR, "RTR") \
	X(IB_QPS_RTS, "RTS") \
	X(IB_QPS_SQD, "SQD") \
	X(IB_QPS_SQE, "SQE") \
	LAST(IB_QPS_ERR, "ERR")

/* enum ib_wr_opcode */
#define WARD_WR_OPCODES(X, LAST) \
	X(IB_WR_SEND, "SEND") \
	X(IB_WR_SEND_WITH_IMM, "SEND_IMM") \
	X(IB_WR_SEND_WITH_INV, "SEND_INV") \
	X(IB_WR_RDMA_WRITE, "WRITE") \
	X(IB_WR_RDMA_WRITE_WITH_IMM, "WRITE_IMM") \
	X(IB_WR_RDMA_READ, "READ") \
	X(IB_WR_ATOMIC_CMP_AND_SWP, "CMP_SWAP") \
	X(IB_WR_ATOMIC_FETCH_AND_ADD, "FETCH_ADD") \
	X(IB_WR_LOCAL_INV, "LOCAL_INV") \
	X(IB_WR_REG_MR, "REG_MR") \
	X(IB_WR_BIND_MW, "BIND_MW") \
	X(WARD_IB_WR_FLUSH, "FLUSH") \
	LAST(WARD_IB_WR_ATOMIC_WRITE, "ATOMIC_WRITE")

/* BTH opcodes without the transport */
#define WARD_WIRE_OPCODES(X, LAST) \
	X(WARD_SEND_FIRST, "SEND_FIRST") \
	X(WARD_SEND_MIDDLE, "SEND_MIDDLE") \
	X(WARD_SEND_LAST, "SEND_LAST") \
	X(WARD_SEND_LAST_IMM, "SEND_LAST_IMM") \
	X(WARD_SEND_ONLY, "SEND_ONLY") \
	X(WARD_SEND_ONLY_IMM, "SEND_ONLY_IMM") \
	X(WARD_WRITE_FIRST, "WRITE_FIRST") \
	X(WARD_WRITE_MIDDLE, "WRITE_MIDDLE") \
	X(WARD_WRITE_LAST, "WRITE_LAST") \
	X(WARD_WRITE_LAST_IMM, "WRITE_LAST_IMM") \
	X(WARD_WRITE_ONLY, "WRITE_ONLY") \
	X(WARD_WRITE_ONLY_IMM, "WRITE_ONLY_IMM") \
	X(WARD_READ_REQUEST, "READ_REQUEST") \
	X(WARD_READ_RESP_FIRST, "READ_RESP_FIRST") \
	X(WARD_READ_RESP_MIDDLE, "READ_RESP_MIDDLE") \
	X(WARD_READ_RESP_LAST, "READ_RESP_LAST") \
	X(WARD_READ_RESP_ONLY, "READ_RESP_ONLY") \
	X(WARD_ACKNOWLEDGE, "ACKNOWLEDGE") \
	X(WARD_ATOMIC_ACK, "ATOMIC_ACK") \
	X(WARD_COMPARE_SWAP, "CMP_SWAP") \
	X(WARD_FETCH_ADD, "FETCH_ADD") \
	X(WARD_SEND_LAST_INV, "SEND_LAST_INV") \
	X(WARD_SEND_ONLY_INV, "SEND_ONLY_INV") \
	X(WARD_FLUSH, "FLUSH") \
	LAST(WARD_ATOMIC_WRITE, "ATOMIC_WRITE")

/* Why a QP is in its state */
enum ward_why {
	WARD_WHY_CREATED,
	WARD_WHY_MODIFIED,
	WARD_WHY_SEND_FAILED,
	WARD_WHY_REFUSED_PEER,
	WARD_WHY_RECV_FAILED,
	WARD_WHY_DESTROYED,
};

#define WARD_WHYS(X, LAST) \
	X(WARD_WHY_CREATED, "created") \
	X(WARD_WHY_MODIFIED, "modify_qp") \
	X(WARD_WHY_SEND_FAILED, "send-failed") \
	X(WARD_WHY_REFUSED_PEER, "peer-refused") \
	X(WARD_WHY_RECV_FAILED, "receive-failed") \
	LAST(WARD_WHY_DESTROYED, "destroy_qp")

/* Why a packet is sent again */
enum ward_resend {
	WARD_RESEND_HOLE,
	WARD_RESEND_EARLY,
	WARD_RESEND_TIMEOUT,
	WARD_RESEND_REST,
	WARD_RESEND_RNR,
};

#define WARD_RESENDS(X, LAST) \
	X(WARD_RESEND_HOLE, "hole-told") \
	X(WARD_RESEND_EARLY, "probe") \
	X(WARD_RESEND_TIMEOUT, "timeout") \
	X(WARD_RESEND_REST, "rest") \
	LAST(WARD_RESEND_RNR, "rnr-over")

/* enum ward_refusal: the rule that an access has broken */
#define WARD_REFUSALS(X, LAST) \
	X(WARD_GRANTED, "none") \
	X(WARD_REFUSED_KEY, "key") \
	X(WARD_REFUSED_STATE, "state") \
	X(WARD_REFUSED_PD, "pd") \
	X(WARD_REFUSED_QP, "qp") \
	X(WARD_REFUSED_RIGHTS, "rights") \
	LAST(WARD_REFUSED_RANGE, "range")

/* Who puts a region out of reach */
enum ward_closed_by {
	WARD_BY_NOBODY,
	WARD_BY_LOCAL,		/* LOCAL_INV */
	WARD_BY_REMOTE,		/* SEND_WITH_INV of the peer */
	WARD_BY_BIND,		/* a window is bound elsewhere */
	WARD_BY_DEREG,		/* deregistered, or registered anew, by a verb */
	WARD_BY_ERROR,		/* its QP has failed */
};

#define WARD_CLOSED_BYS(X, LAST) \
	X(WARD_BY_NOBODY, "-") \
	X(WARD_BY_LOCAL, "local") \
	X(WARD_BY_REMOTE, "remote") \
	X(WARD_BY_BIND, "bind") \
	X(WARD_BY_DEREG, "dereg") \
	LAST(WARD_BY_ERROR, "error")

/* enum ward_region_kind */
#define WARD_KINDS(X, LAST) \
	X(WARD_KIND_DMA, "dma") \
	X(WARD_KIND_FASTREG, "fast") \
	X(WARD_KIND_USER, "user") \
	X(WARD_KIND_WINDOW_1, "window1") \
	LAST(WARD_KIND_WINDOW_2, "window2")

/* enum ward_region_state */
#define WARD_REGION_STATES(X, LAST) \
	X(WARD_FREE, "FREE") \
	X(WARD_VALID, "VALID") \
	LAST(WARD_DRAINING, "DRAINING")

const char *ward_name_qp_state(int state);
const char *ward_name_qp_type(int transport);
const char *ward_name_wr(u32 opcode);
const char *ward_name_wire(u8 opcode);
const char *ward_name_why(int why);
const char *ward_name_refusal(int refusal);
const char *ward_name_closed_by(int by);
const char *ward_name_kind(int kind);
const char *ward_name_region_state(int state);
const char *ward_name_nak(u8 syndrome);
const char *ward_name_op(int rights);

/* "lrwaWbfp-" of a set of rights: room for the text */
#define WARD_RIGHTS_TEXT	12
void ward_name_rights(int rights, char text[WARD_RIGHTS_TEXT]);

#endif /* _WARD_WATCH_NAMES_H */
