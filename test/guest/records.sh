#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records: every call that is made is written, lost or gone, and counted once; what is there is
# right, in whatever context it was written; rings go with their sessions; hostile tails.
. "$(dirname "$0")/lib.sh"
start
out=/tmp/records.out
"$top/build/test/records" > $out 2>&1
status=$?
while read -r line; do ok "$line" true; done < <(sed -n 's/^ok //p' $out)
while read -r line; do ok "$line" false; done < <(sed -n 's/^not ok //p' $out)
grep -v -e '^ok ' -e '^not ok ' $out
is "all cases were tried" "$status $(grep -c '^ok ' $out)" "0 18"
soon "no rings are left" 0 field rings
finish
