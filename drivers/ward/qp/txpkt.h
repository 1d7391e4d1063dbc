/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet as it was built: kept until it is acknowledged, so that it can be
 * sent again bit for bit without reading memory again (F35).
 */
#ifndef _WARD_QP_TXPKT_H
#define _WARD_QP_TXPKT_H

#include <linux/list.h>
#include <linux/types.h>

#include "../proto/packet.h"

struct ward_device;
struct ward_path;
struct ward_qp;

/**
 * struct ward_txpkt - a packet
 * @entry:    in ward_requester.sent, by PSN
 * @psn:      its PSN; a READ request that was answered in part moves on with the answers
 * @last_psn: last PSN that it uses up: more than @psn for a READ request
 * @wqe:      send queue index of its work request
 * @pos:      READ: where in the message its response begins
 * @bytes:    READ: bytes of response that are still awaited, from @pos
 * @va:       READ: remote address of the first of them
 * @awaits:   it is answered by a response (READ, atomic, flush), not by an acknowledgement
 * @atomic:   it is an atomic
 * @read:     it is a READ, which may be asked for in parts
 * @hdr_len:  bytes of BTH and extension headers at the start of @buf
 * @len:      bytes in @buf: headers, payload, padding, ICRC
 * @buf:      a page fragment
 */
struct ward_txpkt {
	struct list_head	entry;
	u32			psn;
	u32			last_psn;
	u32			wqe;
	u32			pos;
	u32			bytes;
	u64			va;
	bool			awaits;
	bool			atomic;
	bool			read;
	u16			hdr_len;
	u16			len;
	u8			*buf;
};

int ward_txpkt_cache_init(void);
void ward_txpkt_cache_exit(void);
struct ward_txpkt *ward_txpkt_alloc(struct ward_device *dev);
u8 *ward_txpkt_begin(struct ward_txpkt *tx, const struct ward_pkt *pkt);
void ward_txpkt_seal(struct ward_txpkt *tx, const struct ward_path *path);
void ward_txpkt_send(struct ward_qp *qp, const struct ward_txpkt *tx, struct ward_path *path);
void ward_txpkt_drop_buf(struct ward_txpkt *tx);
void ward_txpkt_free(struct ward_txpkt *tx);

#endif /* _WARD_QP_TXPKT_H */
