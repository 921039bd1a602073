#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A machine with no memory at one distance from all CPUs' own: the kernel's command line has put that
# together of single pages.
# promise: Where no memory is at one distance from all CPUs' own, the driver has no counters, says so, and harms nothing.
. "$(dirname "$0")/../common/lib.sh"
start
k=$top/build/release/bin

"$k/kerninst" info > /tmp/info 2>&1
ok "there are no counters" grep -q "^counters  *0 of 0 used" /tmp/info
ok "info says that, and what to do" grep -q '^unsupported  *counters: .*percpu_alloc=page' /tmp/info
"$k/kerninst" stat -m calls vfs_read -- true > /tmp/out 2> /tmp/said
is "a count is refused" $? 1
is "in one line, with the reason" "$(grep -c 'this machine has no counters' /tmp/said)" 1
is "D counts all the same" "$("$k/kdtrace" -qn 'BEGIN { @ = count(); exit(0); }' 2> /dev/null | tr -d ' \n')" 1
is "the kernel's code is shown" "$("$k/kerninst" list vfs_read 2> /dev/null | grep -c '^kernel  vfs_read  .*yes$')" 1
finish
