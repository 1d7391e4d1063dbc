#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Regions of user memory: on-demand paging, dma-buf, rereg_mr, kinds of memory (tools/verbs/memory.c).
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
sysctl -qw vm.nr_hugepages=16
t "the programs can be built" /ward/tools/verbs/build /tmp memory
in_a timeout 150 /tmp/memory "$DEV_A" || log "status $?"
if [[ $T = ward ]]; then
	log "with packets"
	echo packet > /sys/class/infiniband/"$DEV_A"/options/path
	in_a timeout 100 /tmp/memory "$DEV_A" odp rereg dereg | sed 's/^\(ok\|not ok\) [^ ]*/& (packets)/'
fi
t "no resource is left" eventually 5 no_resources
t "no pages of a dead process are pinned" test "$(awk '$1 == "nr_foll_pin_acquired" { a = $2 }
	$1 == "nr_foll_pin_released" { r = $2 } END { print a - r }' /proc/vmstat)" = 0
sysctl -qw vm.nr_hugepages=0
