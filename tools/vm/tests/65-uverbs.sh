#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ib_uverbs unloaded and loaded again under a ward link: stock programs find it as before.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/peers/lib.sh
. /ward/tools/vm/peers/lib.sh
test_begin

[[ $T = ward ]] || { t_ok "only for ward"; exit 0; }
topology
ends
t "ibv_rc_pingpong" pingpong ibv_rc_pingpong 4 -n 20
modprobe -r rdma_ucm	# and what only it has needed
if grep -q '^ib_uverbs .*ward' /proc/modules; then
	# user memory is pinned by code in ib_uverbs
	t "ib_uverbs cannot go while ward is there" refused "in use" rmmod ib_uverbs
else
	modprobe -qr ib_uverbs
	t "ib_uverbs goes" test ! -e /sys/module/ib_uverbs
	t "and comes" modprobe ib_uverbs
fi
modprobe rdma_ucm
t "ibv_devinfo" ibv_devinfo -d "$DEV_A"
t "ibv_rc_pingpong after that" pingpong ibv_rc_pingpong 4 -n 20
t "rping after that" rping_once $NS_A $NS_B $A4
modprobe rdma_rxe
t "rmmod rdma_rxe spares ward" eval "rmmod rdma_rxe && test -e /sys/class/infiniband/$DEV_A"
t "a link made without ib_uverbs' clients" eval "link_del $DEV_A && link_add $NS_A $DEV_A va"
t "ibv_rc_pingpong on it" pingpong ibv_rc_pingpong 4 -n 20
