#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# kerninst stat with more than 20,000 counters, at a terminal, as a whole: from reading the kernel's
# symbols to the last line of the table. Where QEMU counts instructions the host has no part in it.
# promise: kerninst stat with 20,000 counters takes at most 10 s as a whole, in emulation.
. "$(dirname "$0")/../common/lib.sh"
start
out=/tmp/mass_stat
of() { sed -n "s/^$1 //p" $out; }
python3 "$top/test/guest/splice/mass_stat.py" "$ki" stat --json -m blocks 'kernel:v*' 'kernel:u*' 'kernel:w*' -- true > $out
sed 's/^/# /' $out
is "it ends as it should" "$(of status)" 0
ok "more than 20,000 counters" test "$(of points)" -gt 20000
ok "in and out in ten seconds, with all before and behind" awk -v s="$(of seconds)" 'BEGIN { exit !(s > 0 && s <= 10) }'
ok "the whole process: $(of cpu) thousand million instructions, at most 5" awk -v s="$(of cpu)" 'BEGIN { exit !(s > 0 && s <= 5) }'
ok "a bar of installing was drawn" test "$(of bars)" -ge 2
ok "it tells how many there are" test "$(of bar_of)" -gt 20000 -a "$(of bar_of)" -le "$(of points)"
is "and is taken away" "$(of left_on_screen)" 0
finish
