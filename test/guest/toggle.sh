#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# On and off under load: 2,000 times windows that need no wait, 200 times others.
. "$(dirname "$0")/lib.sh"
start
functions="vfs_read vfs_write ksys_read do_sys_openat2 getname_flags"
"$prog/hammer" 900 2 > /dev/null 2>&1 &
load=$!
# shellcheck disable=SC2086
ok "2,000 cycles without the wait" "$top/build/test/toggle" 2000 $functions
# shellcheck disable=SC2086
ok "200 cycles with the wait" "$top/build/test/toggle" -w 200 $functions
ok "the load is alive" kill -0 $load
kill $load
wait $load 2> /dev/null
finish
