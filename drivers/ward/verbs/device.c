// SPDX-License-Identifier: GPL-2.0
/*
 * Devices: how they come, and how they go.
 *
 * Coming. "rdma link add" runs ward_device_add(), in any number of tasks at
 * once, under no lock but the core's link_ops_rwsem (read). The device claims
 * its netdev under RTNL and devices_lock, so that each netdev has one device and
 * the netdev is seen either before or after it vanishes, never meanwhile. From
 * then on it is in the list of all, though it is registered only later.
 *
 * Going. A device is unregistered by
 *   - "rdma link delete": the core, in the task of the command;
 *   - its netdev, which is unregistered or moves to another namespace: a work
 *     item, as the notifier runs under RTNL and unregistering needs it;
 *   - its namespace, which is deleted: the work item of the namespace, waiting;
 *   - rmmod: the task of the command, waiting;
 *   - ward_device_add() itself, when one of these came before the core had
 *     registered the device (they mark it as doomed, the core ignores them).
 * Several may come at once: the core lets one do it and the others wait.
 *
 * Either way dealloc() runs once, after all consumers are gone: no QP, MR, AH,
 * user context or client is left, and no new one can come. Who may still have
 * the device then:
 *   - ward_rx_encap(), which finds it in ward_net.devices: dealloc() takes it off
 *     that list and waits for a grace period;
 *   - the netdev notifier, for_each() and others that walk the list of all:
 *     @gone tells them;
 *   - sysfs and netlink, which hold the struct device: they call no op any more.
 * The list of all has a reference on the struct device until reap() has seen
 * that the task which unregistered the device has left the functions of this
 * module; rmmod waits until the list is empty.
 *
 * Locks, outermost first: RTNL, devices_lock. Nothing is taken inside devices_lock
 * but locks of allocation. No lock is held while the core registers or
 * unregisters a device.
 */
#include <linux/etherdevice.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>

#include "../net/net.h"
#include "../watch/debugfs.h"
#include "../watch/qpstat.h"
#include "../watch/resource.h"
#include "../watch/violations.h"
#include "ah.h"
#include "cq.h"
#include "device.h"
#include "identity.h"
#include "mad.h"
#include "mr.h"
#include "mw.h"
#include "pd.h"
#include "qp.h"
#include "query.h"
#include "srq.h"
#include "ucontext.h"

static DEFINE_MUTEX(devices_lock);
/* ward_device.all of every device that ward_device_add() began with */
static LIST_HEAD(devices);
/* @remove and @reap of all devices. They may take long and are in nobody's way */
static struct workqueue_struct *device_wq;

static struct ward_device *find_locked(const struct net_device *ndev)
{
	struct ward_device *dev;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(dev, &devices, all)
		if (!dev->gone && dev->netdev == ndev)
			return dev;
	return NULL;
}

/* Unregisters the device, or makes sure that it is; with a reference on the struct device */
static void remove_work(struct work_struct *work)
{
	struct ward_device *dev = container_of(work, struct ward_device, remove);

	ib_unregister_device(&dev->ib);
	put_device(&dev->ib.dev);
}

static void remove_later_locked(struct ward_device *dev)
{
	lockdep_assert_held(&devices_lock);
	dev->doomed = true;
	get_device(&dev->ib.dev);
	if (!queue_work(device_wq, &dev->remove))
		put_device(&dev->ib.dev);
}

/* After dealloc() */
static void reap_work(struct work_struct *work)
{
	struct ward_device *dev = container_of(work, struct ward_device, reap);

	/* it is unregistered already: this waits for whoever is still about it */
	ib_unregister_device(&dev->ib);
	mutex_lock(&devices_lock);
	list_del(&dev->all);
	mutex_unlock(&devices_lock);
	put_device(&dev->ib.dev);
}

/* The core's last call, also for a device that ward_device_add() did not finish */
static void dealloc(struct ib_device *ib)
{
	struct ward_device *dev = to_ward(ib);
	bool claimed = !list_empty(&dev->all);

	mutex_lock(&devices_lock);
	dev->gone = true;
	mutex_unlock(&devices_lock);

	ward_debugfs_remove(dev);
	ward_inject_exit(dev);
	if (dev->net)
		ward_net_del_device(dev->net, dev);
	if (dev->keys.index)
		ward_keys_exit(&dev->keys);
	WARN_ON(!xa_empty(&dev->ahs));
	xa_destroy(&dev->ahs);
	ida_destroy(&dev->srqs);
	free_percpu(dev->counters);
	kvfree(dev->violations);
	ward_identity_drop_parent(dev);
	if (dev->net)
		ward_net_put(dev->net);
	netdev_put(dev->netdev, &dev->ndev_tracker);
	if (claimed)
		queue_work(device_wq, &dev->reap);
}

/* Before the clients of the core are told of the device: when it is new, and after it has moved */
static int enable(struct ib_device *ib)
{
	struct ward_device *dev = to_ward(ib);

	ward_identity_show(dev);
	ward_debugfs_add(dev);
	ward_net_add_device(dev->net, dev);
	return 0;
}

static const struct ib_device_ops ward_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = WARD_DRIVER_ID,
	.uverbs_abi_ver = WARD_UVERBS_ABI,
	.enable_driver = enable,
	.dealloc_driver = dealloc,
	.device_group = &ward_options_group,
};

static void set_ops(struct ib_device *ib)
{
	ib_set_device_ops(ib, &ward_device_ops);
	ib_set_device_ops(ib, &ward_query_ops);
	ib_set_device_ops(ib, &ward_pd_ops);
	ib_set_device_ops(ib, &ward_ah_ops);
	ib_set_device_ops(ib, &ward_mad_ops);
	ib_set_device_ops(ib, &ward_stats_ops);
	ib_set_device_ops(ib, &ward_resource_ops);
	ib_set_device_ops(ib, &ward_qpstat_ops);
	ib_set_device_ops(ib, &ward_qp_ops);
	ib_set_device_ops(ib, &ward_cq_ops);
	ib_set_device_ops(ib, &ward_mr_ops);
	ib_set_device_ops(ib, &ward_mw_ops);
	ib_set_device_ops(ib, &ward_srq_ops);
	ib_set_device_ops(ib, &ward_mcast_ops);
	ib_set_device_ops(ib, &ward_ucontext_ops);
}

static bool guid_is_taken_locked(__be64 guid)
{
	struct ward_device *dev;

	list_for_each_entry(dev, &devices, all)
		if (!dev->gone && dev->ib.node_guid == guid)
			return true;
	return false;
}

/* Made of the MAC, or at random when that is none or has been used (bonds and bridges share it) */
static void choose_guid_locked(struct ward_device *dev)
{
	const struct net_device *ndev = dev->netdev;
	__be64 guid = 0;

	if (ndev->addr_len == ETH_ALEN && is_valid_ether_addr(ndev->dev_addr))
		addrconf_addr_eui48((u8 *)&guid, ndev->dev_addr);
	while (!guid || guid_is_taken_locked(guid)) {
		get_random_bytes(&guid, sizeof(guid));
		((u8 *)&guid)[0] &= ~2;		/* of local significance */
	}
	dev->ib.node_guid = guid;
}

/*
 * Makes @ndev the netdev of @dev. Return: its namespace, referenced, or an error. On success the
 * device has a second reference, that of the list.
 */
static struct net *claim(struct ward_device *dev, struct net_device *ndev)
{
	struct ward_device *other;
	struct net *net;

	rtnl_lock();
	mutex_lock(&devices_lock);
	other = find_locked(ndev);
	net = ndev->reg_state == NETREG_REGISTERED ? maybe_get_net(dev_net(ndev)) : NULL;
	if (other) {
		pr_err("%s has an RDMA device already, %s: delete that first\n",
		       netdev_name(ndev), other->ib.name);
		if (net)
			put_net(net);
		net = ERR_PTR(-EEXIST);
	} else if (!net) {
		net = ERR_PTR(-ENODEV);
	} else {
		dev->netdev = ndev;
		netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
		dev->port_state = ward_port_state(ndev);
		choose_guid_locked(dev);
		get_device(&dev->ib.dev);
		list_add_tail(&dev->all, &devices);
	}
	mutex_unlock(&devices_lock);
	rtnl_unlock();
	return net;
}

/*
 * In exclusive mode the device belongs to the namespace of its netdev; in shared mode it is in
 * the initial one, and the core shows it in all of them.
 */
static void place(struct ib_device *ib, struct net *net)
{
	if (!rdma_dev_access_netns(ib, net))
		write_pnet(&ib->coredev.rdma_net, net);
}

static struct ward_device *alloc(void)
{
	struct ward_device *dev = ib_alloc_device(ward_device, ib);

	if (!dev)
		return NULL;
	INIT_LIST_HEAD(&dev->entry);
	INIT_LIST_HEAD(&dev->all);
	INIT_WORK(&dev->remove, remove_work);
	INIT_WORK(&dev->reap, reap_work);
	/* those of the kernel come and go with interrupts off */
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	ida_init(&dev->srqs);
	mutex_init(&dev->objects.lock);
	INIT_LIST_HEAD(&dev->objects.pds);
	INIT_LIST_HEAD(&dev->objects.cqs);
	INIT_LIST_HEAD(&dev->objects.srqs);
	INIT_LIST_HEAD(&dev->objects.bound);
	ward_options_init(dev);
	ward_inject_init(dev);
	ward_groups_init(&dev->groups);

	dev->ib.node_type = RDMA_NODE_IB_CA;
	dev->ib.phys_port_cnt = 1;
	dev->ib.num_comp_vectors = num_possible_cpus();
	strscpy(dev->ib.node_desc, "ward", sizeof(dev->ib.node_desc));
	/* librxe rings doorbells through these */
	dev->ib.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				   BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	set_ops(&dev->ib);
	return dev;
}

/* What needs the namespace, referenced. Return: 0 or a negative errno; dealloc() cleans up */
static int prepare(struct ward_device *dev, struct net *net)
{
	int err;

	dev->counters = alloc_percpu(struct ward_counters);
	if (!dev->counters)
		return -ENOMEM;
	err = ward_violations_init(dev);
	if (err)
		return err;
	err = ward_keys_init(&dev->keys);
	if (err)
		return err;
	err = ward_identity_make_parent(dev);
	if (err)
		return err;
	dev->net = ward_net_get(net);
	if (IS_ERR(dev->net)) {
		err = PTR_ERR(dev->net);
		dev->net = NULL;
		return err;
	}
	place(&dev->ib, net);
	return 0;
}

static int register_it(struct ward_device *dev, const char *name)
{
	int err;

	ward_mark_name_final(&dev->ib);
	err = ib_register_device(&dev->ib, name, NULL);
	if (err == -ENFILE) {
		pr_err("the name %s belongs to another RDMA device: choose another one\n", name);
		err = -EEXIST;
	} else if (err) {
		pr_err("cannot register %s on %s: error %d\n", name, netdev_name(dev->netdev), err);
	}
	return err;
}

static bool is_doomed(struct ward_device *dev)
{
	bool doomed;

	mutex_lock(&devices_lock);
	doomed = dev->doomed;
	mutex_unlock(&devices_lock);
	return doomed;
}

/**
 * ward_device_add() - make a device and register it
 * @name: what it shall be called
 * @ndev: its netdev, referenced by the caller
 *
 * When this returns, the GID table has the addresses that the netdev, and the vlans on it, have.
 *
 * Context: may sleep; no lock that a netdev notifier needs.
 * Return: 0; -EEXIST: the netdev has a device, or the name is taken; -EADDRINUSE: another has
 * the UDP port; -ENODEV: the netdev is vanishing; or another error. The log tells why.
 */
int ward_device_add(const char *name, struct net_device *ndev)
{
	struct ward_device *dev;
	struct net *net;
	int err;

	ward_identity_load_uverbs();

	dev = alloc();
	if (!dev)
		return -ENOMEM;
	net = claim(dev, ndev);
	if (IS_ERR(net)) {
		err = PTR_ERR(net);
		goto dealloc;
	}
	err = prepare(dev, net);
	put_net(net);
	if (err)
		goto dealloc;

	get_device(&dev->ib.dev);
	err = register_it(dev, name);
	if (err) {
		put_device(&dev->ib.dev);
		goto dealloc;
	}
	ward_identity_hide(dev);
	/*
	 * The core has looked for addresses when it made the table. Some kernels miss those that
	 * came between then and the registration; a second look finds them.
	 */
	rdma_roce_rescan_device(&dev->ib);
	/* the netdev or the namespace went meanwhile, and the core heard of it too early */
	if (is_doomed(dev)) {
		ib_unregister_device(&dev->ib);
		err = -ENODEV;
	}
	put_device(&dev->ib.dev);
	return err;

dealloc:
	ib_dealloc_device(&dev->ib);
	return err;
}

/**
 * ward_device_netdev_gone() - a netdev is being unregistered, or leaves its namespace
 * @ndev: any netdev
 *
 * Context: netdev notifier, under RTNL.
 */
void ward_device_netdev_gone(struct net_device *ndev)
{
	struct ward_device *dev;

	mutex_lock(&devices_lock);
	dev = find_locked(ndev);
	if (dev)
		remove_later_locked(dev);
	mutex_unlock(&devices_lock);
}

/* The core queues the event. While we have its reference, the device stays registered */
static void report(struct ward_device *dev, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = 1,
		.event = type,
	};

	if (ib_device_try_get(&dev->ib)) {
		ib_dispatch_event(&event);
		ib_device_put(&dev->ib);
	}
}

/**
 * ward_device_netdev_changed() - a netdev went up or down, or its carrier did
 * @ndev: any netdev
 *
 * Reports the state of the port when it has changed.
 *
 * Context: netdev notifier, under RTNL.
 */
void ward_device_netdev_changed(struct net_device *ndev)
{
	enum ib_port_state state = ward_port_state(ndev);
	struct ward_device *dev;

	mutex_lock(&devices_lock);
	dev = find_locked(ndev);
	if (dev && dev->port_state != state) {
		dev->port_state = state;
		if (state == IB_PORT_ACTIVE) {
			report(dev, IB_EVENT_PORT_ACTIVE);
		} else {
			if (dev->counters)
				ward_count(dev, LINK_DOWNED);
			report(dev, IB_EVENT_PORT_ERR);
		}
	}
	mutex_unlock(&devices_lock);
}

/**
 * ward_devices_for_each() - call a function for each device
 * @fn: the function; runs under devices_lock, must not sleep on anything that needs a device
 *
 * Context: may sleep.
 */
void ward_devices_for_each(void (*fn)(struct ward_device *dev))
{
	struct ward_device *dev;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, all)
		if (!dev->gone)
			fn(dev);
	mutex_unlock(&devices_lock);
}

/* The first device in @net, or anywhere, that is not gone; with a reference on the struct device */
static struct ward_device *doom_one(struct net *net)
{
	struct ward_device *dev;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, all) {
		if (dev->doomed || dev->gone || !dev->net || dev->net->net != net)
			continue;
		dev->doomed = true;
		get_device(&dev->ib.dev);
		mutex_unlock(&devices_lock);
		return dev;
	}
	mutex_unlock(&devices_lock);
	return NULL;
}

void ward_net_vanishes(struct net *net)
{
	struct ward_device *dev;

	while ((dev = doom_one(net))) {
		ib_unregister_device(&dev->ib);
		put_device(&dev->ib.dev);
	}
}

/**
 * ward_devices_init() - before the first device
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ward_devices_init(void)
{
	/* no WQ_MEM_RECLAIM: unregistering waits for work of others who do not have it */
	device_wq = alloc_workqueue("ward_device", WQ_UNBOUND, 0);
	return device_wq ? 0 : -ENOMEM;
}

/**
 * ward_devices_remove_all() - unregister every device
 *
 * No device can be added any more. When this returns, no function of this module runs on behalf
 * of one.
 *
 * Context: may sleep.
 */
void ward_devices_remove_all(void)
{
	struct ward_device *dev;

	for (;;) {
		mutex_lock(&devices_lock);
		dev = list_first_entry_or_null(&devices, struct ward_device, all);
		if (dev)
			get_device(&dev->ib.dev);
		mutex_unlock(&devices_lock);
		if (!dev)
			break;
		/* dealloc() has been called, and has queued reap_work(), when this returns */
		ib_unregister_device(&dev->ib);
		flush_work(&dev->reap);
		put_device(&dev->ib.dev);
	}
}

/**
 * ward_devices_exit() - after the last device
 *
 * Context: may sleep.
 */
void ward_devices_exit(void)
{
	destroy_workqueue(device_wq);
}
