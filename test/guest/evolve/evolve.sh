#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions of the running kernel are laid out anew: results, counts, faults, stacks and switched
# branches stay right, and afterwards the text is what it was.
# promise: E2, E3, E4, E5, E6 (in part), E8, K17 (in part): Functions are laid out by their
#   profile, and results, faults, tracers and undoing stay right. [test_lay.c, test_join.c,
#   test_lay_order.c]
# not shown: E6, K17: Calls from modules led to a layout: they stay, so that modules can go.
. "$(dirname "$0")/../common/lib.sh"
start
point=__x64_sys_getsid
keeper() { "$ki" evolve --list | sed -n 's/^process \([0-9]*\),.*/\1/p' | head -n 1; }
load() { # a load to be profiled: WHAT...
	while :; do "$@" > /dev/null 2>&1 || exit; done &
	load=$!
}
unload() {
	kill "$load"
	wait "$load" 2> /dev/null
}
# shellcheck disable=SC2317 # called through ok
lay() { # FUNCTION...: by what runs now
	"$ki" evolve --keep --always --for 1 "$@" > /tmp/out 2>&1
}
back() { # NAME: all is as it was
	ok "$1: it can be undone" "$ki" evolve --undo
	is "$1: no window is left" "$(field windows)" 0
	soon "$1: nor a patch" 0 field heap_used
	ok "$1: the text is what it was" text_is_back
}

load "$prog/calls" read 20000
ok "a dry run" "$ki" evolve --dry-run --for 1 --save /tmp/profile vfs_read ksys_read
"$ki" evolve --dry-run --from /tmp/profile vfs_read ksys_read | sed 's/^/# /'
is "changes nothing" "$(field windows)" 0
ok "vfs_read and ksys_read from the profile" "$ki" evolve --keep --always --from /tmp/profile vfs_read ksys_read
unload
ok "are laid out" installed
ok "and listed" sh -c "'$ki' evolve --list | grep -q vfs_read"
ok "reads read" "$prog/calls" read 20000
is "stat counts each call" "$("$ki" stat --json ksys_read:entry --own -- "$prog/calls" read 3000 2> /dev/null | value ksys_read:entry | awk '{ print ($1 >= 3000 && $1 < 3050) }')" 1
back "read"

load "$prog/calls" getsid 20000
ok "getsid" lay $point
unload
is "stat of a laid-out function: exact" "$("$ki" stat --json $point:entry $point:exit -- "$prog/calls" getsid 3000 2> /dev/null | value $point:exit)" 3000
is "each block of it" "$("$ki" stat --json -m blocks $point -- "$prog/calls" getsid 3000 2> /dev/null | value $point:block/0)" 3000
"$ki" stat --json -o /tmp/counted $point:entry -- sh -c "'$ki' evolve --undo; $prog/calls getsid 3000" > /dev/null 2>&1
is "undone under somebody's counter, which counts on" "$(value $point:entry < /tmp/counted)" 3000
soon "then nothing is left" 0 field heap_used

# Stacks, and tasks that sleep in what a layout has called.
load sleep 0.01
ok "sleeping functions" lay hrtimer_nanosleep do_nanosleep common_nsleep
unload
sleep 6 &
sleeper=$!
until_true 10 grep -q do_nanosleep /proc/$sleeper/stack
sed 's/^/# /' /proc/$sleeper/stack
is "a stack goes through the copies" "$(sed 's/^\[<0>\] //; s/\[kerninst\]//; s/kerninst://; s/+.*//' /proc/$sleeper/stack | head -n 3 | xargs)" "do_nanosleep hrtimer_nanosleep common_nsleep"
ok "and on to the beginning" grep -q entry_SYSCALL_64 /proc/$sleeper/stack
ok "undone while somebody sleeps in it" "$ki" evolve --undo
is "its text is back" "$(field windows)" 0
ok "its patch is not given back under him" test "$(field heap_used)" -gt 0
wait $sleeper
is "he comes back as if nothing had been" $? 0
soon "then it is" 0 field heap_used

# A fault inside.
bad() { python3 -c 'import ctypes, os; c = ctypes.CDLL(None, use_errno=True); print(c.open(ctypes.c_void_p(1), 0), ctypes.get_errno())'; }
load "$prog/calls" open 5000
ok "what faults" lay strncpy_from_user getname_flags
unload
is "a bad pointer is EFAULT" "$(bad)" "-1 14"
ok "and good ones open" "$prog/calls" open 5000
back "faults"

# A static branch that is switched.
cases "of what the kernel writes: " 27 "$top/build/test/branches"
events=/sys/kernel/debug/tracing
[ -d $events ] || mount -t debugfs none /sys/kernel/debug
load "$prog/calls" fork 50
ok "what has a tracepoint" lay wake_up_new_task kernel_clone
unload
echo 1 > $events/events/sched/sched_wakeup_new/enable
echo > $events/trace
"$prog/calls" fork 200
echo 0 > $events/events/sched/sched_wakeup_new/enable
ok "switched on, it is passed" test "$(grep -c sched_wakeup_new $events/trace)" -ge 200
echo > $events/trace
ok "switched off, forks fork" "$prog/calls" fork 200
is "and it is not" "$(grep -c 'sched_wakeup_new:' $events/trace)" 0
# Nothing of ours stands after a static branch: control does not come back there.
is "the text runs none of its static branches" "$("$ki" disas --live wake_up_new_task | awk '
	/JUMP_LABEL/ { sites++; after = 1; next }
	after && / 0x/ { boards += /^\*/; after = 0 }
	END { print (sites > 0), boards + 0 }')" "1 0"
# Switched again and again: a fork sees it or not, and nothing else.
while [ ! -e /tmp/enough ]; do
	echo 1 > $events/events/sched/sched_wakeup_new/enable
	echo 0 > $events/events/sched/sched_wakeup_new/enable
done &
switches=$!
ok "switched to and fro, forks fork" "$prog/calls" fork 2000
touch /tmp/enough
wait $switches
rm /tmp/enough
n=$(grep -c 'sched_wakeup_new:' $events/trace)
ok "some of them are seen ($n)" test "$n" -gt 0 -a "$n" -lt 2100
back "fork"

# Static calls that are switched: how the kernel preempts. "full" has nobody ask for a rest.
preempt=/sys/kernel/debug/sched/preempt
preempts() { echo "$1" > $preempt; }
rests() { "$ki" stat --json __cond_resched:entry --own -- "$prog/calls" open 2000 2> /dev/null | value __cond_resched:entry; }
was=$(sed 's/.*(\(.*\)).*/\1/' $preempt)
preempts voluntary
voluntary=$(rests)
ok "opens rest, by static calls ($voluntary)" test "$voluntary" -ge 2000
load "$prog/calls" open 5000
# Its name since 6.10, which can tell whose memory it is.
alloc=$(awk '$3 ~ /^kmem_cache_alloc(_noprof)?$/ { print $3; exit }' /proc/kallsyms)
ok "what rests" lay __fput dput getname_flags "$alloc"
unload
is "the text runs no static call of __fput" "$("$ki" disas --live __fput | awk '
	/STATIC_CALL/ { sites++; after = 1; next }
	after && / 0x/ { boards += /^\*/; after = 0 }
	END { print (sites > 0), boards + 0 }')" "1 0"
near "laid out, they rest as often" "$(rests)" "$voluntary" 100
preempts full
n=$(rests)
ok "switched off, nobody rests ($n)" test "$n" -lt 100
preempts voluntary
near "switched on, they do" "$(rests)" "$voluntary" 100
# Switched again and again: opens open, and each is counted.
while [ ! -e /tmp/enough ]; do
	for m in none full voluntary; do preempts $m; done
done &
switches=$!
n=$("$ki" stat --json __fput:entry --own -- "$prog/calls" open 3000 2> /tmp/err | value __fput:entry)
ok "switched to and fro, opens open" "$prog/calls" open 5000
touch /tmp/enough
wait $switches
rm /tmp/enough
ok "each close is counted ($n)" test "$n" -ge 3000 -a "$n" -lt 3050
preempts "$was"
back "what rests"

# Functions together call each other past the ftrace site, but not while somebody uses ftrace.
echo 0 > $events/tracing_on
load "$prog/calls" read 20000
ok "functions together" lay ksys_read vfs_read rw_verify_area security_file_permission
unload
echo "# $(field heap_used) bytes of patches"
ok "they are in one patch, with names of their own" test "$(grep -c 'kerninst:\(ksys_read\|vfs_read\|rw_verify_area\|security_file_permission\)+' /proc/kallsyms)" -ge 4
ok "reads read, together" "$prog/calls" read 20000
printf '%s\n' vfs_read rw_verify_area security_file_permission > $events/set_ftrace_filter
echo function > $events/current_tracer
echo > $events/trace
echo 1 > $events/tracing_on
"$prog/calls" read 3000
echo 0 > $events/tracing_on
for f in vfs_read rw_verify_area security_file_permission; do
	n=$(grep -c "calls-.*: $f <-" $events/trace)
	ok "the function tracer sees all calls of $f ($n)" test "$n" -ge 3000 -a "$n" -lt 3050
done
echo nop > $events/current_tracer
echo > $events/set_ftrace_filter
echo 'p:ki_seen rw_verify_area' > $events/kprobe_events
echo 1 > $events/events/kprobes/ki_seen/enable
echo > $events/trace
echo 1 > $events/tracing_on
"$prog/calls" read 3000
echo 0 > $events/tracing_on
n=$(grep -c 'calls-.*ki_seen' $events/trace)
echo 0 > $events/events/kprobes/ki_seen/enable
echo > $events/kprobe_events
ok "a kprobe at an entry sees all calls ($n)" test "$n" -ge 3000 -a "$n" -lt 3050
is "stat counts calls from one to the other" "$("$ki" stat --json rw_verify_area:entry --own -- "$prog/calls" read 3000 2> /dev/null | value rw_verify_area:entry | awk '{ print ($1 >= 3000 && $1 < 3050) }')" 1
back "together"

# Of a cache that is too small for them: what runs less often stands in the ends of pages.
names=(do_sys_openat2 do_filp_open path_openat __fput)
load "$prog/calls" open 5000
ok "too much for a cache" lay --cache 1 --explain "${names[@]}"
unload
is "some stand aside in their pages, and some do not" "$(awk '$4 == "[kerninst]" && $3 ~ /^kerninst:/ {
	if (substr($1, length($1) - 2) >= "e00") aside++; else beside++ } END { print (aside > 0), (beside > 0) }' /proc/kallsyms)" "1 1"
is "which those are is said" "$(sed -n 's/: aside$//p' /tmp/out | sort | paste -sd ' ')" "$(awk '$4 == "[kerninst]" &&
	substr($1, length($1) - 2) >= "e00" && sub(/^kerninst:/, "", $3) { sub(/\+.*/, "", $3); print $3 }' /proc/kallsyms | sort -u | paste -sd ' ')"
ok "opens open, aside" "$prog/calls" open 5000
for f in "${names[@]}"; do
	is "calls of $f are counted" "$("$ki" stat --json "$f:entry" --own -- "$prog/calls" open 3000 2> /dev/null | value "$f:entry" | awk '{ print ($1 >= 3000 && $1 < 3100) }')" 1
done
back "aside"

# Calls of others lead there, too, where they stand.
pread() { python3 -c 'import os; f = os.open("/dev/zero", 0); [os.pread(f, 1, 0) for _ in range(3000)]'; }
led() { "$ki" disas --live __x64_sys_pread64 | grep -c 'call 0x.*; was: call vfs_read'; }
load "$prog/calls" read 20000
ok "callers, too" lay --retarget vfs_read rw_verify_area
unload
grep 'calls by others' /tmp/out | sed 's/^/# /'
is "a caller's call leads there where it stands" "$(led)" 1
is "callers are not listed" "$("$ki" evolve --list | grep -c '^  ')" 2
ok "others read" pread
is "stat counts their calls" "$("$ki" stat --json vfs_read:entry --own -- python3 -c 'import os; f = os.open("/dev/zero", 0); [os.pread(f, 1, 0) for _ in range(3000)]' 2> /dev/null | value vfs_read:entry | awk '{ print ($1 >= 3000 && $1 < 3500) }')" 1
"$ki" stat --json -o /tmp/counted -m blocks __x64_sys_pread64 < /dev/null 2> /dev/null &
stat=$!
ok "a caller's blocks are counted" until_true 120 measures $stat
pread
is "its call still leads there" "$(led)" 1
ok "undone under the counters" "$ki" evolve --undo
is "it does no more" "$(led)" 0
pread
kill -INT $stat
wait $stat
n=$(value __x64_sys_pread64:block/0 < /tmp/counted)
ok "they count on ($n)" test "$n" -ge 6000 -a "$n" -lt 6100
soon "callers: nothing is left" 0 field heap_used
load "$prog/calls" read 20000
ok "callers again" lay --retarget vfs_read rw_verify_area
unload
echo vfs_read > $events/set_ftrace_filter
echo function > $events/current_tracer
echo > $events/trace
echo 1 > $events/tracing_on
pread
echo 0 > $events/tracing_on
n=$(grep -c ': vfs_read <-' $events/trace)
ok "the function tracer sees their calls ($n)" test "$n" -ge 3000
echo nop > $events/current_tracer
echo > $events/set_ftrace_filter
ok "kill -9 with callers" kill -9 "$(keeper)"
soon "all of it is taken out" 0 field windows
soon "and its patch" 0 field heap_used
ok "callers: the text is what it was" text_is_back

# The kernel says itself where it is hot.
load "$prog/calls" open 5000
# shellcheck disable=SC2317 # called through ok
hottest() { "$ki" evolve --keep --always --for 2 --hottest 80 > /tmp/out 2> /tmp/err; }
ok "the hottest" hottest
grep -v ' is not\|cannot' /tmp/out | tail -n 1 | sed 's/^/# /'
sed 's/.*: //' /tmp/err | sort | uniq -c | sort -rn | head -n 8 | sed 's/^/# /'
unload
ok "are laid out: some are of opening files" sh -c "'$ki' evolve --list | grep -qw 'link_path_walk\|do_dentry_open\|path_openat\|do_sys_openat2\|kmem_cache_alloc\|__fput'"
ok "files are opened" "$prog/calls" open 5000
back "the hottest"

# Who keeps it is killed.
load "$prog/calls" read 20000
ok "once more" lay vfs_read
ok "kill -9 of who keeps it" kill -9 "$(keeper)"
soon "all is taken out" 0 field windows
"$ki" evolve --policy reverse --for 1 --windows 3 --window 0.5 vfs_read > /tmp/out 2>&1
status=$?
sed 's/^/# /' /tmp/out
is "a layout that is not better is undone" $status 4
is "who calls it has judged" "$(grep -o '^[a-z_0-9]*: vtime' /tmp/out)" "ksys_read: vtime"
is "it is out" "$(field windows)" 0
timeout 60 "$ki" evolve --keep --for 1 --windows 4 --window 0.5 --judge __x64_sys_read vfs_read ksys_read > /tmp/out 2>&1
echo "# status $?"
sed 's/^/# /' /tmp/out
is "or who is named" "$(grep -o '^[a-z_0-9]*: vtime' /tmp/out)" "__x64_sys_read: vtime"
"$ki" evolve --undo | sed 's/^/# /'
unload
soon "nothing is left" 0 field heap_used
finish
