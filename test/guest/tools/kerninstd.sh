#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninstd with the kernel: curves against known numbers of calls, clients that vanish, a daemon
# that is killed, what is inserted, what a recording holds.
# promise: P1, P9, P12, P14, P17: kerninstd measures for several clients at once, and their
#   curves go when they go. [kerninstd_load.sh]
# shellcheck disable=SC2317,SC2154,SC2016 # functions are called through ok; stream sets id_* and pid_*; jq has $ too
. "$(dirname "$0")/../common/lib.sh"
. "$top/test/kerninstd_lib.sh"
kd=$top/build/release/bin/kerninstd
work=$(mktemp -d /tmp/kerninstd.XXXXXX)
getsid=__x64_sys_getsid
calls() { "$prog/calls" getsid "$1" > /dev/null; }
start

daemon_start --socket "$work/sock" --export calls $getsid || { cat "$work/complaints"; exit 1; }
is "one export is in the kernel, and nothing else" "$(get /api/inserted | jq -c '[.rows[].client]')" '["export"]'
before=$(field windows)
stream a
stream b
is "a client alone puts nothing in" "$(field windows)" "$before"

# ---- known numbers ----
curves "$id_a" "calls $getsid" "calls $getsid each" "latency $getsid" "count $getsid:block/0" \
	"walltime/call $getsid" "calls $getsid 0 pid == 1" "calls no_such_function" "bogus $getsid" \
	"calls $getsid 99" "calls vfs_*" "calls $getsid all pid ==" "calls $getsid+1"
is "what is refused, and why" "$(answered '[.curves[] | select(.refused) | .refused.reason] | join(" ")')" \
	"NO_SYMBOL NO_METRIC NO_CPU MANY_POINTS BAD_PREDICATE NOT_BOUNDARY"
cpus=$(nproc)
is "what is not refused" "$(answered '[.curves[] | select(.id)] | length')" $((5 + cpus))
id() { answered "[.curves[] | select(.metric == \"$1\" and .cpu == $2 and .predicate == \"\")][0].id"; }
calls=$(id calls '"all"') latency=$(id latency '"all"') block=$(id count '"all"')
mean=$(id walltime/call '"all"')
calls 1234
ok "samples come" settled a
is "calls" "$(total a "$calls")" 1234
is "a block" "$(total a "$block")" 1234
is "a histogram" "$(total a "$latency")" 1234
sum=0
for c in $(seq 0 $((cpus - 1))); do sum=$((sum + $(total a "$(id calls "$c")"))); done
is "of each CPU" "$sum" 1234
is "a mean of nothing is null" "$(data sample a | tail -n 1 | jq ".values[\"$mean\"]")" null
# One of them may have stood still inside.
ok "a mean of something is a time" jq -se --arg id "$mean" \
	'[.[].values[$id] | select(. != null)] | length > 0 and all(. > 0) and min < 0.1' <(data sample a)
ok "each sample begins where the last one ended" jq -se \
	'. as $s | [range(1; length) | $s[.].from == $s[. - 1].to] | all' <(data sample a)
is "the other client has no sample" "$(data sample b | wc -l)" 0

# ---- several clients ----
curves "$id_b" "calls $getsid" "calls __x64_sys_getpgid"
b=$(answered '.curves[0].id')
calls 100
settled b
is "each has its own: the first" "$(total a "$calls")" 1334
is "and the second" "$(total b "$b")" 100
get "/api/inserted?client=$id_b" > "$work/inserted"
is "rows are of all, and mine are known" "$(jq -c '[(.rows | length), (.mine | length), ([.rows[.mine[]].client] | unique | length)]' "$work/inserted")" \
	"[$((8 + cpus)),2,1]"
ok "with hits and costs" jq -e --arg id "$id_a" \
	'[.rows[] | select(.client == $id and .metric == "count")][0] | .hits == 1334 and .cost_instructions > 0 and .cost_instructions < 20' "$work/inserted"
ok "and the driver's numbers" jq -e '.windows > 0 and .heap_used > 0 and .heap_size > .heap_used and .sessions >= 3' "$work/inserted"

# ---- /metrics ----
get /metrics > "$work/metrics"
is "exported since the start" "$(sed -n "s/^kerninst_calls_total{function=\"$getsid\",module=\"\",point=\"entry\",predicate=\"\"} //p" "$work/metrics")" 1334
is "histograms too" "$(sed -n "s/^kerninst_latency_seconds_bucket{function=\"$getsid\".*le=\"+Inf\"} //p" "$work/metrics")" 1334
is "OpenMetrics ends" "$(get /metrics -H 'Accept: application/openmetrics-text' | tail -n 1)" "# EOF"
is "the local socket needs no token" "$(status --unix-socket "$work/sock" http://localhost/metrics)" 200

# ---- a function ----
ask_function() { get "/api/function?name=$getsid&client=$id_a" | tee "$work/function" | jq -r .registers; }
is "a function is answered before all code is analysed" "$(ask_function)" pending
n=$(data sample a | wc -l)
# spent_by PID FIELD: ticks; from FIELD (14: its own, 16: its children's) on, of user and of system
spent_by() { awk -v at="$2" '{ print $at + $(at + 1) }' "/proc/$1/stat"; }
long=$(spent_by $daemon 14)
wait_for 600 eval '[ "$(ask_function)" != pending ]'
is "which registers are free is known then" "$(ask_function)" known
long=$(($(spent_by $daemon 14) - long))
ok "samples have come in the meantime" test "$(data sample a | wc -l)" -gt $((n + 5))
ok "blocks and instructions" jq -e '(.blocks | length) > 0 and (.insns | length) > 5 and .name == "'$getsid'"' "$work/function"
ok "what is inserted is seen" jq -e '[.insns[] | select(.original != .now)] | length > 0' "$work/function"
ok "a jump stands there" jq -e '[.insns[] | select(.original != .now and (.now_text | startswith("jmp")))] | length > 0' "$work/function"
ok "free registers are known" jq -e '[.insns[] | select(.free != "")] | length > 0' "$work/function"
is "an unknown function" "$(status -H "Authorization: Bearer $token" "$url/api/function?name=no_such")" 404
ok "all functions are listed" jq -e '[.modules[].names | length] | add > 30000' <(get /api/functions)
is "as many addresses" "$(get /api/functions --compressed | jq -c '[.modules[] | (.names | length) == (.addr | length)] | all')" true

# ---- times of each CPU ----
stream c
getppid=__x64_sys_getppid
timed=(walltime vtime latency walltime/call)
wishes=()
for metric in "${timed[@]}"; do wishes+=("$metric $getppid" "$metric $getppid each"); done
curves "$id_c" "${wishes[@]}"
is "times of each CPU are not refused" "$(answered '[.curves[] | select(.id)] | length')" $((${#timed[@]} * (1 + cpus)))
for c in $(seq 0 $((cpus - 1))); do taskset -c "$c" "$prog/calls" getppid $((300 + 100 * c)) > /dev/null; done
ok "samples of them come" settled c
cp "$work/c" "$work/timed" # others may call it, too
# Each value is written with nine digits, so half of the last one may be wrong: 5e-9 of it, of the
# whole and of its parts.
part() { total timed "$(id "$1" "$2")"; } # METRIC CPU
parts() { for c in $(seq 0 $((cpus - 1))); do part "$1" "$c"; done; }
for metric in walltime vtime; do
	ok "$metric of the CPUs makes the whole: $(parts $metric | xargs) of $(part $metric '"all"')" jq -ne \
		"[$(parts $metric | paste -sd,)] as \$p | (\$p | add / $(part $metric '"all"') - 1 | fabs < 1.01e-8) and (\$p | all(. > 0))"
done
ok "latency of each CPU has its calls: $(parts latency | xargs)" jq -ne "[$(parts latency | paste -sd,)] | to_entries | all(.value >= 300 + 100 * .key)"
is "and all of them" "$(part latency '"all"')" "$(parts latency | jq -s add)"
ok "a mean of each is a time" jq -se --arg id "$(id walltime/call 0)" \
	'[.[].values[$id] | select(. != null)] | length > 0 and all(. > 0) and min < 0.1' <(data sample timed)
post /api/curves/remove "{\"client\":\"$id_c\",\"ids\":$(answered '[.curves[] | .id | select(.)] | tojson')}" > /dev/null
kill -9 "$pid_c"
wait "$pid_c" 2> /dev/null

# ---- curves go ----
post /api/curves/remove "{\"client\":\"$id_a\",\"ids\":[$calls,$block]}" > /dev/null
calls 10
settled a
is "a curve that was removed has what it had" "$(total a "$calls")" 1334
is "the others go on" "$(total a "$latency")" 1344
is "removing what others have does nothing" "$(post /api/curves/remove "{\"client\":\"$id_a\",\"ids\":[$b]}"; calls 5; settled b; total b "$b")" "{}
115"
post /api/interval "{\"client\":\"$id_b\",\"ms\":60000}" > /dev/null
sleep 1
n=$(had b)
sleep 3
is "an interval is kept" "$(had b)" "$n"
settled a

# ---- a recording, opened again ----
get "/api/recording?functions=1&client=$id_a" > "$work/session"
ok "it begins with what it is" jq -e '."kerninst-session" == 1 and (.metrics | length) > 10' <(head -n 1 "$work/session")
is "all samples are in it" "$(jq -s '[.[] | select(.event == "sample").data.values["'"$latency"'"] | select(. != null) | add] | add' "$work/session")" 1349
is "curves, functions, code" "$(jq -r 'select(.event and .event != "sample").event' "$work/session" | sort -u | xargs)" "curves function functions"

# ---- clients vanish ----
kill -9 "$pid_a"
wait "$pid_a" 2> /dev/null
rows() { get /api/inserted | jq '.rows | length'; }
soon "who vanishes takes all of it with him" 3 rows
kill -STOP "$pid_b"
calls 7
kill -CONT "$pid_b"
post /api/interval "{\"client\":\"$id_b\",\"ms\":100}" > /dev/null
settled b
is "a reader that slept has lost nothing" "$(total b "$b")" 122

# ---- everything out ----
post /api/clear "{\"client\":\"$id_b\"}" > /dev/null
is "clear takes out all that is in" "$(rows) $(field windows)" "0 0"
soon "and who had it is told" 2 eval 'data curve b | wc -l'
curves "$id_b" "calls $getsid"
b=$(answered '.curves[0].id')
calls 11
settled b
is "it can begin again" "$(total b "$b")" 11

# ---- predicates ----
cp "$prog/calls" "$work/another"
stream p
curves "$id_p" "calls $getsid" "calls $getsid all pid == 1" "calls $getsid all comm == \"calls\"" "calls $getsid all comm != \"calls\""
mapfile -t ids < <(answered '.curves[].id')
calls 1234
"$work/another" getsid 55 > /dev/null
settled p
is "only what they are about" "$(for i in "${ids[@]}"; do total p "$i"; done | xargs)" "1289 0 1234 55"
kill -9 "$pid_p"
wait "$pid_p" 2> /dev/null
soon "and it is taken out" 1 rows

# ---- others ----
is "nobody else is there" "$(get /api/inserted | jq .others)" null
"$ki" stat -q vfs_read vfs_write > /dev/null 2>&1 &
other=$!
until_true 120 eval '[ "$(get /api/inserted | jq ".others.windows // 0")" -ge 2 ]'
is "others are listed: sessions, windows, whose" "$(get /api/inserted | jq -c '[.others.sessions, .others.windows >= 2, .others.processes[0].comm, .others.processes[0].pid]')" \
	"[1,true,\"kerninst\",$other]"
kill -INT $other
wait $other
soon "until they end" null eval 'get /api/inserted | jq .others'

# ---- a module that is measured cannot go ----
insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
until_true 120 eval 'data modules b | grep ki_metrics'
curves "$id_b" "calls ki_metrics:ki_metrics_spin"
b=$(answered '.curves[0].id')
is "a module that is measured stays" "$(rmmod ki_metrics 2> /dev/null || echo stays)" stays
post /api/curves/remove "{\"client\":\"$id_b\",\"ids\":[$b]}" > /dev/null
ok "until it is no longer" goes ki_metrics
soon "clients are told of modules that come and go" '{"came":["ki_metrics"],"gone":[]} {"came":[],"gone":["ki_metrics"]}' eval 'data modules b | xargs -d "\n" echo'
curves "$id_b" "calls ki_metrics:ki_metrics_spin"
is "what has gone is refused" "$(answered '.curves[0].refused.reason')" NO_SYMBOL

# ---- the end ----
daemon_stop
is "it ends when it is told to" $? 0
wait "$pid_b"
is "clients are told" "$(data bye b | jq -r .why)" "the daemon has been stopped"
is "nothing is left in the kernel" "$(field windows)" 0
is "nor a socket" "$(find "$work" -name sock)" ""
# So slowly that a reader that has no CPU for seconds misses nothing.
daemon_start --socket none --speed 10 --replay "$work/session"
stream r
wait_for 300 ended r
is "a recording is played, and its reader misses nothing" "$(data gap r)" ""
is "and plays to its end" "$(data bye r | jq -r .why)" "end of the recording"
is "with all that was in it" "$(total r "$latency")" 1349
is "functions and all" "$(get /api/functions | jq '[.modules[].names | length] | add > 30000') $(status -H "Authorization: Bearer $token" "$url/api/function?name=$getsid")" "true 200"
daemon_stop

# ---- told to end while it analyses all code ----
# What it spends in its life, of the CPU's time: that of this shell's children whose end it has seen.
daemon_start --socket none
again=$(ask_function)
before=$(spent_by $$ 16)
daemon_stop
status=$? took=$(($(spent_by $$ 16) - before))
echo "# it ended after $took ticks of the CPU's time; to analyse all takes $long"
is "it analyses again" "$again" pending
is "and ends when it is told to" "$status" 0
ok "without doing all of that" test "$took" -lt "$long"

# ---- killed ----
for _ in 1 2 3; do
	daemon_start --socket "$work/sock"
	stream k
	curves "$id_k" "calls $getsid" "walltime vfs_read" "calls vfs_write" "latency $getsid"
	[ "$(field windows)" != 0 ] || ok "something is in" false
	calls 50 &
	kill -9 $daemon
	wait $daemon 2> /dev/null
	wait $!
	soon "killed, everything is out" 0 field windows
done
soon "and no session is left" 1 field sessions
rm -rf "$work"
finish
