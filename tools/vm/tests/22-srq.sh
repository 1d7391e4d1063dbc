#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Shared receive queues.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/guest/programs.sh
. /ward/tools/vm/guest/programs.sh
test_begin

topology
t "ibv_srq_pingpong" between 4 -g ibv_srq_pingpong -n 200
t "ibv_srq_pingpong over IPv6" between 6 -g ibv_srq_pingpong -n 200
t "ibv_srq_pingpong with events, 64 QPs" between 4 -g ibv_srq_pingpong -n 1000 -e -q 64
t "ib_send_bw with an SRQ" between 4 -x ib_send_bw --use-srq -r 64 -q 4 -n 200 -s 65536 -F
t "ib_send_bw with an SRQ, UD" between 4 -x ib_send_bw --use-srq -c UD -n 200 -s 1000 -F
script pv-srq.py
t "no resource is left" eventually 5 no_resources
