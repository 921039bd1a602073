#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a D program costs, as kdtrace says it, against the instructions of the guest that a known load
# takes with and without it, and a budget that is kept. Needs -icount: there a nanosecond is an
# instruction.
#
# usage: test/guest/dlang/kdtrace_cost.sh
# promise: N7: The cost of a D program is said probe by probe, and a budget is kept.
# promise: N7: Probes that come while a D program runs have their cost, and go for a budget, as others do.
# shellcheck disable=SC2016,SC2317 # $target is kdtrace's; functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
load=$prog/load
json=/tmp/cost.json

holds() { awk "BEGIN { exit !($1) }"; } # CONDITION
# overhead KEY: of the last run
overhead() { sed -n "s/^{\"type\":\"overhead\".*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$json"; }
# of PROBE KEY
of() { sed -n "s/^{\"type\":\"cost\".*\"probe\":\"$1\".*\"$2\": *\([0-9.e+-]*\).*/\1/p" "$json"; }
# under OPTION...: the load's nanoseconds; clock: own, or all there are
clock=own
under() { "$kd" --json -o "$json" "$@" -c "$load $n $clock" 2> /tmp/kd.err; }
fresh() { rm -f "$json" && under "$@"; }

# costs NAME PER_CENT PROGRAM: what is said is right but for that, or for an instruction a read
costs() {
	local real said
	real=$(awk "BEGIN { print ($(fresh --cost -n "$3") - $bare) / $n }")
	said=$(awk "BEGIN { print $(overhead instructions) / $n }")
	echo "# $1: $real, said $said"
	ok "$1" holds "$said > 0 && ($said - $real) ^ 2 <= ($real * $2 / 100 + 1) ^ 2"
}

n=300000
fresh --cost -n 'fbt::vfs_write:entry { @ = count(); }' > /dev/null
bare=$(fresh --cost -n 'fbt::vfs_write:entry { @ = count(); }')
# The load's own hits, and a few of others'.
some() { holds "$1 >= $2 && $1 <= $2 + 40"; }
ok "a place that is passed once in 1,000 reads" some "$(of 'fbt:[^"]*:vfs_write:entry' hits)" $((n / 1000))
costs "a count" 10 'fbt::vfs_read:entry { @ = count(); }'
ok "who comes by is counted" some "$(of 'fbt:[^"]*:vfs_read:entry' hits)" "$n"
costs "a predicate that refuses" 10 'fbt::vfs_read:entry /pid == 1/ { @ = count(); }'
costs "a predicate that holds" 10 'fbt::vfs_read:entry /arg2 == 1/ { @ = quantize(arg2); }'
costs "two clauses" 10 'fbt::vfs_read:entry { @a = count(); } fbt::vfs_read:entry /arg2 == 1/ { @b[arg2] = sum(arg2); }'
costs "a table, whose rows are found by one step or more" 30 'fbt::vfs_read:entry { @[execname] = count(); }'
costs "memory" 10 'fbt::vfs_read:entry { @ = quantize(((struct file *)arg0)->f_mode); }'
costs "memory that is 0" 10 'fbt::vfs_read:entry { @ = quantize(((struct file *)arg0)->f_version); }'
costs "a pair" 10 'fbt::vfs_read:entry { self->t = timestamp; } fbt::vfs_read:return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }'
costs "the depth of the kernel's stack" 20 'fbt::vfs_read:entry { @ = quantize(stackdepth); }'
costs "the depth of the program's" 20 'fbt::vfs_read:entry { @ = quantize(ustackdepth); }'
costs "who called in the program" 20 'fbt::vfs_read:entry { @ = quantize(ucaller); }'
costs "stacks" 20 'fbt::vfs_read:entry { @[stack()] = count(); }'
costs "the program's stacks" 20 'fbt::vfs_read:entry { @[ustack()] = count(); }'
costs "a string of the program" 20 'fbt::vfs_read:entry { @[copyinstr(arg1 + 1)] = count(); }'
costs "an operation on strings" 20 'fbt::vfs_read:entry { @ = quantize(strlen(execname)); }'
costs "memory of the program" 20 'fbt::vfs_read:entry { @ = quantize(*(char *)copyin(arg1 + 1, 1)); }'
costs "memory of the clause's own" 20 'fbt::vfs_read:entry { alloca(8); @ = quantize(arg2); }'
costs "the kernel's clock" 20 'fbt::vfs_read:entry { @ = quantize(walltimestamp); }'
costs "a system call" 10 'syscall::read:entry { @[probefunc] = count(); }'
costs "a function of the program" 10 'pid$target:a.out:read:entry { @ = count(); }'
cat /tmp/kd.err
ok "how fast the machine is" holds "($(overhead machine) / 1e9 - 1) ^ 2 < 0.02 ^ 2"

# timestamp is the time stamp counter, scaled; walltimestamp is the kernel's clock.
"$kd" -qn 'tick-500ms { trace(walltimestamp - timestamp); trace(" "); } tick-3s { exit(0); }' > /tmp/clocks
ok "timestamp goes as the kernel's clock does" holds "$(tr ' ' '\n' < /tmp/clocks | awk '$1 { if (!n++) least = most = $1; if ($1 < least) least = $1; if ($1 > most) most = $1 }
	END { printf "%d >= 4 && %.0f < 100000", n, most - least }')"
now=$(cut -d ' ' -f 1 /proc/uptime)
ok "and is the time since the machine began" holds "($("$kd" -qn 'BEGIN { trace(timestamp / 1000000); exit(0); }') / 1000 - $now) ^ 2 < 15 ^ 2"

clock=
n=2000000
each=$(awk "BEGIN { print $("$load" "$n") / $n }")
program='fbt::vfs_read:entry { self->t = timestamp; }
	fbt::vfs_read:return /self->t/ { @q = quantize(timestamp - self->t); @n[execname] = count(); self->t = 0; }
	fbt::vfs_write:entry { @w = count(); }'
taken=$(fresh --budget 2% -n "$program")
real=$(awk "BEGIN { print ($taken - $each * $n) / $taken }")
said=$(overhead share)
echo "# a budget of 2 %: $real, said $said; $(cat /tmp/kd.err)"
ok "a budget is kept" holds "$real <= 0.02 * (1 + 1e9 / $taken) && $said <= 0.024"
ok "it is said what was taken out" grep -Eq '^kdtrace: budget: fbt:[^:]*:vfs_read:return: taken out after [0-9.]+ s, it cost [0-9]+ instructions a second$' /tmp/kd.err
ok "and when" holds "$(of 'fbt:[^"]*:vfs_read:return' out_at) > 0"
ok "what is seldom stays" some "$(sed -n 's/.*"name":"w".*"value":\([0-9]*\).*/\1/p' "$json")" $((n / 1000))
n=500000
taken=$(fresh --budget 2% -n 'pid$target:a.out:read:entry { @ = count(); } pid$target:a.out:write:entry { @w = count(); }')
real=$(awk "BEGIN { print ($taken - $each * $n) / $taken }")
echo "# the same of a function of the program: $real, said $(overhead share); $(cat /tmp/kd.err)"
ok "a breakpoint is taken out" grep -Eq '^kdtrace: budget: pid[0-9]*:load:read:entry: taken out after' /tmp/kd.err
ok "and the budget is kept" holds "$real <= 0.02 * (1 + 1e9 / $taken)"
grep -E "type\":\"(cost|overhead)" "$json"
ok "another stays, but for a moment" holds "$(of 'pid[^"]*:write:entry' hits) >= 0.8 * $n / 1000"

# ---- what comes while it runs ----
later=$top/build/test/process/later
lib=$top/build/test/process/libturned.so
turn='pid$target:libturned.so:turn:entry { @ = count(); }'
# of_later OPTION... WORDS: what the program does
of_later() { rm -f "$json" && "$kd" -Z --json -o "$json" "${@:1:$#-1}" -c "$later $lib ${*: -1}" > /dev/null 2> /tmp/kd.err; }
times() { printf "$2 %.0s" $(seq "$1"); } # NUMBER WORD
of_later --cost -n "$turn" "load calls"
is "a probe of a library that is loaded" "$(of 'pid[^"]*:turn:entry' hits)" 1000
each=$(awk "BEGIN { print $(of 'pid[^"]*:turn:entry' instructions) / 1000 }")
echo "# each: $each"
ok "with what each hit takes" holds "$each > 430 && $each < 450"
of_later --cost -n "$turn" "load calls unload load calls unload"
is "one that goes and comes" "$(of 'pid[^"]*:turn:entry' hits)" 2000
ok "its cost is that of both" holds "($(of 'pid[^"]*:turn:entry' instructions) / 2000 - $each) ^ 2 < 1"
ok "and is in the overhead" holds "$(overhead instructions) >= 2000 * $each - 1"
of_later --cost -n "$turn" -n 'pid$target:a.out:step:entry { @s = count(); }' "go load calls go"
is "one that was there has its own" "$(of 'pid[^"]*:step:entry' hits)" 200
is "beside the other" "$(of 'pid[^"]*:turn:entry' hits)" 1000
of_later --budget 2% -n "$turn" -n 'pid$target:a.out:step:entry { @s = count(); }' \
	"load $(times 300 calls) unload load $(times 300 calls) go"
cat /tmp/kd.err
grep -E "type\":\"(cost|overhead)" "$json"
is "a budget takes it out once, though its library comes again" "$(grep -Ec '^kdtrace: budget: pid[0-9]*:libturned.so:turn:entry: taken out after' /tmp/kd.err)" 1
ok "long before the end" holds "$(of 'pid[^"]*:turn:entry' hits) < 200000 && $(of 'pid[^"]*:turn:entry' out_at) > 0"
is "the other has counted beside it" "$(of 'pid[^"]*:step:entry' hits)" 100
"$kd" -q --cost -n 'fbt::vfs_read:entry { @ = count(); }' -c "$load 1000" > /dev/null 2> /tmp/kd.err
cat /tmp/kd.err
ok "a table on the standard error" grep -Eq '^ *1[0-9]{3} +[0-9.]+ +[0-9]+ +[0-9.]+% +fbt:vmlinux:vfs_read:entry$' /tmp/kd.err
ok "with the overhead" grep -Eq '^ *- +- +[0-9]+ +[0-9.]+% +overhead' /tmp/kd.err
"$kd" --budget 2 -n 'BEGIN { exit(0); }' > /dev/null 2> /tmp/kd.err
is "a budget that is no share" "$? $(cat /tmp/kd.err)" "2 kdtrace: --budget 2: a share of the machine is expected, as 0.5% or 2%"
finish
