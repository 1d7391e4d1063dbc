#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A process that writes whatever it likes into the rings which it shares with the kernel
# (tools/verbs/hostile.c), beside one that works.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

# what rxe does with them is not our business
[[ $T = ward ]] || { t_ok "only for ward"; exit 0; }
# it does that, too
expect "completion queue of [0-9]* entries overflowed"
expect "ward_cq_add: [0-9]* callbacks suppressed"
seconds=20
[[ ! $FULL ]] || seconds=120
topology
t "the program can be built" /ward/tools/verbs/build /tmp hostile
in_a timeout 200 /tmp/hostile "$DEV_A" $seconds || t_fail "hostile ends well" "status $?"
t "no resource of it is left" eventually 10 no_resources
