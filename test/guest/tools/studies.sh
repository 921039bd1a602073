#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Studies say what is so: stamps of forks are the kernel's own, in their order and at their
# distances, and counters cost what counters cost. With --icount; `all`: dd too.
#
#   vm/run --icount -- test/guest/tools/studies.sh [all]
# promise: D11, G14, G15: One command measures what measuring does: trials in turns, intervals, a
#   t-test, or no difference proven. [test_welch.c]
. "$(dirname "$0")/../common/lib.sh"
start
cd /tmp || exit 1
studies=(stamps forks)
[ "${1-}" != all ] || studies+=(dd)
ok "the studies are made" sh -c "KI_STUDY_DD=1M '$top/bench/studies/guest.sh' 3 ${studies[*]} > rows"
ok "and evaluated" sh -c "'$top/build/bench/ttest' --level 99.9 --json json < rows > table"
sed 's/^/# /' table

# fact NAME: its value; sample STUDY NAME KEY
fact() { grep -F "\"name\":\"$1\"" json | sed -n 's/.*"value":\([^,}]*\).*/\1/p'; }
sample() { grep -F "\"study\":\"$1\",\"name\":\"$2\"" json | sed -n "s/.*\"$3\":\([^,}]*\).*/\1/p"; }
# shellcheck disable=SC2317 # called through ok
holds() { awk "BEGIN { exit !($1) }"; }

is "160 forks, in and out: the kernel's events" "$(fact "events of the kernel's tracer")" 320
is "ours" "$(fact 'events of ours')" 320
is "in the same order" "$(fact 'at the same place in the order')" 320
intervals=$(fact 'intervals between events of a kind')
ok "intervals that differ by less than 1 %: $(fact 'of them within 1 %') of $intervals" \
	test "$intervals" = 318 -a "$(fact 'of them within 1 %')" -ge 310
ok "drift below 1 %: $(fact 'drift over that, %')" holds "$(fact 'drift over that, %') < 1"
ok "our stamps lie within theirs" holds "$(fact 'ticks that a call takes longer by their stamps') > 0"

# Three instructions for each hit, and one or two more for some: hooks at short windows bounce, and
# of a call that is displaced the copy is two instructions.
hits=$(fact 'hits of a fork, at beginning and end')
low=$(sample forks-least 'at beginning and end' low)
high=$(sample forks-least 'at beginning and end' high)
ok "every block has two counters" test "$(fact counters)" -gt 80
ok "a fork comes through some of them: $hits" holds "$hits >= 20 && $hits <= $(fact counters)"
ok "they cost something" holds "${low:-0} > 0"
ok "what was to be expected, from 3 * $hits to 5 * $hits: $low to $high" \
	holds "${low:-1e9} < 5 * $hits && ${high:-0} > 3 * $hits"
ok "and not just anything: to 3 instructions a hit to either side" \
	holds "${high:-1e9} - ${low:-0} < 6 * $hits"
ok "and less than a hundredth of the call" \
	holds "$(sample forks-least 'at beginning and end' ratio) < 1.01"
if [ "${1-}" = all ]; then
	ok "records of a dd cost something" holds "$(sample dd 'records of four values' low) > 0"
	ok "counts of all its allocations less than that" holds \
		"$(sample dd count difference) < $(sample dd 'records of four values' difference)"
	ok "allocations were counted" holds "$(fact 'allocations of a dd by itself') > 100"
fi
finish
