#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module goes with links up, after traffic, and comes back.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

[[ $T = ward ]] || { t_ok "only for ward"; exit 0; }
topology
rping_once $NS_A $NS_B $A4
nfs_server_start
nfs_round $A4 4.2
nfs_server_stop
t "no resource is left after NFS" eventually 10 no_resources
t "rmmod with two links up" timeout 20 rmmod ward
t "no link is left" no_links
t "the module is gone" test ! -e /sys/module/ward
t "it comes back" links_make
t "rping works again" rping_once $NS_A $NS_B $A4

in_a timeout 60 rping -s -a $A4 -v > /dev/null 2>&1 &
eventually 5 sh -c 'rdma resource show cm_id | grep -q LISTEN'
in_b timeout 60 rping -c -a $A4 -C 1000000 > /dev/null 2>&1 &
eventually 5 sh -c 'rdma resource show qp | grep -q "type RC"'
delete_both() { timeout 20 rdma link delete "$DEV_A" && timeout 20 rdma link delete "$DEV_B"; }
t "links can be deleted under traffic" delete_both
wait
t "rmmod after that" timeout 20 rmmod ward
