#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninstd with processes: they are listed, with their functions and code; curves in them count
# exactly, beside the kernel's; there can be more at any time; the text is as it was when they have
# gone; a process that ends, ends its curves.
# promise: Curves of points in processes are exact, beside the kernel's, and go as these do.
# shellcheck disable=SC2317,SC2154,SC2016 # functions are called through ok; stream sets id_* and pid_*; jq has $ too
. "$(dirname "$0")/../common/lib.sh"
. "$top/test/kerninstd_lib.sh"
. "$(dirname "$0")/../process/program.sh"
bin=$top/build/test/process
kd=$top/build/release/bin/kerninstd
work=$(mktemp -d /tmp/kerninstd.XXXXXX)
getsid=__x64_sys_getsid
order() { echo "" >&"$to" && read -r -t 60 -u "$from" _; } # one round
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
reason() { jq -r .error.reason "$work/reply"; }
# Its input is open in the daemon, too.
kill_it() {
	kill -9 "$pid"
	end
}
asked() { get "$1" > "$work/reply"; } # PATH
start

run "$bin/pie" 2 20000 || exit 1
before=$(text)
daemon_start --socket none || { cat "$work/complaints"; exit 1; }
stream a
stream b

# ---- what there is ----
is "the process is listed" "$(get /api/processes | jq -r ".processes[] | select(.pid == $pid).comm")" pie
is "a thread of the kernel is not" "$(get /api/processes | jq '[.processes[] | select(.pid == 2)] | length')" 0
asked "/api/functions?process=$pid"
ok "its modules are named by it" jq -e --arg p "$pid" '[.modules[].name] | index($p + "/pie") != null and index($p + "/libc.so.6") != null' "$work/reply"
ok "with their functions" jq -e --arg p "$pid" '.modules[] | select(.name == $p + "/pie").names | index("step") != null' "$work/reply"
ok "and an address for each" jq -e '[.modules[] | (.names | length) == (.addr | length)] | all' "$work/reply"
ok "the kernel's are those that they were" jq -e '[.modules[].names | length] | add > 30000' <(get /api/functions)
asked "/api/function?name=$pid/pie:leap"
ok "a function's blocks and instructions" jq -e '.name == "'"$pid"'/pie:leap" and (.blocks | length) > 10 and (.insns | length) > 20' "$work/reply"
ok "nothing stands there yet" jq -e '[.insns[] | select(.original != .now)] | length == 0' "$work/reply"
ok "what it calls has a name that can be asked for" jq -e --arg p "$pid" '[.insns[].target // empty | startswith($p + "/")] | length > 0 and all' "$work/reply"
asked "/api/functions?process=2"
is "a thread of the kernel" "$(reason)" PROCESS_GONE
asked "/api/functions?process=1x"
is "no number" "$(reason)" BAD_PROCESS
asked "/api/function?name=$pid/pie:no_such"
is "no such function" "$(reason)" NO_SYMBOL
asked "/api/function?name=4194303/pie:step"
is "no such process" "$(reason)" PROCESS_GONE

# ---- counts, beside the kernel's ----
curves "$id_a" "calls $pid/pie:step" "calls $getsid" "calls $pid/libc.so.6:getppid" "calls $pid/pie:no_such" \
	"calls $pid/pie:step 0" "vtime $pid/pie:step" "calls 4194303/pie:step" "count $pid/pie:step:block/99"
is "what is refused, and why" "$(answered '[.curves[] | select(.refused) | .refused.reason] | join(" ")')" \
	"NO_SYMBOL NO_CPU ERROR PROCESS_GONE NOT_BOUNDARY"
is "what is not" "$(answered '[.curves[] | select(.id)] | length')" 3
id() { answered ".curves[] | select(.point == \"$1\" and .id).id"; }
step=$(id "$pid/pie:step") kernel=$(id $getsid) getppid=$(id "$pid/libc.so.6:getppid")
order
"$prog/calls" getsid 77 > /dev/null
ok "samples come" settled a
is "calls in the process, of two threads" "$(total a "$step")" 40000
is "in its library" "$(total a "$getppid")" 1250
is "and in the kernel" "$(total a "$kernel")" 77

# ---- more of the same function ----
curves "$id_a" "count $pid/pie:leap:block/1" "count $pid/pie:step:block/0" "calls $pid/pie:leap"
is "more, in the same functions too" "$(answered '[.curves[] | select(.id)] | length')" 3
block=$(id "$pid/pie:leap:block/1") first=$(id "$pid/pie:step:block/0") leap=$(id "$pid/pie:leap")
order
settled a
is "those that were there go on" "$(total a "$step") $(total a "$getppid")" "80000 2500"
is "the others begin" "$(total a "$block") $(total a "$first") $(total a "$leap")" "7500 40000 10000"
asked "/api/function?name=$pid/pie:leap"
ok "what is inserted is seen" jq -e '[.insns[] | select(.original != .now)] | length > 0' "$work/reply"
ok "the original is what it was" jq -e '.refused == null and (.blocks | length) > 10' "$work/reply"
is "rows of all are listed" "$(get /api/inserted | jq '[.rows[] | select(.hits == 40000 or .hits == 10000 or .hits == 7500)] | length')" 4
get /metrics > "$work/metrics"
is "exported" "$(sed -n "s/^kerninst_calls_total{function=\"leap\",module=\"$pid\/pie\",point=\"entry\",predicate=\"\"} //p" "$work/metrics")" 10000
curves "$id_a" "calls $pid/pie:nothing_of_it"
order
settled a
is "what is refused disturbs nothing" "$(total a "$leap")" 20000

# ---- another client ----
curves "$id_b" "calls $pid/libc.so.6:getpid" "calls $pid/pie:step"
is "another client has its own; a function is one client's" "$(answered '[.curves[] | .refused.reason] | tojson')" '[null,"FOREIGN_BREAKPOINT"]'

# ---- they go ----
post /api/curves/remove "{\"client\":\"$id_a\",\"ids\":[$block,$first]}" > /dev/null
order
settled a
is "curves that are removed have what they had" "$(total a "$block")" 15000
is "the others go on" "$(total a "$leap")" 30000
post /api/curves/remove "{\"client\":\"$id_a\",\"ids\":[$step,$getppid,$leap,$kernel]}" > /dev/null
kill -9 "$pid_b"
wait "$pid_b" 2> /dev/null
soon "all is out" 0 eval 'get /api/inserted | jq ".rows | length"'
soon "the text is as it was" "$before" text

# ---- it ends ----
curves "$id_a" "calls $pid/pie:step"
step=$(id "$pid/pie:step")
order
settled a
kill_it
ok "that it ends is told" wait_for 60 eval '[ "$(data curve a | jq -r .refused.reason)" = PROCESS_GONE ]'
is "its curve has all" "$(total a "$step")" 40000
ok "and that it has gone" wait_for 60 eval '[ "$(data process a | tail -n 1)" = "{\"pid\":'"$pid"',\"ended\":true}" ]'
is "nothing is left" "$(get /api/inserted | jq '.rows | length')" 0

# ---- killed ----
run "$bin/pie" 2 20000
before=$(text)
curves "$id_a" "calls $pid/pie:step" "walltime $pid/pie:leap"
is "something is in" "$(answered '[.curves[] | select(.id)] | length') $([ "$(text)" != "$before" ] && echo changed)" "2 changed"
kill -9 $daemon
wait $daemon 2> /dev/null
soon "the daemon is killed: the text is as it was" "$before" text
ok "and the program works on" order
kill_it
rm -rf "$work"
finish
