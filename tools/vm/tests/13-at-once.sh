#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rping works the moment that rdma link add returns, every time.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

rounds=${FULL:+100} rounds=${rounds:-15}
topology
at_once() { # ADDRESS
	local i
	for i in $(seq "$rounds"); do
		link_del "$DEV_A" && link_del "$DEV_B" && links_make || return
		rping_once $NS_A $NS_B "$1" 1 || { echo "round $i of $rounds"; return 1; }
	done
}
t "$rounds of $rounds over IPv4" at_once $A4
t "$rounds of $rounds over IPv6" at_once $A6
