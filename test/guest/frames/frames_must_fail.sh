#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The counter-test of frames.sh: with a driver that gives patches no rows for the unwinder, the
# same test must be seen to fail, at every step in a patch and in no other way. Runs on the host.
set -u
cd "$(dirname "$0")/../../.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
vm/run --no-module --timeout 2400 -- test/guest/frames/frames.sh -noorc 2>&1 | tee "$log" | sed 's/^/# /'
verdict=ok
inside="from inside patches: callers not found"
ends="none ends elsewhere than at the system call's entry"
[ "$(grep -c "^not ok .*$inside" "$log")" = 4 ] || verdict="not ok"
[ "$(grep -c "^not ok .*$ends" "$log")" = 3 ] || verdict="not ok"
grep '^not ok' "$log" | grep -qvE "$inside|$ends|the callers are those without patches" && verdict="not ok"
echo "$verdict 1 without the rows, traces end in patches, and nothing else is wrong"
echo "1..1"
[ "$verdict" = ok ]
