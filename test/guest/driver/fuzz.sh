#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# At least CALLS (50,000) mutated calls of the driver, from SEED (1) on.
#
# usage: test/guest/driver/fuzz.sh [CALLS [SEED]]
# promise: N13 (in part): Mutated requests leave the driver, its text and its heap right.
# not shown: N13: That no check is missing: a million mutated requests are a sample.
. "$(dirname "$0")/../common/lib.sh"
calls=${1:-50000}
start
# Processes that it changes may end by what stands in their text then: the log need not tell that.
echo 0 > /proc/sys/debug/exception-trace
ok "$calls mutated calls" bash -c "'$top/build/release/test/ioctl_fuzz' --calls $calls --seed ${2:-1} > /tmp/fuzz 2>&1"
grep -E 'WRONG|: stack:' /tmp/fuzz | sed 's/^/# /'
sed 's/^/# /' /tmp/fuzz | tail -n 40
finish
