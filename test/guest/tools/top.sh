#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# promise: P14: kerninst top shows the busiest functions exactly, and leaves terminal and text as
#   they were. [test_top.c]
# shellcheck disable=SC2016 # jq and awk have $ too
# kerninst top with the kernel: a known load in exact order, its numbers, and all keys in a terminal.
. "$(dirname "$0")/../common/lib.sh"
load=$top/test/guest/tools/top_load.py
three=(__x64_sys_getsid __x64_sys_getpgid __x64_sys_clock_nanosleep)
ln -s "$(command -v python3)" /tmp/known
start

"$ki" top -q -b -i 0.2 --comm known -m calls,walltime "${three[@]}" -- /tmp/known "$load" 60 > /tmp/tables
is "a command's exit status" $? 7
is "what it says is not lost" "$(grep -c 'the load has ended' /tmp/tables)" 1
ok "tables while it runs" test "$(grep -c 's, the last' /tmp/tables)" -gt 2
last() { tac /tmp/tables | sed '/s, the last/q' | tac; }
is "known numbers of calls" "$(last | awk '/__x64/ { print $2, $NF }' | sort -rn | xargs)" \
	"3000 ${three[0]} 420 ${three[1]} 60 ${three[2]}"

"$ki" top -q --json -c 1 -i 600 -s total --comm known -m calls,vtime,walltime "${three[@]}" -- /tmp/known "$load" 100 | grep -v ended > /tmp/rows
is "most calls first" "$(jq -r .point /tmp/rows | xargs)" "${three[*]}"
is "exactly" "$(jq .calls.total /tmp/rows | xargs)" "5000 700 100"
ok "rates are totals in that time" jq -es 'all(.[]; (.calls.rate * .seconds - .calls.total) | fabs < 0.01)' /tmp/rows
ok "100 sleeps of 10 ms take a second or more" jq -es '.[2].walltime.total | . >= 1 and . < 60' /tmp/rows
ok "and hardly any time of a processor" jq -es '.[2] | .vtime.total < .walltime.total / 2' /tmp/rows
"$ki" top -q --json -c 1 -i 600 -m walltime,calls --comm known "${three[@]}" -- /tmp/known "$load" 20 | grep -v ended > /tmp/rows
is "by wall time who sleeps is the first" "$(jq -r .point /tmp/rows | head -n 1)" "${three[2]}"
"$ki" top -q -b -n 1 -c 2 -i 0.1 "${three[@]}" > /tmp/tables
is "so many tables, so many rows" "$? $(grep -c 's, the last' /tmp/tables)" "0 2"
"$ki" top -q -b --comm known "__x64_sys_getsid:blocks" -- /tmp/known "$load" 10 > /tmp/tables
is "blocks can be asked for" "$(last | awk '/block\/0$/ { print $2 }')" 500
"$ki" top -q -b -c 1 -m walltime do_exit > /tmp/tables 2>&1
is "nothing can be measured: it says so" "$? $(grep -c 'kerninst: do_exit: ' /tmp/tables)" "1 1"

cases "terminal: " 34 python3 "$top/test/guest/tools/top_terminal.py" "$ki" "$prog/field" python3 "$load"
soon "nothing is left in the kernel" 0 field windows
finish
