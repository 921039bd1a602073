#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Letting go ends in bounded time, whoever sleeps where: the owner of a patch is killed while a task
# sleeps in a fault there, and rmmod, right behind that, says so at once.
# promise: rmmod right after a kill -9 does not hang: it says that the driver is in use.
. "$(dirname "$0")/../common/lib.sh"
start
badptr=$prog/badptr cover=$top/build/test/cover

# ---- the owner killed while a task sleeps in a fault in its patch, and rmmod right behind ----
copying=(copy_user_generic_unrolled copy_user_generic_string copy_user_enhanced_fast_string
	rep_movs_alternative copy_user_generic _copy_from_user _copy_to_user raw_copy_from_user
	fault_in_readable copy_page_from_iter_atomic _copy_from_iter _copy_to_iter strncpy_from_user
	strnlen_user __get_user_1 __get_user_2 __get_user_4 __get_user_8 __put_user_1 __put_user_2)
rm -f /tmp/sleeper.* /tmp/installed
"$cover" "${copying[@]}" -- sh -c 'touch /tmp/installed; exec sleep 1000' > /dev/null 2>&1 &
owner=$!
ok "what copies is instrumented" until_true 120 test -e /tmp/installed
setsid sh -c "'$badptr' sleep /tmp/sleeper; echo \$? > /tmp/sleeper.status" > /dev/null 2>&1 &
ok "one sleeps in a fault there" until_true 120 test -e /tmp/sleeper.asleep
ok "in a patch" test "$(field windows)" -gt 0
kill -9 $owner
wait $owner 2> /dev/null
rmmod kerninst 2> /tmp/rmmod.said &
rmmod=$!
# One that hangs in the kernel cannot be killed, nor waited for: it is only looked at.
for _ in $(seq 20); do
	kill -0 $rmmod 2> /dev/null || break
	sleep 0.05
done
ok "rmmod at once says something within a second" eval "! kill -0 $rmmod 2> /dev/null"
ok "as what is in use: $(cat /tmp/rmmod.said)" grep -q 'in use' /tmp/rmmod.said
is "the windows are out" "$(field windows)" 0
ok "the patch stays: $(field heap_used) bytes" test "$(field heap_used)" -gt 0
sleep 2
# Who holds it: a thread of that process.
"$ki" info --quick > /tmp/info
ok "kerninst info says who holds it: $(grep '^held' /tmp/info | head -n 1)" \
	grep -q '^held  *a patch at .*, by badptr, task [0-9]* \[ASLEEP\]$' /tmp/info
task=$(sed -n 's/^held .*, task \([0-9]*\) .*/\1/p' /tmp/info | head -n 1)
is "which is there" "$(cat "/proc/$task/comm")" badptr
"$ki" info --quick --json > /tmp/info.json
ok "and as JSON" grep -E "\"what\": *\"patch\".*\"reason\": *\"ASLEEP\", *\"pid\": *$task, *\"task\": *\"badptr\"" /tmp/info.json
is "and the driver" "$(rmmod kerninst 2> /dev/null; echo $?)" 1
# What others have taken meanwhile is theirs alone, and comes back.
held=$(field words_used)
for _ in 1 2 3; do
	"$ki" stat -q -m calls,vtime __x64_sys_getsid -- "$prog/calls" getsid 100 > /dev/null
done
soon "what others had comes back before that patch does" "$held" field words_used
touch /tmp/sleeper.wake
ok "the task wakes" until_true 120 test -s /tmp/sleeper.status
is "and goes on well" "$(cat /tmp/sleeper.status)" 0
ok "then the driver goes" until_true 15 rmmod kerninst
ok "and comes again" insmod "$top/build/kmod/$(uname -r)/kerninst.ko"

# ---- one is killed that was installing into the whole kernel ----
"$ki" cover --all -o /tmp/all -- sleep 1000 > /dev/null 2>&1 &
owner=$!
# shellcheck disable=SC2317 # called by name
many() { [ "$(timeout 5 "$prog/field" windows)" -gt 5000 ]; }
ok "one covers the whole kernel" until_true 120 many
kill -9 $owner
then=$SECONDS
wait $owner 2> /dev/null
ok "killed while it installs, it ends within seconds: $((SECONDS - then))" test $((SECONDS - then)) -le $((10 * watched))
is "with all that was in" "$(field windows)" 0
ok "the text is back" text_is_back
pkill -x sleep # the commands outlive their tools
finish
