#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Snippets at points of the running kernel: predicates, parameters and return values, timers
# with words of threads, histograms, memory, calls; random trees against the interpreter.
. "$(dirname "$0")/lib.sh"
start
out=/tmp/snippets.out
"$top/build/test/snippets" "${1:-20}" "${2:-30}" > $out 2>&1
status=$?
grep '^#' $out
while read -r line; do ok "${line#ok }" true; done < <(grep '^ok ' $out)
while read -r line; do ok "${line#not ok }" false; done < <(grep '^not ok ' $out)
is "all cases were tried" "$status $(grep -c '^ok ' $out)" "0 27"
finish
