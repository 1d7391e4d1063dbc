// SPDX-License-Identifier: GPL-2.0
/*
 * How stock user space recognises a device, and how rdma_rxe does not take it
 * for its own.
 *
 * Every distribution ships librxe, and our user ABI is the one that it speaks.
 * It takes a device
 *   - whose parent has a modalias like "rdma_device:...Nrxe": hence a small
 *     parent device for each of ours;
 *   - for which ib_uverbs answers to the driver id RDMA_DRIVER_RXE. ib_uverbs
 *     answers to the id that the device has when ib_uverbs is told of it.
 * rdma_rxe, on the other hand, unregisters every device with that id when it is
 * unloaded. So our devices show the id while ib_uverbs is told of them, and have
 * RDMA_DRIVER_UNKNOWN at all other times. That is:
 *   - a device is registered: ops.driver_id is the id, ward_device_add() hides it
 *     when the core is done;
 *   - a device is moved to another namespace: the core takes it away from its
 *     clients, calls enable_driver, which shows the id, and tells the clients
 *     again in the order in which they registered. We are a client, after
 *     ib_uverbs, and hide it;
 *   - ib_uverbs is loaded later, or again: its module's notifier shows the id of
 *     every device before its init runs, and hides it after. We register again
 *     as a client, to be after it.
 *
 * Devices are never put into the core's table of netdevs (ib_device_set_netdev):
 * rdma_rxe searches it by id, and others without one.
 *
 * What remains: rdma_rxe unloaded in the very moment of a registration takes our
 * device with it.
 */
#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>

#include "device.h"
#include "identity.h"

#define UVERBS	"ib_uverbs"

static ssize_t modalias_show(struct device *d, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "rdma_device:Nrxe\n");
}
static DEVICE_ATTR_RO(modalias);

/**
 * ward_identity_make_parent() - give a device its parent
 * @dev: the device, not yet registered
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int ward_identity_make_parent(struct ward_device *dev)
{
	/* not the device's name: that may be changed, and be given to another one */
	static atomic_t number;
	struct device *parent;
	char name[32];
	int err;

	snprintf(name, sizeof(name), "ward.%u", (unsigned int)atomic_inc_return(&number));
	parent = root_device_register(name);
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	err = device_create_file(parent, &dev_attr_modalias);
	if (err) {
		root_device_unregister(parent);
		return err;
	}
	dev->parent = parent;
	dev->ib.dev.parent = parent;
	return 0;
}

/**
 * ward_identity_drop_parent() - undo ward_identity_make_parent()
 * @dev: the device, not registered any more; it may have no parent
 *
 * Context: may sleep.
 */
void ward_identity_drop_parent(struct ward_device *dev)
{
	if (!dev->parent)
		return;
	device_remove_file(dev->parent, &dev_attr_modalias);
	root_device_unregister(dev->parent);
	dev->parent = NULL;
}

/**
 * ward_identity_show() - ib_uverbs is about to be told of a device
 * @dev: the device
 *
 * Context: any.
 */
void ward_identity_show(struct ward_device *dev)
{
	WRITE_ONCE(dev->ib.ops.driver_id, WARD_DRIVER_ID);
}

/**
 * ward_identity_hide() - ib_uverbs has been told of a device
 * @dev: the device
 *
 * Context: any.
 */
void ward_identity_hide(struct ward_device *dev)
{
	WRITE_ONCE(dev->ib.ops.driver_id, RDMA_DRIVER_UNKNOWN);
}

/**
 * ward_identity_load_uverbs() - before a device is registered
 *
 * Nothing pulls ib_uverbs in from 7.1 on. Without it there are no user-space verbs; kernel users
 * do without.
 *
 * Context: may sleep; no lock that the notifier below takes.
 */
void ward_identity_load_uverbs(void)
{
	request_module(UVERBS);
}

static int client_add(struct ib_device *ib)
{
	if (ib->ops.owner != THIS_MODULE)
		return -EOPNOTSUPP;
	ward_identity_hide(to_ward(ib));
	return 0;
}

static void client_remove(struct ib_device *ib, void *data)
{
}

static struct ib_client client = {
	.name = "ward",
	.add = client_add,
	.remove = client_remove,
	.no_kverbs_req = true,
};

/* Whether the client is registered. Changed in init, exit, and the notifier between these */
static bool is_client;

static void client_register(void)
{
	is_client = !ib_register_client(&client);
	if (!is_client)
		pr_warn("user space will not find devices that are moved to other namespaces\n");
}

static void client_unregister(void)
{
	if (is_client)
		ib_unregister_client(&client);
	is_client = false;
}

static int module_event(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct module *mod = data;

	if (strcmp(mod->name, UVERBS))
		return NOTIFY_DONE;
	switch (state) {
	case MODULE_STATE_COMING:
		ward_devices_for_each(ward_identity_show);
		break;
	case MODULE_STATE_LIVE:
		client_unregister();
		client_register();	/* hides them all */
		break;
	case MODULE_STATE_GOING:	/* or its init has failed */
		ward_devices_for_each(ward_identity_hide);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = {
	.notifier_call = module_event,
};

/**
 * ward_identity_init() - before the first device
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int ward_identity_init(void)
{
	int err;

	client_register();
	if (!is_client)
		return -ENOMEM;
	err = register_module_notifier(&module_nb);
	if (err)
		client_unregister();
	return err;
}

/**
 * ward_identity_exit() - after the last device
 *
 * Context: may sleep.
 */
void ward_identity_exit(void)
{
	unregister_module_notifier(&module_nb);
	client_unregister();
}
