#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Toggles at pseudo-random phase against a load, interrupts landing on exact instructions (icount,
# one CPU, preempt=full): the instrument that crashes a driver without the wait.
#
# usage: test/guest/phase.sh [SEED [CYCLES]]: each is on and off
. "$(dirname "$0")/lib.sh"
seed=${1:-1} cycles=${2:-500}
start
ok "on and off $cycles times with the wait" "$top/build/test/toggle" -w -p -s "$seed" "$cycles" vfs_read ksys_read
ok "on and off $cycles times without" "$top/build/test/toggle" -p -s "$seed" "$cycles" vfs_read
finish
