# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced after lib.sh: verbs programs with a server in A and a client in B, and scripts with
# pyverbs, which print test lines of their own.

gid_index() { # DEVICE ADDRESS
	local want f
	want=$(gid_of "$2")
	for f in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		[[ $(< "$f") != "$want" ]] || { basename "$f"; return; }
	done
}

# between 4|6 GID-OPTION COMMAND [ARGUMENT]...: a program that takes -d, -p and the GID by an index
between() {
	local server gid=$2 a=$A4 b=$B4
	[[ $1 = 4 ]] || a=$A6 b=$B6
	shift 2
	in_a timeout 60 "$1" -d "$DEV_A" "$gid" "$(gid_index "$DEV_A" "$a")" -p 18515 "${@:2}" > /tmp/server 2>&1 &
	server=$!
	eventually 10 in_a sh -c 'ss -tln | grep -q :18515'
	if ! in_b timeout 60 "$1" -d "$DEV_B" "$gid" "$(gid_index "$DEV_B" "$b")" -p 18515 "${@:2}" "$A4" > /tmp/client 2>&1; then
		tail -qn 2 /tmp/client /tmp/server
		kill $server 2> /dev/null
		return 1
	fi
	wait $server
}

# script NAME [ARGUMENT]...: guest/NAME on the device of A
script() {
	in_a timeout 120 "/ward/tools/vm/guest/$1" "$DEV_A" "$(gid_index "$DEV_A" "$A4")" "${@:2}" ||
		t_fail "$1 ends" "status $?"
}
