#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A request that sleeps in user memory, for ever, delays no other descriptor's work by more than
# 100 ms (needs -icount: a nanosecond is an instruction), and can be killed. The control group of
# the process that makes a request pays for what it takes.
# promise: A request that waits in user memory delays no other session by 100 ms.
# shellcheck disable=SC2016 # for the shell inside
. "$(dirname "$0")/../common/lib.sh"
locks=$top/build/test/locks
f=__x64_sys_getsid
start
free=$(field heap_used)
cases "asleep: " 12 "$locks" sleep
soon "nothing of them is left in the text" "0 $free" eval 'echo $(field windows) $(field heap_used)'
ok "text as before" text_is_back

group=/sys/fs/cgroup/locks
echo +memory > /sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo 256M > $group/memory.max
cases "in 256 MiB: " 4 sh -c 'echo $$ > "$1/cgroup.procs"; exec "$2" memory "$1"' sh $group "$locks"
is "the driver goes on" "$("$ki" stat -q --json $f -- "$prog/calls" getsid 700 | value $f)" 700
soon "all is given back" "0 $free" eval 'echo $(field windows) $(field heap_used)'
finish
