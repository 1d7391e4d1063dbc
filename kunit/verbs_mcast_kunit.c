// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast: who gets a datagram to a group, and that the netdev is a member meanwhile.
 */
#include <linux/delay.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/random.h>
#include <net/addrconf.h>
#include "verbs.h"

static struct link wire;

struct way {
	const char *name;
	bool ipv6;
	u8 group[16];
};

static const struct way ways[] = {
	{ "IPv4", false, { [10] = 0xff, 0xff, 239, 7, 1, 2 } },
	{ "IPv6", true, { 0xff, 0x15, [13] = 7, 1, 2 } },
};

KUNIT_ARRAY_PARAM_DESC(way, ways, name);

static union ib_gid group_of(const struct way *way)
{
	union ib_gid gid;

	memcpy(gid.raw, way->group, sizeof(gid.raw));
	return gid;
}

/* Both ends are UD queue pairs in RTS; B is on end @peer. */
static struct verbs *start(struct kunit *test, int peer)
{
	const struct way *way = test->param_value;

	return verbs_start(test, IB_QPT_UD, &wire.end[0], &wire.end[peer], way->ipv6);
}

static void attach(struct kunit *test, struct verbs_end *end)
{
	union ib_gid gid = group_of(test->param_value);

	KUNIT_ASSERT_EQ(test, ib_attach_mcast(end->qp, &gid, 0), 0);
}

static void detach(struct kunit *test, struct verbs_end *end)
{
	union ib_gid gid = group_of(test->param_value);

	KUNIT_EXPECT_EQ(test, ib_detach_mcast(end->qp, &gid, 0), 0);
}

static bool is_member(struct kunit *test, struct verbs_end *end)
{
	const struct way *way = test->param_value;
	struct net_device *ndev = end->link->netdev;
	struct in_device *in_dev;
	__be32 group;
	bool member;

	if (way->ipv6)
		return ipv6_chk_mcast_addr(ndev, (struct in6_addr *)way->group, NULL);
	memcpy(&group, way->group + 12, sizeof(group));
	rcu_read_lock();
	in_dev = __in_dev_get_rcu(ndev);
	member = in_dev && ip_check_mc_rcu(in_dev, group, 0, IPPROTO_UDP);
	rcu_read_unlock();
	return member;
}

static struct verbs_op *send_to_group(struct kunit *test, struct verbs *v, u32 qkey)
{
	union ib_gid gid = group_of(test->param_value);
	struct verbs_op *op = verbs_op(test);
	struct ib_sge sge = { v->a.dma, 1000, v->a.pd->local_dma_lkey };
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe, .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_qpn = 0xffffff,
		.remote_qkey = qkey,
	};
	struct rdma_ah_attr attr;

	verbs_path(&v->a, &v->b, &attr);
	rdma_ah_set_dgid_raw(&attr, gid.raw);
	wr.ah = rdma_create_ah(v->a.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(wr.ah));
	KUNIT_EXPECT_EQ(test, ib_post_send(v->a.qp, &wr.wr, NULL), 0);
	rdma_destroy_ah(wr.ah, RDMA_DESTROY_AH_SLEEPABLE);
	EXPECT_STATUS(test, op, IB_WC_SUCCESS);
	return op;
}

static void group_comes_and_goes(struct kunit *test)
{
	union ib_gid gid = group_of(test->param_value);
	struct verbs *v = start(test, 0);

	KUNIT_EXPECT_FALSE(test, is_member(test, &v->a));
	attach(test, &v->a);
	attach(test, &v->b);
	KUNIT_EXPECT_TRUE(test, is_member(test, &v->a));
	/* twice is once too often, and changes nothing */
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(v->a.qp, &gid, 0), -EEXIST);
	detach(test, &v->a);
	KUNIT_EXPECT_TRUE(test, is_member(test, &v->a));
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(v->a.qp, &gid, 0), -EINVAL);
	detach(test, &v->b);
	KUNIT_EXPECT_FALSE(test, is_member(test, &v->a));
}

/* Across the wire; and not to whom the Q_Key does not fit, or who has left. */
static void reaches_the_other_host(struct kunit *test)
{
	struct verbs *v = start(test, 1);
	struct verbs_op *first, *second;

	get_random_bytes(v->a.buf, 1000);
	first = verbs_recv(test, &v->b, 0, 4000);
	second = verbs_recv(test, &v->b, 0, 4000);
	send_to_group(test, v, VERBS_QKEY);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(first));

	attach(test, &v->b);
	send_to_group(test, v, VERBS_QKEY + 1);
	send_to_group(test, v, VERBS_QKEY);
	EXPECT_STATUS(test, first, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, first->wc.byte_len, 1040);
	KUNIT_EXPECT_EQ(test, first->wc.src_qp, v->a.qp->qp_num);
	KUNIT_EXPECT_EQ(test, memcmp(v->a.buf, v->b.buf + 40, 1000), 0);

	detach(test, &v->b);
	send_to_group(test, v, VERBS_QKEY);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, verbs_completed(second));
}

/* Each member gets its own, the sender too; whoever has no receive loses it. */
static void reaches_members_on_this_host(struct kunit *test)
{
	struct verbs *v = start(test, 0);
	struct verbs_op *a, *b;

	attach(test, &v->a);
	attach(test, &v->b);
	a = verbs_recv(test, &v->a, 4000, 4000);
	b = verbs_recv(test, &v->b, 0, 4000);
	send_to_group(test, v, VERBS_QKEY);
	EXPECT_STATUS(test, a, IB_WC_SUCCESS);
	EXPECT_STATUS(test, b, IB_WC_SUCCESS);

	b = verbs_recv(test, &v->b, 0, 4000);
	send_to_group(test, v, VERBS_QKEY);
	EXPECT_STATUS(test, b, IB_WC_SUCCESS);
	detach(test, &v->a);
	detach(test, &v->b);
}

static int mcast_init(struct kunit_suite *suite)
{
	int err = link_up(&wire);

	if (err)
		link_down(&wire);
	return err;
}

static void mcast_exit(struct kunit_suite *suite)
{
	link_down(&wire);
}

static struct kunit_case mcast_cases[] = {
	KUNIT_CASE_PARAM(group_comes_and_goes, way_gen_params),
	KUNIT_CASE_PARAM(reaches_the_other_host, way_gen_params),
	KUNIT_CASE_PARAM(reaches_members_on_this_host, way_gen_params),
	{}
};

static struct kunit_suite mcast_suite = {
	.name = "ward-mcast",
	.suite_init = mcast_init,
	.suite_exit = mcast_exit,
	.exit = verbs_exit,
	.test_cases = mcast_cases,
};

kunit_test_suite(mcast_suite);
