#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The mount while packets are lost, doubled and reordered both ways: data right, no hang.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
nfs_server_start
tree_make /tmp/tree "${FULL:+32}"
netem() {
	in_a tc qdisc replace dev va root netem "$@" && in_b tc qdisc replace dev vb root netem "$@"
}
impaired() { netem "$@" && nfs_round $A4 4.2; }
t "1% lost" impaired loss 1%
t "1% doubled" impaired duplicate 1%
t "reordered" impaired delay 1ms reorder 75% 50%
t "all of it" impaired loss 1% duplicate 1% delay 1ms reorder 90% 50%
t "5% lost" impaired loss 5%
t "corrupted" impaired corrupt 1%
in_a tc qdisc del dev va root
in_b tc qdisc del dev vb root
t "and without" nfs_round $A4 4.2
