#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ward and the kernel's rdma_rxe with stock programs, either as the server.
# limit: 10000
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/peers/lib.sh
. /ward/tools/vm/peers/lib.sh
test_begin

[[ $T = ward ]] || { t_ok "only for ward"; exit 0; }
# rxe says at level warning what it completes with an error
expect "(rxe0|rdma_rxe): "
modprobe rdma_rxe
topology rxe ward

# every test name says who serves
served() {
	local by=$1
	shift
	"$@" | sed -uE "s/^(ok|not ok) /\1 $by serves: /"
}
both_ways() {
	ends
	served rxe "$@"
	swap_ends
	served ward "$@"
}
both_ways perftest_short
both_ways pingpongs
both_ways cm_programs
# the other way, rxe of 6.12 puts nothing on the wire
ends
t "rxe receives: mckey" multicast
if [[ $FULL ]]; then
	both_ways perftest_long
	ends
	large_mtu
fi
