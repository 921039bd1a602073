#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Everything else that changes kernel text, before, during and after our splices and in both
# orders of removal, on functions all of whose blocks carry a counter. Each line of the table in
# doc/coexistence.md is checked here, by its name.
# Functions are called by name; pieces of shell that run later are not expanded here; names have
# no blanks.
# promise: Beside each other tool, both work or one is refused and says why. [others.sh]
# shellcheck disable=SC2317,SC2016,SC2086,SC2013
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/coexist_lib.sh"
insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
dmesg > /tmp/log_at_load
start

# ---- those who count a kernel function themselves: all the same cases ----

on_ftrace() {
	echo $F > $T/set_ftrace_filter
	echo function > $T/current_tracer
}
off_ftrace() { # the trace goes with its tracer
	grep -cE " $F( <-|\(\)| \[)" $T/trace > /tmp/trace_hits
	echo nop > $T/current_tracer
	echo > $T/set_ftrace_filter
}
hits_ftrace() { cat /tmp/trace_hits; }

on_graph() {
	echo $F > $T/set_ftrace_filter
	echo function_graph > $T/current_tracer
}
off_graph() { off_ftrace; }
hits_graph() { cat /tmp/trace_hits; }

on_kprobe_entry() { arm "p:kx $F"; }
off_kprobe_entry() { disarm; }
hits_kprobe_entry() { last_hits; }

on_kretprobe() { arm "r64:kx $F"; }
off_kretprobe() { disarm; }
hits_kretprobe() { last_hits; }

# Counts are told when it ends: the hits are read then.
on_fentry() {
	rm -f /tmp/bpf
	bpftrace -B line -e "interval:ms:200 { printf(\"first\\n\"); }
		kfunc:vmlinux:$F { @e = count(); } kretfunc:vmlinux:$F { @x = count(); }
		interval:ms:200 { printf(\"last\\n\"); }" > /tmp/bpf 2>&1 &
	echo $! > /tmp/bpf.pid # probes are attached in order, or in the opposite one
	until_true 300 grep -q '^first' /tmp/bpf && until_true 120 grep -q '^last' /tmp/bpf
}
off_fentry() {
	kill -INT "$(cat /tmp/bpf.pid)"
	until_true 120 grep -q '^@x' /tmp/bpf
	until_true 120 eval '! kill -0 $(cat /tmp/bpf.pid) 2> /dev/null'
}
hits_fentry() {
	local e x
	e=$(sed -n 's/^@e: //p' /tmp/bpf) x=$(sed -n 's/^@x: //p' /tmp/bpf)
	[ "$e" = "$x" ] && echo "$e"
}

export -f on_ftrace off_ftrace hits_ftrace on_graph off_graph on_kprobe_entry off_kprobe_entry \
	on_kretprobe off_kretprobe on_fentry off_fentry hits_fentry

for who in ftrace graph kprobe-entry kretprobe; do
	both together $who
done
if [ -e /sys/kernel/btf/vmlinux ]; then
	both together fentry
else
	skip "fentry" "this kernel says nothing of its types (no BTF): BPF cannot be attached to its functions"
	echo "fentry: cannot be" >> /tmp/names
fi

# ---- livepatch ----
live() { # ON|OFF and wait until the transition is over
	if [ "$1" = on ]; then
		insmod "$top/build/mate/$(uname -r)/ki_mate_patch.ko"
		until_true 300 grep -q 0 /sys/kernel/livepatch/ki_mate_patch/transition
	else
		echo 0 > /sys/kernel/livepatch/ki_mate_patch/enabled
		until_true 300 test ! -e /sys/kernel/livepatch/ki_mate_patch
		until_true 120 eval 'rmmod ki_mate_patch 2> /dev/null' # it is let go a moment later
	fi
}
versions() {
	for _ in $(seq "$1"); do cat /proc/version; done | sort -u
}
export -f live versions
original=$(cat /proc/version)
plain=$(mate "call 60")
patched=$(live on; mate "call 60"; live off)
ok "livepatch: it changes what is returned" test "$plain" != "$patched"
patched_meanwhile() {
	inside version_proc_show 'versions 5 > /tmp/a; live on; versions 7 > /tmp/b; live off; versions 3 > /tmp/c'
	is "livepatch: ${as}during: the old body's count" "$(entered version_proc_show)" 8
	is "livepatch: ${as}during: what is read" "$(cat /tmp/a /tmp/b /tmp/c)" "$original
patched
$original"
	live on
	inside version_proc_show 'versions 5 > /tmp/a; live off; versions 4 > /tmp/b'
	is "livepatch: ${as}before, goes first: the old body's count" "$(entered version_proc_show)" 4
	is "livepatch: ${as}before, goes first: what is read" "$(cat /tmp/a /tmp/b)" "patched
$original"
	# An endbr that the kernel has made a nop is a window before the ftrace site: all calls pass there.
	before_site=$("$ki" disas ki_mate:ki_mate_work | grep -cE '\+0x0 +nop \[rax\], ax$')
	echo "# windows before the ftrace site: $before_site"
	inside ki_mate:ki_mate_work 'mate "call 60" > /tmp/a; live on; mate "call 60" > /tmp/b'
	is "livepatch: ${as}during, stays: a module's function: the old body's count" "$(value ki_mate:ki_mate_work:block/4 < /tmp/inside.json)" 60
	is "livepatch: ${as}during, stays: a module's function: its calls" "$(entered ki_mate:ki_mate_work)" $((60 + 60 * before_site))
	is "livepatch: ${as}during, stays: results" "$(cat /tmp/a /tmp/b)" "$plain
$patched"
	is "livepatch: ${as}after" "$(mate "call 60")" "$patched"
	live off
	is "livepatch: ${as}gone" "$(mate "call 60")" "$plain"
}
both patched_meanwhile

# A replacement stands behind the site where a livepatch comes in: that goes first, while it is on.
replaced() { # SHELL: what it prints while version_proc_show is another function
	"$ki" replace -q version_proc_show=cmdline_proc_show -- bash -c "$1"
}
other=$(cat /proc/cmdline)
is "livepatch: of a replaced function" \
	"$(replaced 'versions 2; live on; versions 2; live off; versions 2'; versions 2)" "$other
patched
$other
$original"
live on
is "livepatch: before a replacement, goes last" "$(replaced 'versions 2'; versions 2)" "patched
patched"
is "livepatch: before a replacement, goes first" "$(replaced 'versions 2; live off; versions 2'; versions 2)" "patched
$other
$original"

# ---- static branches, static calls ----
switched() { # COMMAND NAME
	mate "$1 1" > /dev/null
	other=$(mate "call 60")
	mate "$1 0" > /dev/null
	ok "$2: it changes what is returned" test "$plain" != "$other"
	inside ki_mate:ki_mate_work "mate 'call 60' > /tmp/a; mate '$1 1' > /dev/null; mate 'call 60' > /tmp/b"
	is "$2: ${as}switched on during: count" "$(entered ki_mate:ki_mate_work)" 120
	is "$2: ${as}switched on during: results" "$(cat /tmp/a /tmp/b)" "$plain
$other"
	is "$2: ${as}after" "$(mate 'call 60')" "$other"
	inside ki_mate:ki_mate_work "mate 'call 60' > /tmp/a; mate '$1 0' > /dev/null; mate 'call 60' > /tmp/b"
	is "$2: ${as}switched on before, off during: count" "$(entered ki_mate:ki_mate_work)" 120
	is "$2: ${as}switched on before, off during: results" "$(cat /tmp/a /tmp/b)" "$other
$plain"
}
both switched key jump-label
both switched op static-call
flip() {
	for _ in 1 2 3 4 5; do
		for on in 1 0; do
			echo $on > /proc/sys/kernel/sched_schedstats
			echo $on > $T/events/sched/enable
			echo $on > $T/events/kmem/enable
		done
	done
}
export -f flip
alloc=kmem_cache_alloc # 6.12: _noprof
grep -q " $alloc\$" /proc/kallsyms || alloc=${alloc}_noprof
"$prog/hammer" 3000 2 > /tmp/hammer 2>&1 &
load=$!
flipped() {
	ok "tracepoint: ${as}10 switches of schedstats and all of sched and kmem" inside \
		"try_to_wake_up enqueue_task_fair dequeue_task_fair update_curr $alloc kmem_cache_free" flip
	ok "tracepoint: ${as}all was counted" test "$(entered try_to_wake_up)" -gt 100
	ok "tracepoint: ${as}the load is alive" kill -0 $load
}
both flipped
kill $load
wait $load 2> /dev/null
echo > $T/trace

# ---- kprobes inside functions ----
# Where a function begins with endbr, all is four bytes behind where it is without: leap N, spin N.
L=ki_mate:ki_mate_leap # windows: [5, 10) cmp je; [10] add; [12, 21) lea imul mov ret
S=ki_mate:ki_mate_spin # its loop is one window, [5, 10)
endbr=$((4 * $("$ki" disas $L | grep -cE '\+0x0 +endbr64')))
leap() { echo "$L+$(($1 + endbr))"; }
spin() { echo "$S+$(($1 + endbr))"; }
W=ki_mate:ki_mate_work
refused() { "$ki" stat -q --no-move -m blocks "$1" -- true 2>&1 > /dev/null | grep -o "another tool's" | head -n 1; }
optimized() { grep "ki_mate_leap+0x$(printf %x $(($1 + endbr))) .*OPTIMIZED" /sys/kernel/debug/kprobes/list; }
export -f optimized leap spin
export L S endbr
want=$(mate 'call 60')

arm "p:kx $(leap 15)"
is "kprobe-first: refused" "$(refused $L)" "another tool's"
is "kprobe-first: it counts" "$(mate 'call 60'; probe_hits)" "$want
60"
enable 0
is "kprobe-asleep: its window is refused" "$(refused "$(leap 12)")" "another tool's"
is "kprobe-asleep: others are not" "$(refused "$(leap 5)")" ""
disarm
is "kprobe-asleep: accepted when it has gone" "$(refused "$(leap 12)")" ""

ok "kprobe-jump: it is optimized" eval 'arm "p:kx $(leap 12)" && until_true 120 optimized 12'
is "kprobe-jump: refused" "$(refused $L)" "another tool's"
disarm

inside $L 'arm "p:kx $(leap 5)"; mate "call 60" > /tmp/a; probe_hits > /tmp/b; disarm'
is "kprobe-board: it counts" "$(cat /tmp/b)" 60
is "kprobe-board: we count" "$(entered $L)" 60
is "kprobe-board: the results" "$(cat /tmp/a)" "$want"
inside $L 'arm "p:kx $(leap 5)"; mate "call 60" > /tmp/a; "$ki" stat -q $L -- true 2> /tmp/b'
ok "kprobe-more: refused" grep -q "another tool's" /tmp/b
is "kprobe-board: the window stays" "$(field windows)" 1
is "kprobe-board: and its function works" "$(mate 'call 60')" "$want"
disarm
soon "kprobe-board: and goes with it" 0 field windows
dmesg | grep -q 'another tool has written' || ok "kprobe-board: the driver has said so" false

inside $L 'arm "p:kx $(leap 8)" 2> /tmp/a; echo $? > /tmp/b; disarm'
is "kprobe-inside: refused" "$(cat /tmp/b)" 1
ok "kprobe-inside: EBUSY" grep -q 'busy' /tmp/a
inside $L 'arm "p:kx $(leap 18)" 2> /tmp/a; echo $? > /tmp/b; mate "call 60" > /tmp/c; disarm'
is "kprobe-behind: refused" "$(cat /tmp/b)" 1
ok "kprobe-behind: EBUSY" grep -q 'busy' /tmp/a
is "kprobe-behind: count" "$(entered $L)" 60
ok "kprobe-behind: accepted when the window has gone" arm "p:kx $(leap 18)"
disarm

heap=$(printf 0x%x "$(field heap_start)")
export heap
inside $L 'arm "p:kx $heap" 2> /tmp/a; echo $? > /tmp/b; disarm'
is "kprobe-heap: refused" "$(cat /tmp/b)" 1

inside $S 'arm "p:kx $(spin 5)" 2> /tmp/a; echo $? > /tmp/b; mate "call 60" > /tmp/c; disarm'
is "kprobe-loop: refused" "$(cat /tmp/b)" 1
ok "kprobe-loop: EBUSY" grep -q 'busy' /tmp/a
is "kprobe-loop: each round is counted" "$(value $S:block/1 < /tmp/inside.json)" 180

inside "$L:block/0" 'arm "p:kx $(leap 15)"; mate "call 60" > /tmp/a; probe_hits > /tmp/b; disarm'
is "kprobe-beside: it counts" "$(cat /tmp/b)" 60
is "kprobe-beside: we count" "$(entered $L)" 60
inside "$L:block/0" 'arm "p:kx $(leap 10)"; until_true 3 optimized 10; mate "call 60" > /tmp/a; probe_hits > /tmp/b'
is "kprobe-leap: it counts, and goes last" "$(cat /tmp/b)" 50
is "kprobe-leap: we count" "$(entered $L)" 60
is "kprobe-leap: the results" "$(cat /tmp/a)" "$want"
ok "kprobe-leap: never optimized" eval '! until_true 3 optimized 10'
disarm
ok "kprobe-leap: where no branch comes in, it is optimized beside windows of another function" eval \
	'inside "$W" "arm \"p:kx \$(leap 12)\"; until_true 120 optimized 12; echo \$? > /tmp/a; disarm"; grep -qx 0 /tmp/a'

# ---- kprobes inside functions that are moved ----
# Control comes to their windows inside the patch: a kprobe there would miss it.
moved() { "$ki" stat -q --json --move -m blocks -o /tmp/inside.json "$1" -- bash -c "$2"; }
for at in 5 10 12 15 18; do
	moved $L "arm 'p:kx $(leap $at)' 2> /tmp/a; echo \$? > /tmp/b; mate 'call 60' > /tmp/c; disarm"
	is "kprobe-moved: refused: $at" "$(cat /tmp/b)" 1
	ok "kprobe-moved: EBUSY: $at" grep -q 'busy' /tmp/a
	is "kprobe-moved: count: $at" "$(entered $L) $(value $L:block/1 < /tmp/inside.json)" "60 50"
	is "kprobe-moved: the results: $at" "$(cat /tmp/c)" "$want"
	ok "kprobe-moved: accepted when it is back: $at" arm "p:kx $(leap $at)"
	is "kprobe-moved: it counts: $at" "$(mate 'call 60' > /tmp/c; probe_hits)" $((60 - 10 * (at == 10)))
	disarm
done

# Armed before, nothing of the function is counted; asleep, all but its window is, one by one.
arm "p:kx $(leap 15)"
moved "$W" 'mate "call 60" > /tmp/a; "$ki" stat -q --move -m blocks $L -- true 2> /tmp/b'
is "kprobe-first: moved, in another function: we count" "$(entered "$W")" 60
ok "kprobe-first: moved, refused" grep -q "another tool's" /tmp/b
is "kprobe-first: moved, it counts" "$(cat /tmp/a; probe_hits)" "$want
60"
enable 0
moved $L 'mate "call 60" > /tmp/a; enable 1; mate "call 60" > /tmp/b; probe_hits > /tmp/c; enable 0'
is "kprobe-asleep: moved, its window is refused, the others count" \
	"$(entered $L) $(value $L:block/1 < /tmp/inside.json) $(value $L:block/2 < /tmp/inside.json)" "120 100 "
is "kprobe-asleep: moved, it counts when it wakes" "$(cat /tmp/c)" 120
is "kprobe-asleep: moved, the results" "$(cat /tmp/a /tmp/b)" "$want
$want"
disarm
moved $L 'mate "call 60" > /tmp/a'
is "kprobe-asleep: moved, all of it when it has gone" \
	"$(entered $L) $(value $L:block/2 < /tmp/inside.json)" "60 60"

# ---- modules ----
inside "$W" 'rmmod ki_mate 2> /tmp/a; echo $? > /tmp/b; mate "call 60" > /tmp/c
	lsmod > /tmp/lsmod; cp /proc/modules /tmp/modules; "$ki" sessions -v > /tmp/sessions'
is "unload: refused" "$(cat /tmp/b)" 1
ok "unload: in use" grep -qE 'in use|unavailable' /tmp/a
is "unload: rmmod says by whom" "$(grep -c 'in use by: kerninst' /tmp/a)" 1
is "unload: so does lsmod" "$(grep -c '^ki_mate .* kerninst' /tmp/lsmod) $(grep -c '^ki_mate .* kerninst,' /tmp/modules)" "1 1"
ok "unload: and which session" grep -q 'ki_mate' /tmp/sessions
is "unload: then nobody holds it" "$(ls /sys/module/ki_mate/holders)$(grep -c '^ki_mate .*kerninst' /proc/modules)" 0
is "unload: count" "$(entered "$W")" 60
ok "unload: afterwards" rmmod ki_mate
inside vfs_read 'insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
	"$ki" stat -q --json -m calls -o /tmp/load "ki_mate:ki_mate_*" -- bash -c "mate \"call 60\" > /tmp/c"'
is "load: found by a glob, counted" "$(value ki_mate:ki_mate_work < /tmp/load)" 60
is "load: results" "$(cat /tmp/c)" "$want"
# Until the windows of some hundred functions have come and gone another module does so, too.
come_and_go() {
	local n=0

	while [ ! -e /tmp/enough ]; do
		insmod "$top/build/replace/$(uname -r)/ki_replace.ko" && rmmod ki_replace || return
		n=$((n + 1))
	done
	echo $n
}
rm -f /tmp/enough
come_and_go > /tmp/a &
until_true 60 grep -q '^ki_replace ' /proc/modules
is "load: modules come and go while windows do" \
	"$(for _ in 1 2 3; do
		"$ki" stat -q --json --no-move -m blocks -o /tmp/inside.json 'tcp_*' 'vfs_*' $F -- bash -c reads > /dev/null
		entered $F
	done)" "$N
$N
$N"
touch /tmp/enough
wait $!
is "load: all went well" $? 0
ok "load: often ($(cat /tmp/a) times)" test "$(cat /tmp/a)" -gt 5

# ---- CPUs, suspend ----
cpu1() { echo "$1" > /sys/devices/system/cpu/cpu1/online; } # it may be busy at first
cycle() { # other windows come and go meanwhile
	for _ in 1 2 3; do
		"$ki" stat -q --no-move -m blocks do_sys_openat2 path_openat -- true > /dev/null &
		until_true 60 cpu1 0 && until_true 60 cpu1 1 || return
		wait $! || return
	done
}
export -f cpu1 cycle
ok "hotplug: windows are changed while a CPU goes and comes" inside $F 'cycle && reads'
is "hotplug: count" "$(entered $F)" "$N"
is "suspend: nothing in dmesg before it is tried" "$(complaints)" "" # which empties it
echo 120000 > /sys/power/pm_freeze_timeout
pm() { # one stage, and back; its devices stay up if one of them cannot (this machine's file system)
	echo 0 > /sys/module/suspend/parameters/pm_test_delay
	echo "$1" > /sys/power/pm_test
	dmesg -C
	echo mem > /sys/power/state || dmesg | grep -q 'virtio-fs: suspend/resume not yet supported'
}
export -f pm
inside "$F freeze_processes dpm_suspend dpm_resume" \
	'for s in freezer devices; do pm $s 2> /tmp/a; echo "$s $?"; done > /tmp/b; dmesg > /tmp/c; reads'
is "suspend: two stages of the test, and back" "$(cat /tmp/b)" "freezer 0
devices 0"
ok "suspend: it was tried" grep -q 'PM: suspend exit' /tmp/c
is "suspend: the ways were taken" "$(entered freeze_processes) $(entered dpm_suspend)" "2 1"
is "suspend: count" "$(entered $F)" "$N"

# ---- ftrace itself ----
ok "ftrace-off: refused" eval '! echo 0 > /proc/sys/kernel/ftrace_enabled'
ok "ftrace-off: the log has said why" grep -q 'kerninst: .*by ftrace, which cannot be switched off' /tmp/log_at_load
is "ftrace-off: still on" "$(cat /proc/sys/kernel/ftrace_enabled)" 1

ok "the load's results" mate 'call 60'
rmmod ki_mate
for name in $(sed -n 's/^| \([a-z-]*\) |.*/\1/p' "$top/doc/coexistence.md" | grep -vx test); do
	ok "doc/coexistence.md: $name was checked here" grep -q "^$name:" /tmp/names
done
finish
