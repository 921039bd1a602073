#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Tables: every change that is asked for is done or lost, and counted once: by threads on all CPUs,
# in interrupts, in tables that are full, in shared ones; tables go with their sessions, their
# memory too; hostile requests.
#
# usage: test/guest/tables.sh [cost]: what a change costs; needs -icount
set -- "${1-}"
. "$(dirname "$0")/lib.sh"
start
out=/tmp/tables.out
"$top/build/test/tables" "$@" > $out 2>&1
status=$?
while read -r line; do ok "$line" true; done < <(sed -n 's/^ok //p' $out)
while read -r line; do ok "$line" false; done < <(sed -n 's/^not ok //p' $out)
grep -v -e '^ok ' -e '^not ok ' $out
is "all cases were tried" "$status $(grep -c '^ok ' $out)" "0 $([ "$1" = cost ] && echo 3 || echo 13)"
finish
