#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Completion queues that change their size while completions arrive.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/guest/programs.sh
. /ward/tools/vm/guest/programs.sh
test_begin

topology
script pv-cq.py
t "no resource is left" eventually 5 no_resources
