# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by scripts in the test VM: two namespaces and their links, NFS, test lines, kernel log.
#
#      namespace A                                    namespace B
#   +---------------------------+                  +---------------------------+
#   |  link ${T}0 (TYPE_A)      |                  |  link ${T}1 (TYPE_B)      |
#   |  va  10.9.0.1/24          |----- veth -------|  vb  10.9.0.2/24          |
#   |      fd09::1/64           |                  |      fd09::2/64           |
#   |  the NFS server           |                  |  the NFS client           |
#   +---------------------------+                  +---------------------------+
#
# A side of type rxe lives in the initial namespace: there is rxe's socket before 7.1.

set -uo pipefail
# shellcheck source=tools/lib/dmesg.sh
. "${BASH_SOURCE[0]%/*}/../../lib/dmesg.sh"

T=${LINK_TYPE:-ward}
# shellcheck disable=SC2034 # for the scripts
A4=10.9.0.1 A6=fd09::1 B4=10.9.0.2 B6=fd09::2
NS_A=A NS_B=B DEV_A='' DEV_B=''
FULL=${FULL:-}

log() { printf '%s\n' "# $*"; }

# --- test lines -------------------------------------------------------------------------------

t_ok()   { printf 'ok %s\n' "$1"; }
t_fail() { printf 'not ok %s - %s\n' "$1" "${2:-failed}"; }

# t NAME COMMAND... is one test: ok when COMMAND succeeds; else its last lines are shown.
t() {
	local name=$1 out begin=$SECONDS
	shift
	out=$(mktemp)
	if "$@" > "$out" 2>&1; then
		t_ok "$name"
		((SECONDS - begin < 10)) || log "took $((SECONDS - begin)) s"
	else
		t_fail "$name" "$(tail -n 3 "$out" | tr '\n' ';' | cut -c 1-300)"
	fi
	rm -f "$out"
}

# expect PATTERN declares kernel messages at warning level or above that this test provokes.
expect() { printf '%s\n' "$1" | tee -a "${EXPECT:-/tmp/expect}" >> "$RUN/expect"; }

# eventually SECONDS COMMAND... polls until COMMAND succeeds.
eventually() {
	local end=$((SECONDS + $1)) seconds=$1
	shift
	until "$@" > /dev/null 2>&1; do
		((SECONDS < end)) || { echo "not within $seconds s: $*"; return 1; }
		sleep 0.05
	done
}

fails() { ! "$@"; }

# kmsg_mark; kmsg_since prints what the kernel has said after the last mark.
kmsg_mark()  { echo "ward-mark $BASHPID $SRANDOM" | tee /dev/kmsg > /tmp/kmsg-mark; }
kmsg_since() { dmesg | sed "1,/$(< /tmp/kmsg-mark)/d"; }

# --- topology ---------------------------------------------------------------------------------

# in_ns NAMESPACE COMMAND...; the name init is the initial namespace.
in_ns() {
	local ns=$1
	shift
	if [[ $ns = init ]]; then "$@"; else ip netns exec "$ns" "$@"; fi
}
# The same without a mount namespace of its own: what is mounted stays.
mount_in_ns() {
	local ns=$1
	shift
	if [[ $ns = init ]]; then "$@"; else nsenter --net=/run/netns/"$ns" "$@"; fi
}
in_a() { in_ns "$NS_A" "$@"; }
in_b() { in_ns "$NS_B" "$@"; }

# link_add NAMESPACE NAME NETDEV [TYPE]
link_add() { in_ns "$1" rdma link add "$2" type "${4:-$T}" netdev "$3"; }
link_del() { rdma link delete "$1"; }
link_gone() { [[ ! -e /sys/class/infiniband/$1 ]]; }
no_links() { [[ -z $(ls -A /sys/class/infiniband 2> /dev/null) ]]; }
# Nothing that a user or a kernel client has made is left on any device.
no_resources() {
	local left
	left=$(rdma resource show | grep -vE '(pd|cq|qp|cm_id|mr|ctx|srq) 0( |$)' | grep -E ' [1-9]')
	[[ -z $left ]] || { echo "left: $left"; return 1; }
}

ns_add() {
	[[ $1 = init ]] && return
	ip netns add "$1"
	ip -n "$1" link set lo up
}

# veth_make joins NS_A and NS_B.
veth_make() {
	local side
	ns_add "$NS_A"
	[[ $NS_B = "$NS_A" ]] || ns_add "$NS_B"
	for side in "$NS_A" "$NS_B"; do
		in_ns "$side" sysctl -qw net.ipv6.conf.default.accept_dad=0
	done
	ip link add va type veth peer name vb
	[[ $NS_A = init ]] || ip link set va netns "$NS_A"
	[[ $NS_B = init ]] || ip link set vb netns "$NS_B"
	in_a ip addr add $A4/24 dev va
	in_a ip addr add $A6/64 dev va nodad
	in_b ip addr add $B4/24 dev vb
	in_b ip addr add $B6/64 dev vb nodad
	in_a ip link set va up
	in_b ip link set vb up
	eventually 5 in_a ping -c 1 -W 1 $B4 && eventually 5 in_a ping -c 1 -W 1 $B6
}

# topology [TYPE_A [TYPE_B]] makes it all and sets DEV_A and DEV_B.
topology() {
	local type_a=${1:-$T} type_b=${2:-$T}
	NS_A=A NS_B=B DEV_A=${type_a}0 DEV_B=${type_b}1
	[[ $type_a != rxe ]] || NS_A=init
	# Before 7.1 rxe needs it, so both ends of rxe share one.
	[[ $type_b != rxe ]] || NS_B=init
	veth_make && links_make "$type_a" "$type_b"
}

links_make() {
	modprobe -a rdma_cm rdma_ucm ib_umad
	link_add "$NS_A" "$DEV_A" va "${1:-$T}" && link_add "$NS_B" "$DEV_B" vb "${2:-$T}"
}

# topology_end undoes whatever is there, however far it got.
topology_end() {
	local dev ns
	for dev in /sys/class/infiniband/*; do
		[[ ! -e $dev ]] || timeout 20 rdma link delete "${dev##*/}" 2> /dev/null
	done
	for ns in $(ip netns list | awk '{ print $1 }'); do
		ip netns del "$ns"
	done
	# a pair with one end in the initial namespace would go later, with the other end's namespace
	ip link del va 2> /dev/null
	ip link del vb 2> /dev/null
	rdma system set netns shared 2> /dev/null
	return 0
}

# gid_of ADDRESS prints it as the GID table does; an IPv6 address must have a ::.
gid_of() {
	local head tail i
	case $1 in
	*::*)
		IFS=: read -ra head <<< "${1%%::*}"
		IFS=: read -ra tail <<< "${1##*::}"
		for ((i = ${#head[@]}; i < 8 - ${#tail[@]}; i++)); do head[i]=0; done
		printf '%04x' "0x${head[0]}"
		for i in "${head[@]:1}" "${tail[@]}"; do printf ':%04x' "0x$i"; done ;;
	*)
		IFS=. read -ra head <<< "$1"
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${head[@]}" ;;
	esac
}
gids() { cat "/sys/class/infiniband/$1/ports/1/gids/"* 2> /dev/null | grep -v '^[0:]*$'; }
# has_gid DEVICE ADDRESS
has_gid() { gids "$1" | grep -qx "$(gid_of "$2")" || { echo "no GID $2 in: $(gids "$1" | xargs)"; return 1; }; }
port() { cat "/sys/class/infiniband/$1/ports/1/$2"; } # DEVICE FILE

# said PATTERN: one kernel message since the mark matches.
said() {
	local n
	n=$(kmsg_since | grep -cE "$1")
	[[ $n = 1 ]] || { echo "$n kernel messages match $1"; return 1; }
}
# refused ERROR-TEXT COMMAND...
refused() {
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "succeeded: $*"
		return 1
	fi
	grep -qi "$text" <<< "$out" || { echo "wanted $text, got: $out"; return 1; }
}

# hw DEVICE COUNTER
hw() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# rping_once SERVER_NS CLIENT_NS ADDRESS [COUNT]
rping_once() {
	local server rc
	in_ns "$1" timeout 30 rping -s -a "$3" -C "${4:-5}" -v > /tmp/rping-server 2>&1 &
	server=$!
	eventually 20 in_ns "$1" sh -c 'rdma resource show cm_id | grep -q LISTEN' || { kill $server; return 1; }
	in_ns "$2" timeout 20 rping -c -a "$3" -C "${4:-5}" -v > /tmp/rping-client 2>&1
	rc=$?
	[[ $rc = 0 ]] || { tail -n 3 /tmp/rping-client /tmp/rping-server; kill $server 2> /dev/null; }
	wait $server || rc=1
	return "$rc"
}

# --- NFS --------------------------------------------------------------------------------------

# nfs_server_start runs the kernel server in NS_A: no systemd, and the least grace period.
nfs_server_start() {
	modprobe -a nfsd rpcrdma nfs nfsv3 nfsv4 || return
	mount_in_ns "$NS_A" /ward/tools/vm/guest/nfs-server start
}
nfs_server_stop() { mount_in_ns "$NS_A" /ward/tools/vm/guest/nfs-server stop; }

# nfs_mount ADDRESS FOLDER [VERS [OPTIONS]]
nfs_mount() {
	local address=$1 path=/ vers=${3:-4.2} six='' options
	[[ $address != *:* ]] || six=6 address="[$address]"
	options=proto=rdma$six,port=20049,vers=$vers
	[[ $vers != 3 ]] || path=/export options+=,nolock,mountproto=tcp$six
	mkdir -p "$2"
	mount_in_ns "$NS_B" timeout 60 mount -t nfs -o "$options${4:+,$4}" "$address:$path" "$2"
}
nfs_umount() { timeout 60 umount "$1"; }

# tree_make FOLDER [MEGABYTES]: a hundred small files and one large.
tree_make() {
	mkdir -p "$1/small"
	find /usr/share/doc -type f -size -64k 2> /dev/null | head -n 100 | xargs cp -t "$1/small" --backup=numbered
	head -c "${2:-6}M" /dev/urandom > "$1/large"
	head -c 65537 /dev/urandom > "$1/odd"
	: > "$1/empty"
}
sums() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }
# same_tree FOLDER FOLDER
same_tree() { diff -q <(sums "$1") <(sums "$2") > /dev/null || { echo "$1 and $2 differ"; return 1; }; }

# nfs_round ADDRESS VERS: mount, copy out and back with cold caches, compare all three, unmount.
nfs_round() {
	local proto=rdma
	[[ $1 != *:* ]] || proto=rdma6
	[[ -d /tmp/tree ]] || tree_make /tmp/tree
	rm -rf /tmp/back /export/tree
	nfs_mount "$1" /mnt "$2" || return
	grep -q " /mnt nfs.*proto=$proto," /proc/mounts || { echo "not proto=$proto"; return 1; }
	timeout 120 cp -r /tmp/tree /mnt/tree || return
	nfs_umount /mnt && nfs_mount "$1" /mnt "$2" || return
	timeout 120 cp -r /mnt/tree /tmp/back || return
	nfs_umount /mnt || return
	same_tree /tmp/tree /export/tree && same_tree /tmp/tree /tmp/back
}

# nfs_killed_listing FOLDER: on a slow network, kills a process that waits for a listing.  The client
# then takes its registration back with LOCAL_INV; what completes is invalidated by the server.
# When the listing is under way is a guess, so there are many tries, each in a folder not cached yet.
locally_invalidated() { [[ $(hw "$DEV_B" mr_local_invalidates) != "$1" ]]; }
nfs_killed_listing() {
	local after before i=0 rc=1
	before=$(hw "$DEV_B" mr_local_invalidates)
	modprobe sch_netem
	in_a tc qdisc replace dev va root netem delay 300ms
	for after in {0.,1.,2.}{2,35,5,65,8,95} 3.{0,15,3,45} {0.,1.,2.}{3,45,6,75,9}; do
		i=$((i + 1))
		mkdir -p "/export/many$i"
		(cd "/export/many$i" && touch a-file-with-a-rather-long-name-{1..300})
		timeout -s KILL "$after" ls "$1/many$i" > /dev/null 2>&1
		eventually 1 locally_invalidated "$before" > /dev/null && { rc=0; break; }
	done
	in_a tc qdisc del dev va root
	[[ $rc = 0 ]] || echo "no local invalidation in $i tries"
	return "$rc"
} 2> /dev/null

# test_begin is the first line of every test.
test_begin() {
	trap test_end EXIT
	kmsg_mark > /dev/null
	modprobe "${T/#rxe/rdma_rxe}"
	modprobe -a rdma_cm rdma_ucm ib_umad
}

test_end() {
	mountpoint -q /mnt && umount -fl /mnt
	if [[ -e /proc/fs/nfsd/threads ]]; then
		nfs_server_stop
	fi
	topology_end
}
