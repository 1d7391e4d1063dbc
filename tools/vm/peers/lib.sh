# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced after guest/lib.sh: programs of perftest and rdma-core between two ends, server and client.

PORT=18515

# The ends by role; swap_ends makes B the server.
ends() {
	SRV_NS=$NS_A SRV_DEV=$DEV_A SRV4=$A4 SRV6=$A6
	CLI_NS=$NS_B CLI_DEV=$DEV_B CLI4=$B4 CLI6=$B6
}
swap_ends() {
	SRV_NS=$NS_B SRV_DEV=$DEV_B SRV4=$B4 SRV6=$B6
	CLI_NS=$NS_A CLI_DEV=$DEV_A CLI4=$A4 CLI6=$A6
}

# gid_index DEVICE ADDRESS; the address link-local stands for the first GID of fe80::/64.
gid_index() {
	local dir=/sys/class/infiniband/$1/ports/1/gids want=${2/#link-local/fe80:*} i
	[[ $want = fe80* ]] || want=$(gid_of "$2")
	for ((i = 0; i < 1024; i++)); do
		# shellcheck disable=SC2053 # a pattern
		[[ $(cat "$dir/$i" 2> /dev/null) != $want ]] || { echo "$i"; return; }
	done
	return 1
}

# Someone waits for clients: a TCP port, or an endpoint of rdma_cm.
listens() {
	in_ns "$SRV_NS" ss -Htln "sport = :$PORT" | grep -q . || rdma resource show cm_id | grep -q LISTEN
}
no_listener() { ! listens; }

# exec_in NAMESPACE COMMAND... in the background, so that a signal to the job reaches COMMAND.
exec_in() {
	if [[ $1 = init ]]; then exec "${@:2}"; else exec ip netns exec "$@"; fi
}

# pair SERVER-COMMAND... -- CLIENT-COMMAND... runs both; both must succeed.
pair() {
	local command=() pid rc
	while [[ $1 != -- ]]; do
		command+=("$1")
		shift
	done
	shift
	eventually 10 no_listener || return
	exec_in "$SRV_NS" timeout "${PAIR_LIMIT:-60}" "${command[@]}" > /tmp/server 2>&1 &
	pid=$!
	if ! eventually 20 listens; then
		tail -n 2 /tmp/server
		kill $pid 2> /dev/null
		wait $pid
		return 1
	fi
	in_ns "$CLI_NS" timeout "${PAIR_LIMIT:-60}" "$@" > /tmp/client 2>&1
	rc=$?
	# a server that has lost its client may wait for ever
	[[ $rc = 0 ]] || { sleep 1; kill $pid 2> /dev/null; }
	wait $pid || rc=1
	[[ $rc = 0 ]] || { tail -qn 2 /tmp/client /tmp/server | grep -v '^-*$'; return 1; }
}

# perf PROGRAM OPTION... with the addresses of one family (GID: 4, 6 or link-local).
perf() {
	local program=$1 server=$SRV4 client=$CLI4
	shift
	case ${GID:-4} in
	6) server=$SRV6 client=$CLI6 ;;
	link-local) server=link-local client=link-local ;;
	esac
	pair "$program" -d "$SRV_DEV" -x "$(gid_index "$SRV_DEV" "$server")" -p $PORT -F "$@" -- \
		"$program" -d "$CLI_DEV" -x "$(gid_index "$CLI_DEV" "$client")" -p $PORT -F "$@" "$SRV4"
}
# perf_cm PROGRAM OPTION...: connected by rdma_cm, which chooses device and GID.
perf_cm() { pair "$1" -R -p $PORT -F "${@:2}" -- "$1" -R -p $PORT -F "${@:2}" "$SRV4"; }

# pingpong PROGRAM ADDRESSES OPTION...: ADDRESSES is 4, 6 or link-local.
pingpong() {
	local program=$1 server=$SRV4 client=$CLI4
	case $2 in
	6) server=$SRV6 client=$CLI6 ;;
	link-local) server=link-local client=link-local ;;
	esac
	shift 2
	pair "$program" -d "$SRV_DEV" -g "$(gid_index "$SRV_DEV" "$server")" -p $PORT "$@" -- \
		"$program" -d "$CLI_DEV" -g "$(gid_index "$CLI_DEV" "$client")" -p $PORT "$@" "$SRV4"
}

# mtu BYTES sets that of both netdevs and waits for the ports.
mtu() {
	in_a ip link set va mtu "$1" && in_b ip link set vb mtu "$1" &&
		in_a ip addr replace "$A6"/64 dev va nodad && in_b ip addr replace "$B6"/64 dev vb nodad &&
		eventually 5 ibv_devinfo_says "active_mtu:.*($2)"
}
ibv_devinfo_says() { ibv_devinfo -d "$DEV_A" | grep -qE "$1" && ibv_devinfo -d "$DEV_B" | grep -qE "$1"; }

# --- what is run between any two ends ---------------------------------------------------------

# perftest_short: one of each kind.
perftest_short() {
	local op
	for op in send write read; do
		t "ib_${op}_bw, all sizes to 8 MiB" perf ib_${op}_bw -a -n 5
		t "ib_${op}_lat" perf ib_${op}_lat -n 50
	done
	t "ib_atomic_bw, fetch and add" perf ib_atomic_bw -A FETCH_AND_ADD -n 100
	t "ib_atomic_lat, compare and swap" perf ib_atomic_lat -A CMP_AND_SWAP -n 50
	t "ib_send_bw -R" perf_cm ib_send_bw -n 50
	t "ib_write_lat -R" perf_cm ib_write_lat -n 50
	t "ib_send_bw, UD" perf ib_send_bw -c UD -n 50 -s 1024
	t "ib_send_lat, UD" perf ib_send_lat -c UD -n 50 -s 1024
	t "ib_send_bw, UC" perf ib_send_bw -c UC -n 50
	t "ib_write_bw, UC" perf ib_write_bw -c UC -n 50
	t "ib_send_bw, events" perf ib_send_bw -e -n 50
	t "ib_send_bw, SRQ" perf ib_send_bw --use-srq -q 4 -n 50
	t "ib_write_bw, 16 queue pairs" perf ib_write_bw -q 16 -n 20
	t "ib_write_lat, inline" perf ib_write_lat -I 64 -s 64 -n 50
	t "ib_send_bw, MTU 256" perf ib_send_bw -m 256 -n 20
	t "ib_read_bw, both ways" perf ib_read_bw -b -n 50
	GID=6 t "ib_write_bw, IPv6" perf ib_write_bw -n 50
}

# perftest_long: the matrix. What a program has no option for is left out.
perftest_long() {
	local op kind m x PAIR_LIMIT=200
	for op in send write read; do
		for kind in bw lat; do
			t "ib_${op}_$kind -a" perf ib_${op}_$kind -a -n 5
			t "ib_${op}_$kind -R -a" perf_cm ib_${op}_$kind -a -n 5
			# a WRITE has no events
			[[ $op = write ]] || t "ib_${op}_$kind -e" perf ib_${op}_$kind -e -n 50
			for m in 256 512 1024; do
				t "ib_${op}_$kind -m $m" perf ib_${op}_$kind -m $m -n 20 -s 65536
			done
			for x in 6 link-local; do
				GID=$x t "ib_${op}_$kind, GID $x" perf ib_${op}_$kind -n 20 -s 65536
			done
		done
		t "ib_${op}_bw -b -a" perf ib_${op}_bw -b -a -n 5
		t "ib_${op}_bw -q 16" perf ib_${op}_bw -q 16 -n 20
		t "ib_${op}_bw -q 16 -b" perf ib_${op}_bw -q 16 -b -n 20
		t "ib_${op}_bw -R -q 16" perf_cm ib_${op}_bw -q 16 -n 20
		t "ib_${op}_bw -l 8" perf ib_${op}_bw -l 8 -n 64
	done
	for op in send write; do
		t "ib_${op}_bw -c UC -a" perf ib_${op}_bw -c UC -a -n 5
		t "ib_${op}_lat -c UC" perf ib_${op}_lat -c UC -n 20
		t "ib_${op}_bw -I" perf ib_${op}_bw -I 128 -s 128 -n 50
		t "ib_${op}_lat -I" perf ib_${op}_lat -I 128 -s 128 -n 50
	done
	t "ib_write_bw --write_with_imm" perf ib_write_bw --write_with_imm -n 20
	t "ib_read_bw -o 1" perf ib_read_bw -o 1 -n 20
	t "ib_read_bw -o 16" perf ib_read_bw -o 16 -n 50
	for kind in bw lat; do
		t "ib_send_$kind -c UD -a" perf ib_send_$kind -c UD -a -n 20
		t "ib_send_$kind -c UD -e" perf ib_send_$kind -c UD -e -n 20 -s 1024
		t "ib_send_$kind -R -c UD" perf_cm ib_send_$kind -c UD -n 20 -s 1024
		GID=6 t "ib_send_$kind -c UD, GID 6" perf ib_send_$kind -c UD -n 20 -s 1024
		t "ib_send_$kind --use-srq" perf ib_send_$kind --use-srq -n 50
		for x in FETCH_AND_ADD CMP_AND_SWAP; do
			t "ib_atomic_$kind, $x" perf ib_atomic_$kind -A $x -n 50
			t "ib_atomic_$kind -R, $x" perf_cm ib_atomic_$kind -A $x -n 50
		done
		t "ib_atomic_$kind -e" perf ib_atomic_$kind -e -n 50
	done
	t "ib_send_bw --use-srq -q 16 -b" perf ib_send_bw --use-srq -q 16 -b -n 20
	t "ib_send_bw -c UD -b -q 4" perf ib_send_bw -c UD -b -q 4 -n 20 -s 1024
	t "ib_atomic_bw -q 16 -b" perf ib_atomic_bw -q 16 -b -n 20
}

# large_mtu: packets of 2048 and 4096 bytes. rxe reads the MTU of its netdev as well.
large_mtu() {
	local op m
	t "the netdevs take an MTU of 9000" mtu 9000 4096
	for op in send write read; do
		for m in 2048 4096; do
			t "ib_${op}_bw -m $m" perf ib_${op}_bw -m $m -n 20
		done
	done
	t "ib_send_bw -c UD, 4096 bytes" perf ib_send_bw -c UD -s 4096 -n 20
	t "and an MTU of 1500" mtu 1500 1024
}

# The largest message that perftest takes; two such buffers and their pages must fit.
gigabyte() {
	local op
	[[ $(awk '/^MemAvailable/ { print $2 }' /proc/meminfo) -gt 5000000 ]] || {
		log "no memory for a message of 1 GiB: --mem 8G"
		return
	}
	for op in send write read; do
		PAIR_LIMIT=400 t "ib_${op}_bw of 1 GiB" perf ib_${op}_bw -s 1073741824 -n 5 -t 1 -r 1 -Q 1
	done
}

pingpongs() {
	local x
	for x in 4 6 link-local; do
		t "ibv_rc_pingpong, GID $x" pingpong ibv_rc_pingpong $x -n 50 -c
		t "ibv_uc_pingpong, GID $x" pingpong ibv_uc_pingpong $x -n 50
		t "ibv_ud_pingpong, GID $x" pingpong ibv_ud_pingpong $x -n 50 -s 1000
		t "ibv_srq_pingpong, GID $x" pingpong ibv_srq_pingpong $x -n 50
	done
	t "ibv_rc_pingpong -e" pingpong ibv_rc_pingpong 4 -n 50 -e
	t "ibv_uc_pingpong -e" pingpong ibv_uc_pingpong 4 -n 50 -e
	t "ibv_ud_pingpong -e" pingpong ibv_ud_pingpong 4 -n 50 -s 1000 -e
	t "ibv_srq_pingpong -e" pingpong ibv_srq_pingpong 4 -n 50 -e
	t "ibv_rc_pingpong --new_send" pingpong ibv_rc_pingpong 4 -n 50 -N
	t "ibv_rc_pingpong of 1 MiB" pingpong ibv_rc_pingpong 4 -n 5 -s 1048576 -c
}

# rdma_cm programs. Each binds to an address or listens on all.
cm_programs() {
	local server client six
	for six in '' 6; do
		server=$SRV4 client=$CLI4
		[[ ! $six ]] || server=$SRV6 client=$CLI6
		t "rping, IPv${six:-4}" pair rping -s -a "$server" -C 20 -v -V -- \
			rping -c -a "$server" -C 20 -v -V
		t "rping of 65,535 bytes, IPv${six:-4}" pair rping -s -a "$server" -C 5 -S 65535 -V -- \
			rping -c -a "$server" -C 5 -S 65535 -V
		t "ucmatose, IPv${six:-4}" pair ucmatose -b "$server" ${six:+-f ip6} -c 5 -C 10 -- \
			ucmatose -s "$server" -b "$client" ${six:+-f ip6} -c 5 -C 10
		t "udaddy, IPv${six:-4}" pair udaddy -b "$server" -c 3 -C 10 -S 1000 -- \
			udaddy -s "$server" -b "$client" -c 3 -C 10 -S 1000
		t "rdma_client and rdma_server, IPv${six:-4}" pair rdma_server -s "$server" -- \
			rdma_client -s "$server"
		t "rstream, IPv${six:-4}" pair rstream -b "$server" -S 65536 -C 20 -- \
			rstream -s "$server" -S 65536 -C 20
	done
	t "ucmatose, migrates its IDs" pair ucmatose -b "$SRV4" -c 2 -m -- \
		ucmatose -s "$SRV4" -b "$CLI4" -c 2 -m
	t "riostream" pair riostream -b "$SRV4" -S 65536 -C 20 -- riostream -s "$SRV4" -S 65536 -C 20
	t "cmtime, 20 connections" pair cmtime -b "$SRV4" -c 20 -- cmtime -s "$SRV4" -b "$CLI4" -c 20
}

# Multicast from the client. mckey's status says nothing about a group that was not joined, so its words are read.
multicast() {
	local group=239.9.9.9 pid rc
	exec_in "$SRV_NS" timeout 40 stdbuf -oL mckey -m $group -b "$SRV4" > /tmp/server 2>&1 &
	pid=$!
	eventually 10 grep -q "joined dgid" /tmp/server || {
		tail -n 2 /tmp/server
		kill $pid 2> /dev/null
		wait $pid
		return 1
	}
	in_ns "$CLI_NS" timeout 30 mckey -m $group -b "$CLI4" -s > /tmp/client 2>&1
	rc=$?
	[[ $rc = 0 ]] || kill $pid 2> /dev/null
	wait $pid || rc=1
	grep -q "data transfers complete" /tmp/server || rc=1
	[[ $rc = 0 ]] || { tail -qn 2 /tmp/client /tmp/server; return 1; }
}
