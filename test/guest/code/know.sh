#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is known of the running kernel: info, list, disas, calls; and disas --live while something
# is installed.
# promise: K7 (in part), A10: Every point of every function has its free registers, and the live
#   view shows what is inserted. [test_program_live.c]
. "$(dirname "$0")/../common/lib.sh"
start

"$ki" info -v --json > /tmp/info
# shellcheck disable=SC2317 # called through ok
analysis() { jq -e ".analysis | $1" /tmp/info; }
ok "info: more than 99 % of the functions are parsed" analysis '.parsed_percent > 99 and .functions > 20000'
ok "info: what is refused has a reason" analysis '.refused.NOINSTR > 0 and .refused.ENTRY_TEXT > 0'
ok "info: blocks, edges, calls, times" analysis '.instructions > .blocks and .edges > .blocks and
	.calls > .indirect_calls and .tail_calls > 0 and .noreturn > 0 and .parse_seconds > 0 and
	.peak_bytes > 1000000 and .threads >= 1'
echo "# $(jq -c '.analysis | {functions, parsed, blocks, instructions, read_seconds, parse_seconds, liveness_seconds, threads, peak_bytes}' /tmp/info)"
ok "info -v: as many functions as are not parsed" analysis '(.not_parsed | length) == .unparsed'

began=$SECONDS
"$ki" list --json > /tmp/list 2> /tmp/totals
echo "# list: $((SECONDS - began)) s; $(head -n 1 /tmp/totals)"
is "list: as many functions as info" "$(wc -l < /tmp/list)" "$(jq .functions /tmp/info)"
ok "list: functions of modules" grep -q '"module":"kerninst"' /tmp/list
is "list: the driver's own are refused" "$(jq -r 'select(.module == "kerninst") | .reason' /tmp/list | sort -u | grep -c '^OK$')" 0
# What is listed at once and one by one is the same; the driver's own counts are not (it is at work).
pick='select(.function | startswith("vfs_")) | "\(.function) \(.address) \(.blocks) \(.instructions) \(.reason)"'
is "list: at once as one by one" "$(jq -r "$pick" /tmp/list)" "$("$ki" list -q --json 'vfs_*' | jq -r "$pick")"

lines() { "$ki" disas "$@" vfs_read; }
before=$(lines)
is "disas --live: nothing is installed, nothing differs" "$(lines --live | sed 1d)" "$(sed 1d <<< "$before")"
"$ki" stat --no-move -m blocks vfs_read > /dev/null 2>&1 &
pid=$!
until [ "$(field windows)" -gt 3 ]; do sleep 0.2; done
is "disas: installed, the original is what it was" "$(lines)" "$before"
lines --live > /tmp/live
ok "disas --live: jumps, and what they displace" grep -qE '^\* 0x[0-9a-f]{16}  \+0x[0-9a-f]+ .* jmp .*; was: [a-z]+ ' /tmp/live
is "disas --live: a line for each window" "$(grep -c '; was: ' /tmp/live)" "$(field windows)"
is "disas --live: the rest is the original" "$(grep '^  0x' /tmp/live | tr -s ' ' | grep -vxF "$(tr -s ' ' <<< "$before")")" ""
"$ki" disas --live --json vfs_read > /tmp/live.json
ok "disas --live --json: what stands there instead are jumps, and bounces in filler" jq -e \
	'[.instructions[] | select(.displaced)] | length > 0 and all(.bytes | test("^(e9|eb)"))' /tmp/live.json
jq -c '.instructions[] | select(.displaced and .kind != "jump")' /tmp/live.json | sed 's/^/# /'
kill -INT $pid
wait $pid
is "disas --live: taken out, nothing differs" "$(lines --live | sed 1d)" "$(sed 1d <<< "$before")"

# Another tool's breakpoint.
at=$("$ki" disas --json vfs_read | jq '[.instructions[] | select(.offset > 16 and .reason == "OK" and .kind == "plain")][0].offset')
echo 0 > /proc/sys/debug/kprobes-optimization
echo "p:kx vfs_read+$at" > /sys/kernel/tracing/kprobe_events
echo 1 > /sys/kernel/tracing/events/kprobes/enable
ok "disas --live: a kprobe" grep -qE "\\+$(printf '0x%x' "$at") +int3" <(lines --live)
echo 0 > /sys/kernel/tracing/events/kprobes/enable
echo > /sys/kernel/tracing/kprobe_events

"$ki" disas --json --regs vfs_read > /tmp/regs
ok "disas --regs: flags and registers" jq -e '[.instructions[] | select(.kind != "padding")] |
	all(has("free")) and any(.free | index("flags")) and any(.free | index("rax")) and
	all(.free | index("rsp") | not)' /tmp/regs

"$ki" calls -q vfs_read > /tmp/callees
ok "calls: callees" grep -qE '^  rw_verify_area +1  call$' /tmp/callees
ok "calls: indirect" grep -qE '^  indirect \([0-9]+ sites?\)' /tmp/callees
"$ki" calls -q -d 1 --callers "$(jq -r '.instructions[3].address' /tmp/regs)" misc_deregister > /tmp/callers
ok "calls: callers, by an address in the function" grep -qE '^  ksys_read +[0-9]+  call$' /tmp/callers
ok "calls: from a module" grep -qE '^  kerninst:.* call$' /tmp/callers

map=/tmp/System.map
awk 'NF == 3 { print $1, $2, $3 }' /proc/kallsyms | sort -s -k 1,1 > $map
is "--system-map of the running kernel: the same functions" "$("$ki" list --json -q --system-map $map | jq -r 'select(.module == "kernel") | .address' | sort | md5sum)" \
	"$(jq -r 'select(.module == "kernel") | .address' /tmp/list | sort | md5sum)"
sed 's/^ffffffff/fffffffe/' $map > $map.wrong
is "of another kernel: refused" "$("$ki" list --system-map $map.wrong > /dev/null 2>&1; echo $?)" 1
finish
