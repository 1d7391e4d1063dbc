# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced, on the host and in the VM: what a kernel log may hold.

# Always a failure, at whatever level it is printed.
DMESG_BAD='WARNING|BUG|Oops|Call Trace|lockdep|KASAN|KCSAN|UBSAN|refcount|leak|hung task|blocked for more than'
DMESG_BAD+='|unable to handle|general protection|waiting for .* to become free|rcu.*stall|soft lockup'
DMESG_BAD+='|possible circular locking|sleeping function called'

# Lines at level warning or above that say nothing about the driver: patterns, with the reason.
DMESG_HARMLESS=(
	'ward: loading out-of-tree module taints kernel'
	'ward: module verification failed'	# it is signed by nobody
	'NFSD: Using .* state recovery'		# the server says where its state is
	'speed is unknown, defaulting to 1000'	# rdma_rxe on a netdev without a speed
	'hrtimer: interrupt took'		# emulated processors on a busy host
	'clocksource: .*(Marking|Override|watchdog|wd-tsc|tsc-wd|skew)'	# the same
)

# dmesg_judge FILE [EXPECTED] prints the bad lines of `dmesg -r` output and is false when there
# are any.  EXPECTED holds the patterns that tests have declared, one a line.
dmesg_judge() {
	local allowed bad
	allowed=$(
		printf '%s\n' "${DMESG_HARMLESS[@]}"
		[[ -z ${2:-} || ! -e ${2:-} ]] || grep . "$2" || true
	)
	bad=$(grep -E "^<[0-4]>|$DMESG_BAD" "$1" | grep -vEf <(printf '%s\n' "$allowed")) || return 0
	sed -E 's/^<[0-9]+>//' <<< "$bad"
	return 1
}

# dmesg_since_boot FILE: what was said since guest/init; before, it is about the machine.
dmesg_since_boot() { sed '1,/ward-vm: start/d' "$1"; }
