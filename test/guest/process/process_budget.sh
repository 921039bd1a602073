#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A budget for points of a process, by the driver: kept, while what costs the most is taken out of the
# process and the rest stays exact; the text as it was; kill -9 and forks meanwhile; records; what it
# would cost; of what only the kernel knows, too. Needs -icount: there a nanosecond is an instruction.
# promise: N7: By the driver, too, a budget takes out what costs the most of a process.
# shellcheck disable=SC2016,SC2317 # for other shells; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/program.sh"
bin=$top/build/test/process
start

ran() { cut -d ' ' -f 1 "/proc/$pid/schedstat"; } # nanoseconds, by itself: the machine waits for its host's files
order() { # [WORD]: what it says; the nanoseconds that it ran in /tmp/took
	local begun
	begun=$(ran)
	echo "${1-}" >&"$to"
	read -r -t 600 -u "$from" said
	echo $(($(ran) - begun)) > /tmp/took
	echo "$said"
}
export -f order ran
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
same() { [ "$(text)" = "$before" ]; }
holds() { awk "BEGIN { exit !($1) }"; } # CONDITION
json=/tmp/cost.json
number() { sed -n "s/.*\"metric\":\"$1\".*\"$2\": *\([0-9.e+-]*\).*/\1/p" "${3-$json}" | tail -n 1; } # METRIC KEY [FILE]
# stat ORDERS OPTION...: while it does that so often; its words in /tmp/all
stat() {
	local times=$1
	shift
	env pid="$pid" to="$to" from="$from" "$ki" stat --json -o "$json" "$@" -- \
		bash -c 'for ((i = 0; i < $0; i++)); do order; done > /tmp/all' "$times" 2> /tmp/words
}
taken() { grep -c 'budget: .*taken out after' /tmp/words; }

# ---- kept ----
few=200000 many=40000000
run "$bin/pie" 0 $few
order > /dev/null
order > /dev/null
each=$(awk "BEGIN { print $(cat /tmp/took) / $few }")
points=("$pid/pie:step" "$pid/pie:leap:blocks" "$pid/pie:step:blocks")
ok "without a budget" stat 1 "${points[@]}"
free=$(awk "BEGIN { t = $(cat /tmp/took); print (t - $each * $few) / t }")
echo "# a round takes $each instructions; without a budget $free of the machine"
ok "it is 10 times 2 %" holds "$free >= 0.2"
end
run "$bin/pie" 0 $many
before=$(text)
want=$(order)
plain=$(cat /tmp/took)
echo "# by itself: $plain ns"
kept() { # PER CENT
	local real
	ok "$1 %: counted" stat 1 --budget "$1%" "$pid/pie:step" "$pid/pie:leap:blocks" "$pid/pie:step:blocks" "$pid/pie:work"
	is "$1 %: by the driver" "$(grep -c 'no thread was held' /tmp/words)" 1
	real=$(awk "BEGIN { t = $(cat /tmp/took); print (t - $plain) / t }")
	echo "# $1 %: $real of the machine, $(taken) taken out; said $(number overhead value)"
	ok "$1 %: it is kept" holds "$real <= $1 / 100 * (1 + 1e9 / $plain) + 0.004"
	ok "$1 %: what is taken out is told" eval '[ "$(taken)" -ge 1 ] && grep -q "\"metric\":\"shed\"" $json'
	is "$1 %: what is seldom stays, exact" "$(value pie:work < $json)" 1
	is "$1 %: it does what it does without" "$(cat /tmp/all)" "$want"
	ok "$1 %: the text is as it was" same
}
kept 2
kept 1

# ---- killed when a part has been taken out ----
env pid="$pid" to="$to" from="$from" "$ki" stat --budget 1% -o /dev/null "$pid/pie:step:insns" "$pid/pie:work" -- \
	bash -c 'order > /tmp/all' 2> /tmp/words &
tool=$!
ok "a part is taken out" until_true 300 eval '[ "$(taken)" -ge 1 ]'
kill -9 $tool
wait $tool 2> /dev/null
ok "kill -9 gives the rest back" until_true 60 same
until_true 600 [ -s /tmp/all ]
is "it has done what it does" "$(cat /tmp/all)" "$want"

# ---- what it would cost, and what it costs ----
order > /tmp/all &
sleep 0.2
ok "what it would cost" "$ki" stat -q --dry-run --cost --json -o /tmp/before.json "$pid/pie:step" "$pid/pie:leap"
ok "what it costs" "$ki" stat -q --cost --json -o $json --for 0.3 "$pid/pie:step" "$pid/pie:leap"
wait $!
is "it has done what it does" "$(cat /tmp/all)" "$want"
during=$(number overhead value)
would=$(number overhead value /tmp/before.json)
echo "# before: $would, during: $during"
ok "before it is what it is then" holds "($would / $during - 1) ^ 2 < 0.2 ^ 2"
ok "the text is as it was" same
end

# ---- what only the kernel knows, by breakpoints ----
run "$bin/pie" 0 $few
before=$(text)
order > /dev/null
want=$(order)
plain=$(cat /tmp/took)
ok "vtime: what it costs" stat 1 --cost -m calls,vtime "$pid/pie:step"
real=$(($(cat /tmp/took) - plain))
inserted=$(number overhead inserted)
echo "# vtime: $real instructions, said $inserted"
ok "vtime: it is what it says" holds "($inserted / $real - 1) ^ 2 < 0.2 ^ 2"
is "vtime: it does what it does without" "$(cat /tmp/all)" "$want"
end
run "$bin/pie" 0 $many
before=$(text)
want=$(order)
plain=$(cat /tmp/took)
ok "vtime, 2 %: counted" stat 1 --budget 2% -m calls,vtime "$pid/pie:step" "$pid/pie:work"
real=$(awk "BEGIN { t = $(cat /tmp/took); print (t - $plain) / t }")
echo "# vtime, 2 %: $real of the machine, $(taken) taken out; said $(number overhead value)"
ok "vtime, 2 %: it is kept, so its breakpoints are out" holds "$real <= 0.02 * (1 + 1e9 / $plain) + 0.004"
is "vtime, 2 %: both are told" "$(taken)" 2
is "vtime, 2 %: what is seldom stays, exact" "$(grep '"metric":"calls"' $json | value "$pid/pie:work")" 1
is "vtime, 2 %: it does what it does without" "$(cat /tmp/all)" "$want"
ok "vtime, 2 %: the text is as it was" same
"$ki" stat --dry-run --cost -m vtime "$pid/pie:step" > /tmp/dry 2>&1
is "vtime: before it nothing says what it would cost" "$? $(grep -c 'not built for processes' /tmp/dry)" "2 1"
end

# ---- forks meanwhile ----
run "$top/build/test/forks"
before=$(text)
env pid="$pid" to="$to" from="$from" "$ki" stat --budget 0.2% --json -o $json "$pid/forks:step:insns" "$pid/forks:main:blocks" -- \
	bash -c 'for ((i = 0; i < 40; i++)); do order fork; done > /tmp/all; order keep > /tmp/kept' 2> /tmp/words
ok "forks: taken out meanwhile" eval '[ "$(taken)" -ge 1 ]'
is "forks: all are right, no signal" "$(sort -u /tmp/all)" "4 0"
ok "forks: the text is as it was" same
kept=$(cut -d ' ' -f 1 /tmp/kept)
is "forks: and the child's" "$("$bin/oracle" text "$kept" | cut -d ' ' -f 1)" "$before"
is "forks: it goes on" "$(order go)" "1 0"
end

# ---- records ----
run "$bin/pie" 0 $many
before=$(text)
order > /dev/null
plain=$(cat /tmp/took)
echo "# by itself: $plain ns"
env pid="$pid" to="$to" from="$from" "$ki" record --budget 2% --json -o /tmp/b.rec "$pid/pie:step=arg0" "$pid/pie:work=tid" -- \
	bash -c 'order > /tmp/all' > $json 2> /tmp/words
real=$(awk "BEGIN { t = $(cat /tmp/took); print (t - $plain) / t }")
echo "# records, 2 %: $real of the machine; $(tail -n 1 $json)"
ok "records, 2 %: it is kept" holds "$real <= 0.02 * (1 + 1e9 / $plain) + 0.006"
is "records: what is hit most is taken out" "$(grep -c 'budget: .*step.*taken out after' /tmp/words) $(taken)" "1 1"
is "records: the other one stays" "$("$ki" report -q --csv -p '*work' /tmp/b.rec | grep -c .)" 2
is "records: it does what it does without" "$(cat /tmp/all)" "$want"
ok "records: the text is as it was" same
order > /tmp/all &
sleep 0.2
ok "records: what they would cost" "$ki" record -q --dry-run --cost "$pid/pie:step=arg0"
wait $!
is "records: it does what it does without" "$(cat /tmp/all)" "$want"
ok "records: the text is as it was" same
end

# A function that costs more than the breakpoint does, and a record that costs more than that.
run bash -c 'echo ready; while read -r; do for ((i = 0; i < 60000; i++)); do :; done; echo done; done'
before=$(text)
of=$pid/bash:execute_command
ok "records: a shell" stat 1 "$of"
hits=$(value bash:execute_command < $json)
env pid="$pid" to="$to" from="$from" "$ki" record --budget 12% --json -o /tmp/b.rec "$of=ustack,arg0" -- bash -c order > $json 2> /tmp/words
echo "# $(tail -n 1 $json)"
is "records: it is sampled, not taken out" "$(grep -c 'one of .* hits is recorded' /tmp/words | awk '{ print ($1 > 0) }') $(taken)" "1 0"
is "records: all hits are counted" "$("$ki" report --summary /tmp/b.rec | sed -n 's/.*reached \([0-9]*\) times.*/\1/p')" "$hits"
ok "records: the text is as it was" same
end
finish
