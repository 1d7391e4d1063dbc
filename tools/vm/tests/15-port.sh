#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# State, MTU, rate and events of the port are those of the netdev.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
state() { port "$1" state | grep -q "$2"; }
t "the port is active" state "$DEV_A" ACTIVE
t "its physical state is LinkUp" grep -q LinkUp /sys/class/infiniband/"$DEV_A"/ports/1/phys_state
rate() { port "$DEV_A" rate | grep -qE '^[1-9][0-9.]* Gb/sec'; }
t "its rate is not zero" rate
in_a ibv_asyncwatch -d "$DEV_A" > /tmp/events 2>&1 &
eventually 5 grep -q "async" /tmp/events
in_b ip link set vb down
t "the carrier's loss takes the port down" eventually 5 state "$DEV_A" DOWN
in_b ip link set vb up
t "the carrier's return brings it up" eventually 5 state "$DEV_A" ACTIVE
in_a ip link set va down
t "link down takes the port down" eventually 5 state "$DEV_A" DOWN
in_a ip link set va up
t "link up brings it up" eventually 5 state "$DEV_A" ACTIVE
t "port events were delivered" eventually 5 grep -qi "port.*err" /tmp/events
t "port active events were delivered" eventually 5 grep -qi "port.*active" /tmp/events
pkill -x ibv_asyncwatch
wait

mtu() { ibv_devinfo -d "$DEV_A" | grep -qE "active_mtu:\s+$1 "; }
mtu_follows() { in_a ip link set va mtu "$1" && eventually 5 mtu "$2"; }
t "netdev MTU 9000: 4096" mtu_follows 9000 4096
t "netdev MTU 4200: 4096" mtu_follows 4200 4096
t "netdev MTU 2200: 2048" mtu_follows 2200 2048
t "netdev MTU 1500: 1024" mtu_follows 1500 1024
eventually 10 in_a ping -c 1 -W 1 $B4
in_a ip addr replace $A6/64 dev va nodad
t "rping works after all that" rping_once $NS_A $NS_B $A4
grow() {
	local before
	before=$(port "$DEV_A" counters/port_xmit_packets)
	rping_once "$NS_A" "$NS_B" $A4 && [[ $(port "$DEV_A" counters/port_xmit_packets) -gt $before ]]
}
[[ $T != ward ]] || t "port counters grow" grow
