// SPDX-License-Identifier: GPL-2.0
/*
 * What a device and its port say about themselves. Only what is true: a
 * capability stands here when its verbs work, a port's state, MTU and rate are
 * read from the netdev when they are asked for.
 */
#include <linux/ethtool.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <rdma/ib_mad.h>
#include <ward/version.h>
#include <ward/wire.h>

#include "device.h"
#include "query.h"

/* Addresses of the netdev and of the vlans on it; the core holds one pointer each */
#define GID_TABLE_LEN	256

/* No OUI is ours: one of local significance, which no vendor has */
#define VENDOR_ID	0x027764
#define VENDOR_PART_ID	1

/* Page sizes of fast registrations: 4 KiB to 2 GiB */
#define PAGE_SIZES	GENMASK_ULL(31, 12)

/* As for hardware: 4.096 us * 2^15 = 134 ms from a packet's arrival to its acknowledgment */
#define ACK_DELAY	15

/* The rate of a netdev that knows none, in Mb/s: that of veth */
#define DEFAULT_MBPS	10000

/*
 * What a packet with payload has around it, at most: IPv6, UDP, BTH, the longest extension
 * headers that come with payload (RETH and ImmDt of a WRITE), and the ICRC. AtomicETH is longer
 * but comes alone. IPv6 even where there are only IPv4 addresses: the answer must not depend on
 * the peer. Padding needs no room, as MTUs are multiples of 4.
 */
#define OVERHEAD	(sizeof(struct ipv6hdr) + sizeof(struct udphdr) +	\
			 sizeof(struct ward_bth) + sizeof(struct ward_reth) +	\
			 sizeof(struct ward_immdt) + WARD_ICRC_SIZE)

/* Wherever a work request or a peer names memory; of memory placement what the kernel can name */
static void offer_paging(struct ib_device_attr *attr)
{
	u32 messages = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV;

	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	attr->odp_caps.general_caps = IB_ODP_SUPPORT;
	attr->odp_caps.per_transport_caps.rc_odp_caps =
		messages | IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ | IB_ODP_SUPPORT_ATOMIC |
		WARD_ODP_PLACEMENT;
	attr->odp_caps.per_transport_caps.uc_odp_caps = messages | IB_ODP_SUPPORT_WRITE;
	attr->odp_caps.per_transport_caps.ud_odp_caps = messages;
}

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	/* the core's own question comes with an empty udata, or with none from 7.x on */
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	attr->fw_ver = (u64)WARD_VERSION_MAJOR << 32 | WARD_VERSION_MINOR << 16 |
		       WARD_VERSION_PATCH;
	attr->sys_image_guid = ib->node_guid;
	attr->vendor_id = VENDOR_ID;
	attr->vendor_part_id = VENDOR_PART_ID;
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = PAGE_SIZES;
	attr->device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_BAD_PKEY_CNTR |
				 IB_DEVICE_BAD_QKEY_CNTR | IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B |
				 IB_DEVICE_SRQ_RESIZE | WARD_CAP_PLACEMENT;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG | IBK_SG_GAPS_REG;
	attr->max_qp = WARD_MAX_QP;
	attr->max_qp_wr = WARD_MAX_QP_WR;
	attr->max_send_sge = WARD_MAX_SGE;
	attr->max_recv_sge = WARD_MAX_SGE;
	attr->max_sge_rd = WARD_MAX_SGE_RD;
	attr->max_cq = WARD_MAX_CQ;
	attr->max_cqe = WARD_MAX_CQE;
	attr->max_srq = WARD_MAX_SRQ;
	attr->max_srq_wr = WARD_MAX_SRQ_WR;
	attr->max_srq_sge = WARD_MAX_SGE;
	attr->max_mcast_grp = WARD_MAX_MCAST;
	attr->max_mcast_qp_attach = WARD_MAX_MCAST_QP;
	attr->max_total_mcast_qp_attach = WARD_MAX_MCAST * WARD_MAX_MCAST_QP;
	attr->max_mr = WARD_MAX_MR;
	attr->max_mw = WARD_MAX_MW;
	attr->max_pd = WARD_MAX_PD;
	attr->max_ah = WARD_MAX_AH;
	attr->max_qp_rd_atom = WARD_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = WARD_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = WARD_MAX_RD_ATOMIC * WARD_MAX_QP;
	/* by the CPU's atomic instructions, so programs that use them take part */
	attr->atomic_cap = IB_ATOMIC_GLOB;
	if (IS_ENABLED(CONFIG_INFINIBAND_ON_DEMAND_PAGING))
		offer_paging(attr);
	attr->max_fast_reg_page_list_len = WARD_MAX_FASTREG_PAGES;
	attr->max_pkeys = 1;
	attr->local_ca_ack_delay = ACK_DELAY;
	return 0;
}

static int modify_device(struct ib_device *ib, int mask, struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ib->node_desc, modify->node_desc, sizeof(ib->node_desc));
	return 0;
}

static void get_dev_fw_str(struct ib_device *ib, char *str)
{
	strscpy(str, WARD_VERSION, IB_FW_VERSION_NAME_MAX);
}

/**
 * ward_port_state() - the state of the port on a netdev
 * @ndev: the netdev
 *
 * Context: any.
 * Return: active or down; a port without a subnet manager knows nothing in between.
 */
enum ib_port_state ward_port_state(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ? IB_PORT_ACTIVE : IB_PORT_DOWN;
}

/* The largest path MTU whose packets a netdev takes */
static enum ib_mtu port_mtu(const struct net_device *ndev)
{
	u32 mtu = READ_ONCE(ndev->mtu);
	enum ib_mtu fits = IB_MTU_4096;

	while (fits > IB_MTU_256 && ib_mtu_enum_to_int(fits) + OVERHEAD > mtu)
		fits--;
	return fits;
}

/* Mb/s */
static u32 netdev_rate(struct net_device *ndev)
{
	struct ethtool_link_ksettings link = {};
	u32 mbps = SPEED_UNKNOWN;

	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED && !__ethtool_get_link_ksettings(ndev, &link))
		mbps = link.base.speed;
	rtnl_unlock();
	return mbps && mbps != (u32)SPEED_UNKNOWN ? mbps : DEFAULT_MBPS;
}

/* The fastest link of InfiniBand that is not faster; its slowest for what is slower still */
static void port_rate(struct net_device *ndev, u16 *speed, u8 *width)
{
	static const struct {
		u32	mbps;
		u16	speed;
		u8	width;
	} rates[] = {
		{ 800000, IB_SPEED_NDR, IB_WIDTH_8X },
		{ 400000, IB_SPEED_NDR, IB_WIDTH_4X },
		{ 200000, IB_SPEED_HDR, IB_WIDTH_4X },
		{ 100000, IB_SPEED_EDR, IB_WIDTH_4X },
		{  50000, IB_SPEED_HDR, IB_WIDTH_1X },
		{  40000, IB_SPEED_QDR, IB_WIDTH_4X },
		{  25000, IB_SPEED_EDR, IB_WIDTH_1X },
		{  20000, IB_SPEED_DDR, IB_WIDTH_4X },
		{  10000, IB_SPEED_QDR, IB_WIDTH_1X },
		{   5000, IB_SPEED_DDR, IB_WIDTH_1X },
		{      0, IB_SPEED_SDR, IB_WIDTH_1X },
	};
	u32 mbps = netdev_rate(ndev);
	int i = 0;

	while (rates[i].mbps > mbps)
		i++;
	*speed = rates[i].speed;
	*width = rates[i].width;
}

/*
 * The netdev, with a reference of the caller's own, while it is there. That is as long as the
 * device is registered but for the time from the netdev's end to ours.
 */
static struct net_device *get_netdev(struct ib_device *ib, u32 port)
{
	struct net_device *ndev = to_ward(ib)->netdev;

	if (READ_ONCE(ndev->reg_state) != NETREG_REGISTERED)
		return NULL;
	dev_hold(ndev);
	return ndev;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct ward_device *dev = to_ward(ib);
	struct net_device *ndev = dev->netdev;

	attr->state = READ_ONCE(ndev->reg_state) == NETREG_REGISTERED ?
		      ward_port_state(ndev) : IB_PORT_DOWN;
	attr->phys_state = attr->state == IB_PORT_ACTIVE ? IB_PORT_PHYS_STATE_LINK_UP :
							   IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = port_mtu(ndev);
	port_rate(ndev, &attr->active_speed, &attr->active_width);
	attr->gid_tbl_len = GID_TABLE_LEN;
	attr->pkey_tbl_len = 1;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = WARD_MAX_MSG;
	attr->bad_pkey_cntr = min_t(u64, ward_counter_sum(dev, WARD_CNT_DROP_PKEY), U32_MAX);
	attr->qkey_viol_cntr = min_t(u64, ward_counter_sum(dev, WARD_CNT_DROP_QKEY), U32_MAX);
	attr->max_vl_num = 1;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->gid_tbl_len = GID_TABLE_LEN;
	immutable->pkey_tbl_len = 1;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = WARD_DEFAULT_PKEY;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

const struct ib_device_ops ward_query_ops = {
	.query_device = query_device,
	.modify_device = modify_device,
	.get_dev_fw_str = get_dev_fw_str,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.query_pkey = query_pkey,
	.get_link_layer = get_link_layer,
	.get_netdev = get_netdev,
};
