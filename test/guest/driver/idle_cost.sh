#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A driver that no session uses costs nothing: loops of system calls take the same number of instructions
# with it as without it, also after it has been used, and no thread of it runs. QEMU counts (--icount).
# promise: A driver that no session uses costs read, open, close and TCP at most 0.1 %. [idle.sh]
# shellcheck disable=SC2016 # for eval
. "$(dirname "$0")/../common/lib.sh"
ip link set lo up
work=$(mktemp -d)
# Of several processes the least: where their memory lies makes a difference of its own.
loops() { for _ in 1 2 3 4 5 6; do "$top/build/test/loops" 11; done > "$work/$1"; }
turn() { awk -v name="$2" '$1 == name && (!n++ || $2 < least) { least = $2 } END { print least }' "$work/$1"; }
most() { awk -v name="$2" '$1 == name && $2 > most { most = $2 } END { print most }' "$work/$1"; }

# The kernel's threads, but not its workers, which come and go, unless they work for us.
threads() { ps -e -o ppid=,comm= | awk '$1 == 2 && ($2 !~ /^kworker/ || /kerninst/) { print $2 }' | sort; }

# as_before WHEN: each loop as without the driver: its least no more than a thousandth above what all
# processes without it took (where names are looked up five, as chains of the hash differ), and, but
# for those that take less as the machine grows older, not below
as_before() {
	local name below above
	for name in read open+close tcp fork+wait mkdir+rmdir; do
		case $name in fork* | mkdir*) below=0.9 ;; open*) below=0.995 ;; *) below=0.999 ;; esac
		case $name in read | tcp) above=1.001 ;; *) above=1.005 ;; esac
		ok "$1: $name takes $(turn "$1" "$name") instructions, $(turn none "$name") to $(most none "$name") without" \
			awk -v with="$(turn "$1" "$name")" -v least="$(turn none "$name")" -v most="$(most none "$name")" -v below=$below -v above=$above \
			'BEGIN { exit !(least > 100 && with >= least * below && with <= most * above) }'
	done
}

loops warm
loops none
threads > "$work/threads"
insmod "$top/build/kmod/$(uname -r)/kerninst.ko" || exit 1
start
loops idle
as_before idle
is "no thread of ours" "$(threads | comm -13 "$work/threads" -)" ""
ok "in use" "$ki" stat -q -m blocks -o "$work/blocks" 'vfs_*' '*sys_open*' -- "$top/build/test/loops" 1
soon "nothing is left" "0 0" eval 'echo $(field windows) $(field heap_used)'
loops after
as_before after
is "no thread of ours then" "$(threads | comm -13 "$work/threads" -)" ""
for name in fork+wait mkdir+rmdir; do echo "# $name without: $(awk -v name="$name" '$1 == name { print $2 }' "$work/none" | xargs)"; done
finish
