#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Ends of processes and of devices in any state of the other, and what processes may use
# (tools/verbs/lifetimes.c).
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/guest/programs.sh
. /ward/tools/vm/guest/programs.sh
test_begin

topology
t "the programs can be built" /ward/tools/verbs/build /tmp lifetimes
in_a timeout 120 /tmp/lifetimes "$DEV_A" kill || t_fail "kill" "status $?"
t "no resource of them is left" eventually 10 no_resources

# removal COMMAND...: a process that uses the device when COMMAND takes it away. The process is
# elsewhere, or it would keep the namespace
removal() {
	local pid begin
	timeout 100 /tmp/lifetimes "$DEV_A" removal > /tmp/removal 2>&1 &
	pid=$!
	eventually 30 grep -q ready /tmp/removal || { cat /tmp/removal; kill $pid; return 1; }
	begin=$SECONDS
	if ! { "$@" && eventually 20 link_gone "$DEV_A" && wait $pid; }; then
		tail -n 3 /tmp/removal
		return 1
	fi
	log "gone after $((SECONDS - begin)) s"
}
t "rdma link delete under a process" removal link_del "$DEV_A"
t "the link comes again" link_add $NS_A "$DEV_A" va
t "the netdev goes under a process" removal in_a ip link del va
topology_end
topology
t "the namespace goes under a process" removal ip netns del A
topology_end
topology

chmod 666 /dev/infiniband/uverbs*
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
t "RLIMIT_MEMLOCK" in_a /tmp/lifetimes "$DEV_A" memlock
t "RLIMIT_MEMLOCK of an ordinary user" in_a "${nobody[@]}" /tmp/lifetimes "$DEV_A" memlock
pingpong_as_nobody() {
	in_a "${nobody[@]}" timeout 60 \
		ibv_rc_pingpong -d "$DEV_A" -g "$(gid_index "$DEV_A" $A4)" -n 100 > /tmp/server 2>&1 &
	eventually 10 in_a sh -c 'ss -tln | grep -q :18515' &&
		in_b "${nobody[@]}" timeout 60 \
			ibv_rc_pingpong -d "$DEV_B" -g "$(gid_index "$DEV_B" $B4)" -n 100 $A4 && wait $!
}
t "ibv_rc_pingpong as an ordinary user" pingpong_as_nobody

in_cgroup() {
	mkdir -p /tmp/cgroup
	mountpoint -q /tmp/cgroup || mount -t cgroup2 none /tmp/cgroup || return
	echo +rdma > /tmp/cgroup/cgroup.subtree_control && mkdir -p /tmp/cgroup/few || return
	echo "$DEV_A hca_object=6" > /tmp/cgroup/few/rdma.max || return
	(echo "$BASHPID" > /tmp/cgroup/few/cgroup.procs && in_a /tmp/lifetimes "$DEV_A" cgroup 6) || return
	grep "$DEV_A hca_handle=0 hca_object=0" /tmp/cgroup/few/rdma.current
}
t "rdma cgroup" in_cgroup
umount /tmp/cgroup 2> /dev/null
t "no resource is left" eventually 10 no_resources
