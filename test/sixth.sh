#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rows of suites.sixths that make check runs for this commit, as a table.
#
# usage: test/sixth.sh	KI_SIXTH=0 to 5: that one
cd "$(dirname "$0")" || exit 1
hash=$(git rev-parse --short=7 HEAD 2> /dev/null) || hash=0
sixth=${KI_SIXTH:-$((0x$hash % 6))}
echo "# sixth $sixth of suites.sixths (KI_SIXTH)" >&2
awk -v wanted="$sixth" '/^# sixth / { sixth = $3; next } /^[^#]/ && sixth == wanted' suites.sixths
