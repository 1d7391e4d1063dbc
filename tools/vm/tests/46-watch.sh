#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What can be seen of an NFS mount: wardstat, rdma resource and statistic, trace points; and that a
# mount which hangs is explained by wardstat alone.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

topology
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
debug=/sys/kernel/debug/ward
events=/sys/kernel/tracing/events/ward
trace=/sys/kernel/tracing/trace
expect 'ward: (inject|probe): '

t "wardstat can be built" /ward/tools/wardstat/build /usr/local/sbin/wardstat
prints() {	# prints TEXT COMMAND...: its output has that text
	local text=$1
	shift
	"$@" > /tmp/printed 2>&1
	grep -qE -- "$text" /tmp/printed || { tail -n 2 /tmp/printed; return 1; }
}
client_qp() { basename "$(grep -l 'type.RC' "$debug/$DEV_B"/qps/*/state | tail -n 1 | xargs dirname)"; }

t "QPs can be bound to counters" in_b rdma statistic qp set link "$DEV_B/1" auto type on
nfs_server_start
t "mount" nfs_mount $A4 /mnt
echo 1 > $events/enable
t "write" dd if=/dev/urandom of=/mnt/watched bs=64k count=8 conv=fsync status=none
echo 0 > $events/enable
for event in wr_post wr_execute wr_complete recv_complete packet_sent packet_received ack_sent \
	ack_received mr_register mr_expose mr_invalidate mr_invalidated access; do
	t "trace point ward_$event" grep -q " ward_$event: dev=.* qpn=0x.* psn=" $trace
done
qp=$(client_qp)
t "wardstat lists it" prints "^  $qp +RC +RTS +kernel" wardstat -d "$DEV_B"
t "wardstat qp" prints "Queue pair $qp \(RC\) of a kernel user on $DEV_B has been in state RTS" wardstat qp "$qp"
t "wardstat pd" prints "belongs to the kernel \(rpcrdma\)" \
	wardstat -d "$DEV_B" pd "$(sed -n 's/^pd\t//p' "$debug/$DEV_B/qps/$qp/state")"
key=$(awk '$2 == "fast" { print $1; exit }' "$debug/$DEV_B/mrs")
t "wardstat mr" prints "Region $key on $DEV_B \(fast" wardstat mr "$key"
t "wardstat top" prints "$DEV_B: [0-9]+ regions? exposed" wardstat -n 2 -i 0.2 top
t "JSON" sh -c 'wardstat --json | python3 -m json.tool > /dev/null'
t "rdma resource show qp" prints "drv_sq_posted" in_b rdma resource show qp -dd
t "rdma resource show mr" prints "drv_generation" in_b rdma resource show mr -dd
t "rdma resource show cq" prints "drv_unpolled" in_b rdma resource show cq -dd
# the core binds QPs of processes only; this one waits for its peer
in_b timeout 60 ibv_rc_pingpong -d "$DEV_B" -g 1 > /dev/null 2>&1 &
waiting=$!
t "rdma statistic qp" eventually 20 prints "sent_pkts" in_b rdma statistic qp show link "$DEV_B/1"
kill $waiting
wait $waiting 2> /dev/null || true
t "... counts all once" sh -c "test \$(awk '\$1 == \"sent_pkts\" { print \$2 }' $debug/$DEV_B/counters) = \
	\$(cat /sys/class/infiniband/$DEV_B/ports/1/hw_counters/sent_pkts)"

wardstat -o "$RUN/recording" record &
recorder=$!
sleep 1
t "a copy is recorded" dd if=/mnt/watched of=/dev/null bs=64k iflag=direct status=none
kill -INT $recorder
t "... the recording ends" wait $recorder
t "... and has exposures" grep -q " ward_mr_invalidated: " "$RUN/recording"
t "... which a page shows" wardstat -o "$RUN/timeline.html" timeline "$RUN/recording"

# A mount that hangs: the client's packets go nowhere
echo "drop dir=out op=send" > "$debug/$DEV_B/inject"
explained() {	# by one of its QPs: a transport that gives up makes another
	local qp
	for qp in "$debug/$DEV_B"/qps/*; do
		prints "send queue waits for an acknowledgement of PSN [0-9]+ since .*, retry [0-9]+ of" \
			wardstat qp "${qp##*/}" && return
	done
	return 1
}
# what no cache can answer
timeout 60 touch /mnt/hung > /dev/null 2>&1 &
toucher=$!
t "a hanging mount is explained" eventually 20 explained
echo clear > "$debug/$DEV_B/inject"
t "... and goes on" wait $toucher
t "unmount" nfs_umount /mnt
nfs_server_stop

t "not root" prints "only root may read debugfs" setpriv --reuid 65534 --regid 65534 --clear-groups \
	wardstat
umount /sys/kernel/debug
t "debugfs not mounted" prints "debugfs is not mounted" wardstat
mount -t debugfs none /sys/kernel/debug
t "no resource is left" eventually 10 no_resources
