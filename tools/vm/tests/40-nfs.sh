#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA between two namespaces: a tree out and back, versions and address families.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
t "the server starts" nfs_server_start
t "NFS 4.2 over IPv4" nfs_round $A4 4.2
t "NFS 4.2 over IPv6" nfs_round $A6 4.2
t "NFS 3 over IPv4" nfs_round $A4 3
t "NFS 3 over IPv6" nfs_round $A6 3
if [[ $T = ward ]]; then
	registered() { [[ $(($(hw "$DEV_A" "$1") + $(hw "$DEV_B" "$1"))) -gt 0 ]]; }
	t "memory was registered" registered mr_registrations
	t "and invalidated by the peer" registered mr_remote_invalidates
	nfs_mount $A4 /mnt
	t "and locally when a reader is killed" nfs_killed_listing /mnt
	nfs_umount /mnt
fi
t "the server stops" nfs_server_stop
t "no resource is left" eventually 10 no_resources
