# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: the source of Debian's 6.12 kernel, and builds of it for user-mode Linux.

# shellcheck source=tools/lib/deb.sh
. "${BASH_SOURCE[0]%/*}/../lib/deb.sh"

# shellcheck disable=SC2034 # for those who source this
UML=$TOP/tools/uml
SOURCE=$CACHE/linux-source-6.12

uml_needs() {
	need gcc make flex bison bc xz:xz-utils rsync /usr/include/stdio.h:libc6-dev
}

# The source stays as it was unpacked: what is built goes to folders of its own.
uml_source() {
	[[ -e $SOURCE/Makefile ]] || locked linux-source uml_unpack
}

uml_unpack() {
	local deb tmp=$SOURCE.unpacking
	[[ ! -e $SOURCE/Makefile ]] || return 0
	deb=$(deb_fetch bookworm-security linux-source-6.12)
	step "unpacking the source of Linux 6.12"
	rm -rf "$tmp"
	mkdir -p "$tmp"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/src/linux-source-6.12.tar.xz |
		xz -dc | tar -x -C "$tmp" --strip-components=1
	rm -rf "$SOURCE"
	mv "$tmp" "$SOURCE"
}

# uml_configure SOURCE OUT FRAGMENT... writes .config anew when a fragment or the release
# has changed, and says which wishes Kconfig did not grant.
uml_configure() {
	local source=$1 out=$2 wish
	shift 2
	mkdir -p "$out"
	{ head -n 4 "$source/Makefile"; cat "$@"; } > "$out/wanted.new"
	if [[ -e $out/.config ]] && cmp -s "$out/wanted.new" "$out/wanted"; then
		return
	fi
	cat "$@" > "$out/fragments"
	KCONFIG_ALLCONFIG=$out/fragments logged "$out/configure.log" \
		make -C "$source" O="$out" ARCH=um alldefconfig
	grep -h '^CONFIG_.*=[ym]' "$@" | sort -u | while read -r wish; do
		grep -qxF "$wish" "$out/.config" || say "not granted: $wish"
	done
	mv "$out/wanted.new" "$out/wanted"
}

# uml_make SOURCE OUT TARGET... builds, with a line of progress every few seconds.
uml_make() {
	local source=$1 out=$2 pid rc=0 start=$SECONDS before
	shift 2
	before=$(grep -c '^  [A-Z]' "$out/build.log" 2> /dev/null || true)
	nice -n 5 make -C "$source" O="$out" ARCH=um -j"$(nproc)" "$@" \
		> "$out/build.log" 2>&1 &
	pid=$!
	# a signal to this script must not leave the build behind
	trap 'kill "$pid" 2> /dev/null; exit 130' INT TERM
	while kill -0 "$pid" 2> /dev/null; do
		sleep 1
		(( (SECONDS - start) % 15 )) || [[ $SECONDS = "$start" ]] ||
			say "   $((SECONDS - start)) s, $(grep -c '^  [A-Z]' "$out/build.log")" \
				"files done${before:+ (last time $before)}"
	done
	wait "$pid" || rc=$?
	trap - INT TERM
	if ((rc)); then
		grep -hE 'error:|undefined reference|[*]{3} ' "$out/build.log" | head -n 20 >&2
		say "build failed: $out/build.log"
	fi
	return "$rc"
}
