#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A counter at the entry of every function that can carry one, some 10,000 at a time, installed
# and taken out under load: whatever our own breakpoint path or the kernel's patching runs would
# show itself here by hanging.
# promise: N12 (in part): A breakpoint at every other function works under load, on each stock
#   kernel, from one source tree. [basic.sh]
# not shown: N12: Suites on kernel 7.2 but for those that end in -7.2.
. "$(dirname "$0")/../common/lib.sh"
start
"$prog/hammer" 900 2 > /dev/null 2>&1 &
load=$!
total=0
for part in '[a-d]*' '[e-i]*' '[j-n]*' '[o-r]*' '[s-t]*' '[A-Zu-z_0-9]*'; do
	"$ki" stat --json -q -m calls -o /tmp/wide "kernel:$part" -- sleep 1 2> /tmp/words
	status=$?
	counted=$(grep -c '"value"' /tmp/wide)
	executed=$(grep '"value"' /tmp/wide | grep -vc '"value":0[,}]')
	ok "$part: $counted functions counted, $executed of them executed" test $status = 0 -a "$executed" -gt 20
	[ $status = 0 ] || sed 's/^/# /' /tmp/words
	total=$((total + counted))
done
ok "$total functions in all" test $total -gt 35000
ok "the load is alive" kill -0 $load
kill $load
wait $load 2> /dev/null
finish
