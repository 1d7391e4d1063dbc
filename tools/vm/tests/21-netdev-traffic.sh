#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Traffic over other netdevs than veth: vlan (through the parent's device), bridge, macvlan, bond, tunnels.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

# over KIND ip-link-ARGUMENTS-OF-A -- OF-B: netdevs ka and kb on the two ends of the veth, rping on them.
over() {
	local kind=$1 side on=k to_a=() to_b=()
	shift
	while [[ $1 != -- ]]; do to_a+=("$1"); shift; done
	to_b=("${@:2}")
	topology_end
	NS_A=A NS_B=B DEV_A=${T}0 DEV_B=${T}1
	veth_make || return
	in_a ip link add name ka "${to_a[@]}" && in_b ip link add name kb "${to_b[@]}" || return
	for side in a b; do
		case $kind in
		bridge) ip -n ${side^^} link set v$side master k$side ;;
		bond)   ip -n ${side^^} link set v$side down
			ip -n ${side^^} link set v$side master k$side ;;
		vlan)   on=v ;;
		esac || return
		ip -n ${side^^} link set k$side up
	done
	in_a ip addr add 10.10.0.1/24 dev ka && in_b ip addr add 10.10.0.2/24 dev kb || return
	eventually 10 in_b ping -c 1 -W 1 10.10.0.1 || return
	link_add A "$DEV_A" ${on}a && link_add B "$DEV_B" ${on}b && rping_once A B 10.10.0.1
}
tagged() {
	in_b timeout 20 tcpdump -i vb -c 1 -n 'vlan 5 and udp port 4791' > /tmp/tcpdump 2>&1 &
	eventually 10 grep -q "listening" /tmp/tcpdump && rping_once A B 10.10.0.1 && wait $!
}
modprobe -a 8021q bridge macvlan bonding vxlan ip_gre
t "vlan" over vlan link va type vlan id 5 -- link vb type vlan id 5
t "its frames carry the tag" tagged
t "bridge" over bridge type bridge -- type bridge
t "macvlan" over macvlan link va type macvlan mode bridge -- link vb type macvlan mode bridge
t "bond" over bond type bond mode active-backup -- type bond mode active-backup
t "vxlan" over vxlan type vxlan id 7 local $A4 remote $B4 dstport 4789 dev va -- \
	type vxlan id 7 local $B4 remote $A4 dstport 4789 dev vb
t "gretap" over gretap type gretap local $A4 remote $B4 -- type gretap local $B4 remote $A4
