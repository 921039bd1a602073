#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every refusal provoked: for each reason of the table the request that earns it, of the driver, of
# the library or of the tool; the words for a person; and nothing is changed (test/guest/reasons).
# With one CPU of two, so that lock prefixes are rewritten (maxcpus=1).
# promise: N10 (in part): Each reason of refusal is provoked by the request that earns it, here
#   or in a named suite.
# shellcheck disable=SC2317 # functions are called through ok
. "$(dirname "$0")/../common/lib.sh"
modules=$top/build/reasons/$(uname -r)
reasons=$top/build/test/reasons
for m in ki_reasons ki_tails; do
	ok "$m loads" insmod "$modules/$m.ko"
done
ok "ki_mate loads" insmod "$top/build/mate/$(uname -r)/ki_mate.ko"
start
export KI_GOING=$modules/ki_going.ko
cases "" "$("$reasons" count)" "$reasons" "$ki"

for m in ki_tails ki_reasons ki_mate; do
	ok "$m unloads" goes $m
done
finish
