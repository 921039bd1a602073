#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rows of suites.parts that make check runs for this commit, as a table.
#
# usage: test/part.sh	KI_PART=0 to 11: that one
cd "$(dirname "$0")" || exit 1
hash=$(git rev-parse --short=7 HEAD 2> /dev/null) || hash=0
part=${KI_PART:-$((0x$hash % 12))}
echo "# part $part of suites.parts (KI_PART)" >&2
awk -v wanted="$part" '/^# part / { part = $3; next } /^[^#]/ && part == wanted' suites.parts
