#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters on machines whose CPUs' own memory no block of pages spans: two memory nodes, and as many
# CPUs as a server has. Where the kernel's memory is free, and where it is full of what has to be
# moved first.
# promise: Counters work on several memory nodes, with many CPUs, and where memory has to be moved for
#   them; all of it is given back.
. "$(dirname "$0")/../common/lib.sh"
start
is "there are two memory nodes" "$(printf '%s\n' /sys/devices/system/node/node[0-9]* | wc -l)" 2
is "there may be 64 CPUs" "$(cat /sys/devices/system/cpu/possible)" 0-63

# Of each CPU, of either node, just its own calls.
counts() { # NAME
	rm -f /tmp/stat.json
	# shellcheck disable=SC2016
	"$ki" stat --json -A -m calls -o /tmp/stat.json __x64_sys_getsid -- \
		bash -c 'for cpu in {0..3}; do "$0" getsid $((1000 + cpu)) 1 $cpu || exit; done' "$prog/calls" > /tmp/said 2>&1
	is "$1: each CPU's calls" \
		"$(sed -n 's/.*"cpus": *\[\([^]]*\)\].*/\1/p' /tmp/stat.json | tr -d ' ' | cut -d, -f1-4)" 1000,1001,1002,1003
}

kib() { # Mem...
	awk -v what="$1:" '$1 == what { print $2 }' /proc/meminfo
}

moved() {
	awk '$1 == "pgmigrate_success" { print $2 }' /proc/vmstat
}

# Pieces of 2 MiB that are free, of both nodes.
large_pieces() {
	awk '!/zone *DMA / { n += $14 + 2 * $15 } END { print n }' /proc/buddyinfo
}

counts "memory is free"
"$ki" stat -o /tmp/out __x64_sys_getsid -- true 2> /tmp/said
kept=$(kib MemAvailable)
for _ in {1..10}; do
	"$ki" stat -o /tmp/out __x64_sys_getsid -- true 2> /tmp/said || kept=999999999
done
left=$((kept - $(kib MemAvailable)))
ok "ten sessions, of 16 MiB each, keep less than two: $left KiB" test $left -lt 32768

# A file in memory takes all; what is whole still is reserved; and every second piece of the file goes.
mount -t tmpfs -o size=100% none /mnt
perl -e '
	my ($chunk, $n) = ("x" x (1 << 18), ($ARGV[0] - 65536) / 256);
	open F, ">", "/mnt/file" or die;
	syswrite F, $chunk for 1 .. $n;
	for (</sys/devices/system/node/node[01]/hugepages/hugepages-2048kB/nr_hugepages>) {
		open N, ">", $_ or die;
		syswrite N, 500;
	}
	syscall(285, fileno(F), 3, 2 * $_ << 18, 1 << 18) for 0 .. $n / 2; # fallocate: punch holes
' "$(kib MemFree)"
echo "# $(kib MemFree) KiB are free, and $(large_pieces) pieces of 2 MiB"
head -n 3 /proc/buddyinfo | sed 's/^/# /'
migrated=$(moved)
counts "memory has to be moved"
migrated=$(($(moved) - migrated))
ok "pages of the file were moved: $migrated" test $migrated -gt 0
umount /mnt
finish
