# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by every script of tools/: folders, messages, locks and host packages.

# shellcheck disable=SC2034 # for those who source this
TOP=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
CACHE=${WARD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ward}
LOGS=$CACHE/log
mkdir -p "$CACHE" "$LOGS"

say()  { printf '%s\n' "$*" >&2; }
step() { printf '== %s\n' "$*" >&2; }
die()  { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

need_root() { [[ $(id -u) = 0 ]] || die "this must run as root"; }

# locked NAME COMMAND... runs COMMAND while no other process holds NAME.  Called bare, a
# failure ends the script (set -e).
locked() {
	local name=$1 fd rc
	shift
	exec {fd}> "$CACHE/.lock-$name"
	flock -n "$fd" || { say "waiting for another run ($name)"; flock "$fd"; }
	"$@" {fd}>&-
	rc=$?
	exec {fd}>&-
	return "$rc"
}

# logged FILE COMMAND... keeps the output in FILE and shows its end only on failure.
logged() {
	local log=$1
	shift
	mkdir -p "${log%/*}"
	if ! "$@" > "$log" 2>&1; then
		say "failed: $1 ... ($log)"
		tail -n 25 "$log" >&2
		return 1
	fi
}

apt_quiet() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 \
		-o DPkg::Lock::Timeout=600 "$@"
}

install_packages() {
	need_root
	step "installing $*"
	logged "$LOGS/apt-update.log" apt_quiet update ||
		say "apt-get update failed, trying what is known"
	logged "$LOGS/apt-install.log" apt_quiet install --no-install-recommends -y "$@"
}

# need ITEM... installs what the host lacks.  An item is PROGRAM, PROGRAM:PACKAGE, or
# /FILE:PACKAGE for what is not a program.
need() {
	local item what package missing=()
	for item; do
		what=${item%%:*} package=${item#*:}
		case $what in
		/*) [[ -e $what ]] || missing+=("$package") ;;
		*)  PATH=$PATH:/usr/sbin:/sbin command -v "$what" > /dev/null ||
			missing+=("$package") ;;
		esac
	done
	if [[ ${#missing[@]} != 0 ]]; then
		locked apt install_packages "${missing[@]}"
	fi
}

PATH=$PATH:/usr/sbin:/sbin
