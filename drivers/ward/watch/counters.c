// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a device, read.
 */
#include <linux/array_size.h>
#include <linux/cpumask.h>
#include <rdma/ib_verbs.h>

#include "../verbs/device.h"
#include "counters.h"
#include "qpstat.h"

static const struct rdma_stat_desc descs[] = {
#define X(id, shown, text) \
	[WARD_CNT_##id] = { .name = #shown },
	WARD_COUNTERS(X)
#undef X
};

/**
 * ward_counter_sum() - what a counter has come to
 * @dev: the device
 * @id:  the counter
 *
 * Context: any.
 * Return: the sum over all CPUs, which may be changing.
 */
u64 ward_counter_sum(const struct ward_device *dev, enum ward_counter id)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->counters, cpu)->v[id]);
	return sum;
}

static struct rdma_hw_stats *alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* All at once: adding up one is as dear as the call. Return: how many there are */
static int get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct ward_device *dev = to_ward(ib);
	int i;

	if (!port || !stats)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(descs); i++)
		stats->value[i] = ward_counter_sum(dev, i);
	ward_qpstat_rest(dev, stats->value);
	return ARRAY_SIZE(descs);
}

const struct ib_device_ops ward_stats_ops = {
	.alloc_hw_port_stats = alloc_hw_port_stats,
	.get_hw_stats = get_hw_stats,
};
