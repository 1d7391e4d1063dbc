// SPDX-License-Identifier: GPL-2.0
/*
 * Packets out.
 *
 * The bytes stand in one page fragment. Each time the packet is sent, a fresh
 * skb gets a copy of the headers in its linear part, where the stack may write,
 * and a reference to the rest.
 */
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../net/path.h"
#include "../proto/icrc.h"
#include "../verbs/device.h"
#include "../watch/inject.h"
#include "../watch/trace.h"
#include "qp.h"
#include "txpkt.h"

/* Up to here a packet is copied whole: cheaper than a fragment */
#define COPY_BREAK	256

static struct kmem_cache *cache;

/**
 * ward_txpkt_cache_init() - when the module is loaded
 *
 * Return: 0 or -ENOMEM.
 */
int ward_txpkt_cache_init(void)
{
	cache = kmem_cache_create("ward_txpkt", sizeof(struct ward_txpkt), 0, SLAB_HWCACHE_ALIGN,
				  NULL);
	return cache ? 0 : -ENOMEM;
}

/**
 * ward_txpkt_cache_exit() - when the module is unloaded; no packet is left
 */
void ward_txpkt_cache_exit(void)
{
	kmem_cache_destroy(cache);
}

/**
 * ward_txpkt_alloc() - a packet that can be kept, without bytes
 * @dev: for the fault injector
 *
 * Context: any but hard interrupt.
 * Return: the packet, or NULL.
 */
struct ward_txpkt *ward_txpkt_alloc(struct ward_device *dev)
{
	if (ward_inject_fails(dev, WARD_AT_PACKET))
		return NULL;
	return kmem_cache_zalloc(cache, GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * ward_txpkt_begin() - write the headers
 * @tx:  the packet, without bytes
 * @pkt: what it shall be; pkt->len and pkt->pad are right
 *
 * Context: any but hard interrupt.
 * Return: where the payload goes, pkt->len bytes, or NULL.
 */
u8 *ward_txpkt_begin(struct ward_txpkt *tx, const struct ward_pkt *pkt)
{
	u32 hdr_len = ward_opcode(pkt->opcode)->hdr_len;

	tx->len = hdr_len + pkt->len + pkt->pad + WARD_ICRC_SIZE;
	tx->buf = netdev_alloc_frag(SKB_DATA_ALIGN(tx->len));
	if (!tx->buf)
		return NULL;
	tx->psn = pkt->psn;
	tx->last_psn = pkt->psn;
	tx->hdr_len = ward_pkt_build(pkt, tx->buf);
	memset(tx->buf + hdr_len + pkt->len, 0, pkt->pad);
	return tx->buf + hdr_len;
}

/**
 * ward_txpkt_seal() - write the ICRC
 * @tx:   the packet, complete but for it
 * @path: where it will go
 *
 * The IPv4 identification, which the ICRC covers, is the low half of the PSN, so that a packet
 * has the same ICRC whenever and however it is sent.
 */
void ward_txpkt_seal(struct ward_txpkt *tx, const struct ward_path *path)
{
	u32 end = tx->len - WARD_ICRC_SIZE;
	u32 crc = ward_path_icrc_begin(path, tx->psn, tx->len, tx->buf);
	__le32 icrc;

	crc = ward_crc32(crc, tx->buf + sizeof(struct ward_bth), end - sizeof(struct ward_bth));
	icrc = ward_icrc_end(crc);
	memcpy(tx->buf + end, &icrc, sizeof(icrc));
}

static struct sk_buff *make_skb(struct ward_qp *qp, const struct ward_txpkt *tx)
{
	u32 linear = tx->len <= COPY_BREAK ? tx->len : tx->hdr_len;
	struct sk_buff *skb = NULL;

	if (!ward_inject_fails(qp->dev, WARD_AT_SKB))
		skb = alloc_skb(WARD_HEADROOM + linear, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, WARD_HEADROOM);
	skb_put_data(skb, tx->buf, linear);
	if (linear < tx->len) {
		struct page *page = virt_to_head_page(tx->buf);
		u32 off = tx->buf + linear - (u8 *)page_address(page);

		get_page(page);
		skb_add_rx_frag(skb, 0, page, off, tx->len - linear, tx->len - linear);
	}
	return skb;
}

/**
 * ward_txpkt_send() - send a packet, the first time or again
 * @qp:   the QP, owned
 * @tx:   the packet, sealed
 * @path: where to
 *
 * Packets to the peer of a connection go at the end of the run, as a train if they can.
 *
 * Context: BH off.
 */
void ward_txpkt_send(struct ward_qp *qp, const struct ward_txpkt *tx, struct ward_path *path)
{
	struct sk_buff *skb = make_skb(qp, tx);
	struct ward_train alone = {};

	if (!skb) {
		ward_count(qp->dev, SEND_ERR);
		return;
	}
	ward_qp_count(qp, SENT_PKTS);
	ward_qp_count_add(qp, SENT_BYTES, tx->len);
	trace_ward_packet_sent(qp, tx->buf[0], tx->psn, tx->len);
	if (ward_injecting()) {
		ward_train_flush(qp->train);
		if (ward_inject_out(qp, path, skb, tx->psn))
			ward_count(qp->dev, SEND_ERR);
	} else if (path == ward_qp_path(qp)) {
		ward_train_add(qp->train, path, skb, tx->psn);
	} else {
		/* a datagram */
		ward_train_add(&alone, path, skb, tx->psn);
		ward_train_flush(&alone);
	}
}

/**
 * ward_txpkt_drop_buf() - let go of the bytes
 * @tx: the packet
 */
void ward_txpkt_drop_buf(struct ward_txpkt *tx)
{
	if (tx->buf) {
		skb_free_frag(tx->buf);
		tx->buf = NULL;
	}
}

/**
 * ward_txpkt_free() - a kept packet is acknowledged, or its QP has failed
 * @tx: from ward_txpkt_alloc()
 */
void ward_txpkt_free(struct ward_txpkt *tx)
{
	ward_txpkt_drop_buf(tx);
	kmem_cache_free(cache, tx);
}
