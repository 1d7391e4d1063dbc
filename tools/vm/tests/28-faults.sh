#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The files of the fault injector and of the probe; and whatever takes a device away lets go of
# a queue pair that a rule holds.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

[[ $T = ward ]] || { t_ok "only for ward"; exit 0; }
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
debug=/sys/kernel/debug/ward
expect 'ward: (inject|probe): '

rule() { echo "$2" > "$debug/$1/inject"; }	# rule DEVICE TEXT
# hits DEVICE: of all its rules; held DEVICE: queue pairs that they hold
hits() { awk '!/^#/ { n += $3 } END { print n + 0 }' "$debug/$1/inject"; }
held() { awk '!/^#/ { n += $4 } END { exit !n }' "$debug/$1/inject"; }
last_error() { grep -q "^# last error: .*$2" "$debug/$1/inject"; }
answer() { # answer DEVICE QUESTION ANSWER
	echo "$2" > "$debug/$1/probe" || return
	grep -q "$3" "$debug/$1/probe" || { cat "$debug/$1/probe"; return 1; }
}

topology
t "the files are root's alone" test "$(stat -c %a%U "$debug/$DEV_A/"{inject,probe} | xargs)" = "600root 600root"
t "a rule that is not understood is refused" refused 'invalid argument' rule "$DEV_A" 'drop often'
t "the file says why" last_error "$DEV_A" 'often: '
t "a rule is listed" sh -c "echo 'drop dir=in op=send times=3' > $debug/$DEV_A/inject &&
	grep -q 'on.drop dir=in op=send times=3' $debug/$DEV_A/inject"
t "rping works though three SENDs are lost" rping_once $NS_A $NS_B $A4 20
t "they are counted" test "$(hits "$DEV_A")" = 3
t "so says the counter" test "$(hw "$DEV_A" injected)" = 3
rule "$DEV_A" clear
t "no rule is left" test "$(grep -vc '^#' "$debug/$DEV_A/inject")" = 0
t "the probe knows of no such queue pair" answer "$DEV_A" 'qp=2 key=1 right=read' refused
t "a question that is not understood is refused" refused 'invalid argument' answer "$DEV_A" 'qp=2' .

# hold_one: rping without end, and its server's queue pair held
hold_one() {
	in_a timeout 100 rping -s -a $A4 -v > /dev/null 2>&1 &
	eventually 20 in_a sh -c 'rdma resource show cm_id | grep -q LISTEN'
	in_b timeout 100 rping -c -a $A4 -C 1000000 > /dev/null 2>&1 &
	eventually 20 sh -c 'rdma resource show qp | grep -q "type RC"'
	rule "$DEV_A" 'hold dir=in op=send'
	eventually 20 held "$DEV_A"
}

t "a queue pair is held" hold_one
t "others are not" in_b timeout 20 ping -c 1 $A4
t "clearing the rule lets it go" sh -c "echo clear > $debug/$DEV_A/inject"
t "the next one is held" sh -c "echo 'hold dir=in op=send' > $debug/$DEV_A/inject"
t "it is" eventually 20 held "$DEV_A"
t "the link can be deleted" timeout 30 rdma link delete "$DEV_A"
wait
topology_end

topology
t "a queue pair is held again" hold_one
ip -n A link del va
t "deleting the netdev removes the device" eventually 30 link_gone "$DEV_A"
wait
topology_end

topology
t "a queue pair is held at last" hold_one
t "rmmod" timeout 30 rmmod ward
wait
t "no debugfs folder is left" test ! -e "$debug"
