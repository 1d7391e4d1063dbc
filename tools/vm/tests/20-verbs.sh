#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# User-space verbs between two namespaces: rping, the pingpongs, perftest.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
t "rping over IPv4" rping_once $NS_A $NS_B $A4 20
t "rping over IPv6" rping_once $NS_A $NS_B $A6 20
t "rping the other way" rping_once $NS_B $NS_A $B4 20

gid() { # DEVICE ADDRESS: its index
	local want f
	want=$(gid_of "$2")
	for f in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		[[ $(< "$f") != "$want" ]] || { basename "$f"; return; }
	done
}
gid_a=$(gid "$DEV_A" $A4) gid_b=$(gid "$DEV_B" $B4)

# both GID-OPTION COMMAND... runs it at both ends, the server in A.
both() {
	local server gid=$1
	shift
	in_a timeout 60 "$1" -d "$DEV_A" "$gid" "$gid_a" -p 18515 "${@:2}" > /tmp/server 2>&1 &
	server=$!
	eventually 10 in_a sh -c 'ss -tln | grep -q :18515'
	if ! in_b timeout 60 "$1" -d "$DEV_B" "$gid" "$gid_b" -p 18515 "${@:2}" $A4 > /tmp/client 2>&1; then
		tail -qn 2 /tmp/client /tmp/server
		kill $server 2> /dev/null
		return 1
	fi
	wait $server
}
t "ibv_rc_pingpong" both -g ibv_rc_pingpong -n 200
t "ibv_rc_pingpong with events" both -g ibv_rc_pingpong -n 200 -e
t "ibv_ud_pingpong" both -g ibv_ud_pingpong -n 200 -s 1000
for test in ib_send_bw ib_write_bw ib_read_bw; do
	t "$test of 64 KiB" both -x $test -n 100 -s 65536 -F
done
t "ib_send_lat" both -x ib_send_lat -n 200 -F
t "ib_write_lat" both -x ib_write_lat -n 200 -F
t "no resource is left" eventually 5 no_resources
