#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# D programs on the live kernel, against loads whose calls, sizes and names are known.
# promise: D1, D2, D3, D4, D5, D6, D7 (in part): D programs run as native code and print the
#   counts, sums and strings that the load has. [kdtrace_language.sh, test_dlang.c, fuzz/run.sh]
# not shown: D1, D2, D3, D4, D5, D6, D7: What doc/known-issues.md lists of D.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
reads='dd if=/dev/zero of=/dev/null bs=7 count=1000 2> /dev/null'
calls='perl -e "getpriority 0, 0 for 1 .. 500"'

# d PROGRAM [OPTION...]: its output, quiet, without the blanks at both ends of lines
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d'; }
status() {
	timeout 120 "$kd" "$@" > /tmp/kd.out 2> /tmp/kd.err
	echo $?
}

is "BEGIN, END and exit()" "$(status -qn 'BEGIN { printf("a %d\n", 1 + 2); exit(7); } END { printf("z\n"); }') $(tr "\n" " " < /tmp/kd.out)" "7 a 3 z  "
is "a program that is only compiled" "$(status -e -n 'BEGIN { trace(pid); }')" 0
is "a count" "$(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/ { @ = count(); }' -c "$reads")" 1000
is "by name and function" "$(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/ { @[execname, probefunc] = count(); }' -c "$reads" | tr -s ' ')" "dd vfs_read 1000"
is "sums, means, minmax" "$(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/
	{ @a = sum(arg2); @b = avg(arg2 + 1); @c = min(-arg2); @d = max(arg2 * 3); @e = stddev(arg2); }' -c "$reads" | tr '\n' ' ')" "7000 8 -7 21 0 "
is "a distribution" "$(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/ { @ = quantize(arg2); }' -c "$reads" | sed 's/@\{40\}/all/' | tr -s ' ' | sed '1d' | tr '\n' ';')" "2 | 0;4 |all 1000;8 | 0;"
is "negative values, steps" "$(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/ { @ = quantize(-arg2); @l = lquantize(arg2, 0, 10, 5); }' -c "$reads" |
	grep -v value | sed 's/@\{40\}/all/' | tr -s ' ' | tr '\n' ';')" "-8 | 0;-4 |all 1000;-2 | 0;0 | 0;5 |all 1000;>= 10 | 0;"
is "entry and return of one thread" "$(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/ { self->t = timestamp; self->n = arg2; }
	fbt::vfs_read:return /self->t && timestamp >= self->t/ { @[self->n, arg1] = count(); self->t = 0; self->n = 0; }' -c "$reads" | tr -s ' ')" "7 7 1000"
is "system calls" "$(d 'syscall::getpriority:entry /pid == $target/ { @ = count(); }' -c "$calls")" 500
is "their values and errors" "$(d 'syscall::close:return /pid == $target && errno/ { @[arg1, errno] = count(); }' \
	-c 'perl -MPOSIX -e "POSIX::close(999) for 1 .. 5"' | tr -s ' ')" "-9 9 5"
is "a string of the process" "$(d 'syscall::openat:entry /pid == $target && copyinstr(arg1) == "/etc/hostname"/ { printf("%s %s\n", execname, copyinstr(arg1)); }' \
	-c 'cat /etc/hostname > /dev/null')" "cat /etc/hostname"
is "arrays and variables" "$(d 'syscall::getpriority:entry /pid == $target/ { a[pid, "x"]++; n += 2; this->m = n; last = this->m; }
	END { printf("%d %d %d\n", a[$target, "x"], n, last); a[$target, "x"] = 0; printf("%d\n", a[$target, "x"]); }' -c "$calls" | tr '\n' ' ')" "500 1000 1000 0 "
is "ticks, steps in a statement" "$(d 'tick-200ms { printf("%d ", n++); } tick-200ms /n == 5/ { printf("%d\n", ++n); exit(0); }')" "0 1 2 3 4 6"
is "printa, trunc, clear, normalize" "$(d 'syscall::getpriority:entry /pid == $target/ { @[arg0 & 0] = count(); @b["x"] = count(); }
	END { printa("%d=%@d\n", @); normalize(@b, 5); printa(@b); clear(@b); printa(@b); trunc(@); }' -c "$calls" | tr -s ' ' | tr '\n' ';')" "0=500;x 100;x 0;"
ok "a stack begins at the point" grep -q '^vmlinux`vfs_read' <(d 'fbt::vfs_read:entry /pid == $target && arg2 == 7/ { @[stack()] = count(); }' -c "$reads")
is "what is printed without -q" "$(status -n 'BEGIN { trace(5); exit(0); }') $(tr -s ' ' < /tmp/kd.out | sed -n 1p); $(sed -n 2p /tmp/kd.out | tr -s ' ' | cut -d' ' -f3-)" "0 CPU ID FUNCTION:NAME; 1 :BEGIN 5"
# A function that cannot be probed fails nobody.
is "one probe is left out, the other counts" "$(d 'fbt::vfs_read:entry, fbt::exc_int3:entry /pid == $target && arg2 == 7/ { @ = count(); }' -c "$reads") $(grep -c '1 of 2 probes left out, [A-Z_]* ' /tmp/kd.err)" "1000 1"
is "all are left out: that fails, and the command is not run" "$(status -n 'fbt::exc_int3:entry { @ = count(); }' -c "touch /tmp/was_run") $(grep -c '^kdtrace: no probe is left' /tmp/kd.err) $(ls /tmp/was_run 2> /dev/null)" "1 1 "
is "many probes at once" "$(d 'syscall:::entry /pid == $target && probefunc == "getpriority"/ { @[probefunc] = count(); }' -c "$calls" | tr -s ' ')" "getpriority 500"
for p in 'fbt::no_such_function:entry' 'BEGIN { trace(x); }' 'BEGIN { printf("%d"); }' 'BEGIN {' 'profile-1us { @ = count(); }'; do
	is "refused with a line, and a mark: $p" "$(status -n "$p") $(wc -l < /tmp/kd.err) $(tail -1 /tmp/kd.err | tr -d ' ')" "1 3 ^"
done
is "wrong usage" "$(status -y) $(wc -l < /tmp/kd.err)" "2 1"
"$kd" -qn 'syscall::getpriority:entry { @[execname] = count(); }' > /tmp/kd.out 2>&1 &
pid=$!
ok "it is in" until_true 120 measures $pid
eval "$calls"
kill -INT $pid
wait $pid
is "Ctrl-C prints what was counted" "$? $(grep -c '^  perl *500$' /tmp/kd.out)" "0 1"
"$kd" -qn 'syscall:::entry { @[execname] = count(); }' > /dev/null 2>&1 &
pid=$!
ok "it is in again" until_true 120 measures $pid
kill -9 $pid
wait $pid 2> /dev/null
soon "kill -9 leaves no window" 0 field windows
finish
