/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a device: one list drives the enum, the names that `rdma
 * statistic` and sysfs show, and the documentation. They are per CPU; a reader
 * adds them up. Each reason for a drop or a refusal has one counter, and each
 * fault bumps exactly one.
 */
#ifndef _WARD_WATCH_COUNTERS_H
#define _WARD_WATCH_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "exposure.h"

struct ward_device;

/* X(enum name, name shown, meaning) */
#define WARD_COUNTERS(X) \
	X(SENT_PKTS, sent_pkts, "packets sent") \
	X(SENT_BYTES, sent_bytes, "bytes sent, from the BTH to the ICRC") \
	X(RCVD_PKTS, rcvd_pkts, "packets received and accepted for a QP") \
	X(RCVD_BYTES, rcvd_bytes, "bytes received, from the BTH to the ICRC") \
	X(DUPLICATE, duplicate_request, "requests seen before") \
	X(OUT_OF_SEQ, out_of_seq_request, "requests that came too early") \
	X(RCVD_RNR, rcvd_rnr_err, "RNR NAKs received") \
	X(SENT_RNR, send_rnr_err, "RNR NAKs sent") \
	X(RCVD_SEQ, rcvd_seq_err, "sequence NAKs received") \
	X(ACK_DEFERRED, ack_deferred, "acknowledgments that waited for READ responses") \
	X(RETRANSMITTED, retransmitted_pkts, "request packets sent again") \
	X(RESP_LOST, responses_lost, "READ or atomic responses missing, asked for again") \
	X(TIMEOUTS, ack_timeouts, "times that no acknowledgment came in time") \
	X(RETRY_EXC, retry_exceeded_err, "QPs that failed for want of acknowledgments") \
	X(RNR_EXC, retry_rnr_exceeded_err, "QPs that failed for want of receives at the peer") \
	X(SEND_ERR, send_err, "packets that the stack did not take") \
	X(LINK_DOWNED, link_downed, "times that the port went down") \
	X(RDMA_SENDS, rdma_sends, "SENDs begun") \
	X(RDMA_RECVS, rdma_recvs, "SENDs received to the end") \
	X(LOCAL_STEPS, local_steps, \
	  "steps of work requests executed without packets, of 64 KiB at most") \
	X(LOCAL_BYTES, local_bytes, "bytes copied in them") \
	X(DROP_SHORT, drop_short, "dropped: no room for a BTH and an ICRC") \
	X(DROP_OPCODE, drop_opcode, "dropped: opcode not implemented") \
	X(DROP_LENGTH, drop_length, "dropped: length does not fit the opcode") \
	X(DROP_PAD, drop_pad, "dropped: padding not allowed there") \
	X(DROP_VERSION, drop_version, "dropped: transport version not 0") \
	X(DROP_IP, drop_ip, "dropped: IP options or extension headers, or no address for that QP") \
	X(DROP_QPN, drop_qpn, "dropped: no such QP") \
	X(DROP_TRANSPORT, drop_transport, "dropped: opcode of another transport than the QP's") \
	X(DROP_PKEY, drop_pkey, "dropped: wrong P_Key") \
	X(DROP_QKEY, drop_qkey, "dropped: wrong Q_Key") \
	X(DROP_ICRC, drop_icrc, "dropped: wrong ICRC") \
	X(DROP_SOURCE, drop_source, "dropped: address is not that of the QP's peer") \
	X(DROP_STATE, drop_state, "dropped: the QP's state takes no such packet") \
	X(DROP_BACKLOG, drop_backlog, "dropped: too much waits for the QP already") \
	X(DROP_NO_RECV, drop_no_receive, "dropped: datagram without a posted receive") \
	X(DROP_MESSAGE, drop_message, "dropped: UC packets of messages incomplete or not allowed") \
	X(DROP_RESPONSE, drop_response, "dropped: response that answers nothing") \
	X(NAK_INVALID, nak_invalid, "NAKs sent: invalid request") \
	X(NAK_ACCESS, nak_access, "NAKs sent: remote access error") \
	X(NAK_OPERATION, nak_operation, "NAKs sent: remote operational error") \
	X(RCVD_NAK, rcvd_nak, "fatal NAKs received") \
	X(REFUSED_KEY, refused_key, "access refused: no such key") \
	X(REFUSED_STATE, refused_state, "access refused: registration not valid") \
	X(REFUSED_PD, refused_pd, "access refused: other protection domain") \
	X(REFUSED_QP, refused_qp, "access refused: tied to another QP") \
	X(REFUSED_RIGHTS, refused_rights, "access refused: right not granted") \
	X(REFUSED_RANGE, refused_range, "access refused: outside the registration") \
	X(REFUSED_OP, refused_operation, "request refused: the QP does not allow the operation") \
	X(REFUSED_DEPTH, refused_depth, "request refused: more READs and atomics than agreed") \
	X(REFUSED_ORDER, refused_order, "request refused: packet does not fit into its message") \
	X(REFUSED_ALIGN, refused_alignment, "request refused: atomic not aligned in memory") \
	X(REFUSED_LENGTH, refused_length, "request refused: longer than the receive") \
	X(REFUSED_RECV, refused_receive, "request refused: receive is not valid") \
	X(MR_REG, mr_registrations, "fast registrations executed") \
	X(MR_LOCAL_INV, mr_local_invalidates, "local invalidates executed") \
	X(MR_REMOTE_INV, mr_remote_invalidates, "invalidates executed for a peer") \
	X(MW_BIND, mw_binds, "memory windows bound") \
	X(PAGE_FAULTS, page_faults, "times that a QP waited for pages to be brought in") \
	X(INJECTED, injected, "faults injected by a rule")

enum ward_counter {
#define X(id, name, text) WARD_CNT_##id,
	WARD_COUNTERS(X)
#undef X
	WARD_CNT_MAX
};

/* Of one CPU: the counters, and the histograms of watch/exposure.h, in ns */
struct ward_counters {
	u64	v[WARD_CNT_MAX];
	u64	exposure[WARD_HIST_BUCKETS];
	u64	drain[WARD_HIST_BUCKETS];
};

/*
 * What a QP counts for itself as well; X(enum name, name shown). Plain numbers, which are its
 * owner's to change and may be read by anybody.
 */
#define WARD_QP_COUNTERS(X) \
	X(SENT_PKTS, sent_pkts) \
	X(SENT_BYTES, sent_bytes) \
	X(RCVD_PKTS, rcvd_pkts) \
	X(RCVD_BYTES, rcvd_bytes) \
	X(DUPLICATE, duplicate_request) \
	X(OUT_OF_SEQ, out_of_seq_request) \
	X(RCVD_RNR, rcvd_rnr_err) \
	X(SENT_RNR, send_rnr_err) \
	X(RCVD_SEQ, rcvd_seq_err) \
	X(RCVD_NAK, rcvd_nak) \
	X(RETRANSMITTED, retransmitted_pkts) \
	X(RESP_LOST, responses_lost) \
	X(TIMEOUTS, ack_timeouts) \
	X(RDMA_SENDS, rdma_sends) \
	X(RDMA_RECVS, rdma_recvs)

enum ward_qp_counter {
#define X(id, name) WARD_QPC_##id,
	WARD_QP_COUNTERS(X)
#undef X
	WARD_QPC_MAX
};

/* ward_count() - add one. Any context. */
#define ward_count(dev, id)		this_cpu_inc((dev)->counters->v[WARD_CNT_##id])
/* ward_count_add() - add @n. Any context. */
#define ward_count_add(dev, id, n)	this_cpu_add((dev)->counters->v[WARD_CNT_##id], n)
/* ward_qp_count_add() - add @n for the device and for the QP. Its owner. */
#define ward_qp_count_add(qp, id, n)					\
	do {								\
		ward_count_add((qp)->dev, id, n);			\
		(qp)->counts[WARD_QPC_##id] += (n);			\
	} while (0)
/* ward_qp_count() - add one for the device and for the QP. Its owner. */
#define ward_qp_count(qp, id)		ward_qp_count_add(qp, id, 1)

u64 ward_counter_sum(const struct ward_device *dev, enum ward_counter id);

extern const struct ib_device_ops ward_stats_ops;

#endif /* _WARD_WATCH_COUNTERS_H */
