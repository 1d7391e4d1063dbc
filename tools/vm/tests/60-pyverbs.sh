#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-core's own tests (pyverbs): what passes on rdma_rxe passes, nothing fails.
# limit: 1500
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

tests=$RUN/tests results=$RUN/pyverbs-$T
[[ -d $tests ]] || { t_fail "the tests are there" "no $tests"; exit; }
# The fast selection leaves out the modules of which every test is skipped on rdma_rxe.
modules=(test_addr test_atomic test_cq test_cq_events test_cqex test_device test_fork test_mr test_pd
	test_qp test_qpex test_rdmacm test_relaxed_ordering test_srq)
[[ ! $FULL ]] || modules=()

# rxe says what it refuses, which these tests want it to
[[ $T = ward ]] || expect "${T}0: "
ip link add d0 type veth peer name d1
ip addr add 10.9.0.1/24 dev d0
ip link set d0 up
ip link set d1 up
eventually 5 sh -c 'ip -6 addr show dev d0 scope link -tentative | grep -q fe80'
link_add init "${T}0" d0
/ward/tools/vm/peers/pyverbs-run "$tests" "${T}0" "$results" ${modules[@]+"${modules[@]}"} \
	> /tmp/pyverbs.log 2>&1
count() { awk -F '\t' -v m="tests.$1." -v v="$2" 'index($2, m) == 1 && $1 == v' "$results" | wc -l; }
cut -f 2 "$results" | cut -d . -f 2 | sort -u > /tmp/modules
while read -r module; do
	bad=$(awk -F '\t' -v m="tests.$module" 'index($2 ".", m ".") == 1 && $1 ~ /fail|crash|hang/ {
		sub(/.*\./, "", $2); sub(/.* [|] /, "", $4); print $1, $2, $4 }' "$results" |
		head -n 5 | tr '\n' ';')
	name="$module: $(count "$module" pass) passed, $(count "$module" skip) skipped"
	if [[ $bad ]]; then t_fail "$name" "$bad"; else t_ok "$name"; fi
done < /tmp/modules

missing() {
	local name n=0 lost=()
	while read -r name; do
		[[ $name != '#'* ]] || continue
		n=$((n + 1))
		grep -qP "^pass\t\Q$name\E\t" "$results" || lost+=("${name##*.}")
	done < /ward/tools/vm/peers/pyverbs-rxe
	[[ $n != 0 && ${#lost[@]} = 0 ]] || { echo "not passed: ${lost[*]}"; return 1; }
}
[[ $T != ward ]] || t "all that rdma_rxe passes" missing
link_del "${T}0"
ip link del d0
