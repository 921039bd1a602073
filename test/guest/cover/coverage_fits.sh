#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every block of the kernel in a machine of 1 GiB: it has room for all. With a part of its memory taken
# what fits is covered, one line says what was not to be had, and the machine goes on.
# promise: N1: With little memory, what fits is covered, and one line says what does not and why.
# shellcheck disable=SC2016,SC2317 # for eval; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
start
cd "$(mktemp -d)" || exit 1
total() { python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline().rsplit("\"functions\":", 1)[0].rstrip(", ") + "}")["totals"][sys.argv[2]])' "$@"; }
load() { find /usr/include | sort | sha256sum; }
export -f load
wanted=$(load)

# covered NAME: all that there is room for, while the load runs; what is said, but not of progress, in lines
covered() {
	grep ^MemAvailable /proc/meminfo | sed 's/^/# before: /'
	"$ki" cover --all -o "$1" -- bash -c 'load > got; grep ^MemAvailable /proc/meminfo > left' > table 2> words
	is "$1: it ends well" $? 0
	grep -vE 'instrumenting: |taking out: ' words > lines
	sed 's/^/# /' lines left
	echo "# $(total "$1" probes) probes of $(total "$1" blocks_touchable) blocks, $(total "$1" known) known, $(total "$1" hit) hit; $(total "$1" seconds_install) s, and $(total "$1" seconds_remove) s"
	is "$1: the load's result" "$(cat got)" "$wanted"
	ok "$1: blocks were hit" test "$(total "$1" hit)" -gt 5000
	ok "$1: memory is left for others" awk '{ exit !($2 > 65536) }' left
	soon "$1: the heap is empty" "0 0" eval 'echo $(field windows) $(field heap_used)'
}

covered all
ok "all: 99 % of the blocks are known" test $(($(total all known) * 100)) -ge $(($(total all blocks_touchable) * 99))
is "all: nothing is said" "$(cat lines)" ""
ok "a part of the memory is taken" dd if=/dev/zero of=/dev/shm/taken bs=1M count=400 status=none
covered part
is "part: one line says what found no room" "$(wc -l < lines) $(grep -cE 'there is room for [0-9]+ of [0-9]+ probes: this machine has too little free memory' lines)" "1 1"
ok "part: those have that as their reason" grep -q '"NO_MEMORY"' part
ok "part: what fits is there" test "$(total part probes)" -gt 50000
rm /dev/shm/taken
finish
