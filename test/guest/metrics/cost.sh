#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a measurement costs, as kerninst says it, against the instructions of the guest that a known
# load takes with and without it, and a budget that is kept. Needs -icount: there a nanosecond is an
# instruction.
#
# usage: test/guest/metrics/cost.sh [PART...]: code, kinds, before, budget, record_budget, budget_long
#
# A budget is kept over a second and more: what the first moments cost is paid back by then. What is
# said and what the load felt differ by what this process does while the load does not run yet, or no
# more: some million instructions, 0.4 % of the short runs and 0.15 % of the long ones.
# promise: N7: The cost of a measurement is predicted before it begins, and a budget is kept.
#   [test_budget.c]
# shellcheck disable=SC2317 # functions are called through ok
parts=${*:-code kinds before budget record_budget}
. "$(dirname "$0")/../common/lib.sh"
start
json=/tmp/cost.json
load=$prog/load
number() { sed -n "s/.*\"metric\":\"$1\".*\"$2\": *\([0-9.e+-]*\).*/\1/p" "${3:-$json}" | tail -n 1; } # METRIC KEY [FILE]
holds() { awk "BEGIN { exit !($1) }"; } # CONDITION
# with OPTION...: the load's nanoseconds under stat; clock: of all there are, or its own; and which
clock=()
with() { "$ki" stat -q --cost --json -o "$json" "$@" -- "$load" "$n" "${clock[@]}"; }
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
	n=100000
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

# The same of what is seldom cheap: by the clock of the load's thread, since rows and records are read
# meanwhile.
kinds() {
	n=20000 clock=(own)
	local uts trap
	with vfs_write > /dev/null
	bare=$(with vfs_write)
	echo "# bare: $(awk "BEGIN { print $bare / $n }") instructions a read"
	costs "a row by name" 20 --by comm vfs_read
	costs "a row by the kernel's stack" 20 --by stack vfs_read
	costs "a row by the program's stack" 20 --by ustack vfs_read
	costs "the greatest of a row" 20 --by comm --agg max:arg2 vfs_read
	uts=$(awk '$3 == "init_uts_ns" { print "0x" $1 }' /proc/kallsyms) # its release is at 130
	costs "a string of the kernel" 20 --if "str($uts + 130) == \"$(uname -r)\"" vfs_read
	costs "a string of the program" 20 --if 'ustr(arg1 + 1) == "ten bytes."' vfs_read
	costs "events of a call" 20 -m page-faults vfs_read
	costs "switches of a call" 20 -m context-switches vfs_read
	bare=$(recorded vfs_write=arg0)
	recorded_costs "a record" 20 vfs_read=len:arg2
	recorded_costs "a record of four values" 20 vfs_read=a:arg0,b:arg1,c:arg2,d:arg3
	recorded_costs "a record with a stack" 20 vfs_read=stack
	recorded_costs "a record with a string" 20 "vfs_read=s:ustr(arg1 + 1)"
	# A window of which only a breakpoint can be the springboard, where each futex comes by.
	clock=(own futex)
	trap=$("$ki" list -q -v --json __x64_sys_futex | grep -o '"address":"[^}]*"springboard":"trap"' | grep -o '0x[0-9a-f]*' | head -n 1)
	bare=$(with vfs_write)
	echo "# bare: $(awk "BEGIN { print $bare / $n }") instructions a futex; the trap is at ${trap:-none}"
	costs "a trap" 20 "$trap"
	costs "a jump beside it" 20 __x64_sys_futex
	clock=()
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
share() { awk "BEGIN { print ($1 - $each * $n) / $1 }"; }
# kept NAME PER_CENT NANOSECONDS SAID SHARE: so much of the machine it really was; the instructions
# that are said are related to the load's time here: until it runs, the clock goes on with the host's
# files, more or less, so the load may find a second's worth that has not been spent
kept() {
	local real said
	real=$(share "$3")
	said=$(awk "BEGIN { print $4 / $3 }")
	echo "# $1, budget $2 %: $real, said $said; of all the time $5"
	ok "$1, $2 %: the budget is kept" holds "$real <= $2 / 100 * (1 + 1e9 / $3)"
	ok "$1, $2 %: and what is said is that" holds "$5 <= $2 / 100 + $near && ($said - $real) ^ 2 < $near ^ 2"
}
stat_spent() { awk "BEGIN { print $(number overhead inserted) + $(number overhead own_seconds) * 1e9 }"; }
# keep PER_CENT PLAIN: so many plain counters stay, beside that of what is seldom
keep() {
	ok "stat, $1 %: without the budget it is 10 times that" holds "$free >= 10 * $1 / 100"
	kept stat "$1" "$(with -m "$metrics" --budget "$1%" "${functions[@]}")" "$(stat_spent)" "$(number overhead value)"
	ok "stat, $1 %: something is shed" grep -q '"metric":"shed".*"of":"latency"' "$json"
	is "stat, $1 %: what is seldom stays, exact" "$(counted vfs_write)" "$((n / 1000 + 1)) 1"
	ok "stat, $1 %: plain counters stay, too" test "$(grep -Ec '"metric":"calls",.*"value":'"${n%%0*}"'[0-9]{5}.*"seen": *1[,}]' "$json")" -ge "$2"
}

# What a call of the load takes by itself, in instructions, and what of the machine the metrics take.
without_budget() {
	n=20000
	"$load" "$n" > /dev/null
	n=200000
	each=$(awk "BEGIN { print $("$load" "$n") / $n }")
	free=$(share "$(with -m "$metrics" "${functions[@]}")")
	echo "# a read takes $each instructions; without a budget $free of the machine, said $(number overhead value)"
}

# A second and a half: what was spent before it was seen has been paid back, hardly more.
budget() {
	local functions=(vfs_read vfs_write ksys_read rw_verify_area __fget_light read_zero) metrics=calls,walltime,vtime,latency
	local free each near=0.004
	without_budget
	n=2000000
	keep 2 2
	keep 1 1
}

budget_long() {
	local functions=(vfs_read vfs_write ksys_read rw_verify_area __fget_light read_zero) metrics=calls,walltime,vtime,latency
	local free each near=0.0015
	without_budget
	n=6000000
	for per_cent in 2 1 0.5; do keep "$per_cent" 0; done
	n=20000
	ok "a table" "$ki" stat --budget 1% -o /tmp/table "${functions[@]}" -- "$load" "$n"
	ok "has the overhead" grep -Eq '^ *- +- +[0-9]+ +[0-9.]+% +- +overhead' /tmp/table
}

# recorded OPTION...: the load's nanoseconds under record; what was said goes to $json
recorded() { "$ki" record -q --json -o /tmp/b.rec "$@" -- "$load" "$n" "${clock[@]}" > /tmp/both; tail -n 1 /tmp/both > "$json"; head -n 1 /tmp/both; }
said() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$json"; }
recorded_costs() { # NAME PER_CENT POINT: as costs; nobody reads meanwhile, and nothing is left out
	local real said
	real=$(awk "BEGIN { print ($(recorded --mode newest -b 16384 --budget 99% "$3") - $bare) / $n }")
	said=$(awk "BEGIN { print $(said instructions) / $n }")
	echo "# $1: $real, said $said"
	ok "$1" holds "$said > 0 && ($said - $real) ^ 2 <= ($real * $2 / 100 + 1) ^ 2"
}
summary() { "$ki" report --summary /tmp/b.rec > /tmp/summary; }
record_budget() {
	local each free near=0.006 sum point=(--if 'arg2 == 1' vfs_read=len:arg2)
	n=20000
	"$load" "$n" > /dev/null
	n=200000
	each=$(awk "BEGIN { print $("$load" "$n") / $n }")
	n=20000
	free=$(share "$(recorded "${point[@]}")")
	echo "# without a budget: $free of the machine"
	ok "record: without the budget it is 10 times 1 %" holds "$free >= 0.1"
	n=2500000
	kept record 4 "$(recorded --budget 4% "${point[@]}")" "$(said instructions)" "$(said overhead)"
	is "record, 4 %: it is sampled, not shed" "$(said sampled) $(said shed)" "1 0"
	ok "record, 4 %: the report says so" summary
	cat /tmp/summary
	ok "and how rarely" grep -q "sampled: at the rarest one of $(said rarest) hits" /tmp/summary
	is "record, 4 %: all hits are counted" "$(sed -n 's/.*reached \([0-9]*\) times.*/\1/p' /tmp/summary)" "$n"
	sum=$(sed -n 's/.* len: .* sum \([0-9.]*\).*/\1/p' /tmp/summary)
	ok "record, 4 %: records taken for so many give the sum" holds "($sum / $n - 1) ^ 2 < 0.04 ^ 2"
	kept record 1 "$(recorded --budget 1% "${point[@]}")" "$(said instructions)" "$(said overhead)"
	is "record, 1 %: even one of many hits is too much: shed" "$(said shed)" 1
	ok "record, 1 %: the report says so" summary
	ok "and when" grep -Eq "taken out by the budget at [0-9.]+" /tmp/summary
}

for part in $parts; do $part; done
finish
