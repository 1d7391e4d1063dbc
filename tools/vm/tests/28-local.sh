#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two programs on one host need no packets, unless something on the way wants to see some.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
# gid_index DEVICE ADDRESS
gid_index() {
	local i
	for i in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		[[ $(< "$i") = "$(gid_of "$2")" ]] && { basename "$i"; return; }
	done
	return 1
}
gid() { gid_index "$DEV_A" $A4; }
pingpong() {	# between two processes, on DEV_A
	local pid
	in_a timeout 20 ibv_rc_pingpong -d "$DEV_A" -g "$(gid)" -n 50 > /tmp/server 2>&1 &
	pid=$!
	eventually 5 listens || return
	in_a timeout 20 ibv_rc_pingpong -d "$DEV_A" -g "$(gid)" -n 50 $A4 > /tmp/client 2>&1 ||
		{ kill $pid; wait $pid; return 1; }
	wait $pid
}
wire() {	# between two namespaces
	local pid
	in_a timeout 20 ibv_rc_pingpong -d "$DEV_A" -g "$(gid)" -n 50 > /tmp/server 2>&1 &
	pid=$!
	eventually 5 listens || return
	in_b timeout 20 ibv_rc_pingpong -d "$DEV_B" -g "$(gid_index "$DEV_B" $B4)" -n 50 $A4 \
		> /tmp/client 2>&1 || { kill $pid; wait $pid; return 1; }
	wait $pid
}
listens() { in_a ss -ltn | grep -q ":18515 "; }
way() {	# COMMAND...: what it took
	local steps packets
	steps=$(hw "$DEV_A" local_steps) packets=$(hw "$DEV_A" sent_pkts)
	"$@" || echo failed
	[[ $(hw "$DEV_A" local_steps) = "$steps" ]] || echo steps
	[[ $(hw "$DEV_A" sent_pkts) = "$packets" ]] || echo packets
}
goes() {	# BY COMMAND...
	local by=$1 got
	shift
	got=$(way "$@" | xargs)
	[[ $got = "$by" ]] || { echo "it took: $got"; return 1; }
}
option() { echo "$2" > "/sys/class/infiniband/$1/options/path"; }

t "on one device it goes without packets" goes steps pingpong
t "between two namespaces: packets" goes packets wire
option "$DEV_A" packet
t "path=packet: packets" goes packets pingpong
option "$DEV_A" across
t "path=across: none" goes steps pingpong
t "path=across at one end of a wire: packets" goes packets wire
option "$DEV_B" across
t "path=across at both: none" goes steps wire
in_b tc qdisc add dev vb root netem delay 1ms
t "netem at the other end: packets" goes packets wire
in_b tc qdisc del dev vb root
option "$DEV_A" auto
t "path=auto: none" goes steps pingpong

in_a tc qdisc add dev lo root netem delay 1ms
t "netem on lo: packets" goes packets pingpong
in_a tc qdisc del dev lo root
t "without it: none" goes steps pingpong

in_a nft -f - <<- EOF
	table inet t {
		chain in { type filter hook input priority 0; udp dport 4791 counter accept; }
	}
EOF
t "a firewall that counts: packets" goes packets pingpong
counted() { in_a nft list table inet t | grep -q "packets [1-9]"; }
t "and it has counted them" counted
in_a nft -f - <<- EOF
	flush chain inet t in
	add rule inet t in udp dport 4791 drop
EOF
t "a firewall that drops: nothing comes through" goes "failed packets" pingpong
in_a nft delete table inet t
t "without it: no packets" goes steps pingpong

in_a tcpdump -i lo -w /tmp/pcap udp port 4791 2> /tmp/tcpdump &
eventually 10 grep -q "listening on" /tmp/tcpdump
t "somebody listens on lo: packets" goes packets pingpong
pkill -x tcpdump
wait
t "without: none" goes steps pingpong
