#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Probes that are no functions: clocks, tracepoints, and what each kernel does, against known work.
# promise: D3, D12 (in part): D's probes that are no functions fire as known loads say.
#   [kdtrace_args.sh, kdtrace_network.sh]
# not shown: D12: args[] of other providers than proc, sched, io, lockstat, ip, tcp, udp,
#   functions, tracepoints and system calls.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
# shellcheck disable=SC2317 # ok runs it
between() { [ "$1" ] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }
execs='sh -c "for i in 1 2 3 4 5; do /bin/true; done"'

mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
# Elapsed, and what this machine's CPUs had to do for it: others may use the host.
TIMEFORMAT='# %Rs, of the CPUs %Us and %Ss'
time "$kd" -l 2> /tmp/kd.err | tail -n +2 > /tmp/kd.list
ok "all probes: $(wc -l < /tmp/kd.list)" between "$(wc -l < /tmp/kd.list)" 150000 1000000
awk '{ print $2 }' /tmp/kd.list | sort | uniq -c | sed 's/^/# /'
is "a probe has one number" "$(awk '{ print $1 }' /tmp/kd.list | sort | uniq -d | wc -l)" 0
echo "# BEGIN and exit"
time timeout 60 "$kd" -qn 'BEGIN { exit(0); }' > /dev/null
ok "a clock of each CPU" between "$(d 'profile-97 { @ = count(); } tick-2s { exit(0); }')" 100 600
is "which is where the CPU is: in the kernel or in a process" "$(d 'profile-197 { @[arg0 != 0, arg1 != 0] = count(); } tick-2s { exit(0); }' -c 'perl -e "alarm 4; 1 while 1"' | awk '{ print $1, $2 }' | sort | tr '\n' ';')" "0 1;1 0;"
ok "its address, by name" between "$(d 'profile-97 /arg0/ { printf("%a\n", arg0); } tick-1s { exit(0); }' | grep -c '^[a-z0-9_]*`[A-Za-z0-9_.]*+0x[0-9a-f]*$')" 20 300
is "a program that only computes is met in its code" \
	"$(d 'profile-197 /pid == $target && arg1/ { @ = count(); }' -c 'perl -e "alarm 2; 1 while 1"' | wc -l)" 1
is "a clock that there is not" "$(for p in profile-1ns profile-199us tick-n tick-1xx; do "$kd" -xerrtags -n "$p { }" 2>&1 | grep -o D_PDESC_ZERO; done | uniq -c | tr -s ' ')" " 4 D_PDESC_ZERO"
ok "a CPU's clock, by the provider cpc" between "$(d 'cpc:::cpu_clock-all-10000000 /cpu == 0/ { @ = count(); } tick-2s { exit(0); }')" 50 220
is "which counts in processes, or in the kernel" "$(d 'cpc:::cpu_clock-user-5000000 { @[0, arg0 != 0] = count(); } cpc:::cpu_clock-kernel-5000000 { @[1, arg1 != 0] = count(); } tick-2s { exit(0); }' -c 'perl -e "alarm 4; 1 while 1"' | awk '{ print $1, $2 }' | sort | tr '\n' ';')" "0 0;1 0;"
echo never > /sys/kernel/mm/transparent_hugepage/enabled
is "each page fault of a process, 9,765 of which are known" "$(d 'cpc:::page_faults-all-1 /pid == $target/ { @a = count(); } cpc:::minor_faults-user-1 /pid == $target && !arg0 && arg1/ { @b = count(); } END { printa("%@d ", @a); printa("%@d", @b); }' -c 'perl -e "\$x = q(x) x 40_000_000"' | awk '{ print ($1 >= $2 && $2 >= 9765 && $1 < 60000) }')" 1
is "events have their names of perf, too" "$("$kd" -lP cpc 2> /dev/null | awk '$2 == "cpc" { print $NF }' | grep -c -x -e perf_count_sw_cpu_clock-all-1000000000 -e cpu_clock-all-1000000000 -e cs-all-1000000000)" 3
is "what is none is refused" "$(for e in no_such-all-10 cpu_clock-half-10 cpu_clock-all-10x cpu_clock-all-0 cpu_clock-all cpu_clock; do "$kd" -xerrtags -n "BEGIN { exit(0); } cpc:::$e { }" 2>&1 | grep -o D_PDESC_ZERO; done | uniq -c | tr -s ' ')" " 6 D_PDESC_ZERO"
is "programs that are executed" "$(d 'rawtp:::sched_process_exec { @[execname] = count(); }' -c "$execs" | grep true)" "true 5"
is "the same by its stable name" "$(d 'proc:::exec-success { @[execname] = count(); }' -c "$execs" | grep true)" "true 5"
is "those that fail" "$(d 'proc:::exec-failure /pid == $target && execname == "perl"/ { @[arg1] = count(); }' -c 'perl -e "exec q(/no/such)"')" "-2 1"
is "signals, by number" "$(d 'proc:::signal-send /pid == $target/ { @[arg2] = count(); }' -c 'perl -e "\$SIG{USR1} = sub {}; kill USR1 => \$\$ for 1 .. 3"' | grep '^10 ')" "10 3"
is "processes that begin" "$(d 'proc:::create /pid == $target/ { @a = count(); } ' -c "$execs" | head -1)" 5
ok "who leaves the CPU" between "$(d 'sched:::off-cpu /pid == $target/ { @ = count(); }' -c 'perl -e "select undef, undef, undef, .01 for 1 .. 20"')" 20 400
ok "who sleeps" between "$(d 'sched:::sleep /pid == $target/ { @ = count(); }' -c 'perl -e "select undef, undef, undef, .01 for 1 .. 20"')" 20 400
is "two events of one class are two" "$(d 'rawtp:::sched_wakeup_new { @[probename] = count(); } rawtp:::sched_waking { @[probename] = count(); } tick-1s { exit(0); }' -c "$execs" | awk '{ print $1 }' | tr '\n' ' ')" "sched_wakeup_new sched_waking "
is "reads" "$(d 'vfs:::read /pid == $target && arg2 == 7/ { @ = count(); }' -c 'dd if=/dev/zero of=/dev/null bs=7 count=1000 2> /dev/null')" 1000
is "and what they gave" "$(d 'vfs:::read-done /pid == $target && arg1 == 7/ { @ = count(); }' -c 'dd if=/dev/zero of=/dev/null bs=7 count=1000 2> /dev/null')" 1000
is "a probe of several places is one" "$("$kd" -ln 'lockstat:::,ip:::,proc:::exec*' 2> /dev/null | awk 'NR > 1 { print $2 ":" $NF }' | sort | uniq -d | wc -l)" 0
is "locks that are taken and given back, and which" "$(d 'lockstat:::spin-acquire /pid == $target/ { self->l = arg0; } lockstat:::spin-release /pid == $target && self->l == arg0 && arg0/ { n++; self->l = 0; } END { printf("%d", n > 100); }' -c 'dd if=/dev/zero of=/tmp/kd.dd bs=4k count=300 2> /dev/null')" 1
is "readers and writers" "$(d 'lockstat:::rw-acquire { self->l = args[0]; self->k = args[1]; } lockstat:::rw-release /self->l && self->l == args[0]/ { @[self->k, args[1]] = count(); self->l = 0; }' -c 'sh -c "for i in 1 2 3 4 5 6 7 8; do /bin/true; done"' | awk '$3 { print $1, $2 }' | sort | tr '\n' ';')" "0 0;1 1;"
is "mutexes: each that was taken" "$(d 'lockstat:::adaptive-acquire /pid == $target/ { self->m = args[0]; @a = count(); } lockstat:::adaptive-release /pid == $target && self->m == args[0]/ { @r = count(); self->m = 0; }' -c 'perl -e "for (1 .. 200) { pipe R, W; syswrite W, q(x); sysread R, \$b, 1; }"' | awk '{ n += $1 > 400 } END { print n }')" 2
for p in proc sched io vfs lockstat kmem ip tcp udp callout vminfo sysinfo; do
	"$kd" -l -n "$p:::" 2> /dev/null | tail -n +2 | awk '{ print $2 ":::" $NF }' > /tmp/kd.names
	timeout 100 "$kd" -qn "$p:::{ @[probename] = count(); } tick-500ms { exit(0); }" > /tmp/kd.out 2> /tmp/kd.err
	is "all of $p are in" "$? $(grep 'left out' /tmp/kd.err)" "0 "
	ok "$p has some" test -s /tmp/kd.names
done
echo "# all system calls"
time timeout 100 "$kd" -qn 'syscall:::entry,syscall:::return { @ = count(); } tick-1ms { exit(0); }' > /dev/null
soon "no window stays" 0 field windows
finish
