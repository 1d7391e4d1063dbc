// SPDX-License-Identifier: GPL-2.0
/*
 * Orphaned exposures.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "../net/net.h"
#include "../qp/qp.h"
#include "debugfs.h"
#include "orphans.h"

/**
 * ward_mr_is_exposed() - whether peers are let in, as far as the region goes
 * @mr: the region
 *
 * Context: under RCU.
 * Return: whether it is valid, open to peers, and grants a remote right.
 */
bool ward_mr_is_exposed(const struct ward_mr *mr)
{
	return READ_ONCE(mr->state) == WARD_VALID && !READ_ONCE(mr->closed_to_peers) &&
	       (READ_ONCE(mr->access) & WARD_REMOTE_RIGHTS);
}

static bool reaches(const struct ward_qp *qp, const struct ward_mr *mr)
{
	u32 only = READ_ONCE(mr->qpn);

	return qp->dev == mr->dev && qp->pd == READ_ONCE(mr->ib.pd) &&
	       qp->transport != WARD_UD && (!only || only == qp->qpn) &&
	       ward_qp_receives(READ_ONCE(qp->state));
}

/**
 * ward_mr_is_orphaned() - whether a region is exposed to nobody
 * @mr: the region
 *
 * It looks at all QPs of the namespace: for people, not for the data path.
 *
 * Context: under RCU.
 * Return: whether it is exposed, and no QP that could reach it can receive.
 */
bool ward_mr_is_orphaned(const struct ward_mr *mr)
{
	struct ward_qp *qp;
	unsigned long slot;

	if (!ward_mr_is_exposed(mr))
		return false;
	xa_for_each(&mr->dev->net->qps, slot, qp)
		if (reaches(qp, mr))
			return false;
	return true;
}

static int orphans_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;
	struct ward_mr *mr;
	unsigned long slot;

	seq_puts(s, "# key\tqpn that registered it\tbytes\n");
	rcu_read_lock();
	xa_for_each(&dev->keys.regions, slot, mr) {
		if (ward_mr_is_orphaned(mr))
			seq_printf(s, "0x%08x\t0x%06x\t%llu\n", READ_ONCE(mr->key),
				   READ_ONCE(mr->via), READ_ONCE(mr->length));
		ward_table_breathe();
	}
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(orphans);

/**
 * ward_orphans_show_in() - make the file
 * @dev: the device, whose folder there is
 */
void ward_orphans_show_in(struct ward_device *dev)
{
	debugfs_create_file("mrs.orphaned", 0400, dev->debugfs, dev, &orphans_fops);
}
