#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/torture.sh [KERNINST]
# A process that changes all the time while it is measured: threads are born and die, it forks, its
# children become other programs, libraries come and go, it restricts itself, exceptions are thrown,
# a debugger comes, signals come at each instruction. Its work is right, counts are exact, and the text is as it was.
# promise: A hundred threads that count at once in a process lose no hit.
# promise: Threads, forks, libraries and exceptions come and go while a process is measured.
#   [ends.sh]
# not shown: Counters of each thread in programs other than the GNU C library's; those are locked.
# shellcheck disable=SC2015,SC2016 # who fails says so; for other shells
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

same() { is "$(text | cut -d " " -f 1)" "${before% *}"; }
# begin "WHAT N": the program's word of it without us is $want
begin() { start churn "$library" && before=$(text) && ask "$1" && want=$answer; }
# measured "WHAT N" POINT...: lines "POINT COUNT" in $tmp/counts; it says what it has said without us
measured() {
	to=$to from=$from "$ki" stat -q -x, -o "$tmp/csv" "${@:2}" -- bash -c "ask $1" || return
	awk -F, 'NR > 1 { print $3, $1 }' "$tmp/csv" | sort > "$tmp/counts"
	is "$(cat "$tmp/answer")" "$want" && same
}
counted() { # "WHAT N" CALLS
	begin "$1" && measured "$1" "$pid/churn:step" && is "$(of churn:step)" "$2" && stop
}
check "threads that are born and die: each call" counted "threads 100" 80000
# More threads at once than have counters of their own, signals whose handlers call it too, and fork.
crowded() { # WHAT POINT ROWS
	start churn "$library" && before=$(text) || return
	to=$to from=$from "$ki" stat -q -x, -o "$tmp/csv" "$pid/churn:$2" -- bash -c "ask $1" || return
	answer=$(cat "$tmp/answer")
	is "$(awk -F, 'NR > 1 { print $1 }' "$tmp/csv" | sort -u)" "$answer" && [ "$answer" -gt 2000000 ] &&
		[ "$(wc -l < "$tmp/csv")" -gt "$3" ] && same && stop
}
check "a hundred threads at once, signals, forks of handlers: each call" crowded "crowd 2" step 1
check "each instruction, some of them where flags are kept" crowded "crowd 1" step:insns 15
check "eight threads at once: each call" crowded "stand 20" step 1
check "a child and its parent at once: each call" crowded "twins 20" step 1
# Its threads with an FS base where 0 stands cannot be known by it.
strays() {
	start churn "$library" && before=$(text) && ask strays 1 && is "$answer" 2 || return
	to=$to from=$from "$ki" stat -q -x, -o "$tmp/csv" "$pid/churn:step" -- bash -c "ask beside 30" || return
	is "$(cat "$tmp/answer") $(awk -F, 'NR > 1 { print $1 }' "$tmp/csv")" "9000000 9000000" && same && stop
}
check "threads that cannot be known by their FS base, and another at once: each call" strays
check "children: each call, of theirs too" counted "forks 100" 20000
check "children of vfork: until they become another program" counted "spawns 100" 10000
check "libraries that come and go: all else is counted" counted "library 100" 0

# A signal before and after each instruction, of springboards and patches too; its handler calls the same functions.
bounds() { # POINT LEAST
	echo 100 | $bin/bounds > "$tmp/its" && read -r want _ < <(sed -n 2p "$tmp/its") &&
		echo 100 | "$ki" stat -q -x, -o "$tmp/csv" command/bounds:step "command/bounds:$1" -- $bin/bounds > "$tmp/its" 2> "$tmp/said" || { cat "$tmp/said"; return 1; }
	read -r sum others calls boundaries < <(sed -n 2p "$tmp/its")
	echo "$boundaries boundaries"
	is "$sum $others" "$want 0" && is "$(awk -F, '$3 == "bounds:step" { print $1 }' "$tmp/csv")" "$calls" && [ "$boundaries" -ge "$2" ]
}
check "a signal at each boundary of instructions: each call" bounds work 24259
check "a signal at each boundary, a counter in each block" bounds work:blocks 60000
check "a signal at each boundary, a counter at each instruction" bounds work:insns 250000

# Put in and taken out while that goes on, in the C library and the loader, too. Where a thread does not stop in time,
# or is in vfork, nothing has changed.
is_stuck=$("$ki" explain PROCESS_STUCK | sed -n '2s,^ *,,p')
is_busy=$("$ki" explain PROCESS_BUSY | sed -n '2s,^ *,,p')
in_and_out() { # TIMES "WHAT N"
	local i not=0
	begin "$2" || return
	for ((i = 0; i < $1; i++)); do
		echo "$2" >&"$to"
		"$ki" stat -q "$pid/churn:*:insns" "$pid/ld-linux-x86-64.so.2:*" "$pid/libc.so.6:*alloc*:blocks" \
			"$pid/libc.so.6:*fork*:insns" -- sleep 0.0$((i % 8)) > "$tmp/out" 2> "$tmp/said" ||
			{ not=$((not + 1)) && grep -qF -e "$is_stuck" -e "$is_busy" "$tmp/said"; } || { cat "$tmp/said"; return 1; }
		read -r -t 60 -u "$from" sum && is "$sum" "$want" && same || return
	done
	echo "refused: $not of $1" && [ $((2 * not)) -le "$1" ] && stop
}
check "in and out, threads" in_and_out 20 "threads 300"
check "in and out, children" in_and_out 20 "forks 100"
check "in and out, children of vfork" in_and_out 20 "spawns 60"
check "in and out, libraries" in_and_out 20 "library 300"

# Thirty programs, one after the other, in the same process; only the first is measured.
becomes() {
	start churn "$library" || return
	to=$to from=$from "$ki" stat -q -x, -o "$tmp/csv" "$pid/churn:step" -- bash -c 'echo become 30 >&"$to"; sleep 0.6' || return
	is "$(awk -F, 'NR == 2 { print $1 }' "$tmp/csv")" 100 || return
	wait "$pid"
	is $? 34
}
check "it becomes another program, and another" becomes

# It may do nothing any more: nothing is done in its name when the text is given back.
answers() { # WHAT
	begin "threads 1" || return
	want=75096
	measured "$1 3" "$pid/churn:step" && is "$(of churn:step)" 300 || return
	echo "work 3" >&"$to"
	read -r -t 10 -u "$from" sum && is "$sum" "$want" || return
	exec {to}>&- {from}<&-
	to=
	wait "$pid"
	is $? 0
}
check "it allows itself some system calls only" answers filter
check "it allows itself hardly any" answers strict

# Its text may not be changed, or read, by itself: we can.
shut() { # WHAT
	begin "threads 10" && ask "$1" 1 || return
	[ "$answer" != 0 ] || { echo "not on this kernel" && stop && return; }
	before=$(text) # its mappings are others
	measured "threads 10" "$pid/churn:step" && is "$(of churn:step)" 8000 && stop
}
check "its text is sealed" shut seal
check "its text cannot be read" shut hide

thrown() { # TIMES
	local i want
	want=$(echo 300 | $bin/thrown | tail -n 1)
	for ((i = 0; i < $1; i++)); do
		echo 300 | "$ki" cover -q -o "$tmp/it.json" 'command/thrown:*' 'command/libgcc_s.so.1:*' -- $bin/thrown > "$tmp/its" 2> "$tmp/said" ||
			{ cat "$tmp/said"; return 1; }
		is "$(sed -n 2p "$tmp/its")" "$want" || return
	done
	echo 300 | "$ki" stat -q -x, -o "$tmp/csv" command/thrown:_Z{9innermostl,6middlelRl,5outerlRl} command/thrown:_Z9innermostl:exit -- $bin/thrown > "$tmp/its" &&
		is "$(awk -F, 'NR > 1 { print $1 }' "$tmp/csv" | xargs)" "600 600 600 300" && is "$(sed -n 2p "$tmp/its")" "$want"
}
if [ -x $bin/thrown ]; then
	check "exceptions through functions with a probe in each block, the unwinder's too" thrown 5
else
	count=$((count + 1))
	echo "ok $count exceptions # SKIP no g++ here"
fi

# A debugger stops it at one of our places, goes on in our patch instruction by instruction, sees who called, and goes.
debugged() {
	begin "threads 100" || return
	to=$to from=$from "$ki" stat -q -x, -o "$tmp/csv" "$pid/churn:step" "$pid/churn:work:insns" -- bash -c '
		timeout 30 gdb -nx -batch -p '"$pid"' -ex "set confirm off" -ex "break step" -ex "shell echo threads 100 > $tmp/to" -ex continue -ex "stepi 12" -ex bt -ex continue -ex "stepi 5" -ex "delete" -ex detach > "$tmp/gdb" 2>&1
		read -r -t 60 -u "$from" answer && echo "$answer" > "$tmp/answer"' || return
	awk -F, 'NR > 1 { print $3, $1 }' "$tmp/csv" | sort > "$tmp/counts"
	is "$(cat "$tmp/answer")" "$want" && same && is "$(of churn:step)" 80000 && grep -q "hit Breakpoint 1" "$tmp/gdb" &&
		grep -q "^#1 .* work" "$tmp/gdb" && stop
}
# It is there when we want to go: we wait until it has gone.
debugged_longer() {
	begin "threads 10" || return
	to=$to from=$from "$ki" stat -q -x, -o "$tmp/csv" "$pid/churn:step" -- bash -c '
		ask threads 10
		timeout 30 gdb -nx -batch -p '"$pid"' -ex "shell sleep 2" -ex detach > "$tmp/gdb" 2>&1 &
		sleep 1' || return
	is "$(awk -F, 'NR == 2 { print $1 }' "$tmp/csv")" 8000 && is "$(text)" "$before" && stop
}
if command -v gdb > /dev/null; then
	check "a debugger that comes meanwhile" debugged
	check "a debugger that is there at the end" debugged_longer
else
	count=$((count + 1))
	echo "ok $count a debugger # SKIP no gdb here"
fi
finish
