/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The link option fence_on_error: a QP that leaves takes along what was registered through it.
 *
 * A region belongs to a protection domain, so by itself it outlives the QP that registered it.
 * With the option, a QP that goes to ERR flushes only when every region that REG_MR on this QP
 * has made valid is out of reach; and modify_qp to ERR or RESET and destroy_qp return only then.
 */
#ifndef _WARD_QP_FENCE_H
#define _WARD_QP_FENCE_H

struct ward_qp;

void ward_fence_init(struct ward_qp *qp);
void ward_fence_begin(struct ward_qp *qp);
void ward_fence_wait(struct ward_qp *qp);
void ward_fence_now(struct ward_qp *qp);

#endif /* _WARD_QP_FENCE_H */
