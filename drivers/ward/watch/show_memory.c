// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: mrs, mrs.exposed, mws, pds: what can be reached, by whom, since when.
 *
 * A region is copied under its lock, and formatted from the copy. Regions are found under RCU;
 * of what they point to, which may be freed before them, nothing is looked at.
 */
#include <linux/mm.h>
#include <linux/sort.h>

#include "../net/net.h"
#include "../net/path.h"
#include "../qp/qp.h"
#include "../verbs/device.h"
#include "../verbs/pd.h"
#include "../verbs/srq.h"
#include "debugfs.h"
#include "orphans.h"

/*
 * struct shown_mr - a region as it was at one moment
 * @id:    number as `rdma resource` has it; 0 for a window
 * @kind, @state, @key, @access, @iova, @length, @qpn, @generation, @pd_id: see struct ward_mr
 * @orphaned: of an exposed one: no QP that could be used to reach it can receive
 * @users: inside its guard
 * @e:     its exposure
 * @now:   ns of ktime_get_ns() at that moment
 */
struct shown_mr {
	u32			id;
	int			kind;
	int			state;
	bool			orphaned;
	u32			key;
	int			access;
	u64			iova;
	u64			length;
	u32			qpn;
	u32			generation;
	u32			pd_id;
	int			users;
	struct ward_exposure	e;
	u64			now;
};

static void take_mr(struct shown_mr *to, struct ward_mr *mr)
{
	int n;

	spin_lock_bh(&mr->lock);
	n = atomic_read(&mr->guard.n);
	*to = (struct shown_mr){
		.id = ward_mr_is_window(mr) ? 0 : mr->ib.res.id,
		.kind = mr->kind,
		.state = mr->state,
		.key = mr->key,
		.access = mr->access,
		.iova = mr->iova,
		.length = mr->length,
		.qpn = mr->qpn,
		.generation = mr->generation,
		.pd_id = mr->pd_id,
		.users = n < 0 ? n - GUARD_SHUT : n,
		.e = mr->exposure,
		.now = ktime_get_ns(),
	};
	spin_unlock_bh(&mr->lock);
}

static u64 exposed_ns(const struct shown_mr *mr)
{
	return mr->e.since ? mr->now - mr->e.since : 0;
}

#define MR_HEADINGS	"key kind state pd rights iova length_bytes generation users " \
			"exposed_us exposed_total_us exposed_longest_us exposures drain_last_us " \
			"ended_by peer_gid peer_qpn qpn last_op last_us_ago read_bytes " \
			"written_bytes refused tied_qpn mr_id"

static void show_mr(struct seq_file *s, const struct shown_mr *mr)
{
	bool valid = mr->state != WARD_FREE;
	const struct ward_exposure *e = &mr->e;
	u64 exposed = exposed_ns(mr);
	char rights[WARD_RIGHTS_TEXT];

	ward_name_rights(valid ? mr->access : 0, rights);
	seq_printf(s, "0x%08x %-7s %-8s %u %-5s 0x%llx %llu %u %d ", mr->key,
		   ward_name_kind(mr->kind), ward_name_region_state(mr->state), mr->pd_id, rights,
		   valid ? mr->iova : 0, valid ? mr->length : 0, mr->generation, mr->users);
	if (e->since)
		seq_printf(s, "%llu ", ward_us(exposed));
	else
		seq_puts(s, "- ");
	seq_printf(s, "%llu %llu %llu %llu %s ", ward_us(e->total + exposed),
		   ward_us(max(e->longest, exposed)), e->times, ward_us(e->drain),
		   ward_name_closed_by(e->closer.by));
	if (e->when)
		seq_printf(s, "%pI6c %u %u %s %llu ", e->peer.raw, e->peer_qpn, e->qpn,
			   ward_name_op(e->op), ward_us(mr->now - e->when));
	else
		seq_puts(s, "- - - - - ");
	seq_printf(s, "%llu %llu %llu %u %u", e->read, e->written, e->refused,
		   valid ? mr->qpn : 0, mr->id);
}

static void *regions_start(struct seq_file *s, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return ward_table_start(s, &dev->keys.regions, pos);
}

static void *regions_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return ward_table_next(&dev->keys.regions, v, pos);
}

static void regions_stop(struct seq_file *s, void *v)
{
	ward_table_stop();
}

static int region_show(struct seq_file *s, void *v, bool windows)
{
	struct shown_mr mr;

	if (v == SEQ_START_TOKEN) {
		seq_puts(s, "# " MR_HEADINGS "\n");
		return 0;
	}
	if (ward_mr_is_window(v) != windows)
		return SEQ_SKIP;
	take_mr(&mr, v);
	show_mr(s, &mr);
	seq_putc(s, '\n');
	return 0;
}

static int mrs_show(struct seq_file *s, void *v)
{
	return region_show(s, v, false);
}

static int mws_show(struct seq_file *s, void *v)
{
	return region_show(s, v, true);
}

static const struct seq_operations ward_mrs_sops = {
	.start = regions_start,
	.next = regions_next,
	.stop = regions_stop,
	.show = mrs_show,
};

WARD_LINES_FILE(ward_mrs);

static const struct seq_operations ward_mws_sops = {
	.start = regions_start,
	.next = regions_next,
	.stop = regions_stop,
	.show = mws_show,
};

WARD_LINES_FILE(ward_mws);

/*
 * struct shown_pd - a PD and what belongs to it
 * @id:    number as `rdma resource` has it
 * @pid, @comm: owner; @pid is 0 for the kernel
 * @exposed: bytes that peers can reach now
 * @receiving: of @qps, those that take packets
 */
struct shown_pd {
	u32	id;
	pid_t	pid;
	char	comm[TASK_COMM_LEN];
	char	kernel[32];
	u32	qps;
	u32	receiving;
	u32	mrs;
	u32	mws;
	u32	srqs;
	u32	ahs;
	u64	exposed;
};

struct shown_pds {
	u32		num;
	u32		max;
	struct shown_pd	pd[] __counted_by(max);
};

static int compare_ids(const void *a, const void *b)
{
	const struct shown_pd *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static struct shown_pd *pd_of(struct shown_pds *pds, u32 id)
{
	u32 from = 0, to = pds->num;

	while (from < to) {
		u32 mid = from + (to - from) / 2;

		if (pds->pd[mid].id == id)
			return &pds->pd[mid];
		if (pds->pd[mid].id < id)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

static void take_pd(struct shown_pd *to, const struct ward_pd *pd)
{
	*to = (struct shown_pd){ .id = pd->ib.res.id, .pid = pd->pid };
	if (pd->pid)
		strscpy(to->comm, pd->comm, sizeof(to->comm));
	else if (pd->ib.res.kern_name)
		strscpy(to->kernel, pd->ib.res.kern_name, sizeof(to->kernel));
}

/* The PDs that there are, by number, and what SRQs they have. To be freed, or NULL. */
static struct shown_pds *list_pds(struct ward_device *dev)
{
	struct shown_pds *pds = NULL;
	struct shown_pd *owner;
	struct ward_pd *pd;
	struct ward_srq *srq;
	u32 max = 0;

	mutex_lock(&dev->objects.lock);
	list_for_each_entry(pd, &dev->objects.pds, entry)
		max++;
	pds = kvzalloc(struct_size(pds, pd, max), GFP_KERNEL);
	if (!pds)
		goto out;
	pds->max = max;
	list_for_each_entry(pd, &dev->objects.pds, entry)
		take_pd(&pds->pd[pds->num++], pd);
	sort(pds->pd, pds->num, sizeof(pds->pd[0]), compare_ids, NULL);
	list_for_each_entry(srq, &dev->objects.srqs, entry) {
		owner = pd_of(pds, srq->pd_id);
		if (owner)
			owner->srqs++;
	}
out:
	mutex_unlock(&dev->objects.lock);
	return pds;
}

static void count_qp(struct ward_device *dev, struct shown_pds *pds, const struct ward_qp *qp)
{
	struct shown_pd *owner;

	if (!qp || qp->dev != dev)
		return;
	owner = pd_of(pds, qp->pd_id);
	if (!owner)
		return;
	owner->qps++;
	owner->receiving += ward_qp_receives(READ_ONCE(qp->state));
}

static void count_qps(struct ward_device *dev, struct shown_pds *pds)
{
	unsigned long i;
	void *qp;

	rcu_read_lock();
	xa_for_each(&dev->net->qps, i, qp) {
		count_qp(dev, pds, qp);
		ward_table_breathe();
	}
	count_qp(dev, pds, READ_ONCE(dev->gsi));
	rcu_read_unlock();
}

static void count_ahs(struct ward_device *dev, struct shown_pds *pds)
{
	struct ward_path *path;
	struct shown_pd *owner;
	unsigned long i;

	rcu_read_lock();
	xa_for_each(&dev->ahs, i, path) {
		owner = pd_of(pds, path->pd_id);
		if (owner)
			owner->ahs++;
		ward_table_breathe();
	}
	rcu_read_unlock();
}

static void count_mrs(struct ward_device *dev, struct shown_pds *pds)
{
	struct shown_pd *owner;
	struct shown_mr shown;
	struct ward_mr *mr;
	unsigned long i;

	rcu_read_lock();
	xa_for_each(&dev->keys.regions, i, mr) {
		take_mr(&shown, mr);
		owner = pd_of(pds, shown.pd_id);
		if (!owner)
			continue;
		if (ward_mr_is_window(mr))
			owner->mws++;
		else
			owner->mrs++;
		if (shown.e.since)
			owner->exposed += shown.length;
		ward_table_breathe();
	}
	rcu_read_unlock();
}

static int ward_pds_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;
	struct shown_pds *pds = list_pds(dev);
	u32 i;

	if (!pds)
		return -ENOMEM;
	count_qps(dev, pds);
	count_ahs(dev, pds);
	count_mrs(dev, pds);
	seq_puts(s, "# pd owner pid name qps qps_receiving mrs mws srqs ahs exposed_bytes\n");
	for (i = 0; i < pds->num; i++) {
		const struct shown_pd *pd = &pds->pd[i];

		seq_printf(s, "%u %s %d ", pd->id, pd->pid ? "process" : "kernel", pd->pid);
		/* a process may call itself what it likes: it stays one column */
		seq_escape(s, pd->pid ? pd->comm : pd->kernel, " \t\n\\");
		seq_printf(s, " %u %u %u %u %u %u %llu\n", pd->qps, pd->receiving, pd->mrs,
			   pd->mws, pd->srqs, pd->ahs, pd->exposed);
	}
	kvfree(pds);
	return 0;
}

WARD_SHOWN_FILE(ward_pds);

static int compare_exposed(const void *a, const void *b)
{
	u64 x = exposed_ns(a), y = exposed_ns(b);

	return x > y ? -1 : x < y;
}

/* Copies of the regions that peers can reach, at most @max; returns how many */
static u32 take_exposed(struct ward_device *dev, struct shown_mr *to, u32 max)
{
	struct ward_mr *mr;
	unsigned long i;
	u32 n = 0;

	rcu_read_lock();
	xa_for_each(&dev->keys.regions, i, mr) {
		if (n == max)
			break;
		/* a look without the lock; most are not */
		if (!READ_ONCE(mr->exposure.since))
			continue;
		take_mr(&to[n], mr);
		to[n].orphaned = ward_mr_is_orphaned(mr);
		n += !!to[n].e.since;
		ward_table_breathe();
	}
	rcu_read_unlock();
	return n;
}

static u32 count_exposed(struct ward_device *dev)
{
	struct ward_mr *mr;
	unsigned long i;
	u32 n = 0;

	rcu_read_lock();
	xa_for_each(&dev->keys.regions, i, mr) {
		n += !!READ_ONCE(mr->exposure.since);
		ward_table_breathe();
	}
	rcu_read_unlock();
	return n;
}

/* Longest first. What has come since they were counted is left for the next reader */
static int ward_exposed_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;
	u32 i, n, max = count_exposed(dev) + 16;
	struct shown_mr *mrs = kvmalloc_array(max, sizeof(*mrs), GFP_KERNEL);

	if (!mrs)
		return -ENOMEM;
	n = take_exposed(dev, mrs, max);
	sort(mrs, n, sizeof(*mrs), compare_exposed, NULL);
	seq_puts(s, "# " MR_HEADINGS " orphaned\n");
	for (i = 0; i < n; i++) {
		show_mr(s, &mrs[i]);
		seq_puts(s, mrs[i].orphaned ? " yes\n" : " no\n");
	}
	kvfree(mrs);
	return 0;
}

WARD_SHOWN_FILE(ward_exposed);
