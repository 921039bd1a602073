#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A replacement's module, when the replaced function is the kernel's own: it stays as long as it is
# needed, and can go soon behind it.
# promise: A replacement's module stays as long as it is needed.
. "$(dirname "$0")/../common/lib.sh"
ok "the test module loads" insmod "$top/build/replace/$(uname -r)/ki_replace.ko"
start
m=ki_replace
results() { cat /proc/ki_replace; }

# shellcheck disable=SC2317
parent_is_wrong() {
	python3 -c 'import os, sys; sys.exit(os.getppid() == int(open("/proc/self/stat").read().split()[3]))'
}
export -f parent_is_wrong
ok "the kernel's function runs the module's" \
	"$ki" replace -q __x64_sys_getppid=$m:${m}_b -- bash -c "parent_is_wrong && ! rmmod $m 2> /dev/null"
ok "and itself when that has gone" eval '! parent_is_wrong'
"$ki" replace -q __x64_sys_getppid=$m:${m}_b < /dev/null > /dev/null 2>&1 &
pid=$!
until parent_is_wrong || ! kill -0 $pid; do sleep 0.2; done
is "the replacement's module stays while it is needed" "$(rmmod "$m" 2> /dev/null; echo $?)" 1
is "and works" "$(results)" "11 21 31 41"
kill -9 $pid
wait $pid 2> /dev/null
ok "and goes soon behind it" goes $m
ok "the function is the kernel's own" eval '! parent_is_wrong'
ok "the module comes again" insmod "$top/build/replace/$(uname -r)/ki_replace.ko"
ok "the test module unloads" rmmod ki_replace
finish
