#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Layouts stand in pages of 2 MiB, as the kernel's page table says; where there is none they stand in
# small ones, which is said; and what was taken is given back (a driver built with KI_TEST_FAIL).
# promise: Layouts stand in pages of 2 MiB, and in small ones where the kernel has no such memory.
#   [test_heap.c]
# shellcheck disable=SC2016,SC2317 # for eval; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
insmod "$top/build/kmod/$(uname -r)-fail/kerninst.ko" || exit 1
insmod "$top/build/special/$(uname -r)/ki_level.ko" || exit 1
start
params=/sys/module/kerninst/parameters
level=/sys/module/ki_level/parameters/at
functions=(ksys_read vfs_read rw_verify_area security_file_permission)

place() { awk '$4 == "[kerninst]" && $3 ~ /^kerninst:vfs_read\+/ { print "0x" $1; exit }' /proc/kallsyms; }
mapped() { # ADDRESS: KiB of its page, may it be written, executed
	echo "$1" > $level
	cut -d' ' -f1-3 $level
}
memory() { # ADDRESS: where the kernel maps all memory
	echo "$1" > $level
	cut -d' ' -f4 $level
}
lay() { # by the profile
	"$ki" evolve --keep --always --from /tmp/profile "${functions[@]}" > /tmp/out 2>&1
}
said() { grep '^layouts take' /tmp/out; }
back() { # NAME
	ok "$1: undone" "$ki" evolve --undo
	soon "$1: nothing is left" "0 0" eval 'echo $(field windows) $(field heap_used)'
	ok "$1: the text is what it was" text_is_back
	soon "$1: its pages are given back" "0 0" eval 'echo $(field large) $(cat $params/pages_taken)'
}
# What the kernel's own reader of its memory finds.
core() {
	python3 - "$1" <<- 'END'
		import struct, sys
		at, f = int(sys.argv[1], 16), open("/proc/kcore", "rb")
		head = f.read(64)
		for i in range(struct.unpack_from("<H", head, 56)[0]):
		    f.seek(struct.unpack_from("<Q", head, 32)[0] + 56 * i)
		    kind, _, off, addr, _, size = struct.unpack("<IIQQQQ", f.read(48)[:40])
		    if kind == 1 and addr <= at < addr + size:
		        f.seek(off + at - addr)
		        print(f.read(16).hex())
	END
}

while :; do "$prog/calls" read 20000 > /dev/null || exit; done &
load=$!
ok "a profile" "$ki" evolve --dry-run --for 1 --save /tmp/profile "${functions[@]}"
kill $load
wait $load 2> /dev/null
soon "it leaves nothing" 0 cat $params/pages_taken

ok "functions are laid out" lay
at=$(place) memory=$(memory "$(place)")
is "they are in a page of 2 MiB, for code alone" "$(mapped "$at")" "2048 0 1"
is "its memory is not in pieces, and is not to be written elsewhere" "$(mapped "$memory")" "2048 0 0"
ok "it is said: $(said)" grep -qE '^layouts take ([0-9]+) KiB, \1 in pages of 2 MiB$' /tmp/out
is "the driver knows one" "$(field large)" 1
is "and tells where" $(((at - $(printf '0x%x' "$(field large_start)")) >> 21)) 0
is "/proc/kcore has its bytes" "$(core "$at")" "$(core "$memory")"
ok "reads read" "$prog/calls" read 20000
is "a counter comes into it, and goes" "$("$ki" stat --json rw_verify_area:entry --own -- "$prog/calls" read 3000 2> /dev/null | value rw_verify_area:entry | awk '{ print ($1 >= 3000 && $1 < 3050) }')" 1
is "all of it is still one page" "$(mapped "$at") $(mapped "$(place)")" "2048 0 1 2048 0 1"
back "in one page"
is "nothing is mapped there" "$(mapped "$at")" "0 0 0"
is "its memory may be written again" "$(mapped "$memory")" "2048 1 0"
ok "again" lay
is "again in such a page" "$(mapped "$(place)")" "2048 0 1"
ok "kill -9" kill -9 "$("$ki" evolve --list | sed -n 's/^process \([0-9]*\),.*/\1/p')"
soon "all is taken out" "0 0 0" eval 'echo $(field windows) $(field large) $(cat $params/pages_taken)'

# ---- beside another session, which needs less than a step ----
# A jump with bytes that stay leads to few places. Where these are depends on where this kernel is: perhaps
# in another step.
for function in vfs_rename vfs_write vfs_fsync_range vfs_truncate vfs_mkdir; do
	"$ki" stat -q -m calls $function -- sleep 1000 > /dev/null 2>&1 &
	other=$!
	until_true 60 field_is windows 1
	field_is large 0 && break
	echo "# $function has its patch in another step"
	kill -INT "$other"
	wait "$other"
	until_true 120 field_is large 0
done
is "another session" "$(field windows) $(field large)" "1 0"
ok "beside it functions are laid out" lay
is "in a page of 2 MiB" "$(mapped "$(place)")" "2048 0 1"
ok "beside it: undone" "$ki" evolve --undo
soon "beside it the page is given back" 0 field large
kill -INT "$other"
wait "$other"
soon "that session is gone, too" "0 0" eval 'echo $(field windows) $(cat $params/pages_taken)'

# ---- others take them, too, once they need more than a step ----
ok "a program's coverage" "$ki" cover -o /tmp/all '[a-d]*' -- sh -c "$prog/field large > /tmp/larges"
ok "has pages of 2 MiB ($(cat /tmp/larges))" test "$(cat /tmp/larges)" -gt 0
soon "they are given back" "0 0" eval 'echo $(field large) $(cat $params/pages_taken)'

# ---- there is none ----
echo 1 > $params/ki_fail_large
ok "no memory in one piece: functions are laid out" lay
is "in small pages" "$(mapped "$(place)")" "4 0 1"
ok "it is said: $(said)" grep -q 'only 0 in pages of 2 MiB; else of 4 KiB, because no 2 MiB of memory' /tmp/out
ok "reads read" "$prog/calls" read 20000
back "in small pages"
echo 0 > $params/ki_fail_large
sleep 6
ok "there is memory again" lay
is "it is used" "$(mapped "$(place)")" "2048 0 1"
back "memory again"
echo 2097152 > $params/heap
ok "a heap of 2 MiB" lay
is "it has no room for one" "$(mapped "$(place)")" "4 0 1"
ok "it is said: $(said)" grep -q "because the driver's heap may not grow" /tmp/out
back "a small heap"
"$ki" cover -o /tmp/all '[a-d]*' -- true > /dev/null 2>&1
soon "a small heap was full, and is empty" 0 cat $params/pages_taken
echo 67108864 > $params/heap
ok "where small pages have been" lay
is "stays a place of small pages" "$(mapped "$(place)")" "4 0 1"
ok "it is said: $(said)" grep -q 'because others have been in their place' /tmp/out
back "their place"
ok "the module of the test unloads" goes ki_level
finish
