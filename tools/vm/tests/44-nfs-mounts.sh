#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Mount and unmount many times: nothing is left behind.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
nfs_server_start
once() {
	nfs_mount $A4 /mnt && echo "$1" > /mnt/x && [[ $(< /export/x) = "$1" ]] && nfs_umount /mnt
}
many() {
	local i
	for i in $(seq 50); do
		once "$i" || { echo "round $i of 50"; return 1; }
	done
}
t "50 of 50" many
gone() { [[ $(rdma resource show qp dev "$DEV_B" | grep -c "type RC") = 0 ]]; }
t "no queue pair is left" eventually 20 gone
nfs_server_stop
t "no resource is left" eventually 10 no_resources
