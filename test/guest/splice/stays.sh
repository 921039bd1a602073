#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A call that no springboard covers is executed where it stands, so that the processor's returns are
# where it expects them: the patches of calls in all parts of the kernel are read. No bounce stands
# over such a call.
# promise: Calls that no springboard covers stay in the text, so the processor predicts returns
#   rightly.
. "$(dirname "$0")/../common/lib.sh"
start
"$top/build/test/stays" "${1:-19}" > /tmp/stays 2> /tmp/wrong
is "code is put at calls" $? 0
sed 's/^/# /' /tmp/stays /tmp/wrong
count() { awk -v who="$1" -v what="$2" '$1 == who { for (i = 2; i < NF; i++) if ($i == what) n = $(i + 1) } END { print n + 0 }' /tmp/stays; }
for who in single moved; do
	stays=$(count $who stays)
	is "$who: no call has left its place that could stay" "$(count $who wrong)" 0
	ok "$who: $stays calls stay, at least two of three" test "$stays" -gt $((2 * $(count $who covered)))
	ok "$who: there are some" test "$stays" -gt 100
done
finish
