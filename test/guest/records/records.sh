#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Records: every call that is made is written, lost or gone, and counted once; what is there is
# right, in whatever context it was written; rings go with their sessions; hostile tails.
#
# usage: test/guest/records/records.sh [cost]: what a record costs; needs -icount
set -- "${1-}"
. "$(dirname "$0")/../common/lib.sh"
start
count=20
[ "$1" != cost ] || count=2
cases "" $count "$top/build/test/records" "$@"
soon "no rings are left" 0 field rings
finish
