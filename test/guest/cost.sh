#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a measurement costs, as kerninst says it, against the instructions of the guest that a known
# load takes with and without it, and a budget that is kept. Needs -icount: there a nanosecond is an
# instruction.
#
# usage: test/guest/cost.sh [PART...]: code, before, budget
#
# To take code out costs something, too: some 20 million instructions here. So a budget is kept over
# some time only, and the load is long. What stays is said to cost less than it does, by up to one per
# cent of the machine: 1.5 % are not kept (1.9 %).
# shellcheck disable=SC2317 # functions are called through ok
parts=${*:-code before budget}
. "$(dirname "$0")/lib.sh"
start
json=/tmp/cost.json
load=$prog/load
number() { sed -n "s/.*\"metric\":\"$1\".*\"$2\": *\([0-9.e+-]*\).*/\1/p" "${3:-$json}" | tail -n 1; } # METRIC KEY [FILE]
holds() { awk "BEGIN { exit !($1) }"; } # CONDITION
# with OPTION...: the load's nanoseconds under stat
with() { "$ki" stat -q --cost --json -o "$json" "$@" -- "$load" "$n"; }
counted() { # FUNCTION: its calls, and the share of the time in which they were counted
	sed -n "s/.*\"metric\":\"calls\",\"point\":\"$1\",\"value\":\([0-9]*\).*\"seen\": *\([0-9.]*\).*/\1 \2/p" "$json"
}

# costs NAME PER_CENT OPTION...: what is said is right but for that, or for an instruction
costs() {
	local name=$1 per_cent=$2 taken real said
	shift 2
	taken=$(with "$@")
	real=$(awk "BEGIN { print ($taken - $bare) / $n }")
	said=$(awk "BEGIN { print $(number overhead inserted) / $n }")
	echo "# $name: $real, said $said"
	ok "$name" holds "$said > 0 && ($said - $real) ^ 2 <= ($real * $per_cent / 100 + 1) ^ 2"
}

code() {
	n=20000
	with vfs_write > /dev/null
	bare=$(with vfs_write) # which is called once in 1,000 reads
	echo "# bare: $(awk "BEGIN { print $bare / $n }") instructions a read"
	costs "a counter" 5 vfs_read
	costs "a counter of each block" 10 -m blocks --no-move vfs_read
	costs "a predicate that refuses" 5 --pid 1 vfs_read
	costs "a predicate that holds" 5 --if 'arg2 == 1' vfs_read
	costs "walltime" 5 -m walltime vfs_read
	costs "vtime" 5 -m vtime vfs_read
	costs "latency" 5 -m latency vfs_read
	costs "walltime, latency, calls of three" 5 -m walltime,latency,calls vfs_read ksys_read rw_verify_area
	costs "helper UID" 5 --if 'uid == 0' vfs_read
	costs "helper CGROUP" 5 --if 'cgroup != 12345678' vfs_read
	costs "helper LOAD8" 5 --if '*(u8 *)arg0 != 300' vfs_read
	costs "helper LOAD64" 5 --if '*(u64 *)arg0 != 300' vfs_read
	costs "helper UDIV" 5 --if 'arg2 / 3 == 0' vfs_read
	costs "helper UMOD" 5 --if 'arg2 % 3 == 1' vfs_read
	costs "inside()" 10 --if 'inside(ksys_read)' vfs_read
	ok "how fast the machine is" holds "($(number overhead machine) / 1e9 - 1) ^ 2 < 0.02 ^ 2"
}

before() { # it is measured, while the load runs
	local loading before during
	"$load" 100000000 > /dev/null &
	loading=$!
	sleep 1
	ok "what it would cost" "$ki" stat -q --dry-run --cost --json -o /tmp/before.json -m calls,walltime,latency vfs_read
	ok "what it costs" "$ki" stat -q --cost --json -o "$json" -m calls,walltime,latency --for 0.5 vfs_read
	kill "$loading"
	wait "$loading" 2> /dev/null
	before=$(number overhead value /tmp/before.json)
	during=$(awk "BEGIN { print $(number overhead value) }")
	echo "# before: $before, during: $during"
	ok "before it is what it is then" holds "($before / $during - 1) ^ 2 < 0.2 ^ 2"
	is "nothing is left of the trial" "$(field windows)" 0
}

# share NANOSECONDS: what of them is not the load's own
share() { awk "BEGIN { print ($1 - $bare) / $1 }"; }
# keep PER_CENT NEAR: kept, and what is said of it is right but for that share of the machine
keep() {
	local kept real said
	ok "$1 %: without the budget it is 10 times that" holds "$free >= 10 * $1 / 100"
	kept=$(with -m "$metrics" --budget "$1%" "${functions[@]}")
	real=$(share "$kept")
	said=$(number overhead value)
	echo "# budget $1 %: $real, said $said, $(grep -c '"metric":"shed"' "$json") shed"
	ok "$1 %: the budget is kept" holds "$real <= $1 / 100"
	ok "$1 %: and what is said is that" holds "$said <= $1 / 100 && ($said - $real) ^ 2 < $2 ^ 2"
	ok "$1 %: something is shed" grep -q '"metric":"shed".*"of":"latency"' "$json"
	is "$1 %: what is seldom stays, exact" "$(counted vfs_write)" "$((n / 1000 + 1)) 1"
}

budget() {
	local functions=(vfs_read vfs_write ksys_read rw_verify_area __fget_light read_zero) metrics=calls,walltime,vtime,latency
	local free bare
	n=200000
	bare=$(with vfs_write)
	free=$(share "$(with -m "$metrics" "${functions[@]}")")
	echo "# without a budget: $free of the machine, said $(number overhead value)"
	n=6000000
	bare=$(with vfs_write)
	keep 3 0.015
	ok "3 %: plain counters stay, too" grep -Eq '"metric":"calls","point":"vfs_read","value":'"${n%0}"'[0-9].*"seen": *1[,}]' "$json"
	n=20000
	ok "a table" "$ki" stat --budget 1% -o /tmp/table "${functions[@]}" -- "$load" "$n"
	ok "has the overhead" grep -Eq '^ *- +- +[0-9]+ +[0-9.]+% +- +overhead' /tmp/table
}

for part in $parts; do $part; done
finish
