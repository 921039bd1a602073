#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who has changed the kernel's text, or a process's, looked at from outside: sessions listed, evicted by the tool,
# by the sysctl and by the key of sysrq, while another session counts on exactly; the tracepoint, the
# audit's records (the kernel is booted with audit=1), the taint.
# promise: Each session names its process, user, age and windows, and can be evicted alone.
# promise: Each change of text is a trace event, and each request an audit record.
#   [panic_host.sh, coexist.sh]
# shellcheck disable=SC2016,SC2317 # for the tool; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
for_everyone "$prog/calls"
f=__x64_sys_getsid
g=__x64_sys_getpgid
start

pids=()
begin() { # NAME COMMAND...: kerninst, in a session of its own, until it is ended
	local name=$1
	shift
	"$@" < /dev/null > "/tmp/out_$name" 2> "/tmp/words_$name" &
	pids[name]=$!
}
end() { # NAME: its exit status
	kill -INT "${pids[$1]}"
	wait "${pids[$1]}"
	echo $?
}
# row PID KEY: of the session that this process has opened
row() {
	"$ki" sessions --json | grep -F "\"pid\":$1," | sed -n "s/.*\"$2\": *\"\{0,1\}\([^,\"}]*\).*/\1/p"
}
has() { [ "$(row "$1" "$2")" = "$3" ]; } # PID KEY VALUE
many() { [ "$(row "$1" chunks)" -gt 10 ]; } # PID
tainted() { [ $(($(< /proc/sys/kernel/tainted) & 1 << 15)) != 0 ]; } # TAINT_LIVEPATCH
stands_as_before() { ok "$1" text_is_back; }

# ---- sessions ----
is "the only session is the one that asks" "$("$ki" sessions --json | grep -c '"self":true') $("$ki" sessions --json | wc -l)" "1 1"
begin 1 "$ki" stat -q --json $f
ok "one counts" until_true 60 has "${pids[1]}" chunks 1
ok "no taint so far" eval '! tainted'
begin 2 "$ki" replace -q $g=__x64_sys_getpriority
begin 3 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+perfmon,+syslog \
	--ambient-caps=-all,+perfmon,+syslog "$ki" stat -q --json $f
ok "one replaces" until_true 60 has "${pids[2]}" replaced 1
ok "that taints, as a live patch does" tainted
is "once, and it is told by whom" "$(dmesg | grep -c "session .* (kerninst, process ${pids[2]}) replaces $g.* is tainted")" 1
ok "one is another user's" until_true 60 has "${pids[3]}" chunks 1
is "each is told with its process" "$(row "${pids[1]}" command) $(row "${pids[2]}" command)" "kerninst kerninst"
is "and its user" "$(row "${pids[1]}" uid) $(row "${pids[3]}" uid)" "0 65534"
is "and its windows" "$(row "${pids[1]}" windows) $(row "${pids[2]}" windows)" "1 1"
ok "and its memory" test "$(row "${pids[2]}" heap_bytes)" -gt 0
is "what it replaced, by what" "$("$ki" sessions | grep -c "session $(row "${pids[2]}" session): $g\\(+0x[0-9a-f]*\\)\\?, 1 chunk, replaced by __x64_sys_getpriority\$")" 1
$bin/calls getsid 400
ok "what it has counted" test "$(row "${pids[1]}" counted)" -ge 400
ok "its age goes on" awk -v a="$(row "${pids[1]}" age)" -v b="$(sleep 1; row "${pids[1]}" age)" 'BEGIN { exit !(b >= a + 1 && b < a + 60) }'

# ---- evict ----
with() { setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="-all$1" --ambient-caps="-all$1" "${@:2}"; }
one=$(row "${pids[1]}" session)
two=$(row "${pids[2]}" session)
with ,+perfmon "$ki" evict "$one" > /tmp/out 2> /tmp/words
is "not by another user" "$? $(grep -c "another user's" /tmp/words)" "3 1"
"$ki" evict 99999 2> /tmp/words
is "not one that is not there" "$? $(grep -c 'no session 99999' /tmp/words)" "1 1"
is "a replacement is evicted" "$("$ki" evict "$two")" "1 evicted"
is "its session is still there, with nothing in" "$(row "${pids[2]}" evicted) $(row "${pids[2]}" chunks)" "true 0"
is "again: nothing is left to do" "$("$ki" evict "$two")" "0 evicted"
ok "the log says by whom" grep -q "session $two (kerninst, process ${pids[2]}) is evicted by kerninst, process" <(dmesg)
$bin/calls getsid 600
is "by the user himself" "$(with ,+perfmon "$ki" evict --all)" "1 evicted"
is "the others were not touched" "$(row "${pids[1]}" evicted) $(row "${pids[1]}" chunks)" "false 1"
$bin/calls getsid 500
end 1 > /dev/null
is "who was not evicted has counted all" "$(value $f < /tmp/out_1)" 1500
for i in 2 3; do
	end $i > /dev/null
	ok "who was evicted is told so ($i)" grep -q evicted /tmp/words_$i
done
stands_as_before "the text is what it was"

# ---- without a tool ----
ways="sysctl sysrq"
by_sysctl() { echo 1 > /proc/sys/kernel/kerninst_evict; }
by_sysrq() { echo y > /proc/sysrq-trigger; }
for way in $ways; do
	begin 1 "$ki" stat -q -m blocks vfs_read vfs_write
	begin 2 "$ki" replace -q $g=__x64_sys_getpriority
	ok "$way: one counts" until_true 60 many "${pids[1]}"
	ok "$way: one replaces" until_true 60 has "${pids[2]}" replaced 1
	ok "$way is asked" "by_$way"
	ok "$way: nothing is in" until_true 60 field_is windows 0
	stands_as_before "$way: the text is what it was"
	end 1 > /dev/null
	end 2 > /dev/null
done
# ---- told to those who watch ----
traces=/sys/kernel/tracing
echo 0 > /proc/sys/kernel/printk_ratelimit # the log stands in for auditd
echo 1 > $traces/events/kerninst/change/enable
begin 1 "$ki" stat -q --json vfs_read
ok "one counts" until_true 60 has "${pids[1]}" chunks 1
one=$(row "${pids[1]}" session)
places=$(row "${pids[1]}" windows) # a function may be entered behind its beginning, too
end 1 > /dev/null
begin 2 "$ki" replace -q $g=__x64_sys_getpriority
ok "one replaces" until_true 60 has "${pids[2]}" replaced 1
two=$(row "${pids[2]}" session)
"$ki" evict "$two" > /dev/null
end 2 > /dev/null
echo 0 > $traces/events/kerninst/change/enable
traced() { grep -c "change: session=$1 pid=$2 comm=kerninst uid=0 at=$3.* what=$4 by=$5" $traces/trace; }
is "the tracepoint: installed, by whom" "$(traced "$one" "${pids[1]}" vfs_read+ install 0x0)" "$places"
is "and removed" "$(traced "$one" "${pids[1]}" vfs_read+ remove 0x0)" "$places"
is "and what a function is replaced by" "$(traced "$two" "${pids[2]}" $g+0x install __x64_sys_getpriority+0x0)" 1
is "removed by another process: that one" "$(traced "$two" '[0-9]*' $g+0x remove 0x0) $(traced "$two" "${pids[2]}" $g+0x remove 0x0)" "1 0"
sleep 1 # for the kernel's thread that writes them
# A record for each request that changes text, with the process.
audited() { dmesg | grep 'type=1316' | grep -c "kerninst session=$1 $2.* pid=$3 .* comm=\"kerninst\""; }
is "audit: installed, by whom" "$(audited "$one" "installed=$places changed=0 removed=0 first=vfs_read+" "${pids[1]}")" 1
is "and removed" "$(audited "$one" "installed=0 changed=0 removed=$places first=vfs_read+" "${pids[1]}")" 1
is "and replaced" "$(audited "$two" "installed=1 .* first=$g.* replaced=1 by=__x64_sys_getpriority+0x0" "${pids[2]}")" 1
dmesg -C
"$ki" stat -q -m blocks vfs_read vfs_write -- true > /dev/null
told() { dmesg | sed -n "s/.*type=1316.* $1=\([0-9]*\).*/\1/p" | awk '{ n += $1 } END { print n + 0 }'; }
all_told() { [ "$(told installed)" -gt 20 ] && [ "$(told removed)" = "$(told installed)" ]; }
ok "all of many windows are told" until_true 10 all_told
ok "in few records" test "$(dmesg | grep -c 'type=1316')" -le 4

# ---- processes ----
sleep 1000 &
asleep=$!
echo > $traces/trace
echo 1 > $traces/events/kerninst/process/enable
dmesg -C
begin 4 "$ki" stat -q "$asleep/libc.so.6:clock_nanosleep" "$asleep/libc.so.6:getppid"
ok "one counts in a process" until_true 60 has "${pids[4]}" places 2
four=$(row "${pids[4]}" session)
is "it is told in which" "$(row "${pids[4]}" process)" $asleep
ok "in words, too" grep -qx "session $four: process $asleep, 2 places of its text" <("$ki" sessions)
end 4 > /dev/null
echo 0 > $traces/events/kerninst/process/enable
of_process() { grep -cE "process: session=$four pid=$1 .* process=$asleep places=2 first=0x[0-9a-f]+ what=$2\$" $traces/trace; }
is "the tracepoint: by whom, and given back by the kernel" "$(of_process "${pids[4]}" install) $(of_process '[0-9]+' remove)" "1 1"
sleep 1
process_audited() { dmesg | grep 'type=1316' | grep -cE "kerninst session=$four process=$asleep $1 first=0x[0-9a-f]+ .*"; }
is "audit: the same" "$(process_audited 'installed=2 removed=0') $(process_audited 'installed=0 removed=2')" "1 1"
kill $asleep
wait $asleep 2> /dev/null

is "only 0 and 1 are taken" "$(sh -c 'echo 2 > /proc/sys/kernel/kerninst_evict' 2> /dev/null; echo $?)" 1
is "and only from root" "$(with ,+perfmon sh -c 'echo 1 > /proc/sys/kernel/kerninst_evict' 2> /dev/null; echo $?)" 2
finish
