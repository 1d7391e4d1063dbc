// SPDX-License-Identifier: GPL-2.0
/*
 * Multicast groups.
 *
 * A group exists while a QP is attached to it, and for so long the netdev of the
 * device is a member of the IP group. A datagram to it goes to every attached QP
 * as a clone; nobody writes to what the clones share.
 *
 * The core detaches a QP before it is destroyed. Packets are handed over under
 * RCU, and a QP is freed after a grace period, so nobody has to wait.
 */
#include <linux/jhash.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "../net/group.h"
#include "../net/rx.h"
#include "../qp/qp.h"
#include "device.h"
#include "mcast.h"

/**
 * struct ward_group - a multicast group
 * @entry:   in ward_groups.hash
 * @gid:     its address, an IPv4 one mapped
 * @n:       members there are
 * @members: struct member, read under RCU
 * @rcu:     freed after those who look it up
 */
struct ward_group {
	struct hlist_node	entry;
	union ib_gid		gid;
	u32			n;
	struct list_head	members;
	struct rcu_head		rcu;
};

/* A QP in a group */
struct member {
	struct list_head	entry;
	struct ward_qp		*qp;
	struct rcu_head		rcu;
};

/**
 * ward_groups_init() - no groups
 * @groups: filled in
 */
void ward_groups_init(struct ward_groups *groups)
{
	int i;

	mutex_init(&groups->lock);
	groups->n = 0;
	for (i = 0; i < ARRAY_SIZE(groups->hash); i++)
		INIT_HLIST_HEAD(&groups->hash[i]);
}

static struct hlist_head *bucket(struct ward_groups *groups, const union ib_gid *gid)
{
	u32 hash = jhash(gid->raw, sizeof(gid->raw), 0);

	return &groups->hash[hash >> (32 - WARD_MCAST_HASH_BITS)];
}

/* Under RCU, or under groups->lock */
static struct ward_group *find(struct ward_groups *groups, const union ib_gid *gid)
{
	struct ward_group *group;

	hlist_for_each_entry_rcu(group, bucket(groups, gid), entry,
				 lockdep_is_held(&groups->lock))
		if (!memcmp(&group->gid, gid, sizeof(*gid)))
			return group;
	return NULL;
}

static struct member *find_member(struct ward_group *group, const struct ward_qp *qp)
{
	struct member *m;

	list_for_each_entry(m, &group->members, entry)
		if (m->qp == qp)
			return m;
	return NULL;
}

/* The group, made if there is none yet */
static struct ward_group *get_group(struct ward_device *dev, const union ib_gid *gid)
{
	struct ward_groups *groups = &dev->groups;
	struct ward_group *group = find(groups, gid);
	int err;

	if (group)
		return group;
	if (groups->n == WARD_MAX_MCAST)
		return ERR_PTR(-ENOMEM);
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return ERR_PTR(-ENOMEM);
	group->gid = *gid;
	INIT_LIST_HEAD(&group->members);
	err = ward_group_join(dev->netdev, gid);
	if (err) {
		kfree(group);
		return ERR_PTR(err);
	}
	groups->n++;
	hlist_add_head_rcu(&group->entry, bucket(groups, gid));
	return group;
}

static void put_group_if_empty(struct ward_device *dev, struct ward_group *group)
{
	if (group->n)
		return;
	hlist_del_rcu(&group->entry);
	dev->groups.n--;
	ward_group_leave(dev->netdev, &group->gid);
	kfree_rcu(group, rcu);
}

static int attach_locked(struct ward_qp *qp, const union ib_gid *gid)
{
	struct ward_group *group = get_group(qp->dev, gid);
	struct member *m;
	int err = -ENOMEM;

	if (IS_ERR(group))
		return PTR_ERR(group);
	if (find_member(group, qp)) {
		err = -EEXIST;
		goto out;
	}
	if (group->n == WARD_MAX_MCAST_QP)
		goto out;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		goto out;
	m->qp = qp;
	group->n++;
	list_add_tail_rcu(&m->entry, &group->members);
	err = 0;
out:
	put_group_if_empty(qp->dev, group);
	return err;
}

static int attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ward_qp *qp = to_ward_qp(ibqp);
	int err;

	mutex_lock(&qp->dev->groups.lock);
	err = attach_locked(qp, gid);
	mutex_unlock(&qp->dev->groups.lock);
	return err;
}

static int detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct ward_qp *qp = to_ward_qp(ibqp);
	struct ward_groups *groups = &qp->dev->groups;
	struct ward_group *group;
	struct member *m;

	mutex_lock(&groups->lock);
	group = find(groups, gid);
	m = group ? find_member(group, qp) : NULL;
	if (m) {
		list_del_rcu(&m->entry);
		group->n--;
		kfree_rcu(m, rcu);
		put_group_if_empty(qp->dev, group);
	}
	mutex_unlock(&groups->lock);
	return m ? 0 : -EINVAL;
}

struct ward_group *ward_mcast_find(struct ward_device *dev, const struct sk_buff *skb)
{
	union ib_gid sgid, dgid;

	ward_rx_gids(skb, &sgid, &dgid);
	return find(&dev->groups, &dgid);
}

void ward_mcast_receive(struct ward_group *group, struct sk_buff *skb, const struct ward_pkt *pkt)
{
	struct sk_buff *clone;
	struct member *m;

	list_for_each_entry_rcu(m, &group->members, entry) {
		if (!ward_qp_takes(m->qp, pkt))
			continue;
		clone = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		/* lost for this one */
		if (clone)
			ward_qp_receive(m->qp, clone);
	}
	consume_skb(skb);
}

const struct ib_device_ops ward_mcast_ops = {
	.attach_mcast = attach_mcast,
	.detach_mcast = detach_mcast,
};
