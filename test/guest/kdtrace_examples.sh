#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each script of examples/d against work whose traces it must show.
. "$(dirname "$0")/lib.sh"
start
kd=$top/build/release/bin/kdtrace
mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing

# What all scripts look at, again and again: opens, reads, failing calls, children, signals, sleep,
# packets, a disk.
# shellcheck disable=SC2016 # it is perl's
work='
use Socket;
$0 = "perl"; $SIG{USR1} = sub {};
socket my $s, PF_INET, SOCK_DGRAM, 0;
while (1) {
	open my $f, "<", "/etc/hostname"; sysread $f, my $text, 100; close $f;
	open $f, "<", "/no/such/file";
	exec "/no/such/program" unless fork; wait;
	system "/bin/true";
	kill USR1 => $$;
	send $s, "x" x 500, 0, sockaddr_in(9, INADDR_LOOPBACK);
	socket my $t, PF_INET, SOCK_STREAM, 0; connect $t, sockaddr_in(9, INADDR_LOOPBACK); close $t;
	select undef, undef, undef, .01;
}'
perl -e "$work" 2> /dev/null &
worker=$!

# shows NAME PATTERN [OPERAND]: for so many seconds, ended as Ctrl-C ends it
seconds=8
shows() {
	local name=$1 pattern=$2
	shift 2
	timeout --preserve-status -s INT -k 60 $seconds "$kd" -qs "$top/examples/d/$name.d" "$@" > /tmp/kd.out 2> /tmp/kd.err
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
	timeout --preserve-status -s INT -k 60 $seconds "$kd" -qs "$top/examples/d/$name.d" > /tmp/kd.out 2> /tmp/kd.err
	is "$name runs" "$? $(grep -v 'left out' /tmp/kd.err)" "0 "
done
# What prints each second, and what puts something into hundreds of places.
seconds=12
shows syscall_errors '^perl +openat +2 '
shows vfs_rates '^  read '
shows profile '^  [a-z]'
shows busy '^kernel '
shows net_packets '^send '
shows timers '^  timer-start '
kill $worker
wait $worker 2> /dev/null
finish
