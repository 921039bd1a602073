#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What vminfo, sysinfo and returns of system calls count, against what the kernel counts itself and
# against known work.
# promise: D3, D12 (in part): vminfo and sysinfo fire once for an event, with its amount in arg0: as often
#   as /proc, tracepoints and known loads say.
# promise: D3, D12 (in part): each system call that a process makes has a return, with value and error.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 100 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
# shellcheck disable=SC2317 # ok runs it
between() { [ "$1" ] && [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }

# ---- pages ----

echo never > /sys/kernel/mm/transparent_hugepage/enabled
cat > /tmp/touch.pl << 'P'
my $x = q(x) x 40_000_000; open F, "/proc/self/stat"; print +(split " ", <F>)[9], "\n"
P
read -r counted faults <<< "$(d 'vminfo:::as_fault /pid == $target/ { f += arg0; } END { printf("%d", f); }' -x evaltime=exec -c 'perl /tmp/touch.pl' | tr '\n' ' ')"
# It has had some before its execve, and has some behind the look.
ok "faults of a process, of which it has $counted: $faults" between "$((faults - counted))" -200 300
ok "9,765 of which are known" between "$faults" 9765 60000
cow='my $x = q(x) x 8_192_000; if (!fork) { substr($x, 4096 * $_, 1) = q(y) for 0 .. 1999; exit } wait'
echo "$cow" > /tmp/cow.pl
ok "pages that are copied when they are written, 1,999 of which are known" between \
	"$(d 'vminfo:::cow_fault /progenyof($target) && pid != $target/ { @ = sum(arg0); }' -c 'perl /tmp/cow.pl')" 1999 3000
cat > /tmp/faults.sh << 'E'
awk '$1 == "pgfault" || $1 == "pgmajfault" { print $2 }' /proc/vmstat
perl -e 'my $x = q(x) x 4_000_000'
awk '$1 == "pgfault" || $1 == "pgmajfault" { print $2 }' /proc/vmstat
E
# What is counted before the first look and behind the last one is that of processes that begin and end.
read -r f0 m0 f1 m1 all major <<< "$(d 'vminfo:::as_fault { f += arg0; } vminfo:::maj_fault { m += arg0; } END { printf("%d %d", f, m); }' -c 'sh /tmp/faults.sh' | tr '\n' ' ')"
ok "faults of all: $all, of which the kernel counts $((f1 - f0)) meanwhile" between "$((all - f1 + f0))" 0 2000
ok "those that wait for a disk: $major, $((m1 - m0))" between "$((major - m1 + m0))" 0 200
is "where a bio has what is looked at" "$(d 'BEGIN { printf("%d %d", offsetof(struct bio, bi_opf), offsetof(struct bio, bi_iter) + offsetof(struct bvec_iter, bi_size)); exit(0); }')" "16 40"
disk=
for at in /sys/block/[!rz]*; do [ -e "$at" ] && disk=${disk:-${at##*/}}; done
if [ "$disk" ] && [ -b "/dev/$disk" ] && [ "$(cat "/sys/block/$disk/size")" -gt 96 ]; then
	is "pages and reads of a disk" "$(d 'vminfo:::pgpgin /pid == $target/ { p += arg0; } vminfo:::pgin /pid == $target/ { n += arg0; } sysinfo:::bread /pid == $target/ { b += arg0; } END { printf("%d %d %d", p, n, b); }' \
		-c "dd if=/dev/$disk of=/dev/null bs=16k count=3 iflag=direct")" "12 3 3"
else
	echo "# no disk"
fi

# ---- files ----

dd7='dd if=/dev/zero of=/dev/null bs=7 count=1000'
is "bytes that are read and written, in one piece each" "$(d 'sysinfo:::readch /pid == $target && arg0 == 7/ { @r[probename] = sum(arg0); } sysinfo:::writech /pid == $target && arg0 == 7/ { @w[probename] = sum(arg0); }' -c "$dd7" | tr '\n' ' ')" "readch 7000 writech 7000 "
cat > /tmp/rchar.pl << 'P'
sub bytes { sysopen F, "/proc/self/io", 0; sysread F, my $text, 4096; $text =~ /rchar: (\d+)/; $1 }
my $before = bytes(); open G, "/etc/passwd"; local $/; my $x = <G>; print bytes() - $before, "\n"
P
read -r known n <<< "$(d 'sysinfo:::readch /pid == $target/ { n += arg0; } syscall::openat:entry /pid == $target && copyinstr(arg1) == "/proc/self/io"/ { at[k++] = n; } END { printf("%d", at[1] - at[0]); }' -c 'perl /tmp/rchar.pl' | tr '\n' ' ')"
ok "all bytes that are read meanwhile: $n, as /proc/PID/io has them" test "$n" = "$known" -a "${n:-0}" -gt 0
is "in several pieces" "$(d 'sysinfo:::writech /pid == $target/ { @ = sum(arg0); }' -c 'python3 -c "import os; os.writev(os.open(\"/dev/null\", 1), [b\"abc\", b\"defg\"])"')" 7
is "reads and writes, as system calls" "$(d 'sysinfo:::sysread,sysinfo:::syswrite /pid == $target/ { n += arg0; } syscall::read:entry,syscall::pread64:entry,syscall::write:entry,syscall::writev:entry /pid == $target/ { m++; } END { printf("%d %d", n == m, n >= 2000); }' -c "$dd7")" "1 1"
ok "names that are looked up" between "$(d 'sysinfo:::namei /pid == $target/ { @ = sum(arg0); }' -c 'perl -e "stat q(/etc/hostname) for 1 .. 300"')" 300 420

# ---- processes ----

cat > /tmp/switches.sh << 'E'
grep ctxt /proc/stat | cut -d' ' -f2
perl -e 'select undef, undef, undef, .01 for 1 .. 100'
grep ctxt /proc/stat | cut -d' ' -f2
E
read -r c0 c1 switches events <<< "$(d 'sysinfo:::pswitch { n += arg0; } rawtp:::sched_switch { m++; } END { printf("%d %d", n, n - m); }' -c 'sh /tmp/switches.sh' | tr '\n' ' ')"
ok "switches: $switches, of which the kernel counts $((c1 - c0)) meanwhile" between "$((switches - c1 + c0))" 0 1500
ok "and its tracepoint as many" between "$events" -3 3
cat > /tmp/spin.pl << 'P'
my $parent = fork; $SIG{ALRM} = sub { open F, "/proc/self/status"; for (<F>) { print "$$ $1\n" if !$parent && /^nonvol.*\s(\d+)/ } exit }; alarm 3; 1 while 1
P
d 'sysinfo:::inv_swtch /progenyof($target)/ { @[pid] = sum(arg0); }' -c 'taskset -c 0 perl /tmp/spin.pl' > /tmp/kd.inv
ok "switches that a process does not ask for: $(tr '\n' ';' < /tmp/kd.inv)" awk '{ d = $2 - n[$1]; if ($1 in n) good += d <= 4 && d >= -4; n[$1] = $2 } END { exit good != 1 }' /tmp/kd.inv
ok "a CPU has nothing to do" between "$(d 'sysinfo:::idlethread { n += arg0; } sysinfo:::pswitch { m += arg0; } END { printf("%d", n > 50 && n <= m); }' -c 'sh /tmp/switches.sh' | tail -n 1)" 1 1
is "programs that begin, and the processes for them" "$(d 'sysinfo:::sysexec /progenyof($target)/ { e += arg0; } sysinfo:::sysfork,sysinfo:::sysvfork /progenyof($target)/ { f += arg0; } sysinfo:::nthreads /progenyof($target)/ { t += arg0; } END { printf("%d %d %d", e, f, t); }' -c 'sh -c "for i in 1 2 3 4 5; do /bin/true; done"')" "5 5 5"
ok "what is asked of other CPUs: as many as they were interrupted for" between "$(
	calls() { awk '$1 == "CAL:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i; print n }' /proc/interrupts; }
	before=$(calls)
	n=$(d 'sysinfo:::xcalls { n += arg0; } END { printf("%d", n); }' -c 'perl -e "for (1 .. 20) { pipe R, W; if (!fork) { exit } wait }"')
	echo $((n <= $(calls) - before)))" 1 1
for p in vminfo sysinfo; do
	timeout 100 "$kd" -qn "$p:::{ @[probename] = sum(arg0); } tick-500ms { exit(0); }" > /tmp/kd.out 2> /tmp/kd.err
	is "all of $p are in" "$? $(grep 'left out' /tmp/kd.err)" "0 "
	"$kd" -l -n "$p:::" 2> /dev/null | awk 'NR > 1 { printf "%s%s", n++ ? " " : "# ", $NF } END { print "" }'
done
soon "no window stays" 0 field windows
# ---- system calls ----

cat > /tmp/all.pl << 'P'
my ($there, $none) = ("/etc/hostname", "/no/such");
for (1 .. 40) {
	syscall(61, -1, 0, 0, 0);               # wait4: no child
	syscall(247, 0, 0, 0, 4, 0);            # waitid: the same
	my $text = "x" x 512;
	syscall(63, $text);                     # uname
	syscall(79, $text, 512);                # getcwd
	syscall(79, $text, 1);                  # which is longer
	syscall(98, 0, $text);                  # getrusage
	syscall(4, $there, $text);              # stat
	syscall(4, $none, $text);
	syscall(235, $none, 0);                 # utimes
	syscall(70, 1 << 30, $text, 8, 0, 04000); # msgrcv: no such queue
	syscall(250, 99);                       # keyctl: no such command
}
for (1 .. 4) { my $child = fork; exit 0 if !$child; waitpid $child, 0 }
P
"$kd" -qn 'syscall:::entry /pid == $target/ { @e[probefunc] = count(); } syscall:::return /pid == $target/ { @r[probefunc] = count(); @v[probefunc, arg1, arg0, errno] = count(); }
	END { printa("e %s %@d\n", @e); printa("r %s %@d\n", @r); printa("v %s %d %d %d %@d\n", @v); }' -c 'perl /tmp/all.pl' > /tmp/all.out 2> /tmp/kd.err
is "no system call's return is left out, but of one that jumps to where a pointer says" "$(grep 'left out' /tmp/kd.err | sed 's/.* left out, //; s/ (.*): / /; s/;.*//') $("$kd" -ln syscall:::return | wc -l)" "TAIL_UNKNOWN syscall:vmlinux:restart_syscall:return $("$kd" -ln syscall:::entry | wc -l)"
is "each that is entered returns, but the last one" "$(diff <(sed -n 's/^e //p' /tmp/all.out | sort) <(sed -n 's/^r //p' /tmp/all.out | sort) | sed -n 's/^[<>] //p')" "exit_group 1"
ok "which are many: $(grep -c '^r ' /tmp/all.out)" test "$(grep -c '^r ' /tmp/all.out)" -ge 20
is "values and errors" "$(sed -n 's/^v //p' /tmp/all.out | grep -e 'wait4 -' -e '^waitid ' -e 'newuname ' -e 'getcwd -' -e getrusage -e 'utimes ' -e 'msgrcv ' -e 'keyctl ' | sort | tr '\n' ';')" \
	"getcwd -34 -34 34 40;getrusage 0 0 0 40;keyctl -95 -95 95 40;msgrcv -22 -22 22 40;newuname 0 0 0 40;utimes -2 -2 2 40;wait4 -10 -10 10 40;waitid -10 -10 10 40;"
is "stat, and clone" "$(sed -n 's/^v newstat \(0\|-2\) /\1 /p' /tmp/all.out | awk '$4 >= 40' | wc -l) $(sed -n 's/^r clone //p' /tmp/all.out) $(sed -n 's/^v wait4 [1-9].* \([0-9]*\)$/\1/p' /tmp/all.out | paste -sd+ | bc)" "2 4 4"

finish
