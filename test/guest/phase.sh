#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 1,000 toggles at pseudo-random phase against a load, interrupts landing on exact instructions
# (icount, one CPU, preempt=full): the instrument that crashes a driver without the wait.
. "$(dirname "$0")/lib.sh"
start
ok "1,000 toggles (500 on, 500 off) with the wait" "$top/build/test/toggle" -w -p -s "${1:-1}" 500 vfs_read ksys_read
ok "1,000 toggles without" "$top/build/test/toggle" -p -s "${1:-1}" 500 vfs_read
finish
