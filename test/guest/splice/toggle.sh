#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# On and off under load: 2,000 times windows that need no wait, 1,000 times filled ones, 200 times
# others.
#
# usage: test/guest/splice/toggle.sh [CYCLES [CYCLES-WITH-WAIT]]
. "$(dirname "$0")/../common/lib.sh"
fast=${1:-2000} slow=${2:-200}
start
functions="vfs_read vfs_write ksys_read do_sys_openat2 getname_flags"
"$prog/hammer" 900 2 > /dev/null 2>&1 &
load=$!
# shellcheck disable=SC2317 # called through ok
toggle() { "$top/build/test/toggle" "$@" > /tmp/toggle; }
# shellcheck disable=SC2086
ok "$fast cycles without the wait" toggle "$fast" $functions
sed "s/^/# /" /tmp/toggle
# shellcheck disable=SC2086
ok "$((fast / 2)) cycles of filled windows" toggle -f $((fast / 2)) $functions
sed "s/^/# /" /tmp/toggle
# shellcheck disable=SC2086
ok "$slow cycles with the wait" toggle -w "$slow" $functions
sed "s/^/# /" /tmp/toggle
ok "the load is alive" kill -0 $load
kill $load
wait $load 2> /dev/null
finish
