#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Links: add, show, delete, what is refused and why, unload with a link up.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

ip link add d0 type dummy
ip link add d1 type dummy
ip addr add 10.8.0.1/24 dev d0
ip link set d0 up
ip link set d1 up
dev=${T}0 other=${T}1

if [[ $T = ward ]]; then
	rmmod ward
	t "rdma link add loads the module" link_add init "$dev" d0
	t "the module is ward" test -e /sys/module/ward
else
	t "rdma link add" link_add init "$dev" d0
fi
shows() { rdma link show "$dev/1" | grep -q "state ACTIVE physical_state LINK_UP netdev d0"; }
t "rdma link show names the netdev" shows
guid() { fails grep -q '^[0:]*$' "$1"; }
t "node GUID is not zero" guid /sys/class/infiniband/"$dev"/node_guid
t "system image GUID is not zero" guid /sys/class/infiniband/"$dev"/sys_image_guid
guids_differ() {
	link_add init "$other" d1
	fails cmp -s /sys/class/infiniband/{"$dev","$other"}/node_guid
}
t "two devices have different GUIDs" guids_differ
two_links() { [[ $(rdma link show | grep -c "netdev d[01]") = 2 ]]; }
t "two links are listed" two_links
t "rdma link delete" link_del "$other"
t "its device is gone" link_gone "$other"

kmsg_mark > /dev/null
expect "(ward|rxe).*d0"
t "a second link on one netdev is refused" refused "File exists" link_add init "$other" d0
[[ $T != ward ]] || t "and dmesg says so once" said "ward.*d0"

kmsg_mark > /dev/null
ip link add link d0 name d0.5 type vlan id 5
ip link set d0.5 up
expect "(ward|rdma_rxe): .*(vlan|d0.5)"
t "a link on a vlan is refused" refused "error" link_add init "$other" d0.5
[[ $T != ward ]] || t "and dmesg names the parent once" said "ward.*vlan.*d0"
ip link del d0.5

t "a netdev that is not there is refused" refused "" link_add init "$other" nosuch0
expect "rdma_rxe: .*failed to add d1"
t "a name that is taken is refused" refused "" link_add init "$dev" d1

rounds=${FULL:+20} rounds=${rounds:-5}
again() {
	for _ in $(seq "$rounds"); do
		link_del "$dev" && link_add init "$dev" d0 && has_gid "$dev" 10.8.0.1 || return
	done
}
t "$rounds times delete and add, GIDs there each time" again
if [[ $T = ward ]]; then
	link_add init "$other" d1
	t "rmmod with two links up" timeout 20 rmmod ward
	t "no link is left" no_links
	t "no resource is left" no_resources
fi
topology_end
ip link del d0
ip link del d1
