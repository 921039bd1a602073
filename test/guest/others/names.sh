#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Patches have names: in /proc/kallsyms, in the log of a stack that begins in one, in perf's samples;
# they go with the session, and where there are more patches than names, the others are said to have none.
# promise: Patches have names in oopses, kallsyms and perf. [frames.sh]
# shellcheck disable=SC2016,SC2317 # for the tool; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
insmod "$top/build/frames/$(uname -r)/ki_frames.ko" \
	heap_start="$(field heap_start)" heap_end="$(field heap_end)" || exit 1
start
f=__x64_sys_getsid
named() { awk '$3 ~ /^kerninst:/ { print $3 }' /proc/kallsyms; }
own() { grep -c '\[kerninst\]$' /proc/kallsyms; }
begin() { # COMMAND...: in the background, until `end`; with windows
	"$@" < /dev/null > /tmp/out 2> /tmp/words &
	pid=$!
	until_true 120 installed
}
end() {
	kill -INT "$pid"
	wait "$pid"
	until_true 120 field_is windows 0
}

is "no patch, no name" "$(named | wc -l)" 0
count=$(own)
begin "$ki" stat -q $f
is "a patch has the name of its place" "$(named | grep -cx "kerninst:$f+0x[0-9a-f]*")" 1
at=$((16#$(awk '$3 ~ /^kerninst:/ { print $1 }' /proc/kallsyms)))
ok "which is in the heap" test $at -ge $(($(field heap_start))) -a $at -lt $(($(field heap_end)))
end
soon "it goes with the session" 0 eval 'named | wc -l'
is "and the driver's own symbols are what they were" "$(own)" "$count"

begin "$ki" stat -q --no-move -m blocks 'vfs_*'
many=$(named | wc -l)
ok "many patches have names ($many)" test "$many" -gt 300
is "no other function has got one" "$(named | grep -cv '^kerninst:vfs_[^ ]*+0x[0-9a-f]*$')" 0
is "tools see no functions in them" "$("$ki" list 'kerninst:*' 2> /dev/null | grep -c 'kerninst:vfs')" 0
perf record -q -a -o /tmp/perf.data -- bash -c 'for i in $(seq 20); do cat /proc/kallsyms > /dev/null; done' > /tmp/perf.words 2>&1
perf script -i /tmp/perf.data -F ip,sym,symoff 2> /dev/null > /tmp/script
ok "perf's samples are in patches by name ($(grep -c 'kerninst:vfs_' /tmp/script))" grep -q 'kerninst:vfs_' /tmp/script
end

begin "$ki" stat -q --no-move -m blocks 'vfs_*' 'tcp_*' 'ip_*' 'do_*'
too_many() { [ "$(field windows)" -gt 5000 ]; }
ok "more patches than names" until_true 60 too_many
is "then so many have one" "$(named | sort -u | grep -c '+0x')" 4096
ok "the others are called so" test "$(named | grep -c '^kerninst:unnamed$')" -gt 0
warned() { # -> /tmp/warned: the log of a warning from a patch
	dmesg -C
	"$top/build/test/cover" ki_frames_warn -- bash -c 'echo warn > /proc/ki_frames; dmesg > /tmp/warned' > /tmp/cover
	dmesg -C
}
warned
is "a warning in one of them says so, and no other's name" \
	"$(grep -c 'RIP: 0010:kerninst:unnamed+0x[0-9a-f]*/0x[0-9a-f]* \[kerninst\]' /tmp/warned)" "$(grep -c 'WARNING:' /tmp/warned)"
end
soon "the names are gone" 0 eval 'named | wc -l'
begin "$ki" stat -q $f
is "and come again" "$(named | grep -c "kerninst:$f+")" 1
end
# ---- from inside ----
warned
is "a warning in a patch says where it is" "$(grep -c 'RIP: 0010:kerninst:ki_frames_warn+0x[0-9a-f]*+0x[0-9a-f]*/0x[0-9a-f]* \[kerninst\]' /tmp/warned)" "$(grep -c 'WARNING:' /tmp/warned)"
ok "there were some" grep -q WARNING: /tmp/warned
rmmod ki_frames
finish
