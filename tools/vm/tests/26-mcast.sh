#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Multicast. The core joins IPv4 groups only for rdma_cm; IPv6 is tested by a KUnit suite.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/guest/programs.sh
. /ward/tools/vm/guest/programs.sh
test_begin

GROUP=239.7.1.2
topology
member() { in_a ip maddr show dev va | grep -q "inet *$GROUP"; }
no_member() { ! member; }

# receive_and SENDER-NAMESPACE ADDRESS: mckey in A hears a sender
receive_and() {
	local receiver
	in_a timeout 40 mckey -m $GROUP -b $A4 -C 20 > /tmp/receiver 2>&1 &
	receiver=$!
	eventually 15 member || { kill $receiver; return 1; }
	# it posts its receives after it has joined
	sleep 1
	in_ns "$1" timeout 20 mckey -m $GROUP -b "$2" -C 20 -s > /tmp/sender 2>&1 ||
		{ tail -n 3 /tmp/sender; kill $receiver; return 1; }
	wait $receiver || { tail -n 3 /tmp/receiver; return 1; }
}
t "mckey between two hosts" receive_and $NS_B $B4
t "the netdev has left the group" eventually 5 no_member
t "mckey on one host" receive_and $NS_A $A4
t "the netdev has left the group again" eventually 5 no_member

# a member in A whose process number is in /tmp/member
start_member() {
	in_a sh -c "echo \$\$ > /tmp/member; exec mckey -m $GROUP -b $A4" > /dev/null 2>&1 &
	eventually 15 member
}
end_member() {
	kill -KILL "$(< /tmp/member)"
	wait
}

killed() {
	start_member || return
	end_member
	eventually 5 no_member
}
t "a member that is killed leaves" killed
unplugged() {
	local rc=0
	start_member || return
	timeout 10 rdma link delete "$DEV_A" || { echo "not deleted in time"; rc=1; }
	no_member || { echo "still a member"; rc=1; }
	# it polls the ring that it has mapped, and hears of nothing
	end_member
	return $rc
}
t "a link with a member can be deleted" unplugged
t "no resource is left" eventually 5 no_resources
