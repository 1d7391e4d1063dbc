#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ward beside rdma_rxe: absent, loaded, on the same netdev before and after, removed under traffic.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/peers/lib.sh
. /ward/tools/vm/peers/lib.sh
test_begin

[[ $T = ward ]] || { t_ok "only for ward"; exit 0; }
exists() { [[ -e /sys/class/infiniband/$1 ]]; }
# With two devices on one address, rdma_cm binds it to that made first; who listens on any hears both.
works() {
	ends && perf ib_write_bw -n 20 && pair rping -s -C 5 -v -V -- rping -c -a $A4 -C 5 -v -V
}

modprobe -qr rdma_rxe
topology
t "rdma_rxe is absent, and stays so" works
t "no program has loaded it" test ! -e /sys/module/rdma_rxe

modprobe rdma_rxe
t "rdma_rxe is loaded: ward in namespaces of its own works" works

events() {
	in_a ip link set va down && eventually 5 port_is DOWN && in_a ip link set va up &&
		eventually 5 port_is ACTIVE && in_a ip link set va mtu 4200 && in_a ip link set va mtu 1500 &&
		in_a ip addr replace $A6/64 dev va nodad
}
port_is() { port "$DEV_A" state | grep -q "$1"; }

# Before 7.1 rxe takes the port of the initial namespace only, so both can be on one netdev.
on_one_netdev() {
	t "an rxe link on ward's netdev, made second" in_a rdma link add rxe0 type rxe netdev va
	t "ward works" works
	t "events of the netdev" events
	t "ward works after them" works
	t "the rxe link is deleted" rdma link delete rxe0
	t "ward's is still there" exists "$DEV_A"

	link_del "$DEV_A"
	t "an rxe link on ward's netdev, made first" in_a rdma link add rxe0 type rxe netdev va
	t "ward's beside it" link_add $NS_A "$DEV_A" va
	t "ward works" works
	t "events of the netdev" events
	t "ward works after them" works
	link_del "$DEV_A"
	t "ward's link is deleted, rxe's stays" exists rxe0
	t "ward's is made again" link_add $NS_A "$DEV_A" va
}
# Later, each has the port of the namespaces where its links are.
in_one_namespace() {
	t "an rxe link in ward's namespace is refused" fails in_a rdma link add rxe0 type rxe netdev va
	t "ward works" works
	link_del "$DEV_A"
	t "without ward's it is not" in_a rdma link add rxe0 type rxe netdev va
	t "then ward's is refused" refused "in use" link_add $NS_A "$DEV_A" va
	rdma link delete rxe0
	t "ward's is made again" link_add $NS_A "$DEV_A" va
	ip link add d0 type dummy
	ip link set d0 up
	t "rxe in another namespace" rdma link add rxe0 type rxe netdev d0
}
before_7_1() { [[ $KVER = 6.* ]]; }
if before_7_1; then
	on_one_netdev
else
	expect "ward: .*4791"
	expect "rdma_rxe|rxe0"
	in_one_namespace
fi

# rmmod unregisters every device that it takes for one of rxe's
exec_in A timeout 120 rping -s > /dev/null 2>&1 &
eventually 10 listens
exec_in B timeout 120 rping -c -a $A4 -C 100000000 > /dev/null 2>&1 &
client=$!
packets() { port "$DEV_A" counters/port_rcv_packets; }
grows() {
	local n
	n=$(packets)
	eventually 10 eval "[[ \$(packets) -gt $((n + 100)) ]]"
}
t "traffic" grows
t "rmmod rdma_rxe while ward carries traffic" timeout 30 rmmod rdma_rxe
t "rxe's link is gone" link_gone rxe0
t "ward's are there" eval "exists $DEV_A && exists $DEV_B"
t "the traffic goes on" grows
kill $client
wait
t "ward works after that" works
modprobe rdma_rxe
t "and with rdma_rxe loaded again" works
t "rmmod again" timeout 30 rmmod rdma_rxe

before_7_1 && t "the netdev takes ward and rxe along" eval "modprobe rdma_rxe &&
	in_a rdma link add rxe0 type rxe netdev va && ip -n A link del va && eventually 10 no_links"
topology_end
ip link del d0 2> /dev/null

# In the initial namespace, the port is rxe's; ward's own first there keeps rxe out.
modprobe -r rdma_rxe
ip link add d0 type dummy
ip addr add 10.8.0.1/24 dev d0
ip link set d0 up
t "ward has the port of the initial namespace" link_add init ward0 d0
if before_7_1; then
	expect "rxe|rdma_rxe"
	t "then rdma_rxe does not load" refused "could not insert" modprobe rdma_rxe
	t "and leaves ward's link alone" exists ward0
fi
link_del ward0
ip link del d0
