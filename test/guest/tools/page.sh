#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of web/test/run.sh live: kerninstd at PORT, and a load that is there for 4 seconds
# of 9, with getsid called a hundred times at once, again and again. When the browser has been there
# and has gone, the kernel must be what it was.
# shellcheck disable=SC2317 # functions are called through until_true
. "$(dirname "$0")/../common/lib.sh"
work() {
	while :; do
		timeout 4 sh -c 'while :; do ls -lR /usr/share/doc; cat /etc/*; done' > /dev/null 2>&1 &
		while kill -0 $! 2> /dev/null; do
			"$prog/calls" getsid 100 > /dev/null
			sleep 0.1
		done
		sleep 5
	done
}
measured() { [ "$(cat /sys/module/ki_metrics/refcnt)" != 0 ]; }
looked_at() { ss -Htn state established "sport = :$PORT" | grep -q .; }

start
work &
load=$!
"$top/build/release/bin/kerninstd" --listen "0.0.0.0:$PORT" --socket none > /tmp/where &
daemon=$!
until_true 60 test -s /tmp/where
sed 's/0\.0\.0\.0/127.0.0.1/' /tmp/where
ok "a browser has come, and has put something in" until_true 120 installed
insmod "$top/build/metrics/$(uname -r)/ki_metrics.ko"
ok "also in a module that has come later" until_true 120 measured
ok "which stays as long as that" eval '! rmmod ki_metrics'
gone=0
while [ $gone -lt 4 ] && [ $SECONDS -lt 360 ]; do
	rmmod ki_metrics 2> /dev/null
	if looked_at; then gone=0; else gone=$((gone + 1)); fi
	sleep 1
done
soon "nothing is in the kernel when it has gone" 0 field windows
kill -TERM $daemon
wait $daemon
is "the daemon ends" $? 0
is "the module has gone" "$(ls -d /sys/module/ki_metrics 2> /dev/null)" ""
kill $load
wait $load 2> /dev/null
finish
