#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/guest/permit/boot.sh MODE: a kernel that was booted with lockdown=MODE loads no driver without a
# signature of an enrolled key; the tools say so, and what to do instead.
# promise: On a kernel that is booted locked down the tools say why the driver is missing.
# shellcheck disable=SC2016,SC2317 # words for eval
. "$(dirname "$0")/../common/lib.sh"
is "booted locked down" "$(grep -o '\[.*\]' /sys/kernel/security/lockdown)" "[$1]"
ok "the driver is not loaded" eval '! insmod "$top/build/kmod/$(uname -r)/kerninst.ko" 2> /dev/null'
for command in "info" "stat vfs_read" "replace __x64_sys_getsid=__x64_sys_getppid" "cover vfs_read"; do
	# shellcheck disable=SC2086 # words
	"$ki" $command > /tmp/out 2> /tmp/words
	is "kerninst $command: refused" $? 3
	is "in a line" "$(grep -c . /tmp/words) $(grep -c . /tmp/out)" "1 0"
	ok "which names lockdown: $(< /tmp/words)" grep -q "^kerninst: /dev/kerninst (kernel lockdown: .* is not loaded; " /tmp/words
done
"$top/build/release/bin/kdtrace" -n 'vfs_read:entry { @ = count(); }' > /tmp/out 2> /tmp/words
is "kdtrace: refused" $? 3
ok "and says so" grep -q "kernel lockdown" /tmp/words
is "the log is silent but for that" "$(complaints)" ""
echo "1..$tests"
[ "$failures" = 0 ]
