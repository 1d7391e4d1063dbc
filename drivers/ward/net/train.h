/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trains: packets of one QP that go through the stack together.
 */
#ifndef _WARD_NET_TRAIN_H
#define _WARD_NET_TRAIN_H

#include <linux/types.h>

struct nf_hook_entries;
struct nf_hook_state;
struct sk_buff;
struct ward_net;
struct ward_path;

/**
 * struct ward_train - packets that wait for others to go with them; the owner's of a QP
 * @path: where they all go; it outlives the ownership
 * @head: the first one; NULL: there is none
 * @last: the last one, if there is another one
 * @num:  how many there are
 * @size: bytes of each, from the BTH to the ICRC
 * @id:   IPv4 identification of the first one; the others count up
 */
struct ward_train {
	struct ward_path	*path;
	struct sk_buff		*head;
	struct sk_buff		*last;
	u32			num;
	u32			size;
	u16			id;
};

void ward_train_add(struct ward_train *t, struct ward_path *path, struct sk_buff *skb, u16 id);
void ward_train_flush(struct ward_train *t);

int ward_train_listen(struct ward_net *wn);
void ward_train_unlisten(struct ward_net *wn);
bool ward_train_is_sole_hook(const struct nf_hook_entries *hooks);

#endif /* _WARD_NET_TRAIN_H */
