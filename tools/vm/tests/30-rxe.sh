#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# ward and the kernel's rdma_rxe understand each other, either as the server.
# shellcheck source=tools/vm/guest/lib.sh
. /ward/tools/vm/guest/lib.sh
test_begin

modprobe rdma_rxe
topology rxe ward
t "rping: rxe serves, IPv4" rping_once $NS_A $NS_B $A4 20
t "rping: rxe serves, IPv6" rping_once $NS_A $NS_B $A6 20
t "rping: ward serves, IPv4" rping_once $NS_B $NS_A $B4 20
t "rping: ward serves, IPv6" rping_once $NS_B $NS_A $B6 20
