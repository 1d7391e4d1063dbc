// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: UD QPs and QP 1. One packet each way, no acknowledgement.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <rdma/ib_mad.h>

#include "../net/path.h"
#include "../net/rx.h"
#include "../proto/psn.h"
#include "../proto/segment.h"
#include "../verbs/cq.h"
#include "../watch/inject.h"
#include "qp.h"
#include "txpkt.h"

/* False when the QP is parked */
static bool send(struct ward_run *run, struct ward_swqe *wqe)
{
	struct ward_qp *qp = run->qp;
	struct ward_pkt pkt = {
		.opcode = ward_seg_opcode(WARD_UD, WARD_MSG_SEND,
					  wqe->opcode == IB_WR_SEND_WITH_IMM ?
					  WARD_TAIL_IMM : WARD_TAIL_PLAIN, true, true),
		.pad = -wqe->length & 3,
		.mig = true,
		.solicited = wqe->flags & IB_SEND_SOLICITED,
		.pkey = WARD_DEFAULT_PKEY,
		.qpn = wqe->qpn,
		.psn = qp->req.nxt,
		.len = wqe->length,
		.imm = wqe->imm,
		/* a Q_Key with its top bit set stands for the QP's own */
		.qkey = wqe->qkey & BIT(31) ? qp->qkey : wqe->qkey,
		.src_qpn = qp->qpn,
	};
	struct ward_txpkt tx = {};
	enum ward_refusal why = WARD_GRANTED;
	u8 *payload;

	if (wqe->length > qp->mtu) {
		wqe->status = IB_WC_LOC_LEN_ERR;
		return true;
	}
	payload = ward_inject_fails(qp->dev, WARD_AT_DATAGRAM) ? NULL :
		  ward_txpkt_begin(&tx, &pkt);
	/* without memory a datagram is lost like any that is lost on the way */
	if (!payload)
		return true;
	ward_inject_arm(run, &run->local, WARD_INJECT_OUT, pkt.opcode, pkt.psn);
	if (wqe->flags & IB_SEND_INLINE)
		memcpy(payload, wqe->inline_data, wqe->length);
	else
		why = ward_sges_read(&run->local, wqe->sge, wqe->num_sge, &wqe->cur, 0, payload,
				     wqe->length);
	if (!why) {
		ward_txpkt_seal(&tx, wqe->path);
		ward_txpkt_send(qp, &tx, wqe->path);
		qp->req.nxt = ward_psn_add(qp->req.nxt, 1);
		/* nobody acknowledges a datagram */
		qp->req.una = qp->req.nxt;
	}
	ward_txpkt_drop_buf(&tx);
	if (why && why != WARD_PARKED)
		wqe->status = IB_WC_LOC_PROT_ERR;
	return why != WARD_PARKED;
}

/**
 * ward_datagram_send() - execute a send work request
 * @run: the run
 * @wqe: the work request; complete afterwards, or its status tells what is wrong with it
 *
 * Context: under RCU with BH off.
 * Return: false when the QP is parked, and the work request is not complete.
 */
bool ward_datagram_send(struct ward_run *run, struct ward_swqe *wqe)
{
	if (!send(run, wqe))
		return false;
	wqe->executed = true;
	ward_qp_count(run->qp, RDMA_SENDS);
	return true;
}

static bool qkey_fits(const struct ward_qp *qp, u32 qkey)
{
	return qkey == (qp->qpn == WARD_GSI_QPN ? IB_QP1_QKEY : qp->qkey);
}

/* The network header where the GRH would be: 40 bytes, of which IPv4 uses the last 20 */
static enum ward_refusal place(struct ward_run *run, struct sk_buff *skb,
			       const struct ward_pkt *pkt, bool ipv6)
{
	struct ward_rwqe *rwqe = &run->qp->resp.rwqe;
	u32 ip_len = ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u32 back = -skb_network_offset(skb);
	struct ward_source head = { .skb = skb };
	struct ward_source payload = { .skb = skb, .off = ward_rx_cb(skb)->bth + pkt->hdr_len };
	enum ward_refusal why;

	ward_inject_arm(run, &run->recv, WARD_INJECT_IN, pkt->opcode, pkt->psn);
	__skb_push(skb, back);
	why = ward_sges_write(&run->recv, rwqe->sge, rwqe->num_sge, &rwqe->cur,
			      WARD_GRH_SIZE - ip_len, &head, ip_len, false);
	__skb_pull(skb, back);
	if (why)
		return why;
	return ward_sges_write(&run->recv, rwqe->sge, rwqe->num_sge, &rwqe->cur, WARD_GRH_SIZE,
			       &payload, pkt->len, true);
}

/**
 * ward_datagram_take() - receive a datagram
 * @run: the run; when the QP is parked afterwards, the datagram is to come again
 * @skb: the packet; stays the caller's
 * @pkt: the packet, taken apart
 *
 * Context: under RCU with BH off.
 */
void ward_datagram_take(struct ward_run *run, struct sk_buff *skb, const struct ward_pkt *pkt)
{
	struct ward_qp *qp = run->qp;
	u16 vlan = ward_rx_vlan(qp->dev, skb);
	bool ipv6 = ip_hdr(skb)->version == 6;
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = WARD_GRH_SIZE + pkt->len,
		.src_qp = pkt->src_qpn,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = ipv6 ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_IPV4,
		.port_num = 1,
	};
	enum ward_refusal why;
	bool bad = false;

	if (!qkey_fits(qp, pkt->qkey)) {
		ward_count(qp->dev, DROP_QKEY);
		return;
	}
	/* it has one if it was parked for it */
	if (!qp->resp.has_rwqe && !ward_responder_next_receive(qp, &bad)) {
		ward_count(qp->dev, DROP_NO_RECV);
		return;
	}
	if (bad) {
		wc.status = IB_WC_LOC_QP_OP_ERR;
	} else if (wc.byte_len > qp->resp.rwqe.length) {
		wc.status = IB_WC_LOC_LEN_ERR;
	} else {
		why = place(run, skb, pkt, ipv6);
		if (why == WARD_PARKED)
			return;
		if (why)
			wc.status = IB_WC_LOC_PROT_ERR;
	}

	if (pkt->op->flags & WARD_HAS_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	}
	if (vlan < VLAN_N_VID) {
		wc.wc_flags |= IB_WC_WITH_VLAN;
		wc.vlan_id = vlan;
	}
	if (pkt->solicited)
		wc.wc_flags |= WARD_WC_SOLICITED;
	ward_qp_count(qp, RDMA_RECVS);
	ward_responder_wc(run, &wc);
}
