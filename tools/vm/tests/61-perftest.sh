#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perftest between two links: one run of each kind, or with FULL=1 the matrix.
# limit: 6000
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/peers/lib.sh
. /ward/tools/vm/peers/lib.sh
test_begin

topology
ends
perftest_short
if [[ $FULL ]]; then
	perftest_long
	large_mtu
	gigabyte
fi
t "no resource is left" eventually 10 no_resources
