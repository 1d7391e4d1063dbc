// SPDX-License-Identifier: GPL-2.0
/*
 * Makes two rdma_rxe devices emit a packet of every opcode that they know and prints what
 * came by as kunit/icrc_vectors.h.
 *
 *	traffic DEVICE-A DEVICE-B NETDEV-A
 *
 * The devices are joined by a wire; the GIDs of A and B at the same index belong together.
 * Frames are read on the netdev of A, in both directions.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MTU		256
#define BUF		4096
#define QKEY		0x11111111

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	union ibv_gid gid;
	uint8_t *buf;
};

static struct end a, b;
static int frames;		/* the packet socket */
static int family;		/* 4 or 6 */
static char names[400][96];	/* of the vectors printed */
static int vectors;

static const char *opcode_names[256] = {
	[0x00] = "RC SEND first",		[0x01] = "RC SEND middle",
	[0x02] = "RC SEND last",		[0x03] = "RC SEND last with immediate",
	[0x04] = "RC SEND only",		[0x05] = "RC SEND only with immediate",
	[0x06] = "RC WRITE first",		[0x07] = "RC WRITE middle",
	[0x08] = "RC WRITE last",		[0x09] = "RC WRITE last with immediate",
	[0x0a] = "RC WRITE only",		[0x0b] = "RC WRITE only with immediate",
	[0x0c] = "RC READ request",		[0x0d] = "RC READ response first",
	[0x0e] = "RC READ response middle",	[0x0f] = "RC READ response last",
	[0x10] = "RC READ response only",	[0x11] = "RC acknowledge",
	[0x12] = "RC atomic acknowledge",	[0x13] = "RC compare and swap",
	[0x14] = "RC fetch and add",		[0x16] = "RC SEND last with invalidate",
	[0x17] = "RC SEND only with invalidate", [0x1d] = "RC atomic write",
	[0x20] = "UC SEND first",		[0x21] = "UC SEND middle",
	[0x22] = "UC SEND last",		[0x23] = "UC SEND last with immediate",
	[0x24] = "UC SEND only",		[0x25] = "UC SEND only with immediate",
	[0x26] = "UC WRITE first",		[0x27] = "UC WRITE middle",
	[0x28] = "UC WRITE last",		[0x29] = "UC WRITE last with immediate",
	[0x2a] = "UC WRITE only",		[0x2b] = "UC WRITE only with immediate",
	[0x64] = "UD SEND only",		[0x65] = "UD SEND only with immediate",
};

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (%s)\n", strerror(errno));
	exit(1);
}

/* One vector: an array of bytes that begins with the IP header; seen ones are left out. */
static void print_vector(const uint8_t *ip, int len)
{
	int header = ip[0] >> 4 == 4 ? 20 : 40;
	const uint8_t *bth = ip + header + 8;
	char name[sizeof(names[0])];
	int i;

	if (!opcode_names[bth[0]])
		die("opcode %#x has no name", bth[0]);
	snprintf(name, sizeof(name), "IPv%d %s, pad %d, %d bytes", ip[0] >> 4,
		 opcode_names[bth[0]], bth[1] >> 4 & 3, len);
	if (bth[0] == 0x11)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), ", syndrome %#x",
			 bth[12]);
	for (i = 0; i < vectors; i++)
		if (!strcmp(names[i], name))
			return;
	memcpy(names[vectors], name, sizeof(name));
	printf("static const u8 ward_icrc_bytes_%d[] = {", vectors++);
	for (i = 0; i < len; i++)
		printf("%s0x%02x,", i % 12 ? " " : "\n\t", ip[i]);
	printf("\n};\n\n");
}

/* Takes frames until the wire has been silent for a moment. */
static void read_frames(void)
{
	struct pollfd pollfd = { .fd = frames, .events = POLLIN };
	uint8_t frame[2048];
	int len;

	while (poll(&pollfd, 1, 30) > 0) {
		const uint8_t *ip = frame + ETH_HLEN;
		uint16_t type, port;
		int v4, header;

		len = recv(frames, frame, sizeof(frame), 0);
		if (len < ETH_HLEN + 20 + 8 + 12)
			continue;
		type = frame[12] << 8 | frame[13];
		v4 = type == ETH_P_IP;
		if (!v4 && type != ETH_P_IPV6)
			continue;
		header = v4 ? 20 : 40;
		port = ip[header + 2] << 8 | ip[header + 3];
		if (ip[v4 ? 9 : 6] != 17 || port != 4791)
			continue;
		print_vector(ip, len - ETH_HLEN);
	}
}

static void open_end(struct end *e, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			e->context = ibv_open_device(list[i]);
	if (!e->context)
		die("cannot open %s", name);
	e->pd = ibv_alloc_pd(e->context);
	e->cq = ibv_create_cq(e->context, 64, NULL, NULL, 0);
	e->buf = aligned_alloc(4096, BUF);
	for (i = 0; i < BUF; i++)
		e->buf[i] = i * 7 + 3;
	e->mr = ibv_reg_mr(e->pd, e->buf, BUF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
			   IBV_ACCESS_MW_BIND);
	if (!e->pd || !e->cq || !e->mr)
		die("cannot set up %s", name);
}

static void make_qp(struct end *e, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = e->cq, .recv_cq = e->cq, .qp_type = type, .pd = e->pd,
		.cap = { 16, 16, 1, 1, 0 }, .comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
	};

	if (type == IBV_QPT_RC) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE;
	}
	e->qp = ibv_create_qp_ex(e->context, &init);
	if (!e->qp)
		die("cannot create a QP of type %d", type);
	if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)))
		die("cannot bring a QP to INIT");
}

/* Fields that the ICRC leaves out have values that show whether it really does. */
static struct ibv_ah_attr path(const struct end *to, int index)
{
	return (struct ibv_ah_attr) {
		.is_global = 1, .port_num = 1,
		.grh = {
			.dgid = to->gid, .sgid_index = index, .hop_limit = 7,
			.traffic_class = 0x89, .flow_label = 0x5a5a5,
		},
	};
}

static void connect_qp(struct end *e, const struct end *to, enum ibv_qp_type type, int index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_256, .rq_psn = 0xfffffe,
		.dest_qp_num = to->qp->qp_num, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.ah_attr = path(to, index),
	};
	int mask = IBV_QP_STATE;

	if (type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (ibv_modify_qp(e->qp, &attr, mask))
		die("cannot bring a QP to RTR");
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = 0xfffffe;
	attr.timeout = 18;
	attr.retry_cnt = 6;
	attr.rnr_retry = 6;
	attr.max_rd_atomic = 4;
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	if (ibv_modify_qp(e->qp, &attr, mask))
		die("cannot bring a QP to RTS");
}

static void post_recv(struct end *e)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, BUF, e->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(e->qp, &wr, &bad))
		die("cannot post a receive");
}

/* Waits for @count completions; receives that UD or UC lost may be missing. */
static void wait_for(struct end *e, int count)
{
	struct ibv_wc wc;
	int i, n;

	for (i = 0; count && i < 2000; i++) {
		n = ibv_poll_cq(e->cq, 1, &wc);
		if (n < 0 || (n && wc.status))
			die("a work request failed: %s", ibv_wc_status_str(wc.status));
		count -= n;
		if (!n)
			usleep(1000);
	}
	if (count)
		die("%d completions did not come", count);
}

static void send_wr(struct ibv_send_wr *wr, uint32_t len, int receives)
{
	struct ibv_sge sge = { (uintptr_t)a.buf, len, a.mr->lkey };
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (receives)
		post_recv(&b);
	if (ibv_post_send(a.qp, wr, &bad))
		die("cannot post opcode %d", wr->opcode);
	wait_for(&a, 1);
	wait_for(&b, receives);
	read_frames();
}

static void send_op(enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_send_wr wr = { .opcode = opcode, .imm_data = htonl(0x01020304) };

	wr.wr.rdma.remote_addr = (uintptr_t)b.buf;
	wr.wr.rdma.rkey = b.mr->rkey;
	send_wr(&wr, len, opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
		opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
}

static void send_atomic(enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = { .opcode = opcode };

	wr.wr.atomic.remote_addr = (uintptr_t)b.buf + 64;
	wr.wr.atomic.rkey = b.mr->rkey;
	wr.wr.atomic.compare_add = 0x0102030405060708;
	wr.wr.atomic.swap = 0x1112131415161718;
	send_wr(&wr, 8, 0);
}

/* SEND with invalidate needs something to invalidate: a type 2 window of B. */
static void send_inv(uint32_t len)
{
	struct ibv_mw *mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED }, *bad;

	if (!mw)
		die("cannot allocate a window");
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
		b.mr, (uintptr_t)b.buf, BUF, IBV_ACCESS_REMOTE_WRITE
	};
	if (ibv_post_send(b.qp, &wr, &bad))
		die("cannot bind a window");
	wait_for(&b, 1);
	memset(&wr, 0, sizeof(wr));
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.invalidate_rkey = ibv_inc_rkey(mw->rkey);
	send_wr(&wr, len, 1);
	ibv_dealloc_mw(mw);
}

/* FLUSH is left out: the ICRC that rdma_rxe of 6.12 gives it is not that of the bytes it sends. */
static void send_atomic_write(void)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(a.qp);
	static const uint64_t word = 0x2122232425262728;

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, b.mr->rkey, (uintptr_t)b.buf + 64, &word);
	if (ibv_wr_complete(qpx))
		die("cannot post an atomic write");
	wait_for(&a, 1);
	read_frames();
}

static void run_rc(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_wc wc;
	uint32_t len;

	for (len = 0; len <= 4; len++) {
		send_op(IBV_WR_SEND, len);
		send_op(IBV_WR_RDMA_WRITE, len);
		if (len)
			send_op(IBV_WR_RDMA_READ, len);
	}
	send_op(IBV_WR_SEND_WITH_IMM, 3);
	send_op(IBV_WR_RDMA_WRITE_WITH_IMM, 2);
	send_inv(1);
	send_op(IBV_WR_SEND, 2 * MTU + 1);
	send_op(IBV_WR_SEND_WITH_IMM, MTU + 2);
	send_inv(MTU + 3);
	send_op(IBV_WR_RDMA_WRITE, 2 * MTU + 3);
	send_op(IBV_WR_RDMA_WRITE_WITH_IMM, MTU + 2);
	send_op(IBV_WR_RDMA_READ, 2 * MTU + 1);
	send_atomic(IBV_WR_ATOMIC_CMP_AND_SWP);
	send_atomic(IBV_WR_ATOMIC_FETCH_AND_ADD);
	send_atomic_write();

	/* nobody is ready: an RNR NAK, then the same again */
	wr.send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(a.qp, &wr, &bad))
		die("cannot post the last SEND");
	usleep(1000);
	post_recv(&b);
	wait_for(&a, 1);
	wait_for(&b, 1);

	/* the wrong key: a NAK, and the end of both */
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma.remote_addr = (uintptr_t)b.buf + BUF;
	wr.wr.rdma.rkey = b.mr->rkey;
	wr.sg_list = &(struct ibv_sge) { (uintptr_t)a.buf, 1, a.mr->lkey };
	wr.num_sge = 1;
	if (ibv_post_send(a.qp, &wr, &bad))
		die("cannot post the bad READ");
	read_frames();
	while (ibv_poll_cq(a.cq, 1, &wc) > 0)
		;
}

static void run_uc(void)
{
	uint32_t len;

	for (len = 1; len <= 4; len++) {
		send_op(IBV_WR_SEND, len);
		send_op(IBV_WR_RDMA_WRITE, len);
	}
	send_op(IBV_WR_SEND_WITH_IMM, 1);
	send_op(IBV_WR_RDMA_WRITE_WITH_IMM, 3);
	send_op(IBV_WR_SEND, 2 * MTU + 2);
	send_op(IBV_WR_SEND_WITH_IMM, MTU + 3);
	send_op(IBV_WR_RDMA_WRITE, 2 * MTU + 1);
	send_op(IBV_WR_RDMA_WRITE_WITH_IMM, MTU + 1);
}

static void run_ud(int index)
{
	struct ibv_ah_attr attr = path(&b, index);
	struct ibv_ah *ah = ibv_create_ah(a.pd, &attr);
	struct ibv_send_wr wr = { .imm_data = htonl(0x05060708) };
	uint32_t len;

	if (!ah)
		die("cannot create an address handle");
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	for (len = 1; len <= 4; len++) {
		wr.opcode = IBV_WR_SEND;
		send_wr(&wr, len, 1);
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		send_wr(&wr, len, 1);
	}
	ibv_destroy_ah(ah);
}

static void run_type(enum ibv_qp_type type, int index)
{
	make_qp(&a, type);
	make_qp(&b, type);
	connect_qp(&a, &b, type, index);
	connect_qp(&b, &a, type, index);
	if (type == IBV_QPT_RC)
		run_rc();
	else if (type == IBV_QPT_UC)
		run_uc();
	else
		run_ud(index);
	ibv_destroy_qp(a.qp);
	ibv_destroy_qp(b.qp);
}

static void open_frames(const char *netdev)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };

	address.sll_ifindex = if_nametoindex(netdev);
	frames = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	if (frames < 0 || bind(frames, (void *)&address, sizeof(address)))
		die("cannot listen on %s", netdev);
}

int main(int argc, char **argv)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	int index, i, done = 0;

	if (argc != 4)
		die("usage: traffic DEVICE-A DEVICE-B NETDEV-A");
	open_frames(argv[3]);
	open_end(&a, argv[1]);
	open_end(&b, argv[2]);
	for (index = 0; index < 8; index++) {
		if (ibv_query_gid(a.context, 1, index, &a.gid) ||
		    ibv_query_gid(b.context, 1, index, &b.gid))
			break;
		family = memcmp(a.gid.raw, mapped, sizeof(mapped)) ? 6 : 4;
		/* link-local addresses and empty entries are of no use here */
		if (a.gid.raw[0] == 0xfe || (family == 6 && a.gid.raw[0] == 0))
			continue;
		fprintf(stderr, "GID %d, IPv%d\n", index, family);
		for (i = 0; i < (int)ARRAY_SIZE(types); i++)
			run_type(types[i], index);
		done |= family;
	}
	if (done != (4 | 6))
		die("there is no GID for IPv4 or none for IPv6");
	printf("static const struct ward_icrc_vector ward_icrc_vectors[] = {\n");
	for (i = 0; i < vectors; i++)
		printf("\t{ \"%s\",\n\t  sizeof(ward_icrc_bytes_%d), ward_icrc_bytes_%d },\n",
		       names[i], i, i);
	printf("};\n");
	return 0;
}
