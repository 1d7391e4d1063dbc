// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: info, counters, exposure.hist, violations, peers.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "../net/crc.h"
#include "../net/net.h"
#include "../net/path.h"
#include "../qp/qp.h"
#include "../verbs/device.h"
#include "debugfs.h"
#include "violations.h"

static void show_gids(struct seq_file *s, struct ward_device *dev)
{
	union ib_gid gid;
	int i;

	for (i = 0; i < dev->ib.port_data[1].immutable.gid_tbl_len; i++)
		if (!rdma_query_gid(&dev->ib, 1, i, &gid) && !rdma_is_zero_gid(&gid))
			seq_printf(s, "gid %d\t%pI6c\n", i, gid.raw);
}

static int ward_info_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;
	struct ward_net *wn = dev->net;

	seq_printf(s, "netdev\t%s\n", netdev_name(dev->netdev));
	seq_printf(s, "ifindex\t%d\n", dev->netdev->ifindex);
	seq_printf(s, "netns_inode\t%u\n", wn->net->ns.inum);
	seq_printf(s, "netdev_mtu_bytes\t%u\n", READ_ONCE(dev->netdev->mtu));
	seq_printf(s, "port_state\t%s\n",
		   dev->port_state == IB_PORT_ACTIVE ? "ACTIVE" : "DOWN");
	seq_printf(s, "sockets\t%s\n", wn->sock6 ? "ipv4,ipv6" : "ipv4");
	seq_printf(s, "crc32\t%s\n", ward_crc32_name());
	seq_printf(s, "qps\t%d\n", atomic_read(&dev->num_qps));
	seq_printf(s, "regions\t%d\n", atomic_read(&dev->keys.num_mr));
	seq_printf(s, "windows\t%d\n", atomic_read(&dev->keys.num_mw));
	seq_printf(s, "cqs\t%d\n", atomic_read(&dev->num_cq));
	seq_printf(s, "pds\t%d\n", atomic_read(&dev->num_pd));
	seq_printf(s, "ahs\t%d\n", atomic_read(&dev->num_ah));
	show_gids(s, dev);
	ward_options_show(s, dev);
	return 0;
}

WARD_SHOWN_FILE(ward_info);

/* All CPUs that have counted anything */
static int ward_counters_show(struct seq_file *s, void *unused)
{
	static const char * const names[] = {
#define X(id, shown, text) [WARD_CNT_##id] = #shown,
		WARD_COUNTERS(X)
#undef X
	};
	struct ward_device *dev = s->private;
	int id, cpu;

	seq_puts(s, "# counter total");
	for_each_online_cpu(cpu)
		seq_printf(s, " cpu%d", cpu);
	seq_putc(s, '\n');
	for (id = 0; id < WARD_CNT_MAX; id++) {
		seq_printf(s, "%-24s %llu", names[id], ward_counter_sum(dev, id));
		for_each_online_cpu(cpu)
			seq_printf(s, " %llu", READ_ONCE(per_cpu_ptr(dev->counters, cpu)->v[id]));
		seq_putc(s, '\n');
	}
	return 0;
}

WARD_SHOWN_FILE(ward_counters);

static int ward_hist_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;
	int i, cpu;

	seq_puts(s, "# from_ns exposures drains\n");
	for (i = 0; i < WARD_HIST_BUCKETS; i++) {
		u64 exposures = 0, drains = 0;

		for_each_possible_cpu(cpu) {
			const struct ward_counters *c = per_cpu_ptr(dev->counters, cpu);

			exposures += READ_ONCE(c->exposure[i]);
			drains += READ_ONCE(c->drain[i]);
		}
		if (exposures || drains)
			seq_printf(s, "%-14llu %llu %llu\n", i ? 1ULL << i : 0, exposures, drains);
	}
	return 0;
}

WARD_SHOWN_FILE(ward_hist);

static void show_violation(struct seq_file *s, const struct ward_violation *v)
{
	seq_printf(s, "%lld.%06lu %-8u %pI6c %u %u 0x%08x 0x%llx %llu %s %s\n",
		   (s64)v->when.tv_sec, v->when.tv_nsec / NSEC_PER_USEC, v->qpn, v->peer.raw,
		   v->peer_qpn, v->psn, v->key, v->va, v->len, ward_name_op(v->op),
		   ward_name_refusal(v->why));
}

/* Oldest first. From a copy: formatting takes longer than the lock should */
static int ward_violations_show(struct seq_file *s, void *unused)
{
	struct ward_device *dev = s->private;
	struct ward_violations *copy;
	u64 i;

	copy = kvmalloc(sizeof(*copy), GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	spin_lock_irq(&dev->violations->lock);
	copy->num = dev->violations->num;
	memcpy(copy->ring, dev->violations->ring, sizeof(copy->ring));
	spin_unlock_irq(&dev->violations->lock);

	seq_puts(s, "# time_s qpn peer_gid peer_qpn psn key va length_bytes op rule\n");
	i = copy->num > WARD_VIOLATIONS ? copy->num - WARD_VIOLATIONS : 0;
	for (; i < copy->num; i++)
		show_violation(s, &copy->ring[i % WARD_VIOLATIONS]);
	kvfree(copy);
	return 0;
}

WARD_SHOWN_FILE(ward_violations);

static void *peers_start(struct seq_file *s, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return ward_table_start(s, &dev->net->qps, pos);
}

static void *peers_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct ward_device *dev = s->private;

	return ward_table_next(&dev->net->qps, v, pos);
}

static void peers_stop(struct seq_file *s, void *v)
{
	ward_table_stop();
}

static u64 count_of(const struct ward_qp *qp, enum ward_qp_counter id)
{
	return READ_ONCE(qp->counts[id]);
}

/* A QP that knows a peer. Numbers are read one by one while its owner goes on */
static int peers_show(struct seq_file *s, void *v)
{
	const struct ward_qp *qp = v;
	const struct ward_path *path;
	u64 seen;

	if (v == SEQ_START_TOKEN) {
		seq_puts(s, "# peer_gid peer_qpn qpn type state ops_out messages_in bytes_out bytes_in packets_out packets_in resent naks_in rnrs_in rnrs_out seen_us_ago\n");
		return 0;
	}
	path = rcu_dereference(qp->path);
	if (qp->dev != s->private || !path)
		return SEQ_SKIP;
	seen = READ_ONCE(qp->seen);
	seq_printf(s, "%pI6c %u %u %s %s %llu %u %llu %llu %llu %llu %llu %llu %llu %llu ",
		   path->dgid.raw, READ_ONCE(qp->attr.dest_qp_num), qp->qpn,
		   ward_name_qp_type(qp->transport), ward_name_qp_state(READ_ONCE(qp->state)),
		   READ_ONCE(qp->done), READ_ONCE(qp->resp.msn),
		   count_of(qp, WARD_QPC_SENT_BYTES), count_of(qp, WARD_QPC_RCVD_BYTES),
		   count_of(qp, WARD_QPC_SENT_PKTS), count_of(qp, WARD_QPC_RCVD_PKTS),
		   count_of(qp, WARD_QPC_RETRANSMITTED),
		   count_of(qp, WARD_QPC_RCVD_SEQ) + count_of(qp, WARD_QPC_RCVD_NAK),
		   count_of(qp, WARD_QPC_RCVD_RNR), count_of(qp, WARD_QPC_SENT_RNR));
	if (seen)
		seq_printf(s, "%llu\n", ward_us(ktime_get_ns() - seen));
	else
		seq_puts(s, "-\n");
	return 0;
}

static const struct seq_operations ward_peers_sops = {
	.start = peers_start,
	.next = peers_next,
	.stop = peers_stop,
	.show = peers_show,
};

WARD_LINES_FILE(ward_peers);
