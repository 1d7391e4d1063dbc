# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: the Debian 13 root folder that VMs boot and that modules are built in.

# shellcheck source=tools/lib/deb.sh
. "${BASH_SOURCE[0]%/*}/deb.sh"

ROOT_PACKAGES=(
	# RDMA and its tests
	rdma-core ibverbs-utils ibverbs-providers rdmacm-utils infiniband-diags perftest
	python3-pyverbs python3-scapy libibverbs-dev librdmacm-dev
	# NFS; /etc/services names nfsrdma
	nfs-kernel-server nfs-common netbase
	# the network and the machine
	iproute2 iputils-ping nftables ethtool tcpdump kmod procps fio udev
	# module builds: gcc-12 for 6.1 and 6.12, gcc-14 for 7.3
	gcc-12 gcc-14 gcc make libc6-dev libelf1t64
)

# root_get sets ROOT, and makes the folder when its list of packages is new.
root_get() {
	local id
	id=$(printf '%s\n' "${ROOT_PACKAGES[@]}" | sort | sha1sum | cut -c 1-10)
	ROOT=$CACHE/root/$id
	if [[ ! -d $ROOT ]]; then
		locked root root_make
	fi
}

root_make() {
	local tmp=$CACHE/root/.new packages mirror
	[[ -d $ROOT ]] && return
	need_root
	need debootstrap
	mirror=$(deb_mirror trixie)
	packages=$(IFS=,; echo "${ROOT_PACKAGES[*]}")
	step "making the root folder (Debian 13, some minutes)"
	rm -rf "$tmp"
	mkdir -p "$CACHE/debs/root" "$CACHE/root"
	debootstrap --variant=minbase --include="$packages" --cache-dir="$CACHE/debs/root" \
		trixie "$tmp" "$mirror" 2>&1 | tee "$LOGS/root.log" | root_progress || {
		tail -n 25 "$LOGS/root.log" >&2
		die "debootstrap failed ($LOGS/root.log)"
	}
	echo ward-vm > "$tmp/etc/hostname"
	mkdir -p "$tmp/ward" "$tmp/host"
	mv "$tmp" "$ROOT"
	# those of older lists, unless a VM may still run from them
	find "$CACHE/root" -mindepth 1 -maxdepth 1 ! -path "$ROOT" -mmin +1440 -exec rm -rf {} +
}

root_progress() {
	awk '/^I: (Retrieving|Validating|Unpacking|Configuring) / {
		if (++n[$2] % 50 == 0) { printf "   %s %d packages\n", tolower($2), n[$2]; fflush() }
	} /^[WE]: / { print "   " $0; fflush() }' >&2
}
