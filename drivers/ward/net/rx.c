// SPDX-License-Identifier: GPL-2.0
/*
 * Packets in.
 *
 * Every byte is hostile until the ICRC has been seen to be right, and it proves
 * nothing about the sender even then. The cheap tests come first, so that a
 * flood that names no live QP costs hardly more than any other unwanted UDP:
 * lengths, opcode, the shape of the headers, then the QP with its transport,
 * P_Key and peer, and only then the CRC of the whole packet.
 *
 * The UDP layer in front of us has compared the UDP length with what is there,
 * has cut off what follows, and has checked a UDP checksum that is not zero.
 *
 * The skb may be a clone: nothing is written to its data.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/sock.h>
#include <rdma/ib_cache.h>
#include <ward/wire.h>

#include "../proto/icrc.h"
#include "../proto/opcode.h"
#include "../verbs/device.h"
#include "net.h"
#include "rx.h"

#define UDP_LEN		sizeof(struct udphdr)
#define BTH_LEN		sizeof(struct ward_bth)

/**
 * ward_rx_count_drop() - count a packet that is dropped before its QP is known
 * @wn:  the namespace it came in
 * @skb: the packet
 * @id:  the reason
 *
 * It counts for the device whose netdev the packet came through, or for the first one of the
 * namespace (packets over lo or a vlan).
 *
 * Context: softirq under RCU.
 */
void ward_rx_count_drop(struct ward_net *wn, const struct sk_buff *skb, enum ward_counter id)
{
	struct ward_device *dev, *first = NULL;

	list_for_each_entry_rcu(dev, &wn->devices, entry) {
		if (dev->netdev == skb->dev)
			break;
		if (!first)
			first = dev;
	}
	if (&dev->entry == &wn->devices)
		dev = first;
	if (dev)
		this_cpu_inc(dev->counters->v[id]);
}

/* A plain IP header, and an address of one host or, as its QP number says, of a group */
static bool ip_ok(const struct sk_buff *skb, bool group)
{
	u32 len = skb_transport_offset(skb) - skb_network_offset(skb);
	unsigned int flags;

	if (skb->protocol == htons(ETH_P_IP)) {
		flags = skb_rtable(skb)->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST);
		return len == sizeof(struct iphdr) && flags == (group ? RTCF_MULTICAST : 0);
	}
	return len == sizeof(struct ipv6hdr) &&
	       ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr) == group;
}

/* WARD_CNT_MAX: the packet is understood, its headers are linear */
static enum ward_counter parse(struct sk_buff *skb, struct ward_pkt *pkt)
{
	u32 hdr_len;

	if (unlikely(skb->len < UDP_LEN + BTH_LEN + WARD_ICRC_SIZE ||
		     !pskb_may_pull(skb, UDP_LEN + BTH_LEN)))
		return WARD_CNT_DROP_SHORT;
	hdr_len = ward_opcode(skb->data[UDP_LEN])->hdr_len;
	if (unlikely(!hdr_len))
		return WARD_CNT_DROP_OPCODE;
	if (unlikely(skb->len < UDP_LEN + hdr_len + WARD_ICRC_SIZE ||
		     !pskb_may_pull(skb, UDP_LEN + hdr_len)))
		return WARD_CNT_DROP_LENGTH;

	switch (ward_pkt_parse(pkt, skb->data + UDP_LEN, skb->len - UDP_LEN)) {
	case WARD_PARSE_OK:
		break;
	case WARD_PARSE_OPCODE:
		return WARD_CNT_DROP_OPCODE;
	case WARD_PARSE_LENGTH:
		return WARD_CNT_DROP_LENGTH;
	case WARD_PARSE_PAD:
		return WARD_CNT_DROP_PAD;
	case WARD_PARSE_VERSION:
		return WARD_CNT_DROP_VERSION;
	}
	if (unlikely(!ip_ok(skb, pkt->qpn == WARD_MULTICAST_QPN)))
		return WARD_CNT_DROP_IP;
	return WARD_CNT_MAX;
}

/* It may wait at a QP: nothing of the network layer may wait with it */
static void cut_loose(struct sk_buff *skb, const struct ward_pkt *pkt)
{
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
	ward_rx_cb(skb)->bth = UDP_LEN;
	ward_rx_cb(skb)->psn = pkt->psn;
}

/* A group is one of a netdev, or of a vlan on it: nobody else's QPs hear what is sent there */
static struct ward_device *device_of(struct ward_net *wn, const struct net_device *ndev)
{
	const struct net_device *real = is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
	struct ward_device *dev;

	list_for_each_entry_rcu(dev, &wn->devices, entry)
		if (dev->netdev == real)
			return dev;
	return NULL;
}

static void receive_multicast(struct ward_net *wn, struct sk_buff *skb,
			      const struct ward_pkt *pkt)
{
	struct ward_device *dev = device_of(wn, skb->dev);
	struct ward_group *group = dev ? ward_mcast_find(dev, skb) : NULL;

	if (!group) {
		ward_rx_count_drop(wn, skb, WARD_CNT_DROP_QPN);
		kfree_skb(skb);
		return;
	}
	if (unlikely(!ward_rx_icrc_ok(skb, pkt))) {
		ward_count(dev, DROP_ICRC);
		kfree_skb(skb);
		return;
	}
	ward_count(dev, RCVD_PKTS);
	ward_count_add(dev, RCVD_BYTES, skb->len - UDP_LEN);
	cut_loose(skb, pkt);
	ward_mcast_receive(group, skb, pkt);
}

/**
 * ward_rx_packet() - a UDP packet for port 4791
 * @wn:  the namespace it has come in
 * @skb: the packet, skb->data at the UDP header; taken
 *
 * Counts what it drops itself, and what it hands on.
 *
 * Context: softirq under RCU.
 */
void ward_rx_packet(struct ward_net *wn, struct sk_buff *skb)
{
	enum ward_counter why;
	struct ward_device *dev;
	struct ward_pkt pkt;
	struct ward_qp *qp;

	why = parse(skb, &pkt);
	if (unlikely(why != WARD_CNT_MAX)) {
		ward_rx_count_drop(wn, skb, why);
		goto drop;
	}
	if (unlikely(pkt.qpn == WARD_MULTICAST_QPN)) {
		receive_multicast(wn, skb, &pkt);
		return;
	}
	qp = ward_qp_find(wn, skb, &pkt);
	if (!qp)
		goto drop;
	dev = ward_qp_dev(qp);
	if (unlikely(!ward_rx_icrc_ok(skb, &pkt))) {
		ward_count(dev, DROP_ICRC);
		goto drop;
	}
	ward_count(dev, RCVD_PKTS);
	ward_count_add(dev, RCVD_BYTES, skb->len - UDP_LEN);

	cut_loose(skb, &pkt);
	ward_qp_receive(qp, skb);
	return;

drop:
	kfree_skb(skb);
}

/**
 * ward_rx_encap() - the sockets' part of ward_rx_packet()
 * @sk:  one of the sockets of a struct ward_net
 * @skb: the packet, skb->data at the UDP header; taken
 *
 * Context: softirq under RCU.
 * Return: 0: the packet is ours, always.
 */
int ward_rx_encap(struct sock *sk, struct sk_buff *skb)
{
	struct ward_net *wn = rcu_dereference_sk_user_data(sk);

	if (likely(wn))
		ward_rx_packet(wn, skb);
	else
		kfree_skb(skb);
	return 0;
}

/* CRC of bytes @from to @to of a packet, wherever they are */
static u32 crc_range(const struct sk_buff *skb, u32 from, u32 to, u32 crc)
{
	struct skb_seq_state st;
	const u8 *p;
	u32 done, n;

	if (to <= skb_headlen(skb))
		return ward_crc32(crc, skb->data + from, to - from);

	/* the walk reads only */
	skb_prepare_seq_read((struct sk_buff *)skb, from, to, &st);
	for (done = 0; done < to - from; done += n) {
		n = skb_seq_read(done, &p, &st);
		if (!n)
			break;
		n = min(n, to - from - done);
		crc = ward_crc32(crc, p, n);
	}
	skb_abort_seq_read(&st);
	return crc;
}

/**
 * ward_rx_icrc_ok() - whether the ICRC is right
 * @skb: the packet, skb->data at the UDP header
 * @pkt: the packet, parsed: it has a BTH and an ICRC
 *
 * Context: any but hard interrupt.
 * Return: whether it is.
 */
bool ward_rx_icrc_ok(const struct sk_buff *skb, const struct ward_pkt *pkt)
{
	const u8 *bth = skb->data + UDP_LEN;
	u32 end = skb->len - WARD_ICRC_SIZE;
	__le32 icrc;
	u32 crc;

	crc = ward_icrc_begin(skb_network_header(skb), skb->data, bth);
	crc = crc_range(skb, UDP_LEN + BTH_LEN, end, crc);
	return !skb_copy_bits(skb, end, &icrc, sizeof(icrc)) && icrc == ward_icrc_end(crc);
}

/**
 * ward_rx_device() - the device that a packet was sent to
 * @wn:  the namespace it came in
 * @skb: the packet, its network header that of IP
 *
 * It is the device that has the destination address in its GID table: a QP number says nothing
 * for QP1, which every device has.
 *
 * Context: softirq under RCU. The device is good for as long.
 * Return: the device, or NULL.
 */
struct ward_device *ward_rx_device(struct ward_net *wn, const struct sk_buff *skb)
{
	const struct ib_gid_attr *attr;
	union ib_gid sgid, dgid;
	struct ward_device *dev;

	ward_rx_gids(skb, &sgid, &dgid);
	list_for_each_entry_rcu(dev, &wn->devices, entry) {
		attr = rdma_find_gid_by_port(&dev->ib, &dgid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
		if (!IS_ERR(attr)) {
			rdma_put_gid_attr(attr);
			return dev;
		}
	}
	return NULL;
}

/**
 * ward_rx_vlan() - the vlan that a packet belongs to
 * @dev: the device it was sent to
 * @skb: the packet, its network header that of IP
 *
 * It is that of the netdev which has the destination address, as the core will look for a GID
 * entry with this very vlan when it answers.
 *
 * Context: any.
 * Return: the vlan's number, or 0xffff for none.
 */
u16 ward_rx_vlan(struct ward_device *dev, const struct sk_buff *skb)
{
	const struct ib_gid_attr *attr;
	union ib_gid sgid, dgid;
	u16 vlan = 0xffff;

	ward_rx_gids(skb, &sgid, &dgid);
	attr = rdma_find_gid_by_port(&dev->ib, &dgid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (!IS_ERR(attr)) {
		if (rdma_read_gid_l2_fields(attr, &vlan, NULL))
			vlan = 0xffff;
		rdma_put_gid_attr(attr);
	}
	return vlan;
}

/**
 * ward_rx_gids() - the addresses of a packet as GIDs
 * @skb:  the packet, its network header that of IP
 * @sgid: becomes the source
 * @dgid: becomes the destination
 *
 * Context: any.
 */
void ward_rx_gids(const struct sk_buff *skb, union ib_gid *sgid, union ib_gid *dgid)
{
	if (ip_hdr(skb)->version == 4) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, (struct in6_addr *)sgid->raw);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, (struct in6_addr *)dgid->raw);
	} else {
		memcpy(sgid->raw, &ipv6_hdr(skb)->saddr, sizeof(sgid->raw));
		memcpy(dgid->raw, &ipv6_hdr(skb)->daddr, sizeof(dgid->raw));
	}
}
