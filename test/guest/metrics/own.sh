#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --own: only what the command does and what it starts, while another process does the same all the
# time; and what is left of the control group that tells them.
# promise: With --own only the command and the processes that it starts are counted, covered and
#   recorded.
# shellcheck disable=SC2016,SC2317 # for sh; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
start
f=__x64_sys_getsid
both="'$prog/calls' getsid 700; '$prog/calls' getsid 300 & wait"
group() { find /sys/fs/cgroup -maxdepth 1 -name 'kerninst-*' | wc -l; }
has_run() { [ "$(awk '{ print $14 + $15 }' "/proc/$1/stat")" -gt "$2" ]; } # PID TICKS
"$prog/calls" getsid 1000000000000 > /dev/null &
other=$!
until_true 120 has_run $other 10

counted() { "$ki" stat -q --json "$@" | value "$f"; }
is "counted" "$(counted --own $f -- sh -c "$both")" 1000
ok "others are counted else" test "$(counted $f -- sh -c "$both; sleep 0.5")" -gt 1000
is "with another condition" "$(counted --own --if 'comm == "nobody"' $f -- sh -c "$both")" 0
is "by name" "$("$ki" stat -q --own --by comm $f -- sh -c "$both" | awk '$1 == 1000 { print $NF }')" calls
covered() {
	"$ki" cover -q --own --mode count -o /tmp/covered $f -- sh -c "$both" > /dev/null &&
		python3 -c 'import json; print([f["blocks"][0][2] for f in json.load(open("/tmp/covered"))["functions"]][0])'
}
is "covered" "$(covered)" 1000
"$ki" record -q --own -o /tmp/recorded $f=pid -- sh -c "'$prog/calls' getsid 70 & '$prog/calls' getsid 30; wait"
is "recorded" "$(column pid /tmp/recorded | wc -l) $(column pid /tmp/recorded | sort -u | wc -l)" "100 2"

is "no group is left" "$(group)" 0
"$ki" stat -q --own $f -- sh -c 'sleep 100000 & echo $! > /tmp/stays; grep -o kerninst /proc/self/cgroup > /tmp/in' > /dev/null
is "the command was in one" "$(cat /tmp/in)" kerninst
is "who stays behind is where we are" "$(cat "/proc/$(cat /tmp/stays)/cgroup") $(group)" "$(cat /proc/self/cgroup) 0"
kill "$(cat /tmp/stays)"
"$ki" stat -q --own $f -- sleep 100000 > /dev/null &
until_true 120 installed
kill -9 $!
wait $! 2> /dev/null
is "killed: it stays" "$(group)" 1
pkill -f '^sleep 100000'
soon "nobody is in it any more" "" cat /sys/fs/cgroup/kerninst-*/cgroup.procs
is "counted again" "$(counted --own $f -- sh -c "$both")" 1000
is "and the old group has gone" "$(group)" 0

# refused NAME STATUS WORD ARGUMENT...: one line with the word in it
refused() {
	local name=$1 status=$2 word=$3
	shift 3
	"$@" > /tmp/out 2> /tmp/words
	is "$name" "$? $(wc -l < /tmp/words) $(grep -c -e "$word" /tmp/words)" "$status 1 1"
}
refused "no command" 2 "COMMAND" "$ki" stat --own $f
refused "no control groups" 1 "no cgroup2 is mounted" unshare -m sh -c "umount /sys/fs/cgroup; '$ki' stat --own $f -- true"
is "nothing was left" "$(group)" 0
kill $other
finish
