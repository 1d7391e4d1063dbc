#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The server's end is unplugged under load and plugged again: the mount recovers, data are right.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

# xprtrdma and the client say that the server went away and came back
expect "(rpcrdma|xprtrdma|svcrdma|nfs): "
expect "nfs: server .* (not responding|OK)"

topology
nfs_server_start
tree_make /tmp/tree "${FULL:+32}"
nfs_mount $A4 /mnt

# interrupted COMMAND... runs it while a copy is under way; the copy must end well.
interrupted() {
	local copy
	rm -rf /mnt/tree
	timeout 200 cp -r /tmp/tree /mnt/tree &
	copy=$!
	eventually 20 test -s /export/tree/large
	"$@" || return
	wait $copy || { echo "the copy failed"; return 1; }
	sync -f /mnt
	same_tree /tmp/tree /export/tree
}
cut() { # SECONDS
	in_a ip link set va down
	sleep "$1"
	in_a ip link set va up
	in_a ip addr replace $A6/64 dev va nodad
}
t "link down for 2 s" interrupted cut 2
t "link down for 15 s" interrupted cut 15
carrier() { in_b ip link set vb down && sleep 2 && in_b ip link set vb up; }
t "the client's link down for 2 s" interrupted carrier

# the listener goes with the device; the server is told to listen again, as an administrator would
replace() {
	link_del "$DEV_A" && link_add $NS_A "$DEV_A" va || return
	in_a sh -c 'echo "rdma 20049" > /proc/fs/nfsd/portlist' || true
}
t "the server's device deleted and added" interrupted replace
t "the mount works still" eventually 60 timeout 50 ls /mnt/tree
t "unmount" nfs_umount /mnt
nfs_server_stop
t "no resource is left" eventually 10 no_resources
