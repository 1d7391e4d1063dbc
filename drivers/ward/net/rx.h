/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets in: from the UDP socket to the QP that is named in them.
 */
#ifndef _WARD_NET_RX_H
#define _WARD_NET_RX_H

#include <linux/skbuff.h>
#include <rdma/ib_verbs.h>

#include "../proto/packet.h"
#include "../watch/counters.h"

struct sock;
struct ward_device;
struct ward_group;
struct ward_net;
struct ward_qp;

/**
 * struct ward_rx - what a packet on its way to a QP carries in skb->cb
 * @bth: offset of the BTH from skb->data; the headers after it are linear
 * @psn: its PSN, for those that wait for earlier ones
 *
 * The network header of the skb is that of IP, skb->data and the transport header are that of
 * UDP. From ward_qp_receive() on, skb->dev is NULL: the packet may wait, the netdev may go.
 */
struct ward_rx {
	u32	bth;
	u32	psn;
};

#define ward_rx_cb(skb)	((struct ward_rx *)(skb)->cb)

/* ward_rx_parse() - take apart, once more, a packet that ward_rx_encap() has understood */
static inline void ward_rx_parse(const struct sk_buff *skb, struct ward_pkt *pkt)
{
	u32 bth = ward_rx_cb(skb)->bth;

	ward_pkt_parse(pkt, skb->data + bth, skb->len - bth);
}

void ward_rx_count_drop(struct ward_net *wn, const struct sk_buff *skb, enum ward_counter id);
void ward_rx_packet(struct ward_net *wn, struct sk_buff *skb);
int ward_rx_encap(struct sock *sk, struct sk_buff *skb);
bool ward_rx_icrc_ok(const struct sk_buff *skb, const struct ward_pkt *pkt);
struct ward_device *ward_rx_device(struct ward_net *wn, const struct sk_buff *skb);
u16 ward_rx_vlan(struct ward_device *dev, const struct sk_buff *skb);
void ward_rx_gids(const struct sk_buff *skb, union ib_gid *sgid, union ib_gid *dgid);

/*
 * The upcalls of this layer, given by qp/receive.c; called in softirq under RCU.
 *
 * ward_qp_find() - the QP that @pkt is for, or NULL with the drop counted
 * ward_qp_receive() - hand @skb, whose ICRC is right, to @qp; takes the skb
 * ward_qp_dev() - the device of @qp, for the counters
 *
 * And by verbs/mcast.c:
 *
 * ward_mcast_find() - the group that @skb is for, if a QP of @dev is attached to it, or NULL
 * ward_mcast_receive() - hand @skb, whose ICRC is right, to the QPs of @group; takes the skb
 */
struct ward_qp *ward_qp_find(struct ward_net *wn, const struct sk_buff *skb,
			     const struct ward_pkt *pkt);
void ward_qp_receive(struct ward_qp *qp, struct sk_buff *skb);
struct ward_device *ward_qp_dev(const struct ward_qp *qp);
struct ward_group *ward_mcast_find(struct ward_device *dev, const struct sk_buff *skb);
void ward_mcast_receive(struct ward_group *group, struct sk_buff *skb, const struct ward_pkt *pkt);

#endif /* _WARD_NET_RX_H */
