// SPDX-License-Identifier: GPL-2.0
/*
 * `rdma statistic qp`: counters of the core that QPs are bound to.
 *
 * The core shows, for a port, what the driver has for all other QPs, and adds what its counters
 * have. So what is in one of those is taken away here. A QP has numbers of its own; from time to
 * time what has come since the last time is moved into the counter.
 */
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#include "../qp/qp.h"
#include "../verbs/device.h"
#include "qpstat.h"

/* Of the numbers of a QP: which counter of the device each is */
static const enum ward_counter ids[] = {
#define X(id, name) [WARD_QPC_##id] = WARD_CNT_##id,
	WARD_QP_COUNTERS(X)
#undef X
};

static void move(struct ward_device *dev, struct ward_qp *qp)
{
	struct rdma_hw_stats *stats = qp->counter->stats;
	int i;

	lockdep_assert_held(&dev->objects.lock);
	for (i = 0; i < WARD_QPC_MAX; i++) {
		u64 now = READ_ONCE(qp->counts[i]), more = now - qp->counted[i];

		qp->counted[i] = now;
		stats->value[ids[i]] += more;
		dev->objects.moved[ids[i]] += more;
	}
}

/**
 * ward_qpstat_rest() - what QPs have counted that are not bound
 * @dev:   the device
 * @value: WARD_CNT_MAX sums over all QPs; what the others have counted is taken away
 *
 * Context: may sleep.
 */
void ward_qpstat_rest(struct ward_device *dev, u64 *value)
{
	struct ward_qp *qp;
	int i;

	mutex_lock(&dev->objects.lock);
	list_for_each_entry(qp, &dev->objects.bound, bound)
		move(dev, qp);
	for (i = 0; i < WARD_CNT_MAX; i++)
		value[i] -= min(value[i], dev->objects.moved[i]);
	mutex_unlock(&dev->objects.lock);
}

static int bind(struct rdma_counter *counter, struct ib_qp *ibqp WARD_COUNTER_PORT_ARG)
{
	struct ward_device *dev = to_ward(ibqp->device);
	struct ward_qp *qp = to_ward_qp(ibqp);

	if (!counter->id)
		counter->id = atomic_inc_return(&dev->next_counter);
	mutex_lock(&dev->objects.lock);
	qp->counter = counter;
	memcpy(qp->counted, qp->counts, sizeof(qp->counted));
	list_add_tail(&qp->bound, &dev->objects.bound);
	mutex_unlock(&dev->objects.lock);
	ibqp->counter = counter;
	return 0;
}

static int unbind(struct ib_qp *ibqp WARD_COUNTER_PORT_ARG)
{
	struct ward_device *dev = to_ward(ibqp->device);
	struct ward_qp *qp = to_ward_qp(ibqp);

	mutex_lock(&dev->objects.lock);
	move(dev, qp);
	list_del(&qp->bound);
	qp->counter = NULL;
	mutex_unlock(&dev->objects.lock);
	ibqp->counter = NULL;
	return 0;
}

static int dealloc(struct rdma_counter *counter)
{
	return 0;
}

static struct rdma_hw_stats *alloc_stats(struct rdma_counter *counter)
{
	return ward_stats_ops.alloc_hw_port_stats(counter->device, counter->port);
}

static int update(struct rdma_counter *counter)
{
	struct ward_device *dev = to_ward(counter->device);
	struct ward_qp *qp;

	mutex_lock(&dev->objects.lock);
	list_for_each_entry(qp, &dev->objects.bound, bound)
		if (qp->counter == counter)
			move(dev, qp);
	mutex_unlock(&dev->objects.lock);
	return 0;
}

/* What newer cores make room for */
struct ward_rdma_counter {
	struct rdma_counter	counter;
};

const struct ib_device_ops ward_qpstat_ops = {
	.counter_bind_qp = bind,
	.counter_unbind_qp = unbind,
	.counter_dealloc = dealloc,
	.counter_alloc_stats = alloc_stats,
	.counter_update_stats = update,
	WARD_COUNTER_OBJ_SIZE(ward_rdma_counter, counter)
};
