#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The counter-test of frames.sh: with a driver that gives patches no rows for the unwinder, the
# same test must be seen to fail, at every step in a patch and in no other way. Runs on the host.
set -u
cd "$(dirname "$0")/../.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
vm/run --no-module --timeout 300 -- test/guest/frames.sh -noorc 2>&1 | tee "$log" | sed 's/^/# /'
verdict=ok
grep -q '^not ok [0-9]* from inside patches: callers not found' "$log" || verdict="not ok"
grep -q "^not ok [0-9]* and none ends elsewhere than at the system call's entry" "$log" || verdict="not ok"
[ "$(grep -c '^not ok' "$log")" = 2 ] || verdict="not ok"
echo "$verdict 1 without the rows, traces end in patches, and nothing else is wrong"
echo "1..1"
[ "$verdict" = ok ]
