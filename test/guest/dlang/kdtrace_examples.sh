#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each script of examples/d against work whose traces it must show.
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing

# What all scripts look at: opens, reads, failing calls, children, signals, sleep, packets. It begins
# when the probes are in, and the script ends when it does: after so many rounds and seconds.
cat > /tmp/work.pl << 'END'
use Socket;
$0 = "perl"; $SIG{USR1} = sub {};
socket my $s, PF_INET, SOCK_DGRAM, 0;
my $end = time + $ARGV[1];
for (my $i = 0; $i < $ARGV[0] || time < $end; $i++) {
	open my $f, "<", "/etc/hostname"; sysread $f, my $text, 100; close $f;
	open $f, "<", "/no/such/file";
	unless (fork) { exec "/no/such/program"; exit }
	wait;
	system "/bin/true";
	kill USR1 => $$;
	send $s, "x" x 500, 0, sockaddr_in(9, INADDR_LOOPBACK);
	socket my $t, PF_INET, SOCK_STREAM, 0; connect $t, sockaddr_in(9, INADDR_LOOPBACK); close $t;
	select undef, undef, undef, .01;
}
END

seconds=1
# look NAME [OPERAND]
look() {
	local name=$1
	shift
	timeout 120 "$kd" -qs "$top/examples/d/$name.d" -c "perl /tmp/work.pl 30 $seconds" "$@" > /tmp/kd.out 2> /tmp/kd.err
}
# shows NAME PATTERN [OPERAND]
shows() {
	local name=$1 pattern=$2
	shift 2
	look "$name" "$@"
	ok "$name" grep -qE -- "$pattern" /tmp/kd.out
	[ ! -s /tmp/kd.err ] || sed 's/^/# /' /tmp/kd.err | head -3
}
rows='^ +[0-9-]+ \|@*'
shows opens '^perl +[0-9]+ /etc/hostname$'
shows execs '^20.* true +[0-9]+$'
shows exec_failures '^perl +2 '
shows syscalls_by_process '^  perl '
shows syscalls_by_name '^  openat '
shows syscall_times "$rows"
shows slow_calls '^perl +[0-9]+ .* us$' 1
shows read_sizes "$rows"
shows read_latency "$rows"
shows signals '^perl +[0-9]+ +10 '
shows forks '^  perl '
shows switches '^  perl '
shows run_queue "$rows"
shows off_cpu "$rows"
shows off_cpu_stacks 'vmlinux`'
shows kmalloc_sizes "$rows"
shows kmalloc_stacks 'vmlinux`'
shows tcp_states '^perl +socket .* -> '
shows work_times 'vmlinux`'
shows function_times "$rows" vfs_read
# What this machine may not do while they look: that they run is all that can be said.
for name in migrations io_sizes io_wait alloc_failures locks; do
	look "$name"
	is "$name runs" "$? $(grep -v 'left out' /tmp/kd.err)" "0 "
done
# What prints each second.
seconds=4
shows syscall_errors '^perl +openat +2 '
shows vfs_rates '^  read '
shows profile '^  [a-z]'
shows busy '^kernel '
shows net_packets '^send '
shows timers '^  timer-start '
finish
