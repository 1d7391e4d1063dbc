/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace points, events/ward/. Documentation/debugfs.rst says what each means.
 *
 * Each has the device, our QP number (qpn), a packet sequence number (psn) where there is one,
 * and what names the work request: the number of its completion queue (cq, as `rdma resource`
 * has it), its place in the send queue (wr) and the consumer's wr_id. A region is named by its
 * number (mr, as `rdma resource` has it) and its key.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ward

#if !defined(_WARD_WATCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _WARD_WATCH_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/ib_verbs.h>
#include <ward/wire.h>

#include "../mem/copy.h"
#include "../qp/qp.h"
#include "../qp/txpkt.h"
#include "../verbs/cq.h"
#include "names.h"

/* So that user space, which reads the formats, knows the numbers of enums */
#define WARD_DEFINE_ENUM(number, name)	TRACE_DEFINE_ENUM(number);
WARD_QP_STATES(WARD_DEFINE_ENUM, WARD_DEFINE_ENUM)
WARD_WR_OPCODES(WARD_DEFINE_ENUM, WARD_DEFINE_ENUM)
WARD_WHYS(WARD_DEFINE_ENUM, WARD_DEFINE_ENUM)
WARD_RESENDS(WARD_DEFINE_ENUM, WARD_DEFINE_ENUM)
WARD_REFUSALS(WARD_DEFINE_ENUM, WARD_DEFINE_ENUM)
WARD_CLOSED_BYS(WARD_DEFINE_ENUM, WARD_DEFINE_ENUM)
WARD_KINDS(WARD_DEFINE_ENUM, WARD_DEFINE_ENUM)

#define WARD_SYMBOL(number, name)	{ number, name },
#define WARD_LAST_SYMBOL(number, name)	{ number, name }
#define show_ward(list, number) \
	__print_symbolic(number, list(WARD_SYMBOL, WARD_LAST_SYMBOL))

TRACE_EVENT(ward_qp_state,
	TP_PROTO(const struct ward_qp *qp, int from, int to, int why, u32 detail),
	TP_ARGS(qp, from, to, why, detail),
	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(int, from)
		__field(int, to)
		__field(int, why)
		__field(u32, detail)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&qp->dev->ib.dev));
		__entry->qpn = qp->qpn;
		__entry->psn = qp->req.nxt;
		__entry->from = from;
		__entry->to = to;
		__entry->why = why;
		__entry->detail = detail;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u %s -> %s why=%s detail=%u",
		  __get_str(dev), __entry->qpn, __entry->psn,
		  show_ward(WARD_QP_STATES, __entry->from),
		  show_ward(WARD_QP_STATES, __entry->to),
		  show_ward(WARD_WHYS, __entry->why), __entry->detail)
);

/* psn: its first packet's; before it executes, the first that it can have */
DECLARE_EVENT_CLASS(ward_wr,
	TP_PROTO(const struct ward_qp *qp, u32 index, int status),
	TP_ARGS(qp, index, status),
	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, cq)
		__field(u32, wr)
		__field(u64, wr_id)
		__field(u32, opcode)
		__field(u32, length)
		__field(int, status)
	),
	TP_fast_assign(
		const struct ward_swqe *wqe = ward_sendq_at(&qp->sq, index);

		ward_assign_str(dev, dev_name(&qp->dev->ib.dev));
		__entry->qpn = qp->qpn;
		__entry->psn = wqe->started ? wqe->first_psn : READ_ONCE(qp->req.nxt);
		__entry->cq = qp->send_cq->ib.res.id;
		__entry->wr = index;
		__entry->wr_id = wqe->wr_id;
		__entry->opcode = wqe->opcode;
		__entry->length = wqe->length;
		__entry->status = status;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u cq=%u wr=%u wr_id=0x%llx %s length=%u status=%d",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->cq, __entry->wr,
		  __entry->wr_id, show_ward(WARD_WR_OPCODES, __entry->opcode),
		  __entry->length, __entry->status)
);

DEFINE_EVENT(ward_wr, ward_wr_post,
	TP_PROTO(const struct ward_qp *qp, u32 index, int status), TP_ARGS(qp, index, status));
DEFINE_EVENT(ward_wr, ward_wr_execute,
	TP_PROTO(const struct ward_qp *qp, u32 index, int status), TP_ARGS(qp, index, status));
DEFINE_EVENT(ward_wr, ward_wr_complete,
	TP_PROTO(const struct ward_qp *qp, u32 index, int status), TP_ARGS(qp, index, status));

TRACE_EVENT(ward_recv_complete,
	TP_PROTO(const struct ward_qp *qp, const struct ib_wc *wc),
	TP_ARGS(qp, wc),
	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, cq)
		__field(u64, wr_id)
		__field(u32, length)
		__field(int, status)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&qp->dev->ib.dev));
		__entry->qpn = qp->qpn;
		__entry->psn = qp->resp.order.epsn;
		__entry->cq = qp->recv_cq->ib.res.id;
		__entry->wr_id = wc->wr_id;
		__entry->length = wc->byte_len;
		__entry->status = wc->status;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u cq=%u wr_id=0x%llx length=%u status=%d",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->cq, __entry->wr_id,
		  __entry->length, __entry->status)
);

DECLARE_EVENT_CLASS(ward_packet,
	TP_PROTO(const struct ward_qp *qp, u8 opcode, u32 psn, u32 bytes),
	TP_ARGS(qp, opcode, psn, bytes),
	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, opcode)
		__field(u32, bytes)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&qp->dev->ib.dev));
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->opcode = opcode & 0x1f;
		__entry->bytes = bytes;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u %s bytes=%u",
		  __get_str(dev), __entry->qpn, __entry->psn,
		  show_ward(WARD_WIRE_OPCODES, __entry->opcode), __entry->bytes)
);

/* bytes: from the BTH to the ICRC */
DEFINE_EVENT(ward_packet, ward_packet_sent,
	TP_PROTO(const struct ward_qp *qp, u8 opcode, u32 psn, u32 bytes),
	TP_ARGS(qp, opcode, psn, bytes));
DEFINE_EVENT(ward_packet, ward_packet_received,
	TP_PROTO(const struct ward_qp *qp, u8 opcode, u32 psn, u32 bytes),
	TP_ARGS(qp, opcode, psn, bytes));

/* a step to a QP of this host, in the shape of a packet; bytes: that were copied */
DEFINE_EVENT(ward_packet, ward_local_step,
	TP_PROTO(const struct ward_qp *qp, u8 opcode, u32 psn, u32 bytes),
	TP_ARGS(qp, opcode, psn, bytes));

DECLARE_EVENT_CLASS(ward_answer,
	TP_PROTO(const struct ward_qp *qp, u32 psn, u8 syndrome, u32 msn),
	TP_ARGS(qp, psn, syndrome, msn),
	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, syndrome)
		__field(u32, msn)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&qp->dev->ib.dev));
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->syndrome = syndrome;
		__entry->msn = msn;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u msn=%u syndrome=0x%02x",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->msn, __entry->syndrome)
);

#define WARD_ANSWER_EVENT(name) \
	DEFINE_EVENT(ward_answer, name, \
		TP_PROTO(const struct ward_qp *qp, u32 psn, u8 syndrome, u32 msn), \
		TP_ARGS(qp, psn, syndrome, msn))
WARD_ANSWER_EVENT(ward_ack_sent);
WARD_ANSWER_EVENT(ward_ack_received);
WARD_ANSWER_EVENT(ward_nak_sent);
WARD_ANSWER_EVENT(ward_nak_received);
WARD_ANSWER_EVENT(ward_rnr_sent);
WARD_ANSWER_EVENT(ward_rnr_received);

TRACE_EVENT(ward_retransmit,
	TP_PROTO(const struct ward_qp *qp, const struct ward_txpkt *tx, int why),
	TP_ARGS(qp, tx, why),
	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, wr)
		__field(u64, wr_id)
		__field(int, why)
		__field(u8, retries)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&qp->dev->ib.dev));
		__entry->qpn = qp->qpn;
		__entry->psn = tx->psn;
		__entry->wr = tx->wqe;
		__entry->wr_id = ward_sendq_at(&qp->sq, tx->wqe)->wr_id;
		__entry->why = why;
		__entry->retries = qp->req.retries;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u wr=%u wr_id=0x%llx why=%s retries_left=%u",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->wr, __entry->wr_id,
		  show_ward(WARD_RESENDS, __entry->why), __entry->retries)
);

/* qpn and psn: of whoever put it out of reach; 0 where a verb did, or does not */
DECLARE_EVENT_CLASS(ward_mr,
	TP_PROTO(const struct ward_mr *mr),
	TP_ARGS(mr),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mr->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, mr)
		__field(u32, key)
		__field(int, kind)
		__field(int, access)
		__field(u64, iova)
		__field(u64, length)
		__field(u32, generation)
		__field(int, by)
	),
	TP_fast_assign(
		bool closing = mr->exposure.closing;

		ward_assign_str(dev, dev_name(&mr->dev->ib.dev));
		__entry->qpn = closing ? mr->exposure.closer.qpn : 0;
		__entry->psn = closing ? mr->exposure.closer.psn : 0;
		__entry->mr = ward_mr_is_window(mr) ? 0 : mr->ib.res.id;
		__entry->key = mr->key;
		__entry->kind = mr->kind;
		__entry->access = mr->access;
		__entry->iova = mr->iova;
		__entry->length = mr->length;
		__entry->generation = mr->generation;
		__entry->by = closing ? mr->exposure.closer.by : WARD_BY_NOBODY;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u mr=%u key=0x%08x kind=%s rights=0x%x iova=0x%llx length=%llu generation=%u by=%s",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->mr, __entry->key,
		  show_ward(WARD_KINDS, __entry->kind), __entry->access, __entry->iova,
		  __entry->length, __entry->generation,
		  show_ward(WARD_CLOSED_BYS, __entry->by))
);

DEFINE_EVENT(ward_mr, ward_mr_register, TP_PROTO(const struct ward_mr *mr), TP_ARGS(mr));
DEFINE_EVENT(ward_mr, ward_mr_expose, TP_PROTO(const struct ward_mr *mr), TP_ARGS(mr));
DEFINE_EVENT(ward_mr, ward_mr_invalidate, TP_PROTO(const struct ward_mr *mr), TP_ARGS(mr));

TRACE_EVENT(ward_mr_invalidated,
	TP_PROTO(const struct ward_mr *mr, u64 drain, u64 exposure),
	TP_ARGS(mr, drain, exposure),
	TP_STRUCT__entry(
		__string(dev, dev_name(&mr->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, mr)
		__field(u32, key)
		__field(int, by)
		__field(u64, drain)
		__field(u64, exposure)
		__field(u64, read)
		__field(u64, written)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&mr->dev->ib.dev));
		__entry->qpn = mr->exposure.closer.qpn;
		__entry->psn = mr->exposure.closer.psn;
		__entry->mr = ward_mr_is_window(mr) ? 0 : mr->ib.res.id;
		__entry->key = mr->key;
		__entry->by = mr->exposure.closer.by;
		__entry->drain = drain;
		__entry->exposure = exposure;
		__entry->read = mr->exposure.read;
		__entry->written = mr->exposure.written;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u mr=%u key=0x%08x by=%s drain_ns=%llu exposure_ns=%llu peer_read=%llu peer_wrote=%llu",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->mr, __entry->key,
		  show_ward(WARD_CLOSED_BYS, __entry->by), __entry->drain, __entry->exposure,
		  __entry->read, __entry->written)
);

DECLARE_EVENT_CLASS(ward_access,
	TP_PROTO(const struct ward_access *a, u32 key, u64 va, u64 len, int op, int why),
	TP_ARGS(a, key, va, len, op, why),
	TP_STRUCT__entry(
		__string(dev, dev_name(&a->who.dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, peer_qpn)
		__field(u32, key)
		__field(u64, va)
		__field(u64, len)
		__field(int, op)
		__field(int, why)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&a->who.dev->ib.dev));
		__entry->qpn = a->who.qpn;
		__entry->psn = a->psn;
		__entry->peer_qpn = a->who.peer_qpn;
		__entry->key = key;
		__entry->va = va;
		__entry->len = len;
		__entry->op = op;
		__entry->why = why;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u peer=0x%06x key=0x%08x va=0x%llx length=%llu op=%s rule=%s",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->peer_qpn, __entry->key,
		  __entry->va, __entry->len,
		  __print_symbolic(__entry->op, { 0, "local-read" },
				   { IB_ACCESS_LOCAL_WRITE, "local-write" },
				   { IB_ACCESS_REMOTE_READ, "read" },
				   { IB_ACCESS_REMOTE_WRITE, "write" },
				   { IB_ACCESS_REMOTE_ATOMIC, "atomic" },
				   { WARD_OP_INVALIDATE, "invalidate" }),
		  show_ward(WARD_REFUSALS, __entry->why))
);

#define WARD_ACCESS_EVENT(name) \
	DEFINE_EVENT(ward_access, name, \
		TP_PROTO(const struct ward_access *a, u32 key, u64 va, u64 len, int op, int why), \
		TP_ARGS(a, key, va, len, op, why))
WARD_ACCESS_EVENT(ward_access);
WARD_ACCESS_EVENT(ward_refused);

TRACE_EVENT(ward_bind,
	TP_PROTO(const struct ward_qp *qp, const struct ward_swqe *wqe, int status),
	TP_ARGS(qp, wqe, status),
	TP_STRUCT__entry(
		__string(dev, dev_name(&qp->dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u64, wr_id)
		__field(u32, window)
		__field(u32, key)
		__field(u32, lkey)
		__field(u64, addr)
		__field(u64, length)
		__field(int, status)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&qp->dev->ib.dev));
		__entry->qpn = qp->qpn;
		__entry->psn = qp->req.nxt;
		__entry->wr_id = wqe->wr_id;
		__entry->window = wqe->bind.mw_key;
		__entry->key = wqe->bind.key;
		__entry->lkey = wqe->bind.lkey;
		__entry->addr = wqe->bind.addr;
		__entry->length = wqe->bind.length;
		__entry->status = status;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u wr_id=0x%llx window=0x%08x key=0x%08x region=0x%08x va=0x%llx length=%llu status=%d",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->wr_id, __entry->window,
		  __entry->key, __entry->lkey, __entry->addr, __entry->length, __entry->status)
);

/* rule: its number in the file inject, which says what it does; qpn 0: where no QP is known */
TRACE_EVENT(ward_inject,
	TP_PROTO(const struct ward_device *dev, u32 qpn, u32 psn, u32 rule),
	TP_ARGS(dev, qpn, psn, rule),
	TP_STRUCT__entry(
		__string(dev, dev_name(&dev->ib.dev))
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, rule)
	),
	TP_fast_assign(
		ward_assign_str(dev, dev_name(&dev->ib.dev));
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->rule = rule;
	),
	TP_printk("dev=%s qpn=0x%06x psn=%u rule=%u",
		  __get_str(dev), __entry->qpn, __entry->psn, __entry->rule)
);

#endif /* _WARD_WATCH_TRACE_H */

/* From include/, where Kbuild has the compiler look */
#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH ../drivers/ward/watch
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
