#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random sessions of random sizes, several at once, each killed at a random moment, under load: after
# each kill text and heap are exactly right within a second.
#
# usage: test/guest/full/kill_random.sh [SEED [SESSIONS]]: SESSIONS (100)
. "$(dirname "$0")/../common/lib.sh"
start
seed=${1:-$RANDOM}
echo "# seed $seed"
"$prog/hammer" 36000 2 > /dev/null 2>&1 &
load=$!
cases "" 4 "$top/build/test/full" "$seed" "${2:-100}"
kill $load
wait $load 2> /dev/null
finish
