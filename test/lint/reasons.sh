#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reasons that test/guest/reasons leaves to another test: that one is there, and names the tag.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0 n=0
while read -r tag file; do
	n=$((n + 1))
	grep -qwE "(KI_R_)?$tag" "$file" || {
		echo "lint: $file does not provoke $tag, as test/guest/reasons says"
		failed=1
	}
done < <(sed -n 's/^IN_SUITE(\([A-Z_0-9]*\), "\(.*\)")$/\1 \2/p' test/guest/reasons/*.c)
[ $n -gt 10 ] || { echo "lint: no reasons are left to other tests: has IN_SUITE another form?"; failed=1; }
exit $failed
