#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What replaces a call is called where the call stands: its distance is changed, and no jump is
# added; a counter there, another session or a kprobe come and go, in every order.
# promise: K17, K18: A replaced call leads to the replacement without another jump, and gives way
#   to users of the ftrace site.
. "$(dirname "$0")/replace_lib.sh"
m=ki_replace
T=/sys/kernel/tracing
first="${m}_first->${m}_a" tail="${m}_tail->${m}_a"
# What the call or jump in a function leads to now: NAME
leads() { "$ki" disas --live "$m:${m}_$1" | sed -n 's/.*\(call\|jmp\) \([a-z_0-9]*\) .*; was:.*/\2/p'; }
# Is it a call yet, or a jump to a patch?
op() { "$ki" disas --live "$m:${m}_$1" | sed -n 's/.*[ ]\(call\|jmp\) .*; was:.*/\1/p'; }

begin 1 "$first=${m}_b" "12 21 31 41"
is "a call leads to the other function itself" "$(leads first)" ${m}_b
begin 2 "$tail=${m}_c" "12 21 31 43"
is "and so does a jump in place of a call" "$(leads tail)" ${m}_c
end 2 "12 21 31 41"
begin 2 "$first=${m}_c" "13 21 31 41"
is "two of one call go through a patch" "$(op first)" jmp
end 2 "12 21 31 41"
is "one is left: it is direct again" "$(leads first)" ${m}_b

# A counter on the same call.
"$ki" stat --json -o /tmp/direct.json ${m}_first < /dev/null 2> /dev/null &
stat=$!
ok "a counter comes" until_true 120 measures $stat
is "the call goes through its patch" "$(op first)" jmp
is "where it is replaced, too" "$(results)" "12 21 31 41"
results > /dev/null
kill -INT $stat
wait $stat
is "the counter has counted" "$(value ${m}_first < /tmp/direct.json)" 2
is "and has gone: the call is direct again" "$(leads first)" ${m}_b
end 1 "11 21 31 41"
"$ki" stat --json -o /tmp/direct.json ${m}_first < /dev/null 2> /dev/null &
stat=$!
ok "a counter is there first" until_true 120 measures $stat
begin 1 "$first=${m}_b" "12 21 31 41"
end 1 "11 21 31 41"
kill -INT $stat
wait $stat

# While it is called by another CPU without a pause.
while cat /proc/$m > /dev/null; do :; done &
busy=$!
for _ in $(seq 8); do
	"$ki" replace -q "$first=${m}_b" "$tail=${m}_c" -- cat /proc/$m
done > /tmp/turns
kill $busy
wait $busy 2> /dev/null
is "eight times beside calls" "$(sort /tmp/turns | uniq -c | xargs)" "8 12 21 31 43"

# A debugger's kprobe on the call has a copy of it, which leads where the call led.
begin 1 "$first=${m}_b" "12 21 31 41"
offset=$("$ki" disas "$m:${m}_first" | sed -n "s/.*+0x\([0-9a-f]*\) .*call ${m}_a.*/\1/p")
echo "p:kx ${m}_first+0x$offset" > $T/kprobe_events
ok "a kprobe on the call itself" sh -c "echo 1 > $T/events/kprobes/enable"
kill -INT "${pids[1]}"
until_true 20 sh -c "! kill -0 ${pids[1]} 2> /dev/null"
is "the session ends under it, and the call leads on" "$(results)" "12 21 31 41"
ok "info says who is in the way" sh -c "'$ki' info | grep -qi kprobe"
ok "the replacement's module stays" sh -c "! rmmod $m 2> /dev/null"
echo 0 > $T/events/kprobes/enable
echo > $T/kprobe_events
"$ki" info > /dev/null
ok "it goes: so does the replacement" wait_for "11 21 31 41"

# All callers.
clock() { python3 -c 'import ctypes, struct
b = ctypes.create_string_buffer(16)
ctypes.CDLL(None).syscall(228, 4, b)
print("epoch" if struct.unpack("qq", b)[0] > 10**9 else "boot")'; }
is "a clock since the boot" "$(clock)" boot
# shellcheck disable=SC2317 # called through ok
called_itself() { "$ki" disas --live posix_get_monotonic_raw | grep -q 'call ktime_get_coarse_real_ts64 .*; was: call ktime_get_raw_ts64'; }
# shellcheck disable=SC2317 # called through ok
gave_way() { ! called_itself; }
says() { grep -c "^kerninst: ktime_get_raw_ts64 is $1: [0-9]* calls of it $2" /tmp/replace_err; }
"$ki" replace --callers ktime_get_raw_ts64=ktime_get_coarse_real_ts64 < /dev/null > /dev/null 2> /tmp/replace_err &
pids[1]=$!
ok "all direct callers of a kernel's function" until_true 120 measures "${pids[1]}"
is "it is another clock" "$(clock)" epoch
ok "which its caller calls itself" called_itself

# Whoever takes hold of the replaced function at its ftrace site sees these calls, too.
echo ktime_get_raw_ts64 > $T/set_ftrace_filter
echo function > $T/current_tracer
ok "the function tracer comes: its caller calls it again" until_true 20 gave_way
echo > $T/trace
is "where it is replaced yet" "$(clock)" epoch
is "and the tracer sees the call" "$(grep -c 'ktime_get_raw_ts64 <-posix_get_monotonic_raw' $T/trace)" 1
is "which is said" "$(says 'traced or patched' 'come by its entry meanwhile')" 1
echo nop > $T/current_tracer
echo > $T/set_ftrace_filter
ok "it goes: the call leads to the replacement" until_true 20 called_itself
is "which is said, too" "$(says 'not traced any more' 'lead to the replacement again')" 1
echo "p:ky ktime_get_raw_ts64" > $T/kprobe_events
echo 1 > $T/events/kprobes/enable
ok "a kprobe at the entry: its caller calls it again" until_true 20 gave_way
is "where it is replaced" "$(clock)" epoch
is "and the kprobe is hit" "$(awk '$1 == "ky" { print ($2 > 0) }' $T/kprobe_profile)" 1
"$ki" replace --callers ktime_get_raw_ts64=ktime_get_coarse_real_ts64 -- "$ki" disas --live posix_get_monotonic_raw > /tmp/begun 2> /tmp/begun_err
is "one that begins meanwhile leaves the call" "$(grep -c 'was: call ktime_get_raw_ts64' /tmp/begun) $(grep -c 'come by its entry meanwhile' /tmp/begun_err)" "0 1"
echo 0 > $T/events/kprobes/enable
echo > $T/kprobe_events
ok "and leads again" until_true 20 called_itself
kill -INT "${pids[1]}"
wait "${pids[1]}"
is "and back" "$(clock)" boot
ok "a dry run names the calls" sh -c "'$ki' replace -n --callers ktime_get_raw_ts64=ktime_get_coarse_real_ts64 | grep -q 'call in posix_get_monotonic_raw'"
ok "of a single call there are no callers" refuses 1 'not of one call' --callers "$first=${m}_b"
is "nothing is left" "$(results)" "11 21 31 41"
ok "the text is what it was" text_is_back
ok "the test module unloads" goes $m
finish
