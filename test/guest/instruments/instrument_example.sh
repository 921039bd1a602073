#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The example of an instrument: its README's commands, as they stand there, and what they print.
# promise: F16: The shipped instruments measure parameters, memory, stack, disk and CPU use as
#   known. [test/guest/records/record.sh, events.sh, test/guest/metrics/metrics.sh, stacks.sh]
# shellcheck disable=SC2317,SC2016 # functions are called through ok; awk has its own variables
. "$(dirname "$0")/../common/lib.sh"
start
PATH=${ki%/*}:$PATH
printed=/tmp/example.out
examples=/tmp/examples
steps() { "$top/examples/instrument/try.sh" "$examples" > "$printed" 2>&1; }
ok "all steps" steps
has() { grep -q -- "$1" "$printed" || { cat "$printed"; false; }; }
ok "the file is built and listed" has '^read_size  *reads  *(struct file \*file, size_t size)'
ok "whoever loads it is warned" has 'reads.ko runs in the kernel from now on, unchecked'
ok "its records are in the file, by their fields" has 'magic'
ok "all reads of the load have been recorded" has 'size (bytes): min 8192 .* max [0-9]*'
# A thousand of dd's, and a few of the system's.
big=$(awk '$3 == "vfs_read" && $1 ~ /^[0-9]+$/ { print $1; exit }' $printed)
ok "and counted, as a condition ($big)" test "${big:-0}" -ge 1000 -a "${big:-0}" -lt 1200
ok "its own histogram has both loads" awk '/^magic 0x1021994:/ { for (i = 3; i <= NF; i++) if ($i ~ /^8192\+:/) { split($i, v, ":"); exit !(v[2] >= 2000) } exit 1 }' $printed
ok "it is gone" test ! -e /sys/module/reads

# The file has 4 MiB; the file system's own blocks come on top of that.
asked=$(sed -n '/=disk_io:/,/^\$/s/.*bytes: min.* sum \([0-9]*\).*/\1/p' $printed)
ok "requests to the disk ask for the file ($asked bytes)" test "${asked:-0}" -ge 4194304 -a "${asked:-0}" -lt 4718592
pages=$(awk '/=page_in / { for (i = 4; i <= NF; i++) if (sub(/^bytes=/, "", $i) && $1 * $i > most) most = $1 * $i } END { print most }' $printed)
is "and all of it comes into the page cache, once" "$pages" 4194304
ok "they are gone" test ! -e /sys/module/storage

# One of each kind. What the machine does not count it says.
lines() { awk -v step="$1" '/^\$ / { in_it = index($0, step) } in_it' $printed; }
is "parameters: all reads of the load" "$(lines "report --counts params.rec" | awk '/len=7777/ { print $1, $4 }')" "500 comm=dd"
ok "caches and TLBs: what there is no counter for is refused, with the reason" test "$(lines "llc-misses" | grep -c "this machine does not count such an event")" -ge 1
faults=$(lines "llc-misses" | awk '$NF ~ /^0x/ { print $6 }')
ok "and page faults are counted (${faults:-none})" test "${faults:-0}" -ge 32
most=$(lines "report --summary memory.rec" | awk '/rss \(bytes\)/ { print $8 }')
ok "memory: the process has its buffer in the end ($most bytes)" test "${most:-0}" -ge 62914560 -a "${most:-0}" -lt 83886080
depths() { # the stack is as deep as its pointer says, but for the instrument's own frames
	"$ki" report -q --json "$examples/stack.rec" | python3 -c '
import json, sys
used = {}
for e in map(json.loads, sys.stdin):
    if e["type"] == "record":
        f = e["fields"]
        deeper = f["used"] - (16384 - (int(f["sp"], 16) & 16383))
        assert 0 < deeper < 512, f
        used.setdefault(e["instrument"], []).append(f["used"])
assert min(used["vfs_read"]) > min(used["ksys_read"]) and len(used["vfs_read"]) >= 500'
}
spent() { # a thread that does nothing but run has had all the time, to a tick and what others took
	"$ki" report -q --json "$examples/cpu.rec" | python3 -c '
import json, sys
e = [x for x in map(json.loads, sys.stdin) if x["type"] == "record"]
e = [x for x in e if x["fields"]["tid"] == e[-1]["fields"]["tid"]]
took = e[-1]["time"] - e[0]["time"]
had = e[-1]["fields"]["spent"] - e[0]["fields"]["spent"]
assert len(e) >= 200 and all(a["fields"]["spent"] <= b["fields"]["spent"] for a, b in zip(e, e[1:]))
assert 0.5 * took - 0.02 <= had <= 1.01 * took + 0.02, (had, took)'
}
ok "stack: as deep as the stack pointer says, in each call" depths
ok "CPU use: the time that has passed" spent
ok "and by metrics" awk '$NF ~ /^0x/ { n++ } END { exit !n }' <(lines "calls,vtime,task-clock")
ok "it is gone, too" test ! -e /sys/module/resources
finish
