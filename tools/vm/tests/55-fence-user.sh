#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The fence rules that a process can see (tools/fence/user.c), both ends on one device: with
# copies from memory to memory, and with packets.
# limit: 600
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
option=/sys/class/infiniband/$DEV_A/options/path
for path in auto packet; do
	[[ $T != ward ]] || echo $path > "$option"
	in_a timeout 280 /ward/tools/fence/user "$DEV_A" > /tmp/rules || t_fail "user ends well" "status $?"
	while read -r rule verdict reason; do
		case $verdict in
		PASS) t_ok "$rule, $path" ;;
		FAIL) t_fail "$rule, $path" "$reason" ;;
		*)    log "$rule, $path: unsupported, $reason" ;;
		esac
	done < /tmp/rules
	t "$path: all were tried" grep -q '^F46 ' /tmp/rules
	[[ $T = ward ]] || break
done
