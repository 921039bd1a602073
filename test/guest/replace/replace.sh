#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions and calls are replaced while sessions come and go, in every order, with counters at the
# same places. /proc/ki_replace calls a by two calls, a pointer and a jump; a, b, c give 1, 2, 3.
# promise: Functions and single calls are replaced, also one upon another, and undone in any
#   order.
. "$(dirname "$0")/replace_lib.sh"
m=ki_replace
is "nothing is replaced" "$(results)" "11 21 31 41"
is "a function, for all callers" "$(replaced_while $m:${m}_a=$m:${m}_b --)" "12 22 32 42"
is "and back" "$(results)" "11 21 31 41"
is "the calls of one caller" "$(replaced_while "$m:${m}_first->${m}_a=$m:${m}_b" --)" "12 21 31 41"
is "a jump in place of a call" "$(replaced_while "$m:${m}_tail->${m}_a=$m:${m}_c" --)" "11 21 31 43"
is "several at once" "$(replaced_while "$m:${m}_first->${m}_a=${m}_b" "${m}_tail->${m}_a=${m}_c" --)" "12 21 31 43"
is "a function, and a call of it" "$(replaced_while ${m}_a=${m}_b "${m}_second->${m}_a=${m}_c" --)" "12 23 32 42"

begin 1 ${m}_a=${m}_b "12 22 32 42"
begin 2 ${m}_a=${m}_c "13 23 33 43"
end 2 "12 22 32 42"
end 1 "11 21 31 41"
begin 1 ${m}_a=${m}_b "12 22 32 42"
begin 2 ${m}_a=${m}_c "13 23 33 43"
end 1 "13 23 33 43"
begin 1 ${m}_a=${m}_b "12 22 32 42"
end 2 "12 22 32 42"
end 1 "11 21 31 41"
begin 1 ${m}_a=${m}_b "12 22 32 42"
kill -9 "${pids[1]}"
wait "${pids[1]}" 2> /dev/null
ok "killed: it is gone" wait_for "11 21 31 41"

# One call and one jump, by two sessions, taken out in each order; and a call under its function.
first="${m}_first->${m}_a" tail="${m}_tail->${m}_a"
begin 1 "$first=${m}_b" "12 21 31 41"
begin 2 "$first=${m}_c" "13 21 31 41"
end 2 "12 21 31 41"
begin 2 "$first=${m}_c" "13 21 31 41"
end 1 "13 21 31 41"
begin 1 "$first=${m}_b" "12 21 31 41"
kill -9 "${pids[2]}"
wait "${pids[2]}" 2> /dev/null
soon "of stacked calls the one below is killed: sessions, and who asks" 2 field sessions
is "the one above stays" "$(results)" "12 21 31 41"
end 1 "11 21 31 41"
begin 1 "$tail=${m}_b" "11 21 31 42"
begin 2 "$tail=${m}_c" "11 21 31 43"
end 1 "11 21 31 43"
begin 1 "$tail=${m}_b" "11 21 31 42"
end 2 "11 21 31 42"
end 1 "11 21 31 41"
begin 1 "$first=${m}_c" "13 21 31 41"
begin 2 "${m}_a=${m}_b" "13 22 32 42"
end 1 "12 22 32 42"
begin 1 "$first=${m}_c" "13 22 32 42"
end 2 "13 21 31 41"
end 1 "11 21 31 41"

# ---- counters at the same time ----
counted() { # POINT... : the counts over one reading
	"$ki" stat --json "$@" -- cat /proc/ki_replace 2> /dev/null |
		sed -n 's/.*"point":"\([^"]*\)".*"value":\([0-9]*\).*/\1 \2/p' | sort | tr '\n' ' '
}
is "counts without replacement" "$(counted ${m}_a ${m}_b)" "${m}_a 4 ${m}_b 0 "
begin 1 ${m}_a=${m}_b "12 22 32 42"
is "of a replaced function calls are counted, and of the other" "$(counted ${m}_a ${m}_b)" "${m}_a 4 ${m}_b 4 "
is "the replaced one does not return" "$(counted ${m}_a:exit ${m}_b:exit)" "${m}_a:exit 0 ${m}_b:exit 4 "
end 1 "11 21 31 41"
"$ki" stat --json -o /tmp/replace.json ${m}_a ${m}_b:exit < /dev/null 2> /dev/null &
stat=$!
ok "counters are there first" until_true 120 measures $stat
begin 1 ${m}_a=${m}_b "12 22 32 42"
end 1 "11 21 31 41"
begin 2 ${m}_a=${m}_c "13 23 33 43"
kill -INT $stat
wait $stat
ok "counters come before a replacement and go before it" wait_for "13 23 33 43"
ok "and have counted" test "$(value ${m}_b:exit < /tmp/replace.json)" -ge 4
end 2 "11 21 31 41"

# ---- others at the entry of what is replaced ----
# They keep their site, before the jump: each of the four calls is seen, whoever comes and goes first.
T=/sys/kernel/tracing
# shellcheck disable=SC2317 # called by name
probe() { echo "p:kx ${m}_a" > "$T/kprobe_events" && echo 1 > "$T/events/kprobes/enable"; }
# shellcheck disable=SC2317
unprobe() {
	echo 0 > "$T/events/kprobes/enable"
	awk '$1 == "kx" { print $2 }' "$T/kprobe_profile"
	echo > "$T/kprobe_events"
}
# shellcheck disable=SC2317
trace() {
	echo "${m}_a" > "$T/set_ftrace_filter"
	echo > "$T/trace"
	echo function > "$T/current_tracer"
}
# shellcheck disable=SC2317
untrace() {
	grep -c " ${m}_a <-" "$T/trace"
	echo nop > "$T/current_tracer"
	echo > "$T/set_ftrace_filter"
}
for who in probe trace; do
	begin 0 ${m}_a=${m}_b "12 22 32 42"
	$who
	is "$who: during: the replacement stays" "$(results)" "12 22 32 42"
	is "$who: during: it sees the calls" "$(un$who)" 4
	$who
	end 0 "11 21 31 41"
	ok "$who: goes last: it has seen calls" test "$(un$who)" -ge 4
	$who
	begin 0 ${m}_a=${m}_b "12 22 32 42"
	ok "$who: before: it has seen calls" test "$(un$who)" -ge 4
	is "$who: and has gone: the replacement stays" "$(results)" "12 22 32 42"
	end 0 "11 21 31 41"
done

# ---- manners ----
ok "it warns" bash -c "'$ki' replace ${m}_a=${m}_b -- true 2>&1 | grep -q DANGER"
is "--dry-run changes nothing" "$("$ki" replace -n ${m}_a=${m}_b -- cat /proc/ki_replace | grep -c '[0-9] ')" 1
ok "--dry-run says what" bash -c "'$ki' replace -n '${m}_first->${m}_a=${m}_b' | grep -q 'call in ${m}_first+'"
ok "itself" refuses 1 'itself' ${m}_a=${m}_a
ok "no such function" refuses 1 'no function' ${m}_a=${m}_x
ok "no such call" refuses 1 'no such direct call' "${m}_b->${m}_a=${m}_c"
ok "no replacement" refuses 2 'WHAT=FUNCTION' ${m}_a
ok "the middle of a function" refuses 2 '.' ${m}_a=${m}_b+1
ok "several functions" refuses 2 '.' 'vfs_*=vfs_read'
ok "a function that may not be touched" refuses 1 '.' asm_exc_page_fault=${m}_b
is "the command's status" "$("$ki" replace -q ${m}_a=${m}_b -- sh -c 'exit 5'; echo $?)" 5
is "nothing is left" "$(results)" "11 21 31 41"
ok "the text is what it was" text_is_back
ok "the test module unloads" goes ki_replace
finish
