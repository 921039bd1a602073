#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counts equal what a program is known to do, on functions and on blocks in the middle of them;
# and the tool's manners: exit codes, where results go, what it says to bad input.
#
# The load runs on isolated CPUs, so all that is counted there is its work: isolcpus= says which.
# promise: K1: An unmodified kernel is instrumented while it runs, and its text is the same
#   afterwards.
# promise of basic-debug: A kernel with lockdep and KASAN finds nothing wrong in the driver.
# promise: The hash of the text covers kernel and modules, and --text-hash names the first
#   difference. [test_live.c]
# not shown: lockdep and KASAN with today's driver in each nightly suite (doc/known-issues.md).
. "$(dirname "$0")/../common/lib.sh"
start
ok "there are isolated CPUs" test "$isolated_cpus"
json=/tmp/basic.json

stat_json() { # METRIC POINT KIND N
	"$ki" stat --json -A -m "$1" -o $json "$2" -- "$prog/calls" "$3" "$4" "$isolated_cpus" "$isolated_cpu" > /dev/null
}

exact() { # KIND N POINT
	stat_json calls "$3" "$1" "$2"
	is "$1 x $2 on $isolated_cpus CPUs: $3" "$(of_isolated < $json)" "$3 $2"
}

# Every block of FUNCTION was executed N times, at least LEAST of them, or not at all.
blocks() { # KIND N FUNCTION LEAST
	stat_json blocks "$3" "$1" "$2" 2> /dev/null
	of_isolated < $json > /tmp/counts
	is "$3: blocks that counted something else than 0 or $2" "$(awk -v n="$2" '$2 != 0 && $2 != n' /tmp/counts)" ""
	ok "$3: blocks that counted $2" test "$(grep -c " $2\$" /tmp/counts)" -ge "$4"
}

exact getsid 100000 __x64_sys_getsid
exact read 20000 vfs_read
exact read 20000 read_zero
exact open 4000 memory_open
exact open 4000 __x64_sys_close
exact fork 100 kernel_clone
exact getsid 5000 __x64_sys_getsid:exit
blocks read 10000 vfs_read 6
blocks open 2000 do_sys_openat2 4

# calls of a point in the middle: the second block of vfs_read, by its address
addr=$("$ki" stat --json -m blocks vfs_read -- true | grep -F '"vfs_read:block/1"' | sed -n 's/.*"address": *"\(0x[0-9a-f]*\)".*/\1/p')
base=$("$ki" list --json vfs_read | sed -n 's/.*"address": *"\(0x[0-9a-f]*\)".*/\1/p' | head -n 1)
exact read 10000 "vfs_read+$(printf '0x%x' $((addr - base)))"

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
# shellcheck disable=SC2317 # called through fails
stat() { "$ki" stat "$@"; }

fails "unknown function" 1 "vfs_raed.*vfs_read" stat vfs_raed -- true
fails "glob without a match" 1 "nothing_like" stat 'nothing_like_*' -- true
fails "inside an instruction" 1 "inside the instruction" stat vfs_read+6 -- true
fails "no such block" 1 "block" stat vfs_read:block/9999 -- true
fails "function that may not be touched" 1 "." stat asm_exc_page_fault -- true
fails "malformed point" 2 "." stat "vfs_read:block/x" -- true
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
# shellcheck disable=SC2317 # called through ok
interrupted() { # SIGNAL COMMAND...: told when it has begun
	"${@:2}" "$ki" stat vfs_read > /tmp/interrupted &
	until_true 120 measures $!
	kill -"$1" $!
	wait $!
	grep -q vfs_read /tmp/interrupted
}
ok "Ctrl-C prints the result" interrupted INT env
# The second comes while the first is dealt with: from the group, as a terminal and timeout send it.
# shellcheck disable=SC2317 # called through ok
interrupted_twice() {
	setsid "$ki" stat vfs_read > /tmp/interrupted &
	until_true 120 measures $!
	kill -INT -- $! && kill -INT -- -$!
	wait $!
	grep -q vfs_read /tmp/interrupted
}
ok "two Ctrl-C at once are one" interrupted_twice
ok "list" bash -c "'$ki' list 'vfs_*' | grep -q vfs_read"
ok "info --json is an object" bash -c "'$ki' info --json | grep -q '^{.*}$'"
# Copied or run where nothing of ours may be: each that this kernel has, with all that it is made of.
open_to_us() {
	local f
	for f in ftrace_caller ftrace_regs_caller identity_mapped virtual_mapped swap_pages hibernation_snapshot swsusp_arch_suspend \
		call_depth_return_thunk __x86_indirect_thunk_rax native_play_dead play_dead_common hlt_play_dead preempt_schedule_notrace; do
		grep -q " $f\$" /proc/kallsyms || continue
		"$ki" list "kernel:$f" | awk -v f="$f" '$2 == f && $NF !~ /^[A-Z_]+$/ { print f }'
	done
}
is "what is copied, and what runs where nothing can be waited for" "$(open_to_us)" ""
# What ftrace writes for itself is left out.
echo function > /sys/kernel/tracing/current_tracer
ok "the text while somebody traces" text_is_back
echo nop > /sys/kernel/tracing/current_tracer
ok "explain" bash -c "'$ki' explain FTRACE_SITE | grep -q BPF"
ok "list -v shows instructions" bash -c "'$ki' list -v vfs_read | grep -q 'ret'"
"$ki" stat -q -o /dev/null vfs_read -- "$ki" text compare $kept_text > /tmp/now
is "text compare names what is installed" "$? $(grep -cE '^[1-9][0-9]* of [0-9]+ bytes differ, the first at vfs_read\+0x' /tmp/now)" "1 1"
ok "and finds kernel and modules as they were, when it has gone" text_is_back
# The same of a module, which the hash sees, too.
hash_of_text() { "$ki" info --quick --json --text-hash | jq -r .text_hash; }
export -f hash_of_text measures until_true
export ki
no_hash=$(hash_of_text)
"$ki" stat -q -o /dev/null overlay:ovl_read_iter -- bash -c "hash_of_text; '$ki' text compare $kept_text" > /tmp/now
is "text compare names what is installed in a module" "$? $(grep -cE '^[1-9][0-9]* of [0-9]+ bytes differ, the first at overlay:ovl_read_iter\+0x' /tmp/now)" "1 1"
ok "and the hash is another" test "${no_hash/null/}" -a "$(head -n 1 /tmp/now)" != "$no_hash"
# shellcheck disable=SC2317 # called through fails
comes_and_stays() {
	"$ki" stat -q overlay:ovl_read_iter &> /dev/null &
	echo $! > /tmp/stays
	until_true 120 measures $!
}
export -f comes_and_stays
fails "--text-hash: what came meanwhile, and is in a module" 1 "differ, the first at overlay:ovl_read_iter\+0x" \
	stat -q --text-hash vfs_read -- bash -c comes_and_stays
kill -TERM "$(cat /tmp/stays)"
soon "the hash when it has gone" "$no_hash" hash_of_text
ok "and all are as they were" text_is_back
fails "no kept text" 1 "not a file of kept text" "$ki" text compare /etc/passwd
finish
