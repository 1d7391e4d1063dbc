#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA: rdma_rxe serves, ward mounts.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

modprobe rdma_rxe
topology rxe ward
t "the server starts" nfs_server_start
t "NFS 4.2 over IPv4" nfs_round $A4 4.2
t "NFS 4.2 over IPv6" nfs_round $A6 4.2
t "NFS 3 over IPv4" nfs_round $A4 3
t "NFS 3 over IPv6" nfs_round $A6 3
t "the server stops" nfs_server_stop
