#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Metrics of what is no function: blocks, calls, instructions, against the function that they are
# of, the functions that are called, and the kernel's clock around them (test/guest/metrics/); what
# has no beginning and end is refused.
# promise: P3, P9: Times of blocks, calls and instructions make up the function's; unsuitable
#   points are refused with a reason. [test_measure_points.c]
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/metrics_lib.sh"
ok "the test module loads" insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
start

# of METRIC SUFFIX [FUNCTION]: the values of all points of it with such a name, a line each
of() {
	grep -E "\"metric\":\"$1\",\"point\":\"($f:)?${f}_${3:-paths}" "$json" | grep -F "_${3:-paths}$2" |
		sed -n 's/.*"value": *\([0-9.e+-]*\).*/\1/p'
}
total() { of "$@" | awk '{ s += $1 } END { print s + 0 }'; }
between() { ok "$1: $2" awk -v g="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(g != "" && g >= l && g <= h) }'; }

# ---- the blocks of a function are the function ----
paths() {
	command reset
	command "paths 2000 0 20"
	command "paths 2000 1 30"
	command "paths 2000 2 10"
	command "paths 2000 3 40"
}
export -f paths command
export control
ok "a function, its blocks, its calls" stat -m calls,exits,walltime,vtime ${f}_paths ${f}_paths:{blocks,calls} -- bash -c paths
is "calls of the function" "$(got calls paths)" 100
about "its time" "$(got walltime paths)" "$(seconds paths)"
for m in walltime vtime; do
	about "the blocks' $m" "$(total $m :block/)" "$(got $m paths)"
	about "the calls' $m" "$(total $m :calls)" "$(got $m paths)"
done
is "blocks are left as often as they are entered" "$(total exits :block/)" "$(total count :block/)"
block() { # PASSED: the block that was passed so often
	grep -F '"metric":"count"' "$json" | grep -F "${f}_paths:block/" | grep -F "\"value\":$1," | sed 's/.*:block\/\([0-9]*\)".*/\1/'
}
# At the least what they are told to; a host with more to do makes it longer, for the function too.
between "a block that runs for twice as long" "$(of vtime ":block/$(block 70)\"")" 0.2772 "$(got vtime paths)"
between "one that does three times" "$(of vtime ":block/$(block 50)\"")" 0.297 "$(got vtime paths)"
asleep=$(of walltime ":block/$(block 30)\"")
between "one that sleeps" "$asleep" 0.27 "$(got walltime paths)"
between "and does not run" "$(of vtime ":block/$(block 30)\"")" 0 "$(sum "$asleep / 3")"

# ---- a call is what it calls ----
for i in "sleep walltime" "spin vtime"; do
	read -r callee m <<< "$i"
	ok "calls of $callee, and itself" stat -m "$m" "${f}_paths:call/${f}_$callee" "${f}_$callee" -- bash -c paths
	about "$m" "$(total "$m" :edge/)" "$(got "$m" "$callee")"
done
about "and so much it was" "$(got vtime spin)" "$(seconds paths)" 50
ok "calls that sleep" stat -m calls,returns,latency,walltime/call,concurrency "${f}_paths:call/${f}_sleep" -- bash -c paths
is "each is in the histogram, begun, and returned" "$(of latency :edge/) $(of edges :edge/) $(of returns :edge/)" "30 30 30"
between "each takes 10 ms" "$(of walltime/call :edge/)" 0.009 0.1
ok "a tail jump" stat -m calls,walltime,vtime "${f}_tail:call/${f}_sleep" ${f}_tail -- sh -c "echo reset > $control; echo tail 50 10 > $control"
about "goes on until what it leads to has returned" "$(of walltime :edge/ tail)" "$(seconds tail)"
between "asleep" "$(of vtime :edge/ tail)" 0 0.2

# ---- instructions ----
at() { "$ki" disas ${f}_paths | sed -n 's/^ .*+\(0x[0-9a-f]*\)  *'"$1"'.*/\1/p' | head -n 1; }
spin=$(at 'call.*_spin')
ok "all instructions" stat -m calls,exits,walltime ${f}_paths:insns ${f}_paths -- bash -c paths
is "the first call is begun and ended as often" "$(of count "+$spin\"") $(of exits "+$spin\"")" "100 100"
between "2 ms each" "$(of walltime "+$spin\"")" 0.198 "$(got walltime paths)"
about "all instructions make the function" "$(total walltime +)" "$(got walltime paths)"
for i in j{n,}e; do
	branch=$(at "$i")
	is "$i ($branch), left on both sides" "$(of exits "+$branch\"")" "$(of count "+${branch:-none}\"")"
done

# ---- inside itself ----
command reset
ok "blocks of a recursion" stat -m calls,walltime ${f}_recurse ${f}_recurse:call/${f}_recurse ${f}_recurse:blocks -- sh -c "echo recurse 9 20000 > $control"
about "its calls of itself: all but what it does itself" "$(total walltime :edge/ recurse)" "$(sum "$(got walltime recurse) * 0.9")" 4
between "no block has more than the whole" "$(of walltime :block/ recurse | sort -g | tail -n 1)" 0.1 "$(sum "$(got walltime recurse) * 1.001")"

# ---- kernel functions: which blocks can be measured, and that what is measured agrees ----
ok "blocks of the kernel's own functions" stat -m walltime,vtime vfs_read{,:blocks,:calls} ksys_read{,:blocks} -- "$prog/calls" read 20000
for i in vfs_read ksys_read; do
	ok "$i: some of its blocks" test "$(grep -c "\"metric\":\"walltime\",\"point\":\"$i:block/.*\"value\"" "$json")" -ge 5
done
echo "# refused: $(grep -o '"metric":"walltime".*"reason":"[A-Z_]*"' "$json" | sed 's/.*:"//; s/"//' | sort | uniq -c | tr -s ' \n' ' ')"

# ---- what is refused, with the reason ----
refused() { # REASON METRIC POINT...
	local reason=$1 m=$2 out explained
	explained=$("$ki" explain --json "$reason" | sed -n 's/.*"text": *"\([^";(]*\).*/\1/p')
	shift 2
	out=$("$ki" stat --json -m "$m" -o "$json" "$@" -- true 2>&1)
	echo "$out"
	cat "$json"
	grep -qF "\"reason\":\"$reason\"" "$json" && echo "$out" | grep -qE "$explained"
}
ok "an exit is one moment" refused NO_DURATION walltime vfs_read:exit
ok "an edge is one moment" refused NO_DURATION vtime "${f}_paths:edge/0-1" ${f}_paths:edges
ok "the end of a block is one" refused NO_DURATION latency ${f}_paths:block/0:post
ok "a jump has no other side" refused NO_SUCH_SIDE walltime "${f}_paths+$(at jmp)"
ok "a function that never returns" refused NEVER_RETURNS walltime ${f}_never
ok "a function that is not parsed" refused NOINSTR walltime exc_page_fault
ok "the middle of a switch" refused THREAD_CHANGES walltime __schedule:blocks
ok "what can be measured is, beside that" stat -m walltime ${f}_paths vfs_read:exit -- bash -c paths
about "its time" "$(got walltime paths)" "$(seconds paths)"
misuse() { local out; out=$("$ki" stat -m walltime "$1" -- true 2>&1); echo "$out"; echo "$out" | grep -qF "$2"; }
ok "a module is no function" misuse "$f:" "MODULE:*"
ok "nor with its name alone" misuse "$f" "$f:*"
ok "nor is the kernel" misuse kernel: "kernel:*"
# ---- globs: what cannot be measured is left out, and said ----
command reset
globbed() { "$ki" stat --json -o "$json" -m calls,walltime,page-faults "$f:*" -- bash -c "echo spin 1000 20 > $control" > /tmp/globbed 2>&1; }
ok "all functions of a module" globbed
ok "and why one is not" grep -qF "$f:${f}_never: no walltime: no way through the function leads back" /tmp/globbed
about "the others are" "$(of walltime \" spin)" "$(seconds spin)"
ok "many of the kernel" "$ki" stat --dry-run -q --json -o "$json" -m walltime,page-faults 'do_ex*' 'tcp_v4_*' '*panic*'
echo "# refused: $(grep -o '"reason":"[A-Z_]*"' "$json" | sort | uniq -c | tr -s ' \n' ' ')"
is "of both in the same functions" "$(grep -c '"of":"walltime","reason":"NEVER_RETURNS"' "$json")" "$(grep -c '"of":"page-faults","reason":"NEVER_RETURNS"' "$json")"
ok "some never return" grep -q '"reason":"NEVER_RETURNS"' "$json"
ok "the text is what it was" text_is_back
ok "the test module unloads" rmmod $f
finish
