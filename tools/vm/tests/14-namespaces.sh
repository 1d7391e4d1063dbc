#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A device belongs to the namespace of its netdev and goes with either; exclusive mode works.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

listens() { in_ns "$1" ss -uln | grep -q ':4791 '; }
topology
t "A has a socket of its own" listens A
t "B has a socket of its own" listens B
t "the initial namespace has none" fails listens init
t "rping works" rping_once A B $A4
ip -n A link del va
t "deleting the netdev removes the device" eventually 10 link_gone "$DEV_A"
t "and the peer's, whose netdev went too" eventually 10 link_gone "$DEV_B"
t "and closes the socket" eventually 5 fails listens A
topology_end

topology
rping_once A B $A4
ip netns del A
t "deleting the namespace removes the device" eventually 10 link_gone "$DEV_A"
topology_end

topology
(in_a timeout 60 rping -s -a $A4 -v > /dev/null 2>&1; true) &
eventually 5 sh -c 'rdma resource show cm_id | grep -q LISTEN'
in_b timeout 60 rping -c -a $A4 -C 1000000 > /dev/null 2>&1 &
eventually 5 test "$(rdma resource show qp | grep -c 'type RC')" -ge 1
ip -n A link del va
t "deleting the netdev under traffic removes the device" eventually 10 link_gone "$DEV_A"
wait
topology_end

exclusive() {
	rdma system set netns exclusive && veth_make || return
	links_make
}
NS_A=A NS_B=B DEV_A=${T}0 DEV_B=${T}1
t "links can be added in exclusive mode" exclusive
only_there() { in_a rdma link show | grep -q "$DEV_A/1" && ! in_a rdma link show | grep -q "$DEV_B/1"; }
t "each is seen in its namespace only" only_there
t "rping works in exclusive mode" rping_once A B $A4
t "a link can be deleted in its namespace" in_a rdma link delete "$DEV_A"
ip netns del B
t "deleting the namespace removes the device in exclusive mode" eventually 10 link_gone "$DEV_B"
topology_end
t "no resource is left" no_resources
