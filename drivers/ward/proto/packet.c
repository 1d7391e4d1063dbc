// SPDX-License-Identifier: GPL-2.0
/*
 * From the bytes on the wire to struct ward_pkt and back.
 *
 * Nothing that came over the wire is used as a length or an offset before it was
 * compared with what is there. Sums go from the packet's length down, and each
 * subtraction follows the comparison that makes it safe.
 *
 * The structures of ward/wire.h are packed, so the compiler reads and writes
 * them at any alignment.
 */
#include <asm/byteorder.h>
#include "packet.h"

/* The opcode's extension headers, which follow the BTH without gaps */
static void parse_extensions(struct ward_pkt *pkt, const u8 *p)
{
	const u16 has = pkt->op->flags;

	if (has & WARD_HAS_DETH) {
		const struct ward_deth *deth = (const void *)p;

		pkt->qkey = be32_to_cpu(deth->qkey);
		pkt->src_qpn = be32_to_cpu(deth->src_qpn) & WARD_24BITS;
		p += sizeof(*deth);
	}
	if (has & WARD_HAS_FETH) {
		u32 bits = be32_to_cpu(((const struct ward_feth *)p)->bits);

		pkt->flush_type = bits & WARD_FETH_TYPE_MASK;
		pkt->flush_level = bits >> WARD_FETH_LEVEL_SHIFT & WARD_FETH_LEVEL_MASK;
		p += sizeof(struct ward_feth);
	}
	if (has & WARD_HAS_RETH) {
		const struct ward_reth *reth = (const void *)p;

		pkt->va = be64_to_cpu(reth->va);
		pkt->rkey = be32_to_cpu(reth->rkey);
		pkt->dma_len = be32_to_cpu(reth->length);
		p += sizeof(*reth);
	}
	if (has & WARD_HAS_ATOMICETH) {
		const struct ward_atomiceth *atomic = (const void *)p;

		pkt->va = be64_to_cpu(atomic->va);
		pkt->rkey = be32_to_cpu(atomic->rkey);
		pkt->swap_add = be64_to_cpu(atomic->swap_add);
		pkt->compare = be64_to_cpu(atomic->compare);
		p += sizeof(*atomic);
	}
	if (has & WARD_HAS_AETH) {
		const struct ward_aeth *aeth = (const void *)p;
		u32 smsn = be32_to_cpu(aeth->smsn);

		pkt->syndrome = smsn >> WARD_AETH_SYN_SHIFT;
		pkt->msn = smsn & WARD_24BITS;
		p += sizeof(*aeth);
	}
	if (has & WARD_HAS_ATOMICACK) {
		const struct ward_atomicacketh *ack = (const void *)p;

		pkt->orig = be64_to_cpu(ack->orig);
		p += sizeof(*ack);
	}
	if (has & WARD_HAS_IMM) {
		const struct ward_immdt *immdt = (const void *)p;

		pkt->imm = immdt->imm;
		p += sizeof(*immdt);
	}
	if (has & WARD_HAS_IETH) {
		const struct ward_ieth *ieth = (const void *)p;

		pkt->inv_rkey = be32_to_cpu(ieth->rkey);
	}
}

/**
 * ward_pkt_parse() - take a packet apart
 * @pkt: result; of a refused packet nothing in it may be used
 * @hdr: the packet from its BTH on; the caller has made ward_opcode(hdr[0])->hdr_len
 *       bytes readable, more are not touched
 * @len: length in bytes from BTH to ICRC, both included, as UDP tells it; need not be sane
 *
 * The opcode is judged before any arithmetic on @len. Then @len must cover
 * headers, padding and ICRC, and be a multiple of 4; only an opcode with payload
 * may have some; padding fills up payload, and only that of the packet that ends
 * a message. Whether the payload fits the MTU is for the responder and the
 * completer to say.
 *
 * Context: Any.
 * Return: WARD_PARSE_OK, or why the packet has to be dropped.
 */
enum ward_parse ward_pkt_parse(struct ward_pkt *pkt, const u8 *hdr, u32 len)
{
	const struct ward_opcode *op = ward_opcode(hdr[0]);
	const struct ward_bth *bth = (const void *)hdr;
	u32 qpn, apsn, least, body;
	u8 pad;

	if (!op->hdr_len)
		return WARD_PARSE_OPCODE;
	if (bth->flags & WARD_BTH_VERSION_MASK)
		return WARD_PARSE_VERSION;

	least = op->hdr_len + WARD_ICRC_SIZE;
	if (len < least || len & 3)
		return WARD_PARSE_LENGTH;
	body = len - least;
	pad = (bth->flags & WARD_BTH_PAD_MASK) >> WARD_BTH_PAD_SHIFT;
	if (pad && (op->flags & (WARD_HAS_PAYLOAD | WARD_IS_LAST)) !=
		   (WARD_HAS_PAYLOAD | WARD_IS_LAST))
		return WARD_PARSE_PAD;
	if (body < pad)
		return WARD_PARSE_LENGTH;
	if (body && !(op->flags & WARD_HAS_PAYLOAD))
		return WARD_PARSE_LENGTH;

	qpn = be32_to_cpu(bth->qpn);
	apsn = be32_to_cpu(bth->apsn);

	pkt->op = op;
	pkt->opcode = bth->opcode;
	pkt->pad = pad;
	pkt->solicited = bth->flags & WARD_BTH_SE;
	pkt->ackreq = apsn & WARD_BTH_ACK;
	pkt->mig = bth->flags & WARD_BTH_MIG;
	pkt->becn = qpn & WARD_BTH_BECN;
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->qpn = qpn & WARD_24BITS;
	pkt->psn = apsn & WARD_24BITS;
	pkt->hdr_len = op->hdr_len;
	pkt->len = body - pad;
	parse_extensions(pkt, hdr + sizeof(*bth));

	return WARD_PARSE_OK;
}

static void build_extensions(const struct ward_pkt *pkt, u16 has, u8 *p)
{
	if (has & WARD_HAS_DETH) {
		struct ward_deth *deth = (void *)p;

		deth->qkey = cpu_to_be32(pkt->qkey);
		deth->src_qpn = cpu_to_be32(pkt->src_qpn & WARD_24BITS);
		p += sizeof(*deth);
	}
	if (has & WARD_HAS_FETH) {
		struct ward_feth *feth = (void *)p;

		feth->bits = cpu_to_be32((u32)pkt->flush_level << WARD_FETH_LEVEL_SHIFT |
					 pkt->flush_type);
		p += sizeof(*feth);
	}
	if (has & WARD_HAS_RETH) {
		struct ward_reth *reth = (void *)p;

		reth->va = cpu_to_be64(pkt->va);
		reth->rkey = cpu_to_be32(pkt->rkey);
		reth->length = cpu_to_be32(pkt->dma_len);
		p += sizeof(*reth);
	}
	if (has & WARD_HAS_ATOMICETH) {
		struct ward_atomiceth *atomic = (void *)p;

		atomic->va = cpu_to_be64(pkt->va);
		atomic->rkey = cpu_to_be32(pkt->rkey);
		atomic->swap_add = cpu_to_be64(pkt->swap_add);
		atomic->compare = cpu_to_be64(pkt->compare);
		p += sizeof(*atomic);
	}
	if (has & WARD_HAS_AETH) {
		struct ward_aeth *aeth = (void *)p;

		aeth->smsn = cpu_to_be32((u32)pkt->syndrome << WARD_AETH_SYN_SHIFT |
					 (pkt->msn & WARD_24BITS));
		p += sizeof(*aeth);
	}
	if (has & WARD_HAS_ATOMICACK) {
		struct ward_atomicacketh *ack = (void *)p;

		ack->orig = cpu_to_be64(pkt->orig);
		p += sizeof(*ack);
	}
	if (has & WARD_HAS_IMM) {
		struct ward_immdt *immdt = (void *)p;

		immdt->imm = pkt->imm;
		p += sizeof(*immdt);
	}
	if (has & WARD_HAS_IETH) {
		struct ward_ieth *ieth = (void *)p;

		ieth->rkey = cpu_to_be32(pkt->inv_rkey);
	}
}

/**
 * ward_pkt_build() - write the BTH and the extension headers of a packet
 * @pkt: what to write; opcode, pad, solicited, ackreq, mig, becn, pkey, qpn, psn, and what
 *       the opcode carries; op, hdr_len and len are not looked at
 * @hdr: where to; WARD_MAX_HDR bytes are enough for any opcode
 *
 * Context: Any.
 * Return: number of bytes written; 0, and nothing is written, for an opcode that
 * ward does not implement.
 */
u32 ward_pkt_build(const struct ward_pkt *pkt, u8 *hdr)
{
	const struct ward_opcode *op = ward_opcode(pkt->opcode);
	struct ward_bth *bth = (void *)hdr;

	if (!op->hdr_len)
		return 0;

	bth->opcode = pkt->opcode;
	bth->flags = (pkt->solicited ? WARD_BTH_SE : 0) | (pkt->mig ? WARD_BTH_MIG : 0) |
		     (pkt->pad << WARD_BTH_PAD_SHIFT & WARD_BTH_PAD_MASK);
	bth->pkey = cpu_to_be16(pkt->pkey);
	bth->qpn = cpu_to_be32((pkt->becn ? WARD_BTH_BECN : 0) | (pkt->qpn & WARD_24BITS));
	bth->apsn = cpu_to_be32((pkt->ackreq ? WARD_BTH_ACK : 0) | (pkt->psn & WARD_24BITS));
	build_extensions(pkt, op->flags, hdr + sizeof(*bth));

	return op->hdr_len;
}
