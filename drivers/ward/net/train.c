// SPDX-License-Identifier: GPL-2.0
/*
 * Trains.
 *
 * Out. What the stack does for a packet (netfilter, the neighbour, the queue, the
 * netdev) costs more than our own part. So packets of equal size that follow each
 * other go as one: as a list behind the first one, each with all its headers, which
 * is how the kernel forwards what it has received together (SKB_GSO_FRAGLIST). A
 * netdev that cannot pass on such a list makes single packets of it, with the same
 * bytes: their IPv4 identifications count up as ours do, UDP checksums stay zero.
 *
 * All of a train are as long as its head, but the last one, which may be shorter:
 * whoever linearises a train cuts it in that way.
 *
 * In. UDP takes a train apart before a socket like ours sees it. A hook behind all
 * filters of LOCAL_IN takes it whole. It leaves to UDP what is not as it was sent: a
 * head that others look at, too, or whose addresses somebody has changed, what
 * connection tracking has yet to confirm, and what IPsec would want to see.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/minmax.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/netfilter/nf_conntrack.h>
#include <ward/wire.h>

#include "../verbs/device.h"
#include "inside.h"
#include "net.h"
#include "path.h"
#include "rx.h"
#include "train.h"

/* What goes as one IP packet, with the headers of a vlan or two in front */
#define TRAIN_BYTES	(65535 - 40 - 8 - 32)

/* The way is looked at once for each train, and never for a packet that stays alone */
static bool fits(const struct ward_train *t, struct ward_path *path,
		 const struct sk_buff *skb, u16 id)
{
	return t->path == path && id == (u16)(t->id + t->num) && skb->len <= t->size &&
	       t->head->len + skb->len <= TRAIN_BYTES &&
	       (t->num > 1 || ward_path_takes_trains(path));
}

/**
 * ward_train_add() - send a packet, perhaps together with those that follow
 * @t:    the train
 * @path: where to; not to a group
 * @skb:  from the BTH to the ICRC, with WARD_HEADROOM in front; taken
 * @id:   IPv4 identification, host order
 *
 * Context: BH off; see ward_path_send().
 */
void ward_train_add(struct ward_train *t, struct ward_path *path, struct sk_buff *skb, u16 id)
{
	u32 len = skb->len;

	if (t->head && !fits(t, path, skb, id))
		ward_train_flush(t);
	if (!t->head) {
		*t = (struct ward_train){
			.path = path, .head = skb, .num = 1, .size = len, .id = id,
		};
	} else {
		ward_path_write_headers(path, skb, id);
		if (t->last)
			t->last->next = skb;
		else
			skb_shinfo(t->head)->frag_list = skb;
		t->last = skb;
		t->head->len += len;
		t->head->data_len += len;
		t->head->truesize += skb->truesize;
		t->num++;
	}
	if (len < t->size || t->num >= ward_option(path->dev, MAX_TRAIN))
		ward_train_flush(t);
}

/**
 * ward_train_flush() - send what waits
 * @t: the train; empty afterwards
 *
 * What the stack does not take is counted.
 *
 * Context: BH off; see ward_path_send().
 */
void ward_train_flush(struct ward_train *t)
{
	struct sk_buff *skb = t->head;

	if (!skb)
		return;
	t->head = NULL;
	if (t->num > 1) {
		skb_shinfo(skb)->gso_size = t->size;
		skb_shinfo(skb)->gso_segs = t->num;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	}
	if (ward_path_send(t->path, skb, t->id))
		ward_count_add(t->path->dev, SEND_ERR, t->num);
}

#ifdef CONFIG_NETFILTER

/* The headers of IP and UDP in front of what a member of a train holds; 0: not a train of ours */
static u32 train_headers(const struct sk_buff *skb)
{
	const int both = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	u32 len;

	if ((skb_shinfo(skb)->gso_type & both) != both || skb->encapsulation ||
	    !skb_shinfo(skb)->frag_list)
		return 0;
	if (skb->protocol == htons(ETH_P_IP)) {
		len = sizeof(struct iphdr);
		if (ip_hdrlen(skb) != len || ip_hdr(skb)->protocol != IPPROTO_UDP ||
		    ip_is_fragment(ip_hdr(skb)))
			return 0;
	} else {
		len = sizeof(struct ipv6hdr);
		if (ipv6_hdr(skb)->nexthdr != IPPROTO_UDP)
			return 0;
	}
	len += sizeof(struct udphdr);
	if (skb_headlen(skb) < len ||
	    ((struct udphdr *)(skb->data + len) - 1)->dest != htons(WARD_UDP_PORT))
		return 0;
	return len;
}

/* Addresses and ports: what a member has to have like the head */
static bool same_flow(const struct sk_buff *skb, const struct sk_buff *member, u32 len)
{
	const struct udphdr *udp = (struct udphdr *)(skb->data + len) - 1;
	const struct udphdr *member_udp = udp_hdr(member);

	if (skb_network_offset(member) != -(int)len ||
	    skb_transport_offset(member) != -(int)sizeof(*udp))
		return false;
	if (udp->source != member_udp->source || udp->dest != member_udp->dest)
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return ip_hdr(skb)->saddr == ip_hdr(member)->saddr &&
		       ip_hdr(skb)->daddr == ip_hdr(member)->daddr;
	return ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &ipv6_hdr(member)->saddr) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, &ipv6_hdr(member)->daddr);
}

static bool may_take(const struct net *net, const struct sk_buff *skb, u32 len)
{
	const struct sk_buff *member;

	if (skb_cloned(skb) || skb_shared(skb) || ward_has_ipsec(net))
		return false;
	/* whether packets of a VRF are for our socket is for UDP to say */
	if (netif_is_l3_master(skb->dev))
		return false;
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
	if (skb_nfct(skb)) {
		enum ip_conntrack_info how;

		if (!nf_ct_is_confirmed(nf_ct_get(skb, &how)))
			return false;
	}
#endif
	skb_walk_frags(skb, member)
		if (skb_cloned(member) || skb_shared(member) || !same_flow(skb, member, len))
			return false;
	return true;
}

/* Make the head a packet like the others. Return: the members */
static struct sk_buff *uncouple(struct sk_buff *skb, u32 len)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	struct sk_buff *members = info->frag_list, *member;
	struct udphdr *udp;

	skb_walk_frags(skb, member) {
		skb->len -= member->len;
		skb->data_len -= member->len;
		skb->truesize -= member->truesize;
	}
	info->frag_list = NULL;
	skb_gso_reset(skb);
	/* the ICRC covers these lengths, and the identification, which is as it was */
	udp = (struct udphdr *)(skb->data + len) - 1;
	udp->len = htons(skb->len - len + sizeof(*udp));
	if (skb->protocol == htons(ETH_P_IP))
		ip_hdr(skb)->tot_len = htons(skb->len);
	else
		ipv6_hdr(skb)->payload_len = udp->len;
	skb_pull(skb, len - sizeof(*udp));
	skb_reset_transport_header(skb);
	return members;
}

/* Context: softirq, under RCU, as for any packet that is for this host */
static unsigned int train_arrives(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	struct ward_net *wn = priv;
	struct net_device *ndev = skb->dev;
	/* RCU keeps it, also when the head is gone */
	struct dst_entry *dst = skb_dst(skb);
	__be16 protocol = skb->protocol;
	struct sk_buff *members, *next;
	u32 len;

	if (likely(!skb_is_gso(skb)))
		return NF_ACCEPT;
	len = train_headers(skb);
	if (!len || !may_take(wn->net, skb, len))
		return NF_ACCEPT;

	members = uncouple(skb, len);
	ward_rx_packet(wn, skb);
	while ((skb = members)) {
		next = skb->next;
		skb_mark_not_on_list(skb);
		skb->dev = ndev;
		skb->protocol = protocol;
		skb_dst_set_noref(skb, dst);
		skb_push(skb, sizeof(struct udphdr));
		ward_rx_packet(wn, skb);
		members = next;
	}
	return NF_STOLEN;
}

/**
 * ward_train_listen() - take trains whole in a namespace
 * @wn: the namespace, whose QPs can be looked up
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int ward_train_listen(struct ward_net *wn)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(wn->hooks); i++)
		wn->hooks[i] = (struct nf_hook_ops){
			.hook = train_arrives,
			.priv = wn,
			.pf = i ? NFPROTO_IPV6 : NFPROTO_IPV4,
			.hooknum = NF_INET_LOCAL_IN,
			.priority = INT_MAX,
		};
	err = nf_register_net_hooks(wn->net, wn->hooks, ARRAY_SIZE(wn->hooks));
	if (err) {
		wn->hooks[0].hook = NULL;
		pr_err("cannot hook in behind the filters: error %d\n", err);
	}
	return err;
}

/**
 * ward_train_unlisten() - no longer
 * @wn: the namespace; readers under RCU may still be about it when this returns
 *
 * Context: may sleep.
 */
void ward_train_unlisten(struct ward_net *wn)
{
	if (wn->hooks[0].hook)
		nf_unregister_net_hooks(wn->net, wn->hooks, ARRAY_SIZE(wn->hooks));
}

/**
 * ward_train_is_sole_hook() - whether nobody filters but us, who do not
 * @hooks: of a place where packets pass; may be NULL
 *
 * Context: under RCU.
 * Return: whether it is so.
 */
bool ward_train_is_sole_hook(const struct nf_hook_entries *hooks)
{
	return !hooks || (hooks->num_hook_entries == 1 && hooks->hooks[0].hook == train_arrives);
}

#else

int ward_train_listen(struct ward_net *wn)
{
	return 0;
}

void ward_train_unlisten(struct ward_net *wn)
{
}

#endif /* CONFIG_NETFILTER */
