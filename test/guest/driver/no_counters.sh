#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A machine with no memory in reach of all CPUs: the kernel's command line has put their own memory
# page by page elsewhere, as several memory nodes have it far apart.
# promise: Where no memory is in reach of all CPUs, the driver has no counters, says so, and harms nothing.
. "$(dirname "$0")/../common/lib.sh"
start
k=$top/build/release/bin

"$k/kerninst" info > /tmp/info 2>&1
ok "there are no counters" grep -q "^counters  *0 of 0 used" /tmp/info
ok "info says that, and what to do" grep -q '^unsupported  *counters: .*numa=off' /tmp/info
"$k/kerninst" stat -m calls vfs_read -- true > /tmp/out 2> /tmp/said
is "a count is refused" $? 1
is "in one line, with the reason" "$(grep -c 'this machine has no counters' /tmp/said)" 1
"$k/kdtrace" -n 'fbt::vfs_read:entry { @ = count(); }' -c true > /tmp/out 2> /tmp/said
ok "by D, too" grep -q 'this machine has no counters' /tmp/said
is "the kernel's code is shown all the same" \
	"$("$k/kerninst" list vfs_read | grep -c 'kernel:vfs_read ')" 1
finish
