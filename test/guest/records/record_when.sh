#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst record --at and --until: what is recorded begins and ends when it is told to. Run with
# -icount: a CPU's time is what it executes, so nobody is away when it is to begin.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
start
cd /tmp || exit 1
len=77777 # so that a second is not too many
busy=(timeout 2.6 dd if=/dev/zero of=/dev/null bs="$len" status=none)
hits() { "$ki" report -q --json "$1" | grep '"instrument"' | grep '"address"' | sed -n 's/.*"hits": *\([0-9]*\).*/\1/p'; }
# The buffer holds all of it, whenever it is read.
"$ki" record -q -o l.rec -b 16384 --comm dd --if "arg2 == $len" --at 0.8 --until 1.6 ksys_read=len:arg2 -- sh -c "${busy[*]}; true" > record.out 2>&1
is "it has been recorded" "$?" 0
sed 's/^/# /' record.out
first=$(column time l.rec | head -n 1) last=$(column time l.rec | tail -n 1)
begins() { awk -v t="$first" 'BEGIN { exit !(t >= 0.8 && t < 0.81) }'; }
ends() { awk -v t="$last" 'BEGIN { exit !(t >= 1.59 && t < 1.6) }'; }
ok "from second 0.8: $first" begins
ok "to second 1.6: $last" ends
is "what was before and behind is no loss" "$(of_end lost l.rec) $(($(hits l.rec) - $(of_end records l.rec)))" "0 0"
ok "the file says when" grep -q '"on":0\.8,"off":1\.6' <("$ki" report -q --json l.rec | grep '"address"')
finish
