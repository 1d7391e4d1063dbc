// SPDX-License-Identifier: GPL-2.0
/*
 * See verbs_fence.h.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include "../drivers/ward/mem/pages.h"
#include "../drivers/ward/qp/qp.h"
#include "../drivers/ward/verbs/mw.h"
#include "verbs_fence.h"

#define PATIENCE	(10 * HZ)

struct link fence_wire;
bool fence_is_local;

int fence_suite_init(struct kunit_suite *suite)
{
	int err = link_up(&fence_wire);

	fence_is_local = strstr(suite->name, "local");
	if (err)
		link_down(&fence_wire);
	return err;
}

void fence_suite_exit(struct kunit_suite *suite)
{
	link_down(&fence_wire);
}

int fence_test_init(struct kunit *test)
{
	verbs_start(test, IB_QPT_RC, &fence_wire.end[0], &fence_wire.end[!fence_is_local], false);
	return 0;
}

/*
 * B's queue pair stands between the check of a key and the copy of the @nth packet of @v's; of a
 * local step, which is all of the message
 */
int fence_hold_b(struct kunit *test, struct verbs *v, const char *op, int nth)
{
	char rule[80];

	snprintf(rule, sizeof(rule), "hold op=%s qp=%u nth=%d", op, v->b.qp->qp_num,
		 fence_is_local ? 1 : nth);
	return verbs_rule(test, &v->b, rule);
}

/* Queue pairs that wait as long as a test wants to hold them, and resend what is lost */
void fence_patient(struct kunit *test)
{
	struct verbs *v = test->priv;

	v->timeout = VERBS_NO_TIMEOUT;
	verbs_connect(test, v);
}

void paint(struct verbs *v)
{
	memset(v->a.buf, 0xaa, VERBS_BUF);
	memset(v->b.buf, 0x55, VERBS_BUF);
}

void expect_paint(struct kunit *test, u32 offset, u32 len, u8 colour)
{
	struct verbs *v = test->priv;

	KUNIT_EXPECT_NULL(test, memchr_inv(v->b.buf + offset, colour, len));
}

struct verbs_op *write_by(struct kunit *test, struct verbs *v, u32 key, u64 addr, u32 len)
{
	return verbs_rdma(test, &v->a, IB_WR_RDMA_WRITE, v->a.dma, v->a.pd->local_dma_lkey, len,
			  addr, key);
}

struct verbs_op *read_by(struct kunit *test, struct verbs *v, u32 key, u64 addr, u32 len)
{
	return verbs_rdma(test, &v->a, IB_WR_RDMA_READ, v->a.dma, v->a.pd->local_dma_lkey, len,
			  addr, key);
}

struct verbs_op *write_to(struct kunit *test, u32 key, u64 addr, u32 len)
{
	return write_by(test, test->priv, key, addr, len);
}

struct verbs_op *read_from(struct kunit *test, u32 key, u64 addr, u32 len)
{
	return read_by(test, test->priv, key, addr, len);
}

/* The peer's WRITE is let in ... */
void expect_open(struct kunit *test, u32 key, u64 addr)
{
	EXPECT_STATUS(test, write_to(test, key, addr, 100), IB_WC_SUCCESS);
}

/* ... or refused, which costs both queue pairs: new ones follow. */
void expect_shut(struct kunit *test, u32 key, u64 addr)
{
	EXPECT_STATUS(test, write_to(test, key, addr, 100), IB_WC_REM_ACCESS_ERR);
	verbs_connect(test, test->priv);
}

/* An error of its own, not that of a queue pair that was in ERR already */
void expect_failed(struct kunit *test, struct verbs_op *op)
{
	const char *status = verbs_status(op);

	KUNIT_EXPECT_STRNEQ(test, status, "no completion at all");
	KUNIT_EXPECT_STRNEQ(test, status, ib_wc_status_msg(IB_WC_SUCCESS));
	KUNIT_EXPECT_STRNEQ(test, status, ib_wc_status_msg(IB_WC_WR_FLUSH_ERR));
	verbs_connect(test, test->priv);
}

/* SEND with invalidate of a key that cannot be invalidated (F14) */
void expect_bad_remote_inv(struct kunit *test, u32 key)
{
	struct verbs *v = test->priv;
	struct verbs_op *recv = verbs_recv(test, &v->b, 0, 100);
	struct verbs_op *send = verbs_send(test, &v->a, IB_WR_SEND_WITH_INV, 0, 1, key);

	EXPECT_STATUS(test, send, IB_WC_REM_ACCESS_ERR);
	EXPECT_STATUS(test, recv, IB_WC_REM_INV_REQ_ERR);
	verbs_connect(test, v);
}

/* Asks without a packet; @rule: the one that refuses, or NULL */
void expect_probed(struct kunit *test, struct verbs_end *end, u32 key, u32 right,
		   const char *rule)
{
	struct ward_probe probe = {
		.qpn = end->qp->qp_num, .key = key, .right = right, .len = 1,
	};
	struct ward_probed answer = ward_probe(to_ward(end->link->ibdev), &probe);

	KUNIT_EXPECT_EQ(test, answer.granted, !rule);
	if (rule)
		KUNIT_EXPECT_STREQ(test, answer.rule, rule);
}

/* Waits until a counter has come to @n. */
void fence_wait_counted(struct kunit *test, struct verbs_end *end, enum ward_counter id, u64 n)
{
	unsigned long until = jiffies + PATIENCE;

	while (verbs_counted(end, id) < n && time_before(jiffies, until))
		usleep_range(1000, 2000);
	KUNIT_EXPECT_GE(test, verbs_counted(end, id), n);
}

enum ib_qp_state state_of(struct kunit *test, struct verbs_end *end)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	KUNIT_ASSERT_EQ(test, ib_query_qp(end->qp, &attr, IB_QP_STATE, &init), 0);
	return attr.qp_state;
}

/* A region of @pd that maps the first part of B's buffer */
struct ib_mr *foreign_mr(struct kunit *test, struct ib_pd *pd)
{
	struct verbs *v = test->priv;
	struct verbs_end other = v->b;
	struct ib_mr *mr;

	other.pd = pd;
	mr = verbs_mr(test, &other, 4);
	verbs_map(test, mr, &other, 0, PART);
	return mr;
}

static void run_task(struct work_struct *work)
{
	struct fence_task *task = container_of(work, struct fence_task, work);

	task->err = task->fn(task->arg);
	complete(&task->done);
}

static void end_task(void *data)
{
	struct fence_task *task = data;

	flush_work(&task->work);
}

/* @task is zeroed memory that lives as long as the test. */
void fence_start(struct kunit *test, struct fence_task *task, int (*fn)(void *arg), void *arg)
{
	task->fn = fn;
	task->arg = arg;
	init_completion(&task->done);
	INIT_WORK(&task->work, run_task);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, end_task, task), 0);
	queue_work(system_unbound_wq, &task->work);
}

void fence_expect_waiting(struct kunit *test, struct fence_task *task)
{
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&task->done));
}

void fence_expect_done(struct kunit *test, struct fence_task *task)
{
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&task->done, PATIENCE), 0);
	KUNIT_EXPECT_EQ(test, task->err, 0);
}

int fence_dereg(void *mr)
{
	return ib_dereg_mr(mr);
}

int fence_to_error(void *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static void user_mr_free(void *mr)
{
	ward_mr_destroy(mr);
}

/* As reg_user_mr makes it, but of the end's buffer. */
struct ib_mr *fence_user_mr(struct kunit *test, struct verbs_end *end, u32 offset, u32 len,
			    int access)
{
	u64 first = (uintptr_t)(end->buf + offset) & PAGE_MASK;
	u32 i, n = (offset_in_page(end->buf + offset) + len + PAGE_SIZE - 1) / PAGE_SIZE;
	struct ward_pages *pages = ward_pages_alloc(n, PAGE_SHIFT, GFP_KERNEL);
	struct ward_mr *mr = ward_mr_create(to_ward(end->link->ibdev), end->pd, WARD_KIND_USER);

	KUNIT_ASSERT_NOT_NULL(test, mr);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	KUNIT_ASSERT_EQ(test, ward_mr_publish(mr), 0);
	for (i = 0; i < n; i++)
		pages->addr[pages->n++] = first + i * PAGE_SIZE;
	ward_mr_activate(mr, mr->key, access, end->dma + offset, len,
			 offset_in_page(end->buf + offset), pages);
	mr->ib.iova = mr->iova;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, user_mr_free, mr), 0);
	return &mr->ib;
}

static void mw_free(void *p)
{
	struct ib_mw *mw = p;

	if (mw->rkey)
		fence_free_mw(mw);
}

struct ib_mw *fence_mw(struct kunit *test, struct verbs_end *end, enum ib_mw_type type)
{
	struct ward_mw *mw = kunit_kzalloc(test, sizeof(*mw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mw);
	mw->ib.device = end->link->ibdev;
	mw->ib.pd = end->pd;
	mw->ib.type = type;
	KUNIT_ASSERT_EQ(test, mw->ib.device->ops.alloc_mw(&mw->ib, NULL), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, mw_free, &mw->ib), 0);
	return &mw->ib;
}

/* For fence_start(), too */
int fence_free_mw(void *p)
{
	struct ib_mw *mw = p;
	int err = mw->device->ops.dealloc_mw(mw);

	mw->rkey = 0;
	return err;
}

/* Posts a bind, as if the doorbell had copied it from the ring of a process. */
struct verbs_op *fence_bind(struct kunit *test, struct verbs_end *end, struct ib_mw *mw,
			    struct ib_mr *mr, u64 addr, u64 len, int access)
{
	struct verbs_op *op = verbs_op(test);
	struct ward_qp *qp = to_ward_qp(end->qp);
	struct ward_swqe *wqe = ward_sendq_at(&qp->sq, qp->sq.head);

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = (uintptr_t)&op->cqe;
	wqe->opcode = IB_WR_BIND_MW;
	wqe->flags = IB_SEND_SIGNALED;
	wqe->bind = (struct ward_bind){
		.mw_key = mw->rkey, .key = mw->rkey, .lkey = mr->lkey,
		.addr = addr, .length = len, .access = access,
	};
	/* pairs with the acquire of the run that executes it */
	smp_store_release(&qp->sq.head, qp->sq.head + 1);
	ward_qp_kick_here(qp, WARD_EV_WORK);
	return op;
}
