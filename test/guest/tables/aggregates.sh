#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst stat --by with what is summed up: values of expressions against known ones, times of calls
# by keys against the kernel's clock around them (test/guest/metrics/).
# promise: D6, D7 (in part): Sums, minmax, deviations and distributions by several keys are
#   exact, or a lost change is counted. [test_stat_by_delta.c, test_regroup.c]
# shellcheck disable=SC2016,SC2317 # awk's own; functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../metrics/metrics_lib.sh"
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
start

# row KEY NAME: a number of the row with that key, as JSON has it: count, or sum(walltime), ...
row() { grep -F "\"key\":{$1}" "$json" | grep -F "\"point\":\"${3:-$f}" | grep -oE "\"${2//[()]/.}\": *-?[0-9.e+-]+" | head -n 1 | sed 's/.*: *//'; }
rows() { grep -c '"point"' "$json"; }
column() { sed -n 's/.*"'"$1"'": *\([0-9.e+-]*\).*/\1/p' "$json" | awk '{ s += $1 } END { print s + 0 }'; }

# timed NAME ARGUMENT...: measured, by clocks that count instructions (vm/run --icount): the host's
# other work is in none of them
timed() {
	local name=$1
	shift
	command reset
	ok "$name" stat "$@"
}

# ---- values ----
dds() { for i in "512 300" "1024 70" "2048 11"; do read -r bs n <<< "$i"; dd if=/dev/zero of=/dev/null bs="$bs" count="$n" status=none; done; }
export -f dds
want='comm == "dd" && arg2 >= 512 && arg2 <= 2048'
ok "sums of an argument" stat --by comm --agg sum:arg2,avg:arg2,min:arg2,max:arg2,stddev:arg2,sum:-arg2 --if "$want" vfs_write -- bash -c dds
in_dd() { row '"comm":"dd"' "$1" vfs_write; }
is "hits" "$(in_dd 'count')" 381
is "sum, least, greatest, negative" "$(in_dd 'sum(arg2)') $(in_dd 'min(arg2)') $(in_dd 'max(arg2)') $(in_dd 'sum(-arg2)')" "247808 512 2048 -247808"
about "mean" "$(in_dd 'avg(arg2)')" "$(sum "247808 / 381")" 0.001
about "deviation" "$(in_dd 'stddev(arg2)')" "$(sum "sqrt((300 * 512^2 + 70 * 1024^2 + 11 * 2048^2) / 381 - (247808 / 381)^2)")" 0.01
ok "as a table" "$ki" stat -q -o "$json.txt" --by size:arg2 --agg max:arg2,sum:arg2 --if "$want" vfs_write -- bash -c dds
is "in order of the first column" "$(awk '$1 ~ /^[0-9]+$/ { print $1, $3, $4, $6 }' "$json.txt" | tr '\n' ' ')" "11 2048 22528 2048 70 1024 71680 1024 300 512 153600 512 "
ok "its titles" grep -qE 'COUNT +RATE/S +max\(arg2\) +sum\(arg2\) +POINT +size' "$json.txt"
ok "as CSV" "$ki" stat -q -x, -o "$json.csv" --by size:arg2 --agg sum:arg2 --if "$want" vfs_write -- bash -c dds
is "rows" "$(grep '^[0-9]' "$json.csv" | cut -d, -f1,3,4,5 | tr '\n' ' ')" "300,153600,vfs_write,512 70,71680,vfs_write,1024 11,22528,vfs_write,2048 "

# ---- as it goes on ----
slowly() { for _ in 1 2 3; do dds; sleep 0.7; done; }
export -f slowly
times() { grep -o '"time": *[0-9.]*' "$json" | sort -u | wc -l; }
several() { [ "$(times)" -ge 4 ]; }
timed "a table each interval" --by size:arg2 --agg sum:arg2 -i 0.5 --if "$want" vfs_write -- bash -c slowly
totals() { grep -F "\"key\":{\"size\":\"$1\"}" "$json" | sed 's/.*"count": *\([0-9]*\).*"sum(arg2)": *\([0-9]*\).*/\1 \2/' | awk '{ n += $1; s += $2 } END { print n, s }'; }
is "together they are all" "$(for i in 512 1024 2048; do totals $i; done | xargs)" "900 460800 210 215040 33 67584"
ok "of several times" several
ok "as a table, too" "$ki" stat -q -o "$json.txt" --by size:arg2 -i 0.5 --if "$want" vfs_write -- bash -c slowly
ok "with the time" grep -qE 'TIME +COUNT +RATE/S +POINT +size' "$json.txt"
is "and each hit once" "$(awk '$NF == 512 { n += $2 } END { print n }' "$json.txt")" 900
ok "with what it costs" stat --by size:arg2 --cost --if "$want" vfs_write -- bash -c dds
is "hits, and a row of what that costs" "$(totals_of() { grep -F '"key"' "$json" | grep -o '"count": *[0-9]*' | awk -F: '{ s += $2 } END { print s }'; }; totals_of) $(grep -c '"cost_per_second"' "$json")" "381 2"
ok "each costs as much as a row does" awk -v c="$(grep '"point":"vfs_write"' "$json" | grep -o '"cost_per_second": *[0-9.]*' | sed 's/.*: *//')" 'BEGIN { exit !(c > 0) }'
ok "of each CPU by a key" stat --by cpu --if "$want" vfs_write -- bash -c dds
is "they make the whole" "$(column count)" 381
shed() { grep -q '"metric":"shed"' "$json"; }
timed "with a budget" --by size:arg2 --budget 0.000001% --if "$want" vfs_write -- bash -c slowly
ok "what costs more is shed" shed

# ---- times by an argument ----
sleeps() { command "sleep 100 5"; command "sleep 40 4"; }
export -f sleeps command
export control
lasts() { # MS: each call of that argument
	awk -v s="$(row "\"ms\":\"$1\"" 'avg(walltime)')" -v l="$(row "\"ms\":\"$1\"" 'min(walltime)')" \
		-v h="$(row "\"ms\":\"$1\"" 'max(walltime)')" -v ms="$1" 'BEGIN { exit !(ms / 1e3 - 0.005 <= l && l <= s && s <= h && h < ms / 1e3 + 0.1) }'
}
asleep() { awk -v v="$(column 'sum(vtime)')" 'BEGIN { exit !(v > 0 && v < 0.1) }'; }
timed "walltime by an argument" --by "ms:(int)arg0" -m calls,walltime,walltime/call,latency,vtime --agg min:walltime,max:walltime ${f}_sleep -- bash -c sleeps
is "a row for each" "$(rows)" 2
is "calls" "$(row '"ms":"100"' count) $(row '"ms":"40"' count)" "5 4"
about "both together" "$(column 'sum(walltime)')" "$(seconds sleep)"
for i in 100 40; do ok "$i ms and more each" lasts $i; done
ok "asleep, no vtime" asleep
is "a histogram with each call" "$(grep -o '"histogram":.*' "$json" | grep -o '"count":[0-9]*' | awk -F: '{ s += $2 } END { print s }')" 9

in_steps() {
	grep -o '"range":"[0-9]*' "$json" | awk -F '"' '{ print ($4 >= 100000000) + 0, ($4 >= 40000000) + 0 }' | sort -u | tr '\n' ' '
	grep -o '"histogram":.*' "$json" | grep -o '"count":[0-9]*' | awk -F: '{ s += $2 } END { print s }'
}
timed "times in steps" --hist walltime:0:200000000:20000000 ${f}_sleep -- bash -c sleeps
is "each call is in one: 40 ms and more, 100 ms and more" "$(in_steps)" "0 1 1 1 9"

# ---- by who it is ----
both() { "$prog/own" "$control" 'spin 2000 60'; command "spin 2000 40"; }
export -f both
export prog
of_own() { row '"comm":"own"' 'sum(walltime)'; }
timed "vtime by name" --by comm --agg sum:vtime,sum:walltime,avg:arg0 ${f}_spin -- bash -c both
is "calls of each" "$(row '"comm":"own"' count) $(row '"comm":"bash"' count)" "60 40"
is "an argument, beside that" "$(row '"comm":"own"' 'avg(arg0)')" 2000
about "their time" "$(column 'sum(vtime)')" "$(seconds spin)" 3
about "60 of 100 calls" "$(of_own)" "$(sum "$(column 'sum(walltime)') * 0.6")" 25
timed "by stack" --by stack --agg sum:walltime ${f}_sleep -- bash -c "sleeps; command 'tail 50 3'"
about "all ways" "$(column 'sum(walltime)')" "$(sum "$(seconds sleep) + $(seconds tail)")" 5
is "the way of the nine calls" "$(grep -E "sleep[^;]*;(do_)?command" "$json" | grep -o '"count":[0-9]*' | head -n 1)" '"count":9'

# ---- by a process's stack, and stacks that several CPUs meet at once ----
reader() { for _ in $(seq 50); do printf "%777s" x; sleep 0.01; done | dd of=/dev/null bs=777 count=50 status=none; }
export -f reader
# looked up while it is there
has_names() { grep -qE '"ustack":"[^"]*read[+]0x' "$json"; }
for m in calls walltime; do
	timed "by a process's stack, $m" --by ustack,comm -m $m --agg sum:arg2 --if 'comm == "dd" && arg2 == 777' ksys_read -- bash -c reader
	is "one way" "$(rows) $(grep -o '"count":[0-9]*' "$json")" '1 "count":50'
	ok "by name" has_names
done
ok "two ways whose names are the same as far as they are shown" stat --by ustack --if 'arg2 == 4321' ksys_write -- "$prog/deep" 5 3
is "are two keys" "$(grep -o '"count":[0-9]*' "$json" | tr '\n' ' ')" '"count":5 "count":3 '
many() { for _ in 1 2 3 4 5 6; do (for _ in $(seq 10); do cat /proc/self/status /etc/passwd > /dev/null; done) & done; wait; }
export -f many
ok "stacks of many" stat -n 0 --by stack,ustack vfs_read vfs_write seq_read_iter -- bash -c many
ok "$(rows) keys, of which none stands there twice" awk -F '"key":' '/"key"/ { k = $1 $2; sub(/,"count".*/, "", k); if (seen[k]++) { print; bad = 1 } } END { exit bad }' "$json"

# ---- what a thread is called, whose it is, its number: as they were when it began ----
commands() { for _ in 1 2 3; do /bin/true; done; setpriv --reuid 1234 /bin/true; }
export -f commands
ok "programs started, by name" stat --by comm --agg sum:walltime __x64_sys_execve -- bash -c commands
is "by those who were there" "$(row '"comm":"bash"' count __x64_sys_execve) $(row '"comm":"true"' count __x64_sys_execve)" "4 "
ok "users changed, by user and name" stat --by uid,comm --agg sum:walltime,sum:vtime __x64_sys_setresuid -- bash -c commands
is "by the one before" "$(rows) $(row '"uid":"0","comm":"setpriv"' count __x64_sys_setresuid)" "1 1"
exec_in_thread() { python3 -c 'import os, threading; t = threading.Thread(target=os.execv, args=("/bin/true", ["true"])); t.start(); t.join()'; }
export -f exec_in_thread
ok "a thread that becomes another program, by its number" stat --by 'first:pid == tid' -m walltime --if 'comm == "python3"' __x64_sys_execve -- bash -c exec_in_thread
is "by the number it had" "$(row '"first":"0"' count __x64_sys_execve) $(rows)" "1 1"

# ---- by what is returned; what is inside itself is one ----
timed "by the value returned" --by "depth:(int)retval,(int)arg0" --agg sum:walltime,max:walltime ${f}_recurse -- sh -c "echo recurse 3 5000 > $control; echo recurse 7 5000 > $control; echo recurse 7 5000 > $control"
is "calls from outside, by both" "$(row '"depth":"4","(int)arg0":"3"' count) $(row '"depth":"8","(int)arg0":"7"' count) $(rows)" "1 2 2"
about "their time" "$(column 'sum(walltime)')" "$(seconds recurse)" 5

# ---- blocks and calls by keys ----
command reset
ok "a call and blocks" stat --by way:arg1 --if 'arg1 >= 0' --agg sum:walltime ${f}_paths -- sh -c "echo paths 1000 1 20 > $control; echo paths 1000 3 10 > $control"
is "ways" "$(row '"way":"1"' count) $(row '"way":"3"' count)" "20 10"
ok "calls in a function" stat --by comm --agg sum:walltime "${f}_paths:call/${f}_sleep" -- sh -c "echo reset > $control; echo paths 1000 0 20 > $control"
is "by name" "$(row '"comm":"sh"' count "$f:${f}_paths:edge/")" 20

# ---- a task's calls, and those of interrupts that come to it ----
command reset
ok "calls by a task and in interrupts" stat --by us:arg0 --agg sum:walltime ${f}_tick -- sh -c "echo tick 8000 20 > $control"
# All interrupts may have come in the middle of the task's calls, and are theirs then.
is "no key is another's" "$(grep -o '"us":"[0-9]*"' "$json" | grep -v '"us":"5"')" '"us":"20"'
is "the task's calls" "$(row '"us":"20"' count)" 8000
elsewhere=$(row '"us":"5"' count)
ok "interrupts' calls that came elsewhere" test "${elsewhere:-0}" -lt "$(awk '/^ticks/ { print $2 }' $control)"

# ---- what cannot be ----
misuse() { ! "$ki" stat "${@:2}" vfs_read -- true > /tmp/misuse 2>&1 && cat /tmp/misuse && grep -qF -- "$1" /tmp/misuse; }
ok "a ratio" misuse "not by keys" --by comm -m ipc
ok "no function of that name" misuse "sum:WHAT" --agg median:arg2
ok "no such value" misuse "--agg 'foo'" --agg sum:foo
ok "an expression that is none" misuse "--agg" --agg sum:
ok "a string, of what lasts" misuse "a string" --by 'str(arg1)' --agg sum:walltime
ok "the text is what it was" text_is_back
ok "the test module unloads" goes $f
finish
