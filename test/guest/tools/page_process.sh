#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest's half of web/test/run.sh process: kerninstd at PORT, and a program that does a round of
# its work again and again. When the browser has been there and has gone, its text must be what it was.
# shellcheck disable=SC2317 # functions are called through until_true
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/../process/program.sh"
bin=$top/build/test/process
text() { "$bin/oracle" text "$pid" | cut -d ' ' -f 1; }
changed() { [ "$(text)" != "$before" ]; }
looked_at() { ss -Htn state established "sport = :$PORT" | grep -q .; }

start
run "$bin/pie" 2 2000 || exit 1
before=$(text)
while sleep 0.2; do
	echo >&"$to"
	read -r -t 60 -u "$from" _ || break
done &
load=$!
"$top/build/release/bin/kerninstd" --listen "0.0.0.0:$PORT" --socket none > /tmp/where &
daemon=$!
until_true 60 test -s /tmp/where
echo "process $pid"
sed 's/0\.0\.0\.0/127.0.0.1/' /tmp/where
ok "a browser has come, and has put something into the program" until_true 200 changed
gone=0
while [ $gone -lt 4 ] && [ $SECONDS -lt 360 ]; do
	if looked_at; then gone=0; else gone=$((gone + 1)); fi
	sleep 1
done
soon "the program's text is as it was when it has gone" "$before" text
kill -TERM $daemon
wait $daemon
is "the daemon ends" $? 0
kill $load
wait $load 2> /dev/null
echo >&"$to"
ok "the program works on" read -r -t 60 -u "$from" _
end
finish
