#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# GIDs are there when rdma link add returns and follow the addresses, those of a vlan too.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

dev=${T}0
ip link add d0 type dummy
ip link set d0 up
ip addr add 10.8.0.1/24 dev d0
ip addr add 10.8.0.2/24 dev d0
ip addr add fd08::1/64 dev d0 nodad
link_add init "$dev" d0
t "an IPv4 address is a GID at once" has_gid "$dev" 10.8.0.1
t "so is a second one" has_gid "$dev" 10.8.0.2
t "so is an IPv6 address" has_gid "$dev" fd08::1
roce2() { fails grep -v "RoCE v2" /sys/class/infiniband/"$dev"/ports/1/gid_attrs/types/0; }
t "GIDs are of type RoCE v2" roce2

no_gid() { fails has_gid "$@"; }
ip addr add 10.8.1.1/24 dev d0
ip addr add fd08:1::1/64 dev d0 nodad
t "an IPv4 address added later appears" eventually 5 has_gid "$dev" 10.8.1.1
t "an IPv6 address added later appears" eventually 5 has_gid "$dev" fd08:1::1
ip addr del 10.8.1.1/24 dev d0
ip addr del fd08:1::1/64 dev d0
t "a removed IPv4 address goes" eventually 5 no_gid "$dev" 10.8.1.1
t "a removed IPv6 address goes" eventually 5 no_gid "$dev" fd08:1::1

ip link add link d0 name d0.5 type vlan id 5
ip addr add 10.8.5.1/24 dev d0.5
ip link set d0.5 up
t "the address of a vlan is a GID of its parent's device" eventually 5 has_gid "$dev" 10.8.5.1
ip link del d0.5
t "and goes with the vlan" eventually 5 no_gid "$dev" 10.8.5.1
ip link add link d0 name d0.6 type vlan id 6
ip addr add 10.8.6.1/24 dev d0.6
ip link set d0.6 up
link_del "$dev"
link_add init "$dev" d0
t "the address of a vlan is there when link add returns" has_gid "$dev" 10.8.6.1
topology_end
ip link del d0
