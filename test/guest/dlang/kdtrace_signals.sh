#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# raise() and stop() act at the probe: in which system call the signal came is told by the process
# that it came to. From interrupts, from the scheduler and where the kernel is sending a signal.
# promise: D4: raise() and stop() send their signal where the probe is: before the process's next
#   system call.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace

# d PROGRAM [OPTION...]: its output, quiet, in one line
d() { timeout 120 "$kd" -qwn "$@" 2> /tmp/kd.err | tr -s ' \n' ' ' | sed 's/ $//'; }
me='syscall::getpriority:entry /pid == $target'
tenth="$me/ { c++; } $me && c % 100 == 7/"
seq=$(seq -s ' ' 7 100 907)

# ---- in that system call ----

cat > /tmp/notes.pl << 'END'
for my $s (qw(USR1 USR2 HUP)) { $SIG{$s} = sub { push @$s, $n } }
for (1 .. 1000) { $n++; getpriority 0, 0 }
print "@USR1|@USR2|@HUP\n";
END
is "raise() at the entry: before the call is over" "$(d "$tenth"' { raise(SIGUSR1); }' -c 'perl /tmp/notes.pl')" "$seq||"
is "at the return" "$(d 'syscall::getpriority:return /pid == $target && ++c % 100 == 7/ { raise(SIGUSR1); }' -c 'perl /tmp/notes.pl')" "$seq||"
is "in a function that it calls" "$(d 'fbt::__x64_sys_getpriority:entry /pid == $target && ++c % 100 == 7/ { raise(SIGUSR1); }' -c 'perl /tmp/notes.pl')" "$seq||"
is "a number that is calculated; three of them" "$(d "$tenth"' { raise(c > 500 ? SIGUSR2 : SIGUSR1); raise(SIGHUP); }' -c 'perl /tmp/notes.pl')" "$(seq -s ' ' 7 100 407)|$(seq -s ' ' 507 100 907)|$seq"
is "what is no signal is none" "$(d "$tenth"' { raise(0); raise(65); raise(-1); raise(c + 100); raise(SIGHUP); }' -c 'perl /tmp/notes.pl')" "||$seq"
is "after a fault there is none, nor in the statement that faults" "$(d "$tenth"' { raise(SIGUSR1 + *(int *)8); raise(SIGUSR2); } '"$me && c % 100 == 8"'/ { raise(SIGHUP); raise(*(int *)8); }' -c 'perl /tmp/notes.pl')" "||$(seq -s ' ' 8 100 908)"
is "none is lost" "$(grep -c drop /tmp/kd.err)" 0
is "one that ends it" "$(d "$me"'/ { c++; } '"$me"' && c == 77/ { raise(SIGKILL); } END { printf("%d", c); }' -c 'perl /tmp/notes.pl')" 77
is "and its line, without -q" "$(timeout 60 "$kd" -wn "$me"'/ { raise(SIGUSR1); }' -c "perl -e '\$SIG{USR1} = sub { }; getpriority 0, 0 for 1 .. 5'" 2> /dev/null | grep -c 'getpriority:entry')" 5

# ---- stop() ----

is "stop() stops it in that call; it goes on when it is told to" "$(d "$me"'/ { c++; } '"$me"' && c == 50/ { stop(); }
	tick-300ms /c >= 50/ { n++; } tick-300ms /n == 3/ { printf("%d ", c); system("sed -n \"s/State:.//p\" /proc/%d/status; kill -CONT %d", $target, $target); }
	END { printf("%d", c); }' -c 'perl /tmp/notes.pl' | sed 's/|| //')" "50 T (stopped) 1000"

# ---- who is not reached ----

is "process 1 is none" "$(d 'syscall:::entry /pid == 1/ { raise(SIGKILL); raise(SIGTERM); @ = count(); } tick-100ms /!n++/ { system("kill -CHLD 1"); } tick-2s { exit(0); }' > /dev/null; cut -d ' ' -f 3 /proc/1/stat | grep -c '[SR]')" 1
is "nor are threads of the kernel" "$(d 'fbt::try_to_wake_up:entry /curthread->mm == NULL/ { raise(SIGKILL); c++; } tick-1s { printf("%d", c > 0); exit(0); }')" 1
setpriv --bounding-set=-kill --inh-caps=-kill timeout 60 "$kd" -qwn 'BEGIN { raise(SIGUSR1); exit(0); }' > /tmp/kd.out 2> /tmp/kd.err
is "without CAP_KILL it is refused" "$? $(grep -c 'CAP_KILL\|must be allowed to send' /tmp/kd.err)" "1 1"

# ---- anywhere ----

cat > /tmp/load.pl << 'END'
$0 = "sigload";
$SIG{USR1} = sub { $h++ };
$SIG{USR2} = sub { };
$SIG{TERM} = sub { open my $f, ">", "/tmp/handled.$$"; print $f $h + 0; exit };
pipe my $r, my $w or die;
if (!fork) { while (1) { sysread $r, my $b, 1; getpriority 0, 0 } }
while (1) { syswrite $w, "a"; select undef, undef, undef, 0.0001; $n++ % 10 or kill "USR2", $$ }
END
for _ in 1 2; do perl /tmp/load.pl & done
until_true 60 eval "pgrep -c sigload | grep -q 4"
# anywhere WHAT PROBES [MORE]: they fire for the load, which gets signals, goes on, and the kernel has
# no complaint; MORE: a probe that only makes them fire
anywhere() {
	local n
	n=$(d "$2"' /execname == "sigload"/ { raise(SIGUSR1); c++; } '"${3-}"' tick-3s { printf("%d", c); exit(0); }')
	ok "$1: $n times" test "${n:-0}" -gt 0
	[ "${n:-0}" -gt 0 ] || sed 's/^/# /' /tmp/kd.err
	is "  all of the load is there" "$(pgrep -c sigload)" 4
	is "  and the kernel has nothing to say" "$(complaints)" ""
}
often='profile-197hz /execname == "sigload"/ { raise(SIGUSR1); }'
anywhere "an interrupt of the clock" profile-997hz
anywhere "waking a task, with its lock held, also in interrupts" fbt::try_to_wake_up:entry
anywhere "switching tasks, interrupts off" fbt::pick_next_task_fair:entry,fbt::update_curr:entry
anywhere "where a signal is sent" fbt::__send_signal_locked:entry,fbt::kill_pid:entry,fbt::complete_signal:entry "$often"
anywhere "where the interrupt comes that sends them, and ends" fbt::irq_work_run:entry,fbt::irq_work_run:return,fbt::irq_work_queue:entry,fbt::irq_work_single:return "$often"
anywhere "timers and ticks" fbt::hrtimer_interrupt:return,fbt::update_process_times:entry

# ---- kill -9 of the tool, and the driver goes ----

gone=0
for _ in 1 2 3 4; do
	timeout 60 "$kd" -qwn 'profile-4999hz,fbt::try_to_wake_up:entry,syscall:::entry /execname == "sigload" && !(c++ % 20)/ { raise(SIGUSR1); }' > /dev/null 2>&1 &
	until_true 60 installed
	sleep 0.$((RANDOM % 900 + 100))
	pkill -9 -x kdtrace
	wait $! 2> /dev/null
	goes kerninst && insmod "$top/build/kmod/$(uname -r)/kerninst.ko" && gone=$((gone + 1))
done
is "the tool is killed, and the driver goes and comes" $gone 4
pkill -x sigload
wait
ok "signals came to the load: $(cat /tmp/handled.* | tr '\n' ' ')" eval 'for f in /tmp/handled.*; do [ "$(cat $f)" -gt 0 ] || exit 1; done'
finish
