#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Toggles at pseudo-random phase against a load, interrupts landing on exact instructions (icount,
# one CPU, preempt=full): the instrument that crashes a driver without the wait.
#
# usage: test/guest/splice/phase.sh [SEED [CYCLES [CYCLES-WITHOUT-WAIT]]]: each is on and off. A driver
# without the wait has been seen to live through 100 cycles, and to die within 350.
. "$(dirname "$0")/../common/lib.sh"
seed=${1:-1} cycles=${2:-500} fast=${3:-500}
start
ok "on and off $cycles times with the wait" "$top/build/test/toggle" -w -p -s "$seed" "$cycles" vfs_read ksys_read
ok "on and off $fast times without" "$top/build/test/toggle" -p -s "$seed" "$fast" vfs_read
finish
