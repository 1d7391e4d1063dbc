# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: Debian's stock kernels, image and headers, unpacked in the cache.

# shellcheck source=tools/lib/deb.sh
. "${BASH_SOURCE[0]%/*}/deb.sh"

KERNELS=(6.1 6.12 7.3)

kernel_suites() {
	case $1 in
	6.1)  echo bookworm-security bookworm ;;
	6.12) echo bookworm-security trixie-security trixie ;;
	7.3)  echo trixie-backports ;;
	*)    die "no such kernel: $1 (there are ${KERNELS[*]})" ;;
	esac
}

# From 7.x on, vmlinuz and modules are packages of their own.
kernel_packages() {
	local names=$1 rel=$2 abi=${2%-amd64} kbuild=linux-kbuild-${2%-amd64}
	grep -qx "$kbuild" <<< "$names" || kbuild=linux-kbuild-${abi%.0-*}
	echo "linux-headers-$rel linux-headers-$abi-common $kbuild"
	if grep -qx "linux-binary-$rel" <<< "$names"; then
		echo "linux-base-$rel linux-binary-$rel linux-modules-$rel"
	else
		echo "linux-image-$rel"
	fi
}

# kernel_get KVER sets KREL (the release) and KTREE (a folder with vmlinuz, usr/src, lib/modules).
kernel_get() {
	KTREE=$CACHE/kernels/$1
	if [[ ! -e $KTREE/release ]]; then
		locked "kernel-$1" kernel_unpack "$1"
	fi
	# shellcheck disable=SC2034 # for the caller
	KREL=$(< "$KTREE/release")
}

kernel_unpack() {
	local kver=$1 suite names rel packages debs deb link tmp=$CACHE/kernels/.$1
	[[ -e $CACHE/kernels/$kver/release ]] && return
	need xz:xz-utils depmod:kmod
	for suite in $(kernel_suites "$kver"); do
		names=$(deb_names "$suite" 'linux-(image|base|binary|modules|headers|kbuild)-.*') || continue
		for rel in $(sed -nE "s/^linux-headers-(${kver/./\\.}\.[0-9][0-9.+debp-]*-amd64)$/\1/p" \
			<<< "$names" | tac); do
			packages=$(kernel_packages "$names" "$rel")
			grep -vxFf <(echo "$names") <(tr ' ' '\n' <<< "$packages") || break 2
		done
	done
	[[ ${packages:-} ]] || die "no package of kernel $kver found"
	step "kernel $kver is $rel of $suite"
	# shellcheck disable=SC2086 # a list
	debs=$(deb_fetch "$suite" $packages) || die "cannot fetch kernel $kver"
	rm -rf "$tmp"
	mkdir -p "$tmp/usr/lib"
	ln -s usr/lib "$tmp/lib"
	for deb in $debs; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$tmp" --keep-directory-symlink \
			--exclude='*/share/doc/*'
	done
	# Builds see usr/src only, so kbuild must live in there.
	find "$tmp/usr/src" -maxdepth 1 -name 'linux-kbuild-*' -type l -delete
	mv "$tmp"/usr/lib/linux-kbuild-* "$tmp/usr/src/"
	find "$tmp/usr/src" -type l -lname '*lib/linux-kbuild-*' | while read -r link; do
		ln -sfn "../$(readlink "$link" | sed 's|.*/lib/||')" "$link"
	done
	depmod -b "$tmp" "$rel"
	ln -s "$(cd "$tmp" && ls "boot/vmlinuz-$rel" "lib/modules/$rel/vmlinuz" 2> /dev/null)" "$tmp/vmlinuz"
	echo "$rel" > "$tmp/release"
	rm -rf "${KTREE:?}"
	mv "$tmp" "$KTREE"
}
