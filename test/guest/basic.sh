#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counts equal what a program is known to do, on functions and on blocks in the middle of them;
# and the tool's manners: exit codes, where results go, what it says to bad input.
#
# A function that only the load calls is counted directly. Where starting the load calls it too
# (exec opens files), the difference between 2N and N calls must be N.
. "$(dirname "$0")/lib.sh"
start
cpus=$(nproc)
json=/tmp/basic.json

stat_json() { # METRIC POINT KIND N
	"$ki" stat --json -m "$1" -o $json "$2" -- "$prog/calls" "$3" "$4" "$cpus" > /dev/null
}

count_of() { # POINT KIND N
	stat_json calls "$1" "$2" "$3" && value "$1" < $json
}

exact() { # KIND N POINT
	is "$1 x $2 on $cpus CPUs: $3" "$(count_of "$3" "$1" "$2")" "$2"
}

exact_difference() { # KIND N POINT
	local one two
	one=$(count_of "$3" "$1" "$2")
	two=$(count_of "$3" "$1" $(($2 * 2)))
	is "$1 x $2 more on $cpus CPUs: $3" $((two - one)) "$2"
}

# Every block of FUNCTION was executed some whole multiple of N more often, most of them once.
blocks() { # KIND N FUNCTION LEAST
	local same
	stat_json blocks "$3" "$1" "$2"
	grep '"value"' $json | sed 's/.*"point": *"\([^"]*\)".*"value": *\([0-9]*\).*/\1 \2/' | sort > /tmp/one
	stat_json blocks "$3" "$1" $(($2 * 2))
	grep '"value"' $json | sed 's/.*"point": *"\([^"]*\)".*"value": *\([0-9]*\).*/\1 \2/' | sort > /tmp/two
	ok "$3: all blocks change by 0 or by $2" awk -v n="$2" \
		'NR == FNR { a[$1] = $2; next } { d = $2 - a[$1]; if (d != 0 && d != n) { print $1, a[$1], $2; bad = 1 } } END { exit bad }' /tmp/one /tmp/two
	same=$(awk -v n="$2" 'NR == FNR { a[$1] = $2; next } $2 - a[$1] == n' /tmp/one /tmp/two | wc -l)
	ok "$3: $same blocks counted $2 times" test "$same" -ge "$4"
}

exact getppid 100000 __x64_sys_getppid
exact_difference read 20000 vfs_read
exact_difference read 20000 read_zero
exact_difference open 4000 memory_open
exact_difference open 4000 __x64_sys_close
exact_difference fork 100 kernel_clone
exact_difference getppid 5000 __x64_sys_getppid:exit
blocks read 10000 vfs_read 6
blocks open 2000 do_sys_openat2 4

# calls of a point in the middle: the second block of vfs_read, by its address
addr=$("$ki" stat --json -m blocks vfs_read -- true | grep -F '"vfs_read:block/1"' | sed -n 's/.*"address": *"\(0x[0-9a-f]*\)".*/\1/p')
base=$("$ki" list --json vfs_read | sed -n 's/.*"address": *"\(0x[0-9a-f]*\)".*/\1/p' | head -n 1)
exact_difference read 10000 "vfs_read+$(printf '0x%x' $((addr - base)))"

# ---- manners ----
fails() { # NAME STATUS PATTERN COMMAND...
	local name=$1 want=$2 pattern=$3 out status
	shift 3
	out=$("$@" 2>&1 > /dev/null)
	status=$?
	is "$name: exit status" $status "$want"
	ok "$name: says why" grep -qE "$pattern" <<< "$out"
	is "$name: lines of words" "$(grep -c . <<< "$out")" 1
}
stat() { "$ki" stat "$@"; }

fails "unknown function" 1 "vfs_raed.*vfs_read" stat vfs_raed -- true
fails "glob without a match" 1 "nothing_like" stat 'nothing_like_*' -- true
fails "inside an instruction" 1 "inside an instruction" stat vfs_read+6 vfs_read+0x78 vfs_read+0x79 -- true
fails "no such block" 1 "block" stat vfs_read:block/9999 -- true
fails "function that may not be touched" 1 "." stat asm_exc_page_fault -- true
fails "malformed point" 2 "." stat 'vfs_read:nonsense' -- true
fails "unknown metric" 2 "." stat -m nonsense vfs_read -- true
fails "unknown verb" 2 "." "$ki" nonsense
fails "no point" 2 "." stat -- true
is "command's exit status" "$("$ki" stat vfs_read -- sh -c 'exit 7' > /dev/null; echo $?)" 7
"$ki" stat --json -o $json vfs_read -- sh -c 'echo out; echo err >&2' > /tmp/out 2> /tmp/err
is "command's stdout is untouched" "$(cat /tmp/out)" out
is "command's stderr is untouched" "$(cat /tmp/err)" err
ok "--text-hash: before and after are equal" test "$("$ki" stat --json --text-hash vfs_read -- true |
	sed -n '/text_hash/s/.*"value": *"\([0-9a-f]*\)".*/\1/p' | sort -u | wc -l)" = 1
fails "not root" 3 "root" setpriv --reuid 65534 --clear-groups "$ki" info
ok "Ctrl-C prints the result" bash -c "timeout -s INT 2 '$ki' stat vfs_read | grep -q vfs_read"
ok "list" bash -c "'$ki' list 'vfs_*' | grep -q vfs_read"
ok "info --json is an object" bash -c "'$ki' info --json | grep -q '^{.*}$'"
ok "explain" bash -c "'$ki' explain WINDOW_SHORT | grep -q 5"
ok "list -v shows instructions" bash -c "'$ki' list -v vfs_read | grep -q 'ret'"
finish
