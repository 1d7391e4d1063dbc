#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every netdev of type Ethernet takes a link, and its addresses are GIDs at once.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

ip link add base type dummy
ip link set base up
ip addr add 10.7.0.1/24 dev base
dev=${T}0
n=0
netdev_takes_link() { # ip link ARGUMENT...
	n=$((n + 1))
	ip link add n$n "$@" || return
	ip addr add 10.6.$n.1/24 dev n$n
	ip addr add fd06:$n::1/64 dev n$n nodad
	ip link set n$n up || return
	link_add init "$dev" n$n || return
	has_gid "$dev" 10.6.$n.1 && has_gid "$dev" fd06:$n::1 || return
	link_del "$dev"
	ip link del n$n
}
modprobe -a bonding bridge macvlan vxlan ip_gre dummy veth 2> /dev/null
t "dummy"   netdev_takes_link type dummy
t "veth"    netdev_takes_link type veth peer name npeer
t "bond"    netdev_takes_link type bond mode active-backup
t "bridge"  netdev_takes_link type bridge
t "macvlan" netdev_takes_link link base type macvlan mode bridge
t "vxlan"   netdev_takes_link type vxlan id 7 remote 10.7.0.2 local 10.7.0.1 dstport 4789 dev base
t "gretap"  netdev_takes_link type gretap remote 10.7.0.2 local 10.7.0.1
for i in $(seq $n); do ip link del "n$i" 2> /dev/null; done
ip link del base
