#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# UC queue pairs.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/guest/programs.sh
. /ward/tools/vm/guest/programs.sh
test_begin

topology
t "ibv_uc_pingpong" between 4 -g ibv_uc_pingpong -n 200
t "ibv_uc_pingpong over IPv6" between 6 -g ibv_uc_pingpong -n 200
t "ibv_uc_pingpong of 100001 bytes with events" between 4 -g ibv_uc_pingpong -n 50 -s 100001 -e
for test in ib_send_bw ib_write_bw; do
	t "$test, UC, 64 KiB" between 4 -x $test -c UC -n 100 -s 65536 -F
done
t "ib_send_lat, UC" between 4 -x ib_send_lat -c UC -n 200 -F
script pv-uc.py

# WRITEs need no receiver, so the sender's end comes whatever is lost
in_a tc qdisc add dev va root netem loss 5%
in_b tc qdisc add dev vb root netem loss 5%
t "ib_write_bw, UC, with losses" between 4 -x ib_write_bw -c UC -n 200 -s 65536 -F
t "and messages were dropped" test "$(hw "$DEV_A" drop_message)" -gt 0
t "no resource is left" eventually 5 no_resources
