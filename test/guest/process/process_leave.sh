#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the driver maps into a process goes when the session ends: while all threads work, while they
# sleep, and from what has been forked meanwhile. It stays where a thread will come back to it.
. "$(dirname "$0")/../common/lib.sh"
. "$(dirname "$0")/program.sh"
bin=$top/build/test/process
start
# Mappings with our name, and those that a child finds empty.
ours() { echo "$(grep -c kerninst "/proc/$pid/maps") $(grep -c '^VmFlags:.* wf' "/proc/$pid/smaps")"; }
# mapped WHAT METRIC POINT: after a session on a program that does nothing meanwhile
mapped() {
	ok "$1" "$ki" stat -q -m "$2" "$pid/$3" -- sh -c "grep -c kerninst /proc/$pid/maps > /tmp/while"
	ok "$1: something was mapped" test "$(cat /tmp/while)" -gt 0
}

run "$bin/churn" "$bin/libturned.so"
for i in 1 2 3; do
	echo "stand 1" >&"$to"
	ok "$i: threads run" "$ki" stat -q "$pid/churn:step" -- \
		sh -c "sleep 0.5; grep -c kerninst /proc/$pid/maps > /tmp/while"
	is "$i: nothing of ours is mapped then" "$(ours)" "0 0"
	ok "$i: there was something" test "$(cat /tmp/while)" -gt 0
	read -r -t 200 -u "$from" answer
	is "$i: the program works on" "$answer" 800000
done
mapped "all sleep" count churn:step
is "all sleep: nothing of ours is mapped then" "$(ours)" "0 0"
mapped "rows of threads" walltime churn:step
is "nor rows of threads" "$(ours)" "0 0"
ok "children" env to="$to" from="$from" "$ki" stat -q "$pid/churn:step" -- bash -c "ask twins 10"
is "nothing is left after forks" "$(ours)" "0 0"
end

# The instruction at the function's entry is interrupted in our copy, and the handler goes on there.
run "$bin/lingers"
for how in linger aside; do
	ok "$how" env to="$to" from="$from" "$ki" stat -q "$pid/lingers:load" -- bash -c "ask $how"
	is "$how: a handler was called in a patch" "$(cat /tmp/answer)" "handler 1"
	ok "$how: what it returns to is still there" test "$(grep -c kerninst "/proc/$pid/maps")" -gt 0
	ask back
	is "$how: it goes on there" "$(cat /tmp/answer)" 21
done
left=$(ours)
mapped "after it has left" count lingers:load
is "what a later session maps goes" "$(ours)" "$left"
ask load
is "the program works on" "$(cat /tmp/answer)" 21
end

# A debugger may have noted where a thread is, and put it back there.
run "$bin/lingers"
ask watch
mapped "with a debugger" count lingers:load
ok "with a debugger: it stays" test "$(grep -c kerninst "/proc/$pid/maps")" -gt 0
left=$(ours)
ask alone
mapped "without it" count lingers:load
is "without it: what a later session maps goes" "$(ours)" "$left"
end
soon "no session is left" 1 field sessions
finish
