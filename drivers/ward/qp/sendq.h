/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send queues: filled by the consumer, emptied by the requester.
 *
 *	tail ......... exec ......... head
 *	  executed,      posted,
 *	  not complete   not executed
 *
 * The ring is the kernel's own. A process posts into a shared ring; ringing the
 * doorbell copies each work request from there once, checks the copy, and only
 * the copy is used from then on. A slot of the shared ring is given back when
 * its work request completes, so both rings fill up alike.
 */
#ifndef _WARD_QP_SENDQ_H
#define _WARD_QP_SENDQ_H

#include "../mem/copy.h"
#include "../mem/fastreg.h"
#include "../mem/window.h"
#include "../verbs/device.h"
#include "../verbs/ring.h"

struct ward_path;
struct ward_qp;

/* In ward_swqe.flags beside IB_SEND_*: @path is referenced */
#define WARD_SWQE_HAS_PATH	BIT(31)

/**
 * struct ward_swqe - a send work request
 * @wr_id:     the consumer's
 * @opcode:    enum ib_wr_opcode
 * @flags:     IB_SEND_* and WARD_SWQE_HAS_PATH
 * @status:    what it will complete with; not success: known already, and nothing after it executes
 * @posted:    jiffies when it was posted
 * @started:   its first packet was built
 * @local:     its latest bytes went without packets (qp/local.h)
 * @executed:  a local operation: done, its completion need only wait for its turn
 * @num_sge:   pieces
 * @length:    bytes in all pieces, or of inline data
 * @first_psn: of its packets, when @started
 * @last_psn:  when executed
 * @cur:       source, or READ destination: where the next byte is
 * @imm:       immediate, as on the wire
 * @inv_key:   SEND_WITH_INV, LOCAL_INV
 * @va:        RDMA, atomic: remote address
 * @rkey:      RDMA, atomic
 * @swap_add:  atomic
 * @compare:   compare and swap
 * @flush_type: flush: WARD_FLUSH_*
 * @flush_level: flush
 * @path:      UD: where to; referenced
 * @qpn:       UD
 * @qkey:      UD
 * @reg:       REG_MR
 * @bind:      BIND_MW
 * @sge:       pieces, or @inline_data with IB_SEND_INLINE
 */
struct ward_swqe {
	u64			wr_id;
	u32			opcode;
	u32			flags;
	enum ib_wc_status	status;
	unsigned long		posted;
	bool			started;
	bool			local;
	bool			executed;
	u32			num_sge;
	u32			length;
	u32			first_psn;
	u32			last_psn;
	struct ward_cursor	cur;
	union {
		__be32		imm;
		u32		inv_key;
	};
	union {
		struct {
			u64			va;
			u32			rkey;
			union {
				struct {
					u64	swap_add;
					u64	compare;
				};
				struct {
					u8	flush_type;
					u8	flush_level;
				};
			};
		};
		struct {
			struct ward_path	*path;
			u32			qpn;
			u32			qkey;
		};
		struct ward_reg			reg;
		struct ward_bind		bind;
	};
	union {
		DECLARE_FLEX_ARRAY(struct ward_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

/**
 * struct ward_sendq - a send queue
 * @ring:       slots of @stride bytes, each a struct ward_swqe
 * @stride:     bytes of a slot
 * @mask:       number of slots - 1
 * @lock:       @head, @user_head. Taken with interrupts off
 * @head:       next slot to fill; free-running
 * @exec:       next work request to execute; the owner's
 * @tail:       oldest work request that is not complete; the owner's
 * @max_sge:    pieces of one work request
 * @max_inline: bytes of inline data
 * @user:       the shared ring of a process; empty for kernel consumers
 * @user_head:  next slot of @user to copy
 * @user_tail:  slot of @user to give back next; the owner's
 */
struct ward_sendq {
	void			*ring;
	u32			stride;
	u32			mask;
	spinlock_t		lock;	/* posting */
	u32			head;
	u32			exec;
	u32			tail;
	u32			max_sge;
	u32			max_inline;
	struct ward_ring	user;
	u32			user_head;
	u32			user_tail;
};

/* ward_sendq_at() - the work request that index @i stands for */
static inline struct ward_swqe *ward_sendq_at(const struct ward_sendq *sq, u32 i)
{
	return sq->ring + (size_t)(i & sq->mask) * sq->stride;
}

int ward_sendq_create(struct ward_sendq *sq, u32 depth, u32 max_sge, u32 max_inline,
		      struct ib_ucontext *uctx, struct mminfo *mi);
void ward_sendq_destroy(struct ward_sendq *sq);
void ward_sendq_reset(struct ward_sendq *sq);
int ward_sendq_post(struct ward_qp *qp, const struct ib_send_wr *wr);
void ward_sendq_pull(struct ward_qp *qp);
void ward_sendq_pop(struct ward_sendq *sq);
enum ib_wc_opcode ward_wc_opcode(u32 wr_opcode);

#endif /* _WARD_QP_SENDQ_H */
