// SPDX-License-Identifier: GPL-2.0
/*
 * The module: "rdma link" in front of the devices, and the notifiers behind them.
 *
 * Init goes up the ladder below, exit comes down. Links may be up at rmmod: no
 * link can be added any more once the link type is unregistered, which waits for
 * adds under way; then every device is unregistered, whatever else is about to
 * do that; what the devices stand on goes last.
 */
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <rdma/rdma_netlink.h>
#include <ward/version.h>

#include "mem/paging.h"
#include "net/crc.h"
#include "net/net.h"
#include "qp/qp.h"
#include "qp/txpkt.h"
#include "verbs/device.h"
#include "verbs/identity.h"
#include "watch/debugfs.h"
#include "watch/inject.h"

MODULE_AUTHOR("the ward developers");
MODULE_DESCRIPTION("RoCEv2 driver in software");
MODULE_LICENSE("GPL");
MODULE_VERSION(WARD_VERSION);
MODULE_SOFTDEP("pre: ib_uverbs");

/* Context: may sleep; ib_core's link_ops_rwsem (read). @ndev is referenced by the caller */
static int newlink(const char *name, struct net_device *ndev)
{
	if (is_vlan_dev(ndev)) {
		pr_err("%s is a vlan: add the link on %s, its addresses are GIDs there, with the tag\n",
		       netdev_name(ndev), netdev_name(vlan_dev_real_dev(ndev)));
		return -EOPNOTSUPP;
	}
	if (ndev->type != ARPHRD_ETHER && ndev->type != ARPHRD_LOOPBACK) {
		pr_err("%s is not of type Ethernet: add the link on a vxlan or gretap netdev over it\n",
		       netdev_name(ndev));
		return -EINVAL;
	}
	return ward_device_add(name, ndev);
}

static struct rdma_link_ops link_ops = {
	.type = "ward",
	.newlink = newlink,
};

/* Under RTNL */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(data);

	switch (event) {
	case NETDEV_UNREGISTER:
		ward_device_netdev_gone(ndev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		ward_device_netdev_changed(ndev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

struct workqueue_struct *ward_wq;

static int __init ward_init(void)
{
	int err;

	ward_crc_init();
	ward_debugfs_init();
	ward_wq = alloc_workqueue("ward", WQ_MEM_RECLAIM | WARD_WQ_PERCPU, 0);
	if (!ward_wq) {
		err = -ENOMEM;
		goto crc;
	}
	err = ward_paging_init();
	if (err)
		goto wq;
	err = ward_inject_module_init();
	if (err)
		goto paging;
	err = ward_txpkt_cache_init();
	if (err)
		goto inject;
	err = ward_qp_cache_init();
	if (err)
		goto txpkt;
	err = ward_devices_init();
	if (err)
		goto qp;
	err = ward_net_init();
	if (err)
		goto devices;
	err = ward_identity_init();
	if (err)
		goto net;
	err = register_netdevice_notifier(&netdev_nb);
	if (err)
		goto identity;
	rdma_link_register(&link_ops);
	return 0;

identity:
	ward_identity_exit();
net:
	ward_net_exit();
devices:
	ward_devices_exit();
qp:
	ward_qp_cache_exit();
txpkt:
	ward_txpkt_cache_exit();
inject:
	ward_inject_module_exit();
paging:
	ward_paging_exit();
wq:
	destroy_workqueue(ward_wq);
crc:
	ward_debugfs_exit();
	ward_crc_exit();
	return err;
}
module_init(ward_init);

static void __exit ward_exit(void)
{
	rdma_link_unregister(&link_ops);
	ward_devices_remove_all();
	unregister_netdevice_notifier(&netdev_nb);
	ward_identity_exit();
	ward_net_exit();
	ward_devices_exit();
	/* callbacks of call_rcu() that are functions of ours, or free objects from our caches */
	rcu_barrier();
	ward_qp_cache_exit();
	ward_txpkt_cache_exit();
	ward_inject_module_exit();
	ward_paging_exit();
	destroy_workqueue(ward_wq);
	ward_debugfs_exit();
	ward_crc_exit();
}
module_exit(ward_exit);

MODULE_ALIAS_RDMA_LINK("ward");
