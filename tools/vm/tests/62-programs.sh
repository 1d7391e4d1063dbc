#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The programs of rdma-core: pingpongs with each kind of GID, rdma_cm, multicast, what they show.
# limit: 1500
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/peers/lib.sh
. /ward/tools/vm/peers/lib.sh
test_begin

topology
ends
pingpongs
cm_programs
t "mckey" multicast

says() { # PATTERN COMMAND...
	local out
	out=$("${@:2}") || return
	grep -qE "$1" <<< "$out" || { echo "no $1 in: $out"; return 1; }
}
t "ibv_devices lists it" says "$DEV_A" ibv_devices
t "ibv_devinfo -v shows its GIDs" says "GID\[ *[0-9]+\]:.*$A4" ibv_devinfo -v -d "$DEV_A"
t "ibstat shows an active port" says "State: Active" ibstat "$DEV_A"
t "ibstatus too" says "state:.*ACTIVE" ibstatus "$DEV_A"
watch() { timeout -s INT 3 stdbuf -oL ibv_asyncwatch -d "$DEV_A" || true; }
t "ibv_asyncwatch waits for events" says "async event FD" watch

# the tracker of resources knows a live connection
exec_in "$SRV_NS" timeout 60 rping -s -a "$SRV4" > /dev/null 2>&1 &
eventually 10 listens
exec_in "$CLI_NS" timeout 60 rping -c -a "$SRV4" -C 1000000 > /dev/null 2>&1 &
client=$!
eventually 10 sh -c 'rdma resource show qp type rc | grep -q "state RTS"'
for what in pd cq qp cm_id mr; do
	t "rdma resource show $what" says "$DEV_A|$DEV_B" rdma resource show $what
done
t "names the program" says "comm rping" rdma resource show qp
kill $client
wait
t "no resource is left" eventually 10 no_resources
