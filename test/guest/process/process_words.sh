#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What needs words of threads in a process, by the driver: times, concurrency, inside(), paths, while
# nothing is traced; forks; the end, also of a tool that is killed; who may not have the driver.
# promise: Times, inside() and paths in a process, by the driver: no thread is stopped.
#   [test_process_words.c]
# shellcheck disable=SC2016,SC2317 # for other shells; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/program.sh"
bin=$top/build/test/process
start

json=/tmp/stat.json
# stat "WORDS" OPTION|POINT...: while the program does that; of METRIC POINT: the value
stat() {
	to=$to from=$from "$ki" stat --json -o "$json" "${@:2}" -- bash -c "ask $1" 2> /tmp/words
}
of() { grep -F "\"metric\":\"$1\"" "$json" | grep -F "\"point\":\"$2\"" | sed -n 's/.*"value": *"\{0,1\}\([-0-9.e]*\).*/\1/p' | head -n 1; }
said() { awk '{ printf "%.9f", $1 / 1e9 }' /tmp/answer; } # seconds of its nanoseconds
# within NAME SECONDS LEAST: not less than it slept, and not more than it says itself, but for how well clocks are compared
within() { ok "$1: $2 is from $3 to $(said)" awk -v x="$2" -v l="$3" -v m="$(said)" 'BEGIN { exit x < 0.995 * l || x > 1.005 * m }'; }
share() { awk -v x="$1" -v s="$2" 'BEGIN { print x * s }'; }
by_driver() { is "$1: by the driver" "$(grep -c 'no thread was held' /tmp/words) $(grep -c '^held' /tmp/words)" "1 0"; }
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
same() { [ "$(text)" = "$before" ]; }
begin() { run "$bin/timed" && before=$(text); }

# ---- the requests ----
cases "" 29 "$top/build/test/ask_own"

# ---- nothing is traced ----
# ptraced COMMAND...: how often anybody calls ptrace() meanwhile
ptraced() { "$ki" stat -q --json __x64_sys_ptrace -- "$@" > /tmp/traces 2>> /tmp/words; value __x64_sys_ptrace < /tmp/traces; }
export ki json
one='export to=$0 from=$1; exec "$ki" stat --json -o "$json" -m calls,exits,walltime "$2" -- bash -c "ask nap 2 5 100000" 2> /tmp/words'
begin
is "walltime: ptrace() is not called" "$(ptraced bash -c "$one" "$to" "$from" "$pid/nap")" 0
by_driver walltime
is "walltime: each call and each return" "$(of calls nap) $(of exits nap)" "10 10"
within "walltime" "$(of walltime nap)" 1
ok "walltime: the text is as it was" same
less='exec setpriv --bounding-set -perfmon,-sys_admin --inh-caps -perfmon,-sys_admin bash -c "$0" "$@"'
traced=$(ptraced bash -c "$less" "$one" "$to" "$from" "$pid/nap")
ok "without CAP_PERFMON there is the guard, which traces: $traced" test "$traced" -gt 0
is "and that is said" "$(grep -c '^held: ' /tmp/words) $(of calls nap)" "1 10"
ok "then, too, the text is as it was" same

# ---- times ----
ok "recursion" stat "deep 9 4" -m calls,exits,walltime "$pid/deep" "$pid/nap"
is "recursion: each call" "$(of calls deep) $(of exits deep) $(of calls nap)" "36 36 4"
within "recursion is charged once" "$(of walltime deep)" 0.08
by_driver recursion
ok "jumps to other functions" stat "tail 3000" -m calls,exits,walltime "$pid/tail" "$pid/last"
is "jumps to other functions are exits" "$(of calls tail) $(of exits tail) $(of calls last) $(of exits last)" "3000 3000 2000 2000"
ok "concurrency" stat "nap 7 1 3000000" -i 0.5 -m concurrency "$pid/nap"
seven() { # in one of the intervals, when all sleep
	grep -F '"metric":"concurrency"' "$json" | sed -n 's/.*"value": *\([0-9.]*\).*/\1/p' |
		awk '{ print; n += $1 > 6.93 && $1 < 7.07 } END { exit !n }'
}
ok "seven threads inside" seven
ok "what is inside already" ask long 1500000
ok "then it begins" stat "nap 1 10 200000" -m calls,exits,walltime "$pid/nap"
is "who was inside is not seen, but its return" "$(of calls nap) $(of exits nap)" "10 11"
within "and nothing is negative" "$(of walltime nap)" 2


# It begins while threads enter and leave: many places are written between its entry and
# its end. When the threads have gone none is inside.
inside() { # the last table is the time after the answer
	grep '"metric":"concurrency"' "$json" | grep -F '"point":"wide"' | grep -o '"value": *[0-9.e-]*' | grep -o '[0-9.e-]*$'
}
for i in 1 2 3 4 5 6; do
	echo "wide 4" >&"$to"
	from=$from "$ki" stat -q --json -o "$json" -i 0.3 -m concurrency "$pid/wide" -- \
		bash -c 'sleep 1; kill -USR1 "$0"; read -r -t 120 -u "$from" answer; sleep 1' "$pid" 2> /tmp/words
	is "start $i: at the end none is inside" "$(inside | tail -n 2 | head -n 1)" 0
	ok "start $i: some were" awk '$1 > 0 { n++ } END { exit !n }' <(inside)
done
ok "the text is as it was" same

# ---- what only the kernel knows ----
ok "vtime" stat "busy 5 100000" -m calls,exits,vtime,walltime,switches "$pid/busy" "$pid/nap"
name=$(grep -o "\"point\":\"[^\"]*busy\"" "$json" | head -n 1 | cut -d '"' -f 4) # with the process's prefix
is "vtime: each call" "$(of calls "$name") $(of exits "$name")" "5 5"
near "vtime is what the thread ran" "$(of vtime "$name")" "$(said)" "$(share "$(said)" 0.15)"
ok "walltime is that and what it slept" awk -v w="$(of walltime "$name")" -v v="$(of vtime "$name")" 'BEGIN { exit w < v + 0.45 }'
ok "each sleep is a switch" test "$(of switches "$name")" -ge 5
is "vtime: no ptrace(), either" "$(ptraced bash -c "${one/-m calls,exits,walltime/-m vtime}" "$to" "$from" "$pid/nap")" 0
ok "the text is as it was" same
end

# A library that comes later: until it has our mapping its calls are not counted.
run "$bin/churn" "$bin/libturned.so"
later='sleep 0.3; ask keep 1; until grep -q kerninst /proc/$pid/maps; do sleep 0.1; done; sleep 2; ask keep 20'
ok "vtime --await" env pid="$pid" to="$to" from="$from" "$ki" stat --json -o "$json" --await -m calls,vtime \
	"$pid/libturned.so:turn" -- bash -c "$later"
is "vtime --await: each call after that" "$(sed -n 's/.*"metric":"calls".*"value": *\([0-9]*\).*/\1/p' "$json")" 2000
end
begin

# ---- predicates and paths ----
ok "inside()" stat "deep 3 2" -m calls --if 'inside(deep)' "$pid/nap"
is "inside() another function" "$(of calls nap)" 2
by_driver 'inside()'
ok "not inside" stat "nap 2 3 1000" -m calls --if 'inside(deep)' "$pid/nap"
is "not inside() it" "$(of calls nap)" 0
ok "a histogram" stat "nap 2 6 20000" -m latency "$pid/nap"
by_driver "a histogram"
to=$to from=$from "$ki" paths --json --top 0 "$pid/timed:ways" -- bash -c "ask ways 2 50" > /tmp/paths 2> /tmp/words
is "paths" $? 0
is "paths: the k-th way k + 1 times as often" "$(grep -o '"count": *[0-9]*' /tmp/paths | grep -o '[0-9]*' | sort -n | tr '\n' ' ')" \
	"100 200 300 400 500 600 700 800 "
ok "the text is as it was" same

# ---- forks ----
ok "a fork inside" stat "fork 5 100000" -m calls,exits,walltime "$pid/twice" "$pid/nap"
is "a child begins with nobody inside" "$(of calls twice) $(of exits twice) $(of calls nap) $(of exits nap)" "1 2 5 5"
within "and its times count" "$(of walltime nap)" 0.5
ok "the text is as it was" same

# ---- the end ----
changed() { ! same; }
for i in 1 2 3 4 5; do
	"$ki" stat -q -m calls,walltime,latency "$pid/nap" "$pid/deep" --if 'arg0 < 100000' > /dev/null 2>&1 &
	tool=$!
	ok "kill $i: it measures" until_true 30 changed
	echo "nap 4 20 5000" >&"$to"
	kill -9 $tool
	wait $tool 2> /dev/null
	ok "kill $i: the text comes back" until_true 10 same
	ok "kill $i: the program works on" read -r -t 60 -u "$from" sum
done
soon "no session is left" 1 field sessions
is "nothing is held" "$("$ki" info --quick | grep -c ^held)" 0
is "nobody ever traces it" "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$pid/status")" 0
"$ki" stat -q -m walltime "$pid/nap" > /dev/null 2>&1 &
tool=$!
ok "one measures" until_true 30 changed
ok "it is evicted" "$ki" evict --all
ok "and the text is back" same
kill $tool 2> /dev/null
wait $tool
end
finish
