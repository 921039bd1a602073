#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: busy_tools.sh [ROUNDS]
#
# What each tool puts into functions, again and again, while on every CPU a process calls them
# without a pause and looks at what comes of it: reading, replaced functions, sleepers on pipes.
# shellcheck disable=SC2317 # functions are called by name
. "$(dirname "$0")/../common/lib.sh"
rounds=${1:-8}
start
ok "the functions that are replaced" insmod "$top/build/replace/$(uname -r)/ki_replace.ko"
work=$(mktemp -d)
cd "$work" || exit 1
head -c 300000 /dev/urandom > a
cp a b

# Each writes a line for a round, and one into `wrong` for what cannot be.
reads() { while [ ! -e over ]; do cmp a b 2>> wrong || echo "a and b differ" >> wrong; echo; done >> n.read; }
pipes() { while [ ! -e over ]; do [ "$(cat < a | cat | cksum)" = "$sum" ] || echo "through pipes they differ" >> wrong; echo; done >> n.piped; }
# a is called twice, through a pointer, and jumped to, and may be b or c each time
calls() { while [ ! -e over ]; do grep -vE '^[123][123] 2[123] 3[123] 4[123]$' /proc/ki_replace >> wrong; echo; done >> n.called; }
sum=$(cksum < a)
for load in reads pipes calls; do
	$load &
	renice -n 10 -p $! > /dev/null
done
for cpu in $(seq 0 $(($(nproc) - 1))); do
	nice -n 10 taskset -c "$cpu" dd if=/dev/zero of=/dev/null bs=777 status=none &
done

so_far() { echo "$(wc -l < n.read) $(wc -l < n.piped) $(wc -l < n.called)"; }
more() { # than BEFORE
	local was now
	read -r -a was <<< "$1"
	read -r -a now <<< "$(so_far)"
	[ "${now[0]}" -gt "${was[0]}" ] && [ "${now[1]}" -gt "${was[1]}" ] && [ "${now[2]}" -gt "${was[2]}" ]
}

again() { # NAME ARGUMENT...
	local name=$1 before status=0 i began=$SECONDS
	shift
	before=$(so_far)
	for ((i = 0; i < rounds && status == 0; i++)); do
		"$ki" "$@" > out 2>&1
		status=$?
	done
	[ $status = 0 ] || sed 's/^/# /' out | head -n 5
	echo "# $name: $((SECONDS - began)) s"
	is "$name: $i rounds" "$status" 0
	ok "$name: others went on" until_true 120 more "$before"
	is "$name: with nothing wrong" "$(cat wrong)" ""
}

touch wrong n.read n.piped n.called
again "entries and exits" stat -q ksys_read vfs_read:exit vfs_write:exit -- true
again "behind what is jumped to" stat -q vfs_read:exit:after ksys_write:exit:after -- true
again "blocks" stat -q -m blocks ksys_read vfs_read read_zero -- true
again "moved" stat -q --move -m blocks ksys_read vfs_read vfs_write -- true
again "times" stat -q -m walltime -m vtime ksys_read vfs_write pipe_read -- true
again "latency by name" stat -q --by comm -m latency vfs_read -- true
again "rows" stat -q --by comm,cpu vfs_write -- true
again "records" record -q -o recorded ksys_read=tid,len:arg2 vfs_read:exit:after=ret:retval -- true
again "coverage that is removed" cover -q -o covered 'vfs_*' 'pipe_*' 'ksys_*' -- true
again "coverage that counts" cover -q --mode count -o covered 'vfs_*' 'pipe_*' 'ksys_*' -- true
again "paths" paths -q vfs_read -- true
again "a function is replaced" replace -q ki_replace:ki_replace_a=ki_replace:ki_replace_b -- true
again "calls are replaced" replace -q 'ki_replace:ki_replace_first->ki_replace:ki_replace_a=ki_replace:ki_replace_c' -- true
touch over
pkill -x dd
wait
cd / || exit 1
ok "the replaced functions' module unloads" rmmod ki_replace
soon "heap in use" 0 field heap_used
finish
