#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: test/process/metrics.sh [KERNINST]
# kerninst stat -m METRICS PID/FUNCTION, with predicates: against what the program knows of itself, and
# what a debugger counts.
# promise: Times, concurrency, latency and predicates hold in processes, recursion charged once.
#   [test_process_words.c]
# promise: The cost of measuring a process is said: calls exactly, times to 3 %.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/process/lib.sh
. test/process/lib.sh

# measure METRICS "WORDS" OPTION|POINT...: while the program does that.
measure() {
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" stat -q --json -o "$tmp/json" -m "$1" "${@:3}" -- bash -c "ask $2"
}

# of METRIC POINT: the value; -: there is none
of() {
	python3 -c '
import json, sys
for line in open(sys.argv[1]):
	row = json.loads(line)
	if row.get("metric") == sys.argv[2] and row["point"] == sys.argv[3] and row.get("value") is not None:
		print(row["value"])
		sys.exit()
print("-")' "$tmp/json" "$1" "$2"
}

# near GOT WANTED SHARE: not further away than that
near() {
	python3 -c '
import sys
got, want, share = map(float, sys.argv[1:])
print("got", got, "wanted", want)
sys.exit(abs(got - want) > share * want)' "$1" "$2" "$3"
}

# Seconds of what the program has said in nanoseconds.
said() { awk '{ printf "%.9f", $1 / 1e9 }' "$tmp/answer"; }

# The text is as it was, and our memory gone.
clean() { is "$(text)" "$before" && ! grep -q memfd:kerninst "/proc/$pid/maps"; }

begin() { start timed && before=$(text); }

sleeps() { # THREADS TIMES
	begin && measure calls,exits,walltime,walltime/call "nap $1 $2 100000" "$pid/nap" || return
	is "$(of calls nap) $(of exits nap)" "$(($1 * $2)) $(($1 * $2))" &&
		near "$(of walltime nap)" "$(said)" 0.02 && near "$(of walltime/call nap)" 0.1 0.1 && clean && stop
}
check_words "a sleep of 100 ms takes what the program measures" sleeps 1 5
check_words "the same of five threads at once" sleeps 5 3

# Once all of them sleep they are all inside, and never more.
concurrent() { # THREADS
	begin || return
	# shellcheck disable=SC2016 # for the other shell
	to=$to from=$from "$ki" stat -q -x, -i 0.2 -m concurrency "$pid/nap" -- bash -c "ask nap $1 1 2000000" > "$tmp/csv" ||
		return
	awk -F, -v k="$1" 'NR > 1 { print; if ($2 > k + 0.01) bad = 1; if ($2 > k - 0.01) n++ }
		END { exit bad || n < 1 }' "$tmp/csv" && clean && stop
}
check_words "one thread asleep inside is a concurrency of 1" concurrent 1
check_words "seven threads asleep inside are a concurrency of 7" concurrent 7

recursive() {
	begin && measure calls,exits,walltime "deep 9 4" "$pid/deep" "$pid/nap" || return
	is "$(of calls deep) $(of exits deep) $(of calls nap)" "36 36 4" &&
		near "$(of walltime deep)" "$(said)" 0.02 && clean && stop
}
check_words "recursion is charged once" recursive

tails() {
	begin && measure calls,exits,walltime "tail 30000" "$pid/tail" "$pid/last" || return
	is "$(of calls tail) $(of exits tail) $(of calls last) $(of exits last)" "30000 30000 20000 20000" &&
		[ "$(of walltime tail)" != 0 ] && clean && stop
}
check_words "a jump to another function is an exit" tails
no_return() {
	begin && measure returns,calls "tail 300" "$pid/tail" 2> "$tmp/said" || return
	is "$(of calls tail)" 300 && grep -q '"point":"tail".*NOT_IN_PROCESS' "$tmp/json" && clean && stop
}
check_words "what comes back behind a jump is not seen, and that is said" no_return

picked() { # PREDICATE FIELD
	begin && measure calls,walltime,walltime/call "pick 7000" --if "$1" "$pid/pick" || return
	is "$(of calls pick)" "$(cut -d' ' -f"$2" "$tmp/answer")" && [ "$(of walltime pick)" != 0 ] && clean && stop
}
check_words "a predicate on an argument" picked 'arg0 > 500' 1
check_words "on a narrow one" picked '(int)arg1 < 0' 2
check_words "on one that comes on the stack" picked 'arg6 == 6' 3
odd() {
	begin && measure count "pick 7000" --if 'retval & 1' "$pid/pick:exit" || return
	is "$(of count pick:exit)" "$(cut -d' ' -f4 "$tmp/answer")" && clean && stop
}
check_words "on what is returned" odd
parts() {
	begin && measure calls,walltime "pick 7000" --split 'high:arg0 > 500' "$pid/pick" || return
	python3 - "$tmp/json" "$tmp/answer" << 'END' && clean && stop
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
got = {row["part"]: row["value"] for row in rows if row.get("metric") == "calls"}
above = int(open(sys.argv[2]).read().split()[0])
print(got)
sys.exit(got != {"high": above, "else": 7000 - above})
END
}
check_words "parts by a predicate" parts
inside() {
	begin && measure calls "deep 3 2" --if 'inside(deep)' "$pid/nap" && is "$(of calls nap)" 2 &&
		measure calls "nap 2 3 1000" --if 'inside(deep)' "$pid/nap" && is "$(of calls nap)" 0 && clean && stop
}
check_words "inside() another function" inside
on_cpus() {
	local cpu sum=0
	begin || return
	for cpu in $(seq 0 $(($(nproc --all) - 1))); do
		measure calls "pick 1000" --if "cpu == $cpu" "$pid/pick" || return
		[ "$(of calls pick)" -le 1000 ] || return
	done
	taskset -apc 0 "$pid" > "$tmp/its" && measure calls "pick 1000" --if "cpu == 0" "$pid/pick" &&
		is "$(of calls pick)" 1000 && clean && stop
}
check_words "on a processor" on_cpus

# What was inside when it begins is not seen; what begins then is.
attached() {
	begin && ask "long 700000" && measure calls,exits,walltime "nap 1 10 100000" "$pid/nap" || return
	is "$(of calls nap)" 10 && is "$(of exits nap)" 11 && near "$(of walltime nap)" "$(said)" 0.02 && clean && stop
}
check_words "a thread that is inside already is not seen, and nothing is negative" attached

left() {
	begin && measure calls,exits,walltime "leave 20" "$pid/leave" || return
	is "$(of calls leave) $(of exits leave)" "20 0" && clean && stop
}
check_words "a call that is left by longjmp has no exit" left

forked() {
	begin && measure calls,exits,walltime,walltime/call "fork 5 100000" "$pid/twice" "$pid/nap" || return
	is "$(of calls twice) $(of exits twice) $(of calls nap) $(of exits nap)" "1 2 5 5" &&
		near "$(of walltime nap)" "$(said)" 0.02 && clean && stop
}
check_words "a child begins with nobody inside" forked

killed() {
	local i n=0
	begin || return
	for ((i = 0; i < 15; i++)); do
		echo "nap 4 20 1000" >&"$to"
		$bin/oracle kill $((20 + i * 5)) "$ki" stat -q --for 9 -m calls,walltime,latency "$pid/nap" "$pid/deep" \
			"$pid/libc.so.6:clock_nanosleep" --if 'arg0 < 100000' > "$tmp/how" 2>> "$tmp/said"
		[ "$(cat "$tmp/how")" = killed ] && n=$((n + 1))
		for _ in {1..100}; do
			clean > /dev/null 2>&1 && break
			sleep 0.05
		done
		clean && read -r -t 20 -u "$from" sum || return
	done
	is $n 15 && stop
}
check_words "the tool is killed, 15 times" killed

started() {
	"$ki" stat -q --json -o "$tmp/json" -m calls,exits,walltime command/nap command/main -- $bin/timed \
		<<< "nap 3 2 50000" > "$tmp/out" || return
	tail -n 1 "$tmp/out" > "$tmp/answer"
	is "$(of calls nap) $(of exits nap) $(of calls main)" "6 6 1" && near "$(of walltime nap)" "$(said)" 0.02
}
check_words "a command, from its first instruction on" started

# Another program: what it calls, as a debugger's breakpoints count it.
cat > "$tmp/script.sh" << 'END'
f() { local i; for ((i = 0; i < 40; i++)); do x=$((x + i)); done; [ "$1" = 0 ] || f $(($1 - 1)); }
f 5; case $x in a) ;; esac
END
functions=(execute_command_internal execute_command expand_words)
debugged() { # FUNCTION: how often a breakpoint there is hit
	env -i SHELL=/bin/sh PATH="$PATH" gdb -q -batch -nx -ex "break $1" -ex 'ignore 1 1000000' -ex run -ex 'info breakpoints' \
		--args bash "$tmp/script.sh" 2>> "$tmp/its" | awk '/already hit/ { print $4 }'
}
another() {
	local f
	env -i PATH="$PATH" "$ki" stat -q --json -o "$tmp/json" -m calls,exits,walltime "${functions[@]/#/command/bash:}" -- \
		bash "$tmp/script.sh" || return
	for f in "${functions[@]}"; do
		is "$(of calls "bash:$f") $(of exits "bash:$f")" "$(debugged "$f") $(debugged "$f")" && [ "$(of calls "bash:$f")" -gt 200 ] ||
			return
	done
}
if command -v gdb > /dev/null; then
	check_words "bash: calls as a debugger counts them" another
else
	count=$((count + 1))
	echo "ok $count bash: calls as a debugger counts them # SKIP no gdb"
fi

# refused PATTERN OPTION...: one line, and nothing has changed
refused() {
	local said
	begin || return
	said=$("$ki" stat -q "${@:2}" "$pid/nap" -- true 2>&1 > "$tmp/out") && return 1
	is "$(grep -c . <<< "$said")" 1 && { grep -qE "$1" <<< "$said" || { echo "$said"; false; }; } && clean && stop
}
check "vtime is refused" refused "vtime: only the kernel knows that" -m vtime
check "the name of the thread is refused" refused "comm: code in a process cannot" --comm nap
check "memory is refused" refused "memory by its address: code in a process" --if '*(long *)arg0 == 3'
check "a table takes the driver" refused "/dev/kerninst" --by cpu

# What it is said to cost, against single-stepping: where the window of an exit holds the return, the jump back is too many.
priced() { # SHARE METRIC [PREDICATE]
	"$bin/priced" "${@:2}" > "$tmp/priced" || return
	near "$(sed -n 's/^said //p' "$tmp/priced")" "$(sed -n 's/^stepped //p' "$tmp/priced")" "$1"
}
check "--cost of calls: as stepped" priced 0 calls
check "--cost behind a predicate that does not hold: as stepped" priced 0 calls 'arg0 == 99'
check "--cost behind one that holds: as stepped" priced 0 calls 'arg0 != 99'
check_words "--cost of times: within 3 %" priced 0.03 walltime/call
check_words "--cost of a histogram: within 3 %" priced 0.03 latency
check_words "--cost of times of some calls: within 5 %" priced 0.05 walltime 'arg0 > 24'
costs() {
	"$ki" stat -q --json --cost command/libc.so.6:malloc -- ls / > "$tmp/out" 2> "$tmp/said" && grep -q '"cost' "$tmp/out"
}
check "stat --cost: of a command" costs

finish
