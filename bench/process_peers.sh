#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: bench/process_peers.sh
# What a call costs with others' probes: uftrace's, which notes when it begins and ends, and a fast tracepoint of gdb's.
# All calls fit into their buffers. Programs are looked for in PATH, then below $KI_PROGRAMS, where their
# packages are unpacked (uftrace, libcapstone4, libunwind8; gdbserver).
set -u
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) && [[ $tmp ]] || exit 1
trap 'rm -rf "$tmp"' EXIT
root=${KI_PROGRAMS:-/nonexistent}/usr
libraries=$root/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu/uftrace

# found NAME: it, in whichever of the two
found() { command -v "$1" || { [ -x "$root/bin/$1" ] && echo "$root/bin/$1"; }; }
row() { # NAME NS BASE
	awk -v name="$1" -v ns="$2" -v base="$3" 'BEGIN { printf "%-30s  %9.2f  %9.2f\n", name, ns, ns - base }'
}
none() { printf '%-30s  %s\n' "$1" "not here"; }

gcc -O2 -g -no-pie -o "$tmp/called" bench/peers/called.c && gcc -O2 -g -pg -o "$tmp/profiled" bench/peers/called.c || exit 1
base=$("$tmp/called")

uftrace=$(found uftrace)
if [ "$uftrace" ]; then
	ns=$(LD_LIBRARY_PATH=$libraries "$uftrace" record --no-libcall -b 64m -d "$tmp/data" "$tmp/profiled" 2> "$tmp/said" | tail -n 1)
	if [ "$(LD_LIBRARY_PATH=$libraries "$uftrace" report -d "$tmp/data" 2> /dev/null | grep -c hit)" = 1 ]; then
		row "uftrace, call and return" "$ns" "$base"
	else
		cat "$tmp/said"
	fi
else
	none "uftrace, call and return"
fi

server=$(found gdbserver) agent=
for file in "$root/lib/libinproctrace.so" /usr/lib/libinproctrace.so /usr/lib/x86_64-linux-gnu/libinproctrace.so; do
	[ ! -e "$file" ] || agent=$file
done
if [ "$server" ] && [ "$agent" ] && command -v gdb > /dev/null; then
	timeout 60 gdb -nx -batch -ex 'set pagination off' -ex 'set debuginfod enabled off' -ex "target remote | $server --wrapper env LD_PRELOAD=$agent -- - $tmp/called" \
		-ex 'break main' -ex continue -ex 'ftrace *hit' -ex tstart -ex 'break exit' -ex continue -ex tstatus "$tmp/called" > "$tmp/said" 2>&1
	ns=$(grep -ax '[0-9.][0-9.]*' "$tmp/said" | tail -n 1)
	if grep -q 'Collected 500000 ' "$tmp/said"; then
		row "gdb, fast tracepoint" "$ns" "$base"
	else
		tail -n 3 "$tmp/said"
	fi
else
	none "gdb, fast tracepoint"
fi
