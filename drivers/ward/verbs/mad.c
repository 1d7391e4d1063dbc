// SPDX-License-Identifier: GPL-2.0
/*
 * Management datagrams that the device answers itself: performance management,
 * which is where ports/1/counters in sysfs comes from. Only this host is
 * answered; datagrams from the network go on to the agents of the core.
 */
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "device.h"
#include "mad.h"

/* Attributes begin here in ib_mad.data */
#define PMA_DATA	40

/* Data counters count words of 4 bytes */
static u64 words(struct ward_device *dev, enum ward_counter bytes)
{
	return ward_counter_sum(dev, bytes) / 4;
}

/* Packets that were no packets of ours */
static u64 malformed(struct ward_device *dev)
{
	return ward_counter_sum(dev, WARD_CNT_DROP_SHORT) +
	       ward_counter_sum(dev, WARD_CNT_DROP_OPCODE) +
	       ward_counter_sum(dev, WARD_CNT_DROP_LENGTH) +
	       ward_counter_sum(dev, WARD_CNT_DROP_PAD) +
	       ward_counter_sum(dev, WARD_CNT_DROP_VERSION) +
	       ward_counter_sum(dev, WARD_CNT_DROP_IP) +
	       ward_counter_sum(dev, WARD_CNT_DROP_ICRC);
}

/* Counters stay at their greatest value */
static u8 sat8(u64 n)
{
	return min_t(u64, n, U8_MAX);
}

static __be16 sat16(u64 n)
{
	return cpu_to_be16(min_t(u64, n, U16_MAX));
}

static __be32 sat32(u64 n)
{
	return cpu_to_be32(min_t(u64, n, U32_MAX));
}

static void class_port_info(void *data)
{
	struct ib_class_port_info *cpi = data;

	cpi->base_version = 1;
	cpi->class_version = 1;
	cpi->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
}

static void port_counters(struct ward_device *dev, void *data)
{
	struct ib_pma_portcounters *c = data;

	c->port_select = 1;
	c->link_downed_counter = sat8(ward_counter_sum(dev, WARD_CNT_LINK_DOWNED));
	c->port_rcv_errors = sat16(malformed(dev));
	c->port_xmit_discards = sat16(ward_counter_sum(dev, WARD_CNT_SEND_ERR));
	c->port_xmit_data = sat32(words(dev, WARD_CNT_SENT_BYTES));
	c->port_rcv_data = sat32(words(dev, WARD_CNT_RCVD_BYTES));
	c->port_xmit_packets = sat32(ward_counter_sum(dev, WARD_CNT_SENT_PKTS));
	c->port_rcv_packets = sat32(ward_counter_sum(dev, WARD_CNT_RCVD_PKTS));
}

static void port_counters_ext(struct ward_device *dev, void *data)
{
	struct ib_pma_portcounters_ext *c = data;

	c->port_select = 1;
	c->port_xmit_data = cpu_to_be64(words(dev, WARD_CNT_SENT_BYTES));
	c->port_rcv_data = cpu_to_be64(words(dev, WARD_CNT_RCVD_BYTES));
	c->port_xmit_packets = cpu_to_be64(ward_counter_sum(dev, WARD_CNT_SENT_PKTS));
	c->port_rcv_packets = cpu_to_be64(ward_counter_sum(dev, WARD_CNT_RCVD_PKTS));
	/* there is no multicast */
	c->port_unicast_xmit_packets = c->port_xmit_packets;
	c->port_unicast_rcv_packets = c->port_rcv_packets;
}

static int process_mad(struct ib_device *ib, int flags, u32 port, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey_index)
{
	struct ward_device *dev = to_ward(ib);
	void *data = out->data + PMA_DATA;

	if (wc || in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;

	memset(out, 0, sizeof(*out));
	out->mad_hdr = in->mad_hdr;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		class_port_info(data);
		break;
	case IB_PMA_PORT_COUNTERS:
		port_counters(dev, data);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		port_counters_ext(dev, data);
		break;
	default:
		out->mad_hdr.status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

const struct ib_device_ops ward_mad_ops = {
	.process_mad = process_mad,
};
