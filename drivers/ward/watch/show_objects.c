// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: cqs, srqs, ahs.
 */

#include "../net/path.h"
#include "../verbs/cq.h"
#include "../verbs/device.h"
#include "../verbs/srq.h"
#include "debugfs.h"

static void *list_start(struct seq_file *s, struct list_head *list, loff_t *pos)
{
	struct ward_device *dev = s->private;

	mutex_lock(&dev->objects.lock);
	return seq_list_start_head(list, *pos);
}

static void list_stop(struct seq_file *s, void *v)
{
	struct ward_device *dev = s->private;

	mutex_unlock(&dev->objects.lock);
}

static void *cqs_start(struct seq_file *s, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return list_start(s, &dev->objects.cqs, pos);
}

static void *cqs_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return seq_list_next(v, &dev->objects.cqs, pos);
}

static int cqs_show(struct seq_file *s, void *v)
{
	struct ward_device *dev = s->private;
	u32 used, entries, armed;
	struct ward_cq *cq;
	bool overflow;

	if (v == &dev->objects.cqs) {
		seq_puts(s, "# cq consumer entries unpolled armed overflow\n");
		return 0;
	}
	cq = list_entry(v, struct ward_cq, entry);
	spin_lock_irq(&cq->lock);
	entries = cq->ring.mask;
	used = (cq->head - ward_ring_consumer(&cq->ring)) & cq->ring.mask;
	armed = cq->armed;
	overflow = cq->overflow;
	spin_unlock_irq(&cq->lock);
	seq_printf(s, "%u %s %u %u %s %s\n", cq->ib.res.id, cq->user ? "process" : "kernel",
		   entries, used, armed == IB_CQ_NEXT_COMP ? "any" :
		   armed == IB_CQ_SOLICITED ? "solicited" : "no", overflow ? "yes" : "no");
	return 0;
}

static const struct seq_operations ward_cqs_sops = {
	.start = cqs_start,
	.next = cqs_next,
	.stop = list_stop,
	.show = cqs_show,
};

WARD_LINES_FILE(ward_cqs);

static void *srqs_start(struct seq_file *s, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return list_start(s, &dev->objects.srqs, pos);
}

static void *srqs_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return seq_list_next(v, &dev->objects.srqs, pos);
}

static int srqs_show(struct seq_file *s, void *v)
{
	struct ward_device *dev = s->private;
	u32 posted, depth, limit;
	struct ward_srq *srq;

	if (v == &dev->objects.srqs) {
		seq_puts(s, "# srq number consumer pd posted depth limit\n");
		return 0;
	}
	srq = list_entry(v, struct ward_srq, entry);
	spin_lock_bh(&srq->lock);
	posted = ward_recvq_len(&srq->rq);
	depth = srq->rq.depth;
	limit = srq->limit;
	spin_unlock_bh(&srq->lock);
	seq_printf(s, "%u %u %s %u %u %u %u\n", srq->ib.res.id, srq->num,
		   srq->user ? "process" : "kernel", srq->pd_id, posted, depth, limit);
	return 0;
}

static const struct seq_operations ward_srqs_sops = {
	.start = srqs_start,
	.next = srqs_next,
	.stop = list_stop,
	.show = srqs_show,
};

WARD_LINES_FILE(ward_srqs);

static void *ahs_start(struct seq_file *s, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return ward_table_start(s, &dev->ahs, pos);
}

static void *ahs_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return ward_table_next(&dev->ahs, v, pos);
}

static void ahs_stop(struct seq_file *s, void *v)
{
	ward_table_stop();
}

/* An AH is constant but for its number, which is of no use outside */
static int ahs_show(struct seq_file *s, void *v)
{
	const struct ward_path *path = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(s, "# dgid pd traffic_class hop_limit flow_label service_level udp_source_port\n");
		return 0;
	}
	seq_printf(s, "%pI6c %u %u %u %u %u %u\n", path->dgid.raw, path->pd_id, path->tclass,
		   path->hops, path->flow, path->sl, path->sport);
	return 0;
}

static const struct seq_operations ward_ahs_sops = {
	.start = ahs_start,
	.next = ahs_next,
	.stop = ahs_stop,
	.show = ahs_show,
};

WARD_LINES_FILE(ward_ahs);
