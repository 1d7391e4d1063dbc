#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets that nobody should send are dropped and counted; who works meanwhile is not disturbed.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
drops() { cat /sys/class/infiniband/"$DEV_A"/ports/1/hw_counters/drop_* 2> /dev/null | awk '{ s += $1 } END { print s + 0 }'; }
qpns() { rdma resource show qp dev "$DEV_A" | sed -n 's/.* lqpn \([0-9]*\) type RC.*/\1/p'; }

in_a timeout 120 rping -s -a $A4 -C 300 -v > /tmp/server 2>&1 &
eventually 20 sh -c 'rdma resource show cm_id | grep -q LISTEN'
in_b timeout 120 rping -c -a $A4 -C 300 -v > /tmp/client 2>&1 &
client=$!
eventually 20 sh -c 'rdma resource show qp | grep -q "type RC"'
before=$(drops)
attack() {
	# shellcheck disable=SC2046 # a list
	in_b python3 /ward/tools/vm/guest/hostile.py $B4 $A4 $(qpns)
}
t "every opcode, many lengths, good and bad ICRC" attack
t "a connection of that time ends well" wait $client
if [[ $T = ward ]]; then
	counted() { [[ $(drops) -gt $((before + 5000)) ]]; }
	t "they are dropped and counted" counted
fi
t "rping works after that" rping_once "$NS_A" "$NS_B" $A4
