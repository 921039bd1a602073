#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# test/guest/code/image.sh KERNEL: the kernel's file and its symbols against the running kernel, which
# has been booted with nokaslr. Its reserved text must be what the driver finds in memory; what
# is different is named here.
. "$(dirname "$0")/../common/lib.sh"
rows=$top/build/test/rows
vmlinux=$("$top/vm/kernel" "$1" vmlinux) || exit 1
map=$("$top/vm/kernel" "$1" system-map) || exit 1
start

"$rows" rows "$vmlinux" "$map" > /tmp/rows 2> /tmp/differences
cat /tmp/differences >&2
# LEAST: that many rows both must have, or the comparison was of nothing.
same() { # REASON LEAST
	local both live image
	read -r both live image < <(sed -n "s/^$1 both \([0-9]*\) live \([0-9]*\) image \([0-9]*\)/\1 \2 \3/p" /tmp/rows)
	ok "$1: $both rows in both" test "${both:-0}" -ge "$2"
	is "$1: rows of the driver alone" "$live" 0
	is "$1: rows of the file alone" "$image" 0
}
same EXTABLE 400
same JUMP_LABEL 4000
same STATIC_CALL 3000
same BUG_SITE 5000
same ENTRY_TEXT 1
same NOINSTR 1
same IDLE_TEXT 1
same KPROBES_BLACKLIST 200
same THUNK 5
same COPIED 2
same HELPER_PATH 1
same NO_PERCPU 20
# A CPU that comes has no per-CPU area there; kernels since 6.9 have it by this name.
if grep -q ' common_startup_64$' /proc/kallsyms; then
	is "nothing can be put into what starts a CPU" \
		"$("$top/build/release/bin/kerninst" list --json common_startup_64 | grep -c NO_PERCPU)" 1
fi
# Who is told of breakpoints is in the running kernel only.
read -r both image < <(sed -n 's/^TRAP_PATH both \([0-9]*\) live [0-9]* image \([0-9]*\)/\1 \2/p' /tmp/rows)
ok "TRAP_PATH: $both rows in both" test "${both:-0}" -ge 5
is "TRAP_PATH: rows of the file alone" "$image" 0
is "no other reasons" "$(awk '{ print $1 }' /tmp/rows | sort | tr '\n' ' ')" \
	"BUG_SITE COPIED ENTRY_TEXT EXTABLE HELPER_PATH IDLE_TEXT JUMP_LABEL KPROBES_BLACKLIST NOINSTR NO_PERCPU STATIC_CALL THUNK TRAP_PATH "

"$rows" symbols "$map" > /tmp/symbols
read -r _ live with_map _ differ < /tmp/symbols
ok "symbols: $live" test "$live" -gt 40000
is "as many with the map" "$with_map" "$live"
is "and the same ones" "$differ" 0

"$rows" text | tee /tmp/text
ok "all text is read" grep -q '^read [0-9]* bytes' /tmp/text
is "/proc/kcore has the text that the driver reads" "$(grep -c 'the same$' /tmp/text)" 1

"$rows" refresh tun > /tmp/refresh
is "a module comes and goes" "$(cat /tmp/refresh)" "before: changed 0, 0 ranges, no rows
loaded: changed 1, 1 ranges, rows
again: changed 0, 1 ranges, rows
gone: changed 1, 0 ranges, no rows"
finish
