/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RDMA device of one netdev: how it comes, and how it goes.
 */
#ifndef _WARD_VERBS_DEVICE_H
#define _WARD_VERBS_DEVICE_H

#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "../mem/region.h"
#include "../watch/counters.h"
#include "../watch/inject.h"
#include "mcast.h"
#include "options.h"

struct dentry;
struct ward_net;
struct ward_qp;
struct ward_violations;

/* For what softirqs leave to process context: WQ_MEM_RECLAIM, made and flushed by main.c */
extern struct workqueue_struct *ward_wq;

/* What a device offers; past a limit the verb returns -ENOMEM */
#define WARD_MAX_QP		(64 * 1024)
#define WARD_MAX_QP_WR		(16 * 1024)
#define WARD_MAX_SGE		32
#define WARD_MAX_SGE_RD		16	/* xprtrdma takes more as the depth of its MRs */
#define WARD_MAX_INLINE		512
#define WARD_MAX_SRQ		(64 * 1024)
#define WARD_MAX_SRQ_WR		(16 * 1024)
#define WARD_MAX_MCAST		1024	/* groups */
#define WARD_MAX_MCAST_QP	256	/* QPs in a group */
#define WARD_MAX_CQ		(64 * 1024)
#define WARD_MAX_CQE		(64 * 1024 - 1)
#define WARD_MAX_MR		(256 * 1024)
#define WARD_MAX_MW		(256 * 1024)
#define WARD_MAX_PD		(64 * 1024)
#define WARD_MAX_AH		(64 * 1024)
#define WARD_MAX_FASTREG_PAGES	1024
#define WARD_MAX_RD_ATOMIC	128

/**
 * struct ward_objects - the objects of a device that no table has, for those who watch
 * @lock: all of it; sleeping. An object that is in a list is not freed
 * @pds:  ward_pd.entry
 * @cqs:  ward_cq.entry
 * @srqs: ward_srq.entry
 * @bound: ward_qp.bound: QPs that are bound to counters of the core
 * @moved: of each counter of the device, what counters of the core have
 */
struct ward_objects {
	struct mutex		lock;	/* see above */
	struct list_head	pds;
	struct list_head	cqs;
	struct list_head	srqs;
	struct list_head	bound;
	u64			moved[WARD_CNT_MAX];
};

/**
 * struct ward_device - the RDMA device of one netdev
 * @ib:        the core's part
 * @netdev:    the netdev; held from link add until the device is unregistered, ib_device_get_netdev
 *             users take their own reference
 * @ndev_tracker: of that reference
 * @net:       the namespace's sockets and QPs; constant
 * @entry:     in @net's list of devices
 * @all:       in the list of all devices; under the lock of that list
 * @doomed:    its netdev or its namespace is on the way out; under that lock
 * @gone:      it is unregistered, @netdev and @net are no more; under that lock
 * @gsi:       QP 1, read under RCU
 * @num_qps:   QPs there are
 * @port_state: what was last reported; under that lock
 * @remove:    unregisters it
 * @reap:      takes it out of @all
 * @parent:    small parent device whose modalias lets stock user space recognise us
 * @counters:  per CPU
 * @violations: the last refused accesses
 * @options:   as they are now
 * @debugfs:   its folder there
 * @debugfs_qps: the folder in it that has one for each QP
 * @inject:    fault injector
 * @keys:      lkey and R_key space
 * @groups:    multicast groups
 * @srqs:      numbers of SRQs in use
 * @ahs:       AHs: number to struct ward_path *, read under RCU; changed with interrupts off
 * @next_ah:   cursor
 * @objects:   lists for those who watch
 * @next_counter: number of the last counter of the core
 * @num_cq:    CQs there are
 * @num_pd:    PDs there are
 * @num_ah:    AHs there are
 */
struct ward_device {
	struct ib_device	ib;
	struct net_device	*netdev;
	netdevice_tracker	ndev_tracker;
	struct ward_net		*net;
	struct list_head	entry;

	struct list_head	all;
	bool			doomed;
	bool			gone;
	enum ib_port_state	port_state;
	struct work_struct	remove;
	struct work_struct	reap;

	struct device		*parent;
	struct ward_counters __percpu *counters;
	struct ward_violations	*violations;
	struct ward_options	options;
	struct dentry		*debugfs;
	struct dentry		*debugfs_qps;
	struct ward_inject	inject;
	struct ward_keys	keys;
	struct ward_qp		*gsi;
	atomic_t		num_qps;
	struct ward_groups	groups;
	struct ida		srqs;
	struct xarray		ahs;
	u32			next_ah;
	struct ward_objects	objects;
	atomic_t		next_counter;
	atomic_t		num_cq;
	atomic_t		num_pd;
	atomic_t		num_ah;
};

static inline struct ward_device *to_ward(struct ib_device *ib)
{
	return container_of(ib, struct ward_device, ib);
}

/* ward_object_add() - put an object into one of the lists, for those who watch. May sleep. */
static inline void ward_object_add(struct ward_device *dev, struct list_head *entry,
				   struct list_head *list)
{
	mutex_lock(&dev->objects.lock);
	list_add_tail(entry, list);
	mutex_unlock(&dev->objects.lock);
}

/* ward_object_del() - take it out, before it is freed. May sleep. */
static inline void ward_object_del(struct ward_device *dev, struct list_head *entry)
{
	mutex_lock(&dev->objects.lock);
	list_del(entry);
	mutex_unlock(&dev->objects.lock);
}

int ward_device_add(const char *name, struct net_device *ndev);
void ward_device_netdev_gone(struct net_device *ndev);
void ward_device_netdev_changed(struct net_device *ndev);
void ward_devices_for_each(void (*fn)(struct ward_device *dev));
int ward_devices_init(void);
void ward_devices_remove_all(void);
void ward_devices_exit(void);

#endif /* _WARD_VERBS_DEVICE_H */
