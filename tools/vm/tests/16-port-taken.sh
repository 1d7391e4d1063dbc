#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# UDP port 4791 in other hands: an error that says so, no half-made link.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

[[ $T = ward ]] || { t_ok "only for ward"; exit 0; }
expect "ward: .*4791"
expect "rdma_rxe|rxe"
ip link add d0 type dummy
ip addr add 10.8.0.1/24 dev d0
ip link set d0 up
python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 4791))
print("bound", flush=True)
time.sleep(60)' > /tmp/bound &
eventually 10 grep -q bound /tmp/bound
kmsg_mark > /dev/null
t "a program on the port: in use" refused "in use" link_add init ward0 d0
t "dmesg says it once" said "ward.*4791"
t "no link is left" link_gone ward0
kill $!
wait 2> /dev/null
t "without it the link can be added" link_add init ward0 d0
link_del ward0

# before 7.1 rxe takes the port with the module, from then on with its first link
modprobe rdma_rxe
ip link add d1 type dummy
ip link set d1 up
link_add init rxe0 d1 rxe
kmsg_mark > /dev/null
t "rdma_rxe on the port: in use" refused "in use" link_add init ward0 d0
t "dmesg says so once" said "ward.*4791"
ip netns add C
ip link set d0 netns C
ip -n C addr add 10.8.0.1/24 dev d0
ip -n C link set d0 up
t "another namespace is free" link_add C ward0 d0
rmmod_rxe() { rmmod rdma_rxe; }
t "rdma_rxe can be removed" rmmod_rxe
t "and takes only its own link along" test -e /sys/class/infiniband/ward0
topology_end
ip link del d1
