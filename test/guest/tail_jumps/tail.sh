#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Exits behind tail jumps (:exit:after): counted once for each call, when what was jumped to has
# returned; in every order of sleeping in there, closing, being killed and unloading; while return
# probes and the function graph tracer take the same return addresses; and what is refused.
# promise: An exit is counted when its caller gets control back, after what a tail jump leads to.
# shellcheck disable=SC2317 # functions are called through ok and until_true
. "$(dirname "$0")/../common/lib.sh"
ok "the test module loads" insmod "$top/build/tail/$(uname -r)/ki_tail.ko"
start
m=ki_tail
json=/tmp/tail.json
T=/sys/kernel/tracing
control=/proc/$m
none_left() { field_is leftovers 0; }

is_asleep() { [ "$(cat "$control")" = "$((${1% *} + 1)) ${1#* }" ]; }
sleep_there() { # a task that sleeps in what ki_tail_sleep jumps to; its id in $sleeper
	local before
	before=$(cat $control)
	sh -c "echo sleep > $control" &
	sleeper=$!
	until_true 120 is_asleep "$before"
	until_true 120 grep -q '^State:.*[DS] ' /proc/$sleeper/status
}
wake() {
	echo wake > $control
	wait "$sleeper"
}
# begin FILE POINT...: count in the background, until end_of; its id in $counting. What its command
# does comes when the counters have been read for the first time: from then on all counts.
begin() {
	local file=$1
	shift
	rm -f "$file.began"
	"$ki" stat -q --json -o "$file" "$@" -- sh -c "echo \$\$ > $file.began; exec sleep 100000" \
		< /dev/null > /dev/null 2>&1 &
	counting=$!
	until_true 120 test -s "$file.began"
}
end_of() { # FILE ID [SIGNAL]
	kill -"${3:-INT}" "$2"
	wait "$2" 2> /dev/null
	kill -KILL "$(cat "$1.began")" 2> /dev/null
}
watch() { # POINT...
	begin "$json" "$@"
	watcher=$counting
}
stop_watching() {
	end_of "$json" "$watcher" "${1:-INT}"
	until_true 120 field_is windows 0
}
counts() { # POINT... : from the last output
	local p
	for p in "$@"; do echo -n "$(value "$p" < "$json") "; done
}

# ---- exact counts ----
n=1000
points=("${m}_plain" "${m}_plain:exit" "${m}_plain:exit:after" "${m}_chain:exit:after"
	"${m}_jcc:exit:after" "${m}_nested" "${m}_nested:exit:after" "${m}_deep:exit" "${m}_die:exit:after"
	"${m}_guarded:exit:after" "${m}_framed:exit:after")
calls() { "$ki" stat --json -o "$json" "$@" -- sh -c "echo calls $n > $control"; }
ok "results are right while it counts" calls "${points[@]}"
# chain jumps to plain, too; middle comes into every second jcc behind its entry
all="$((2 * n)) $((2 * n)) $((2 * n)) $n $((n * 3 / 2)) $((4 * n)) $((4 * n)) $((4 * n)) $n $n $n "
is "counts" "$(counts "${points[@]}")" "$all"
ok "moved functions" calls --move "${points[@]}"
is "the same counts" "$(counts "${points[@]}")" "$all"
reads() { "$ki" stat -q --json -o "$json" __x64_sys_read __x64_sys_read:exit:after -- "$prog/calls" read "$1" 2 > /dev/null; }
reads 20000
is "calls of the kernel's own: entries and exits" "$(value __x64_sys_read < "$json")" "$(value __x64_sys_read:exit:after < "$json")"
ok "at least as many as were made" test "$(value __x64_sys_read:exit:after < "$json")" -ge 20000

# ---- when it counts ----
p=("${m}_sleep" "${m}_sleep:exit" "${m}_sleep:exit:after")
watch "${p[@]}"
sleep_there
stop_watching
is "asleep in there: entered, left by the jump, not back" "$(counts "${p[@]}")" "1 1 0 "
is "one return trampoline is left over" "$(field leftovers)" 1
ok "the text is as it was" text_is_back
is "the driver stays" "$(rmmod kerninst 2> /dev/null; echo $?)" 1
ok "the trace shows all callers" grep -q 'entry_SYSCALL_64\|do_syscall_64' /proc/$sleeper/stack
sed 's/^/# /' /proc/$sleeper/stack
ok "and what comes between" grep -q 'ki_returned' /proc/$sleeper/stack
wake
is "it comes back to its caller" $? 0
ok "then nothing is left over" until_true 120 none_left

watch "${p[@]}"
sleep_there
wake
stop_watching
is "back before the end: counted" "$(counts "${p[@]}")" "1 1 1 "
ok "nothing is left over" until_true 120 none_left

sleep_there # set out before
watch "${p[@]}"
wake
stop_watching
is "set out before it was installed: not counted" "$(counts "${p[@]}")" "0 0 0 "

# ---- ends of all kinds ----
watch ${m}_sleep:exit:after
sleep_there
stop_watching KILL
is "killed: left over" "$(field leftovers)" 1
kill -KILL "$sleeper" 2> /dev/null
wait "$sleeper" 2> /dev/null
ok "the sleeper is killed: it has gone" until_true 120 none_left
ok "a task ends in there" "$ki" stat -q --json -o "$json" ${m}_die ${m}_die:exit:after -- sh -c "echo die > $control"
is "entered, never back" "$(counts ${m}_die ${m}_die:exit:after)" "1 0 "
ok "nobody will come back: it goes" until_true 120 none_left

# Two sessions: the patch is made anew while one is away.
watch ${m}_sleep:exit:after
sleep_there
begin /tmp/second.json ${m}_sleep:exit:after __x64_sys_getppid
second=$counting
is "one return trampoline for both" "$(field returns)" 1
wake
end_of /tmp/second.json "$second"
is "the second counts who comes back" "$(value ${m}_sleep:exit:after < /tmp/second.json)" 1
stop_watching
is "and so does the first" "$(counts ${m}_sleep:exit:after)" "1 "
ok "nothing is left over" until_true 120 none_left

# The session with the return trampoline goes, another one keeps the patch.
watch ${m}_sleep:exit
begin /tmp/second.json ${m}_sleep:exit:after
second=$counting
sleep_there
end_of /tmp/second.json "$second"
is "left over, under a patch that stays" "$(field leftovers)" 1
wake
stop_watching
is "it went on" "$(counts ${m}_sleep:exit)" "1 "
ok "nothing is left over" until_true 120 none_left

# ---- others who take return addresses ----
echo "r:kitail ${m}_callee" > $T/kprobe_events
echo "r:kisleep ${m}_sleeper" >> $T/kprobe_events
echo 1 > $T/events/kprobes/enable
ok "with a return probe on what is jumped to" calls "${points[@]}"
is "the same counts" "$(counts "${points[@]}")" "$all"
probed() { awk '$1 == "kitail" { print ($2 + $3 > 0) }' $T/kprobe_profile; }
is "the probe was hit" "$(probed)" 1
watch "${p[@]}"
sleep_there
stop_watching
sleep 2
is "the probe holds the return trampoline: it is still left over" "$(field leftovers)" 1
wake
is "and it comes back" $? 0
ok "then nothing is left over" until_true 120 none_left
echo 0 > $T/events/kprobes/enable
echo > $T/kprobe_events

echo "${m}_*" > $T/set_ftrace_filter
echo function_graph > $T/current_tracer
ok "with the function graph tracer on all of them" calls "${points[@]}"
is "the same counts" "$(counts "${points[@]}")" "$all"
ok "it has traced" grep -q ${m}_callee $T/trace
watch "${p[@]}"
sleep_there
stop_watching
sleep 2
is "the tracer holds the return trampoline: it is still left over" "$(field leftovers)" 1
wake
is "and it comes back" $? 0
ok "then nothing is left over" until_true 120 none_left
echo nop > $T/current_tracer
echo > $T/set_ftrace_filter

# ---- livepatches of what is jumped to ----
klp=/sys/kernel/livepatch/ki_tail_patch
patch_in() { insmod "$top/build/tail/$(uname -r)/ki_tail_patch.ko" "$@"; }
patched() { [ "$(cat "$klp/transition")" = 0 ]; }
patch_out() {
	echo 0 > "$klp/enabled"
	until_true 120 test ! -e "$klp"
	goes ki_tail_patch # it is let go a moment later
}
watch "${p[@]}"
sleep_there
ok "a livepatch of another function, while one is away" patch_in
ok "sees through the return trampoline: all have changed over" until_true 120 patched
before=$(cat $control)
ok "and is what is jumped to: results are right" sh -c "echo calls 100 > $control"
is "it was called instead" "$((($(cut -d' ' -f1 $control) - ${before% *}) / 100))" 1 # by _die
wake
ok "gone" patch_out
stop_watching
is "the one who was away is counted" "$(counts "${p[@]}")" "1 1 1 "

ok "counting, under a livepatch" patch_in
ok "the same results" calls "${points[@]}"
is "the same counts" "$(counts "${points[@]}")" "$all"
ok "gone" patch_out

watch "${p[@]}"
sleep_there
ok "a livepatch of the one who sleeps" patch_in sleeper=1
sleep 1
is "waits for him" "$(cat "$klp/transition")" 1
wake
ok "no longer" until_true 120 patched
ok "the new one does not sleep" timeout 120 sh -c "echo sleep > $control"
ok "gone" patch_out
stop_watching
is "both have come back" "$(counts "${p[@]}")" "2 2 2 "
ok "nothing is left over" until_true 120 none_left

# ---- refusals ----

refused() { # POINT TAG
	"$ki" stat --json "$1" -- true 2>&1 | grep -q "\"reason\":\"$2\""
}
ok "arguments on the stack" refused ${m}_args:exit:after TAIL_STACK
ok "the same, handed through" refused ${m}_handed:exit:after TAIL_STACK
ok "a copy of the stack pointer, in code without a canary" refused ${m}_copied:exit:after TAIL_STACK
ok "a word above a frame, by the stack pointer" refused ${m}_above:exit:after TAIL_STACK
ok "the stack pointer, raised in the frame" refused ${m}_raised:exit:after TAIL_STACK
ok "the same, with a way back" refused ${m}_again:exit:after TAIL_STACK
ok "a ring" refused ${m}_ping:exit:after TAIL_RING
ok "an indirect jump behind the jump" refused ${m}_pointer:exit:after TAIL_UNKNOWN
ok "an indirect jump" refused ${m}_pointed:exit:after TAIL_UNKNOWN
ok "a jump into a function's middle" refused ${m}_middle:exit:after TAIL_FRAME
# What begins and cannot end is refused with both; what needs no end is there.
"$ki" stat -q --json -o "$json" -m calls,walltime,latency ${m}_pointer ${m}_pointed ${m}_plain -- sh -c "echo calls 10 > $control"
times() { grep -c "\"metric\":\"\(walltime\|latency\)\",\"point\":\"${m}_$1\",\"$2\"" "$json"; }
is "no times without an end" "$(times pointer 'reason":"TAIL_UNKNOWN') $(times pointed 'reason":"TAIL_UNKNOWN') $(times plain value)" "2 2 2"
is "but calls" "$(grep '"metric":"calls"' "$json" > /tmp/calls; value ${m}_pointer < /tmp/calls) $(value ${m}_plain < /tmp/calls)" "10 20"

replaced() { # RULE POINT: the one while the other
	"$ki" replace -q "$1" -- "$ki" stat --json "$2" -- true 2>&1 | grep -q '"reason":"TAIL_REPLACED"'
}
ok "a jump that is replaced" replaced "${m}_plain->${m}_callee=${m}_dier" ${m}_plain:exit:after
ok "results are right at last" sh -c "echo calls 10 > $control"

# ---- many, under load ----
"$ki" stat -q --json -o "$json" '*:__x64_sys_*:exit:after' 'kernel:ksys_*:exit:after' \
	-- sh -c 'ls -lR /etc > /dev/null; for i in 1 2 3 4 5 6 7 8; do dmesg | wc -l; done' > /dev/null 2> /tmp/err
echo "# counted: $(grep -c '"value"' "$json") points; somebody came back at $(grep -c '"value": *[1-9]' "$json")"
ok "many points count" test "$(grep -c '"value": *[1-9]' "$json")" -ge 10
for _ in $(seq 10); do
	"$ki" stat -q --for 0.3 'kernel:vfs_*:exit:after' '__x64_sys_*:exit:after' -- sh -c 'ls -lR /etc > /dev/null' > /dev/null 2>&1
done
ok "those who poll come back" until_true 120 none_left
soon "no return trampoline is taken" 0 field returns
ok "the text is what it was" text_is_back
ok "the test module unloads" rmmod ki_tail
finish
