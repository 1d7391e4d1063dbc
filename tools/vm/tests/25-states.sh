#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Queue pairs in SQD and SQE.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
# shellcheck source=tools/vm/guest/programs.sh
. /ward/tools/vm/guest/programs.sh
test_begin

topology
script pv-states.py
t "no resource is left" eventually 5 no_resources
