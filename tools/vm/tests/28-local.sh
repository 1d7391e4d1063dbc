#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two programs on one host need no packets, unless something on the way wants to see some.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
in_a ip link add d0 type dummy
in_a ip addr add 10.8.0.1/24 dev d0
in_a ip link set d0 up
link_add "$NS_A" ward2 d0

# gid_index DEVICE ADDRESS
gid_index() {
	local i
	for i in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		[[ $(< "$i") = "$(gid_of "$2")" ]] && { basename "$i"; return; }
	done
	return 1
}
# pingpong [DEVICE ADDRESS]: with DEV_A, from another device if one is given
pingpong() {
	local dev=${1:-$DEV_A} addr=${2:-$A4} pid
	in_a timeout 20 ibv_rc_pingpong -d "$DEV_A" -g "$(gid_index "$DEV_A" $A4)" -n 50 \
		> /tmp/server 2>&1 &
	pid=$!
	eventually 5 listens || return
	in_a timeout 20 ibv_rc_pingpong -d "$dev" -g "$(gid_index "$dev" "$addr")" -n 50 $A4 \
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
option() { echo "$2" > "/sys/class/infiniband/$DEV_A/options/$1"; }

t "on one device it goes without packets" goes steps pingpong
t "between two devices of a namespace too" goes steps pingpong ward2 10.8.0.1

option path packet
t "path=packet: packets" goes packets pingpong
t "path=packet at one of two devices: packets" goes packets pingpong ward2 10.8.0.1
option path auto
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

in_a tcpdump -i lo -c 3 -w /tmp/pcap udp port 4791 2> /tmp/tcpdump &
eventually 10 grep -q "listening on" /tmp/tcpdump
t "somebody listens on lo: packets" goes packets pingpong
wait
t "without: none" goes steps pingpong

in_a ip addr del 10.8.0.1/24 dev d0
t "an address that is gone: no way" fails pingpong ward2 10.8.0.1
