#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The short selection for the other kernels: load, link, rping, NFS.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
t "links are up" test -e /sys/class/infiniband/"$DEV_A" -a -e /sys/class/infiniband/"$DEV_B"
t "GIDs are there" has_gid "$DEV_A" $A4
t "rping over IPv4" rping_once $NS_A $NS_B $A4
t "rping over IPv6" rping_once $NS_A $NS_B $A6
t "the NFS server starts" nfs_server_start
t "NFS 4.2" nfs_round $A4 4.2
t "NFS 3 over IPv6" nfs_round $A6 3
t "the NFS server stops" nfs_server_stop
t "no resource is left" eventually 10 no_resources
