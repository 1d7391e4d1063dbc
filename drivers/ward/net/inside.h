/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a path stays inside this host, and nothing on the way could hold a packet
 * up, change it, or want to see it.
 */
#ifndef _WARD_NET_INSIDE_H
#define _WARD_NET_INSIDE_H

#include <linux/types.h>

struct net;
struct ward_path;

void ward_inside_learn(const struct net *net);
bool ward_has_ipsec(const struct net *net);
bool ward_paths_are_inside(struct ward_path *path, struct ward_path *back);

#endif /* _WARD_NET_INSIDE_H */
