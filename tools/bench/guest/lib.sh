# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced inside of user-mode Linux: modules, devices, and measurements.
#
#   one device of each kind          10.9.1.1 on dummy netdevs: w0, x0, s0
#   two ward devices, two namespaces 10.9.2.1 (A, w1) ---- veth ---- 10.9.2.2 (B, w2)
#   two rxe devices                  10.9.3.1 (x1) ---- veth ---- 10.9.3.2 (x2)
#   two siw devices                  10.9.4.1 (s1) ---- veth ---- 10.9.4.2 (s2)
#                                    in the initial namespace at both ends, as these know no
#                                    other; routing rules make packets take the wire

modules=${MODULES:?}	# folder of tools/kverbs/build
bench=/sys/kernel/debug/verbs-bench

modules_load() {
	modprobe -a ib_core ib_uverbs rdma_cm rdma_ucm udp_tunnel ip6_udp_tunnel siw crypto_hash \
		2> /dev/null
	# first, so that all find it
	[[ ${CRC:-fast} = slow || ! -e $modules/uml_crc32.ko ]] || insmod "$modules/uml_crc32.ko"
	insmod "$modules/ward.ko"
	insmod "$modules/kverbs.ko"
	insmod "$modules/verbs_bench.ko"
}

# measure KEY=VALUE... prints the line of the result.
measure() {
	printf '%s\n' "$*" > "$bench" || { echo "op=none error=-1 ($*)"; return; }
	cat "$bench"
}

# field KEY LINE
field() { sed -nE "s/(^|.* )$1=([^ ]*).*/\2/p" <<< "$2"; }

link_add() { rdma link add "$1" type "$2" netdev "$3"; }	# DEVICE TYPE NETDEV

# local_make: a dummy netdev and a device for each kind.  rxe owns the port of the initial
# namespace, so ward is in one of its own.
local_make() {
	ip netns add L
	ip -n L link set lo up
	ip -n L link add d0 type dummy
	ip -n L addr add 10.9.1.1/24 dev d0
	ip -n L link set d0 mtu 9000 up
	ip netns exec L rdma link add w0 type ward netdev d0
	local_one 1 x0 rxe
	local_one 2 s0 siw
}

local_one() {	# local_one NUMBER DEVICE TYPE
	ip link add "d$1" type dummy
	ip addr add "10.9.1$1.1/24" dev "d$1"
	ip link set "d$1" mtu 9000 up
	rdma link add "$2" type "$3" netdev "d$1"
}

# wires_make MTU: a pair of devices of each kind
wires_make() {
	local mtu=$1 side
	for side in A B; do
		ip netns add "$side"
		ip -n "$side" link set lo up
	done
	ip -n A link add w1 type veth peer name w2 netns B
	ip -n A addr add 10.9.2.1/24 dev w1
	ip -n B addr add 10.9.2.2/24 dev w2
	ip -n A link set w1 mtu "$mtu" up
	ip -n B link set w2 mtu "$mtu" up
	ip netns exec A rdma link add w1 type ward netdev w1
	ip netns exec B rdma link add w2 type ward netdev w2
	echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
	init_wire 10.9.3 x rxe "$mtu"
	init_wire 10.9.4 s siw "$mtu"
	ip rule add pref 20 lookup main
	ip rule add pref 30 lookup local
	ip rule del pref 0
}

init_wire() {	# init_wire NETWORK PREFIX TYPE MTU
	local i peer mac n=$2
	ip link add "${n}1" type veth peer name "${n}2"
	for i in "${n}1" "${n}2"; do
		echo 1 > "/proc/sys/net/ipv4/conf/$i/accept_local"
		echo 0 > "/proc/sys/net/ipv4/conf/$i/rp_filter"
		ip link set "$i" mtu "$4" up
		ip rule add pref 10 iif "$i" lookup local
	done
	for i in 1 2; do
		ip addr add "$1.$i/32" dev "$n$i"
	done
	for i in 1 2; do
		peer=$((3 - i)) mac=$(< "/sys/class/net/$n$((3 - i))/address")
		ip route add "$1.$peer" dev "$n$i" src "$1.$i"
		ip neigh replace "$1.$peer" lladdr "$mac" dev "$n$i" nud permanent
		rdma link add "$n$i" type "$3" netdev "$n$i"
	done
}

# wires_each COMMAND...: for each end, followed by "-n NAMESPACE" or nothing, and the netdev
wires_each() {
	"$@" -n A w1
	"$@" -n B w2
	"$@" x1
	"$@" x2
	"$@" s1
	"$@" s2
}

mtu_set() {	# mtu_set MTU [-n NAMESPACE] NETDEV
	local mtu=$1 ns=()
	shift
	[[ $1 != -n ]] || { ns=(-n "$2"); shift 2; }
	ip "${ns[@]}" link set "$1" mtu "$mtu"
}

wires_mtu() { wires_each mtu_set "$1"; }
