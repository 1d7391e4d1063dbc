// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA devices of this kernel by name. A device that somebody uses is not removed: its
 * removal waits, as that of every kernel user does.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "kverbs.h"

struct known {
	struct list_head list;
	struct ib_device *dev;
	int users;
};

static LIST_HEAD(devices);
static DEFINE_MUTEX(lock);
static DECLARE_WAIT_QUEUE_HEAD(unused);

static int known_add(struct ib_device *dev)
{
	struct known *known = kzalloc(sizeof(*known), GFP_KERNEL);

	if (!known)
		return -ENOMEM;
	known->dev = dev;
	mutex_lock(&lock);
	list_add(&known->list, &devices);
	mutex_unlock(&lock);
	return 0;
}

static struct known *known_find(const struct ib_device *dev)
{
	struct known *known;

	list_for_each_entry(known, &devices, list)
		if (known->dev == dev)
			return known;
	return NULL;
}

static bool known_forget(struct ib_device *dev)
{
	struct known *known;
	bool gone;

	mutex_lock(&lock);
	known = known_find(dev);
	gone = !known || !known->users;
	if (known && gone) {
		list_del(&known->list);
		kfree(known);
	}
	mutex_unlock(&lock);
	return gone;
}

static void known_remove(struct ib_device *dev, void *data)
{
	wait_event(unused, known_forget(dev));
}

static struct ib_client client = {
	.name = "kverbs",
	.add = known_add,
	.remove = known_remove,
};

/**
 * kverbs_device_get - begins to use a device
 * @name: of the device
 *
 * Return: the device, to be given back with kverbs_device_put(), or NULL
 */
struct ib_device *kverbs_device_get(const char *name)
{
	struct ib_device *dev = NULL;
	struct known *known;

	mutex_lock(&lock);
	list_for_each_entry(known, &devices, list) {
		if (!strcmp(dev_name(&known->dev->dev), name)) {
			known->users++;
			dev = known->dev;
			break;
		}
	}
	mutex_unlock(&lock);
	return dev;
}
EXPORT_SYMBOL_GPL(kverbs_device_get);

/**
 * kverbs_device_put - ends the use of a device
 * @dev: from kverbs_device_get()
 */
void kverbs_device_put(struct ib_device *dev)
{
	mutex_lock(&lock);
	known_find(dev)->users--;
	mutex_unlock(&lock);
	wake_up_all(&unused);
}
EXPORT_SYMBOL_GPL(kverbs_device_put);

static int __init kverbs_init(void)
{
	return ib_register_client(&client);
}
module_init(kverbs_init);

static void __exit kverbs_exit(void)
{
	ib_unregister_client(&client);
}
module_exit(kverbs_exit);

MODULE_DESCRIPTION("Connections between RDMA devices, for tests and benchmarks");
MODULE_LICENSE("GPL");
