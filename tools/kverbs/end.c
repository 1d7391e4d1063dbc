// SPDX-License-Identifier: GPL-2.0
/*
 * One end: a device, an address of it, a PD, a CQ, a buffer.
 */
#include <linux/etherdevice.h>
#include <linux/gfp.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "kverbs.h"

static bool gid_fits(const struct ib_device *dev, const struct ib_gid_attr *attr, bool ipv6)
{
	const struct in6_addr *addr = (const struct in6_addr *)&attr->gid;

	/* iWARP has a MAC in its only GID */
	if (rdma_protocol_iwarp(dev, 1))
		return true;
	return attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		ipv6_addr_v4mapped(addr) == !ipv6 &&
		!(ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL);
}

static const struct ib_gid_attr *gid_find(struct ib_device *dev, bool ipv6)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < dev->port_data[1].immutable.gid_tbl_len; i++) {
		attr = rdma_get_gid_attr(dev, 1, i);
		if (IS_ERR(attr))
			continue;
		if (gid_fits(dev, attr, ipv6))
			return attr;
		rdma_put_gid_attr(attr);
	}
	return ERR_PTR(-EADDRNOTAVAIL);
}

static struct net_device *netdev_of(const struct ib_gid_attr *gid)
{
	struct net_device *netdev;

	rcu_read_lock();
	netdev = rdma_read_gid_attr_ndev_rcu(gid);
	if (IS_ERR(netdev))
		netdev = NULL;
	dev_hold(netdev);
	rcu_read_unlock();
	return netdev;
}

/* An IPv4 address of a netdev, for iWARP, whose GID says nothing of it */
static __be32 ipv4_of(struct net_device *netdev)
{
	struct in_device *in;
	__be32 addr = 0;

	rcu_read_lock();
	in = __in_dev_get_rcu(netdev);
	if (in && rcu_dereference(in->ifa_list))
		addr = rcu_dereference(in->ifa_list)->ifa_local;
	rcu_read_unlock();
	return addr;
}

static void addr_set(struct kverbs_end *end)
{
	struct sockaddr_in *in = (void *)&end->addr;

	if (rdma_protocol_iwarp(end->dev, 1)) {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = ipv4_of(end->netdev);
	} else {
		rdma_gid2ip((struct sockaddr *)&end->addr, &end->gid->gid);
	}
}

/**
 * kverbs_end_open - makes an end, but for its CQ
 * @end:    to be filled in
 * @device: its name
 * @flags:  KVERBS_IPV6: with an IPv6 address; KVERBS_GLOBAL: with a key for all memory
 * @len:    of the buffer, at most what the page allocator gives in one piece
 *
 * Return: 0; -ENODEV, -EADDRNOTAVAIL, -ENOMEM. On failure nothing is left.
 */
int kverbs_end_open(struct kverbs_end *end, const char *device, int flags, size_t len)
{
	int err;

	memset(end, 0, sizeof(*end));
	end->dev = kverbs_device_get(device);
	if (!end->dev)
		return -ENODEV;
	err = -EADDRNOTAVAIL;
	end->gid = gid_find(end->dev, flags & KVERBS_IPV6);
	if (IS_ERR(end->gid))
		goto fail;
	end->netdev = netdev_of(end->gid);
	if (!end->netdev)
		goto fail;
	end->net = dev_net(end->netdev);
	ether_addr_copy(end->mac, end->netdev->dev_addr);
	addr_set(end);

	end->pd = ib_alloc_pd(end->dev, flags & KVERBS_GLOBAL ? IB_PD_UNSAFE_GLOBAL_RKEY : 0);
	err = PTR_ERR_OR_ZERO(end->pd);
	if (err)
		goto fail;
	err = -ENOMEM;
	end->len = PAGE_SIZE << get_order(len);
	end->buf = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, get_order(len));
	if (!end->buf)
		goto fail;
	end->dma = ib_dma_map_single(end->dev, end->buf, end->len, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(end->dev, end->dma)) {
		free_pages((unsigned long)end->buf, get_order(len));
		end->buf = NULL;
		goto fail;
	}
	return 0;
fail:
	kverbs_end_close(end);
	return err;
}
EXPORT_SYMBOL_GPL(kverbs_end_open);

/**
 * kverbs_end_cq - makes the CQ of an end
 * @end:     the end
 * @cqe:     entries
 * @context: where completions are handled
 *
 * Return: 0 or an error
 */
int kverbs_end_cq(struct kverbs_end *end, int cqe, enum ib_poll_context context)
{
	struct ib_cq *cq = ib_alloc_cq(end->dev, end, cqe, 0, context);

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	end->cq = cq;
	return 0;
}
EXPORT_SYMBOL_GPL(kverbs_end_cq);

/**
 * kverbs_end_close - takes apart what kverbs_end_open() and kverbs_end_cq() have made
 * @end: the end, without connections; may be closed already
 */
void kverbs_end_close(struct kverbs_end *end)
{
	if (!end->dev)
		return;
	if (end->cq)
		ib_free_cq(end->cq);
	if (end->buf) {
		ib_dma_unmap_single(end->dev, end->dma, end->len, DMA_BIDIRECTIONAL);
		free_pages((unsigned long)end->buf, get_order(end->len));
	}
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
	dev_put(end->netdev);
	if (!IS_ERR_OR_NULL(end->gid))
		rdma_put_gid_attr(end->gid);
	kverbs_device_put(end->dev);
	memset(end, 0, sizeof(*end));
}
EXPORT_SYMBOL_GPL(kverbs_end_close);
