#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The part of the demo that runs in the virtual machine: a load (a web server under wrk, a
# compiler, a tar of a source tree), and kerninst looking into the kernel below it.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
PATH=$top/build/release/bin:$PATH
FUNC=${FUNC:-tcp_v4_rcv}
# Of the VFS, the scheduler, memory and TCP; names that this kernel does not have are left out.
wanted="vfs_read vfs_write vfs_open vfs_statx path_openat
	__schedule try_to_wake_up pick_next_task_fair enqueue_task_fair
	handle_mm_fault __alloc_pages __alloc_pages_noprof kmem_cache_alloc kmem_cache_alloc_noprof
	tcp_sendmsg tcp_v4_rcv tcp_rcv_established tcp_recvmsg tcp_ack"
mapfile -t functions < <(awk -v w="$wanted" 'BEGIN { n = split(w, a); for (i = 1; i <= n; i++) want[a[i]] = 1 }
	$3 in want && !seen[$3]++ && NF == 3 { print $3 }' /proc/kallsyms)
work=$(mktemp -d)

say() { printf '\n=== %s\n\n' "$*"; }
progress() { echo "demo: $*" >&2; }
kerninst() {
	command kerninst "$@" && return
	progress "kerninst $1 failed, so the demo ends: what it said is above"
	exit 1
}

start_load() {
	mkdir -p /var/log/nginx /var/lib/nginx
	cat > "$work/nginx.conf" <<-END
		daemon off; worker_processes 1; pid $work/nginx.pid; error_log /dev/null crit;
		events { }
		http { access_log off; server { listen 127.0.0.1:8080; root $top; } }
	END
	touch "$work/loaded"
	nginx -c "$work/nginx.conf" 2> /dev/null &
	servers=($!)
	sleep 1
	wrk -t 1 -c 4 -d 600s http://127.0.0.1:8080/README.md > /dev/null 2>&1 &
	servers+=($!)
	while [ -e "$work/loaded" ]; do gcc -O2 -I "$top/include" -c -o "$work/a.o" "$top/examples/load.c"; done > /dev/null 2>&1 &
	while [ -e "$work/loaded" ]; do tar -C "$top" -cf - lib kmod include | cat > /dev/null; done 2> /dev/null &
}

# Compiler and tar end their turn: one that was killed would leave what it had started.
stop_load() {
	rm "$work/loaded"
	kill "${servers[@]}" 2> /dev/null
	wait 2> /dev/null
}

hash_of_text() { kerninst info --quick --json --text-hash | sed -n 's/.*"text_hash":"\([0-9a-f]*\)".*/\1/p'; }

progress "hashing the kernel's text"
before=$(hash_of_text)
[ "$before" ] || exit 1
kerninst text keep "$work/text"
kerninst info
progress "starting nginx under wrk, gcc and tar"
start_load

say "Calls per second while that load runs: one counter spliced into each function"
progress "counting calls for 8 seconds"
kerninst stat -m calls --for 8 "${functions[@]}"

say "How long calls of $FUNC take, by the clock and by the time that the thread ran"
progress "timing calls for 5 seconds"
kerninst stat -q -m calls,walltime/call,vtime/call,latency --for 5 "$FUNC"

say "Calls of vfs_read by tar, recorded with what they ask for and what they get"
progress "recording for 2 seconds"
kerninst record -q --for 2 --comm tar -o "$work/reads" vfs_read=tid,want/bytes:arg2 vfs_read:exit=tid,got/bytes:retval
kerninst report --summary "$work/reads"

say "$FUNC, block by block"
progress "counting the blocks of $FUNC for 8 seconds"
kerninst stat -m blocks --for 8 "$FUNC" > "$work/blocks"
awk 'NR == 1 || $1 > 0 { print; next } { cold++ } END { print "\nand " cold " blocks that were never executed" }' "$work/blocks"

say "The same function's code: blocks, windows (what one jump can displace), instructions"
kerninst list -qv "$FUNC" > "$work/code"
head -n 40 "$work/code"
echo "  ... (kerninst list -v $FUNC shows all of it)"

say "Its first blocks as code, and the registers that are free at each instruction"
kerninst disas --regs "$FUNC" > "$work/code"
head -n 24 "$work/code"
echo "  ... (kerninst disas --regs $FUNC; a picture of it: kerninst cfg -o FILE.svg $FUNC)"

say "Who calls it"
kerninst calls --callers -q -d 3 "$FUNC" > "$work/calls"
head -n 16 "$work/calls"

say "And nothing is left"
progress "stopping the load, hashing the text again"
stop_load
after=$(hash_of_text)
echo "kernel text before:  $before"
echo "kernel text after:   $after"
if [ "$before" = "$after" ]; then
	echo "byte-identical, kernel and modules (sites that the kernel itself rewrites are left out)"
	rm -rf "$work"
else
	echo "THE TEXT HAS CHANGED, or a module has come or gone:"
	command kerninst text compare "$work/text"
	exit 1
fi
