#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What happens elsewhere while windows of every kind come and go: CPUs go and come, modules are
# asked to go, the machine sleeps.
. "$(dirname "$0")/../common/lib.sh"
start
specs='bounce:5:2:13 host:7:5 bounce:18:1:27 jmp:35:2 trap:42:3 jmp:54:1'
race=$top/build/race/$(uname -r)/ki_race.ko
ok "the victim's module loads" insmod "$race" cpu=0
code=$(grep ^code /proc/ki_race)

# shellcheck disable=SC2086
open_board() { coproc BOARD { "$top/build/test/board" ki_race:ki_race_victim $specs 2>&1; }; }
ask() {
	reply=nothing
	echo "$1" >&"${BOARD[1]}"
	read -r -t 100 reply <&"${BOARD[0]}"
}
close_board() {
	local pid=$BOARD_PID
	eval "exec ${BOARD[1]}>&-"
	wait "$pid" 2> /dev/null
}
# shellcheck disable=SC2317 # called through is
unloads() { rmmod "$1" 2> /dev/null && echo yes || echo no; }

open_board
ask in
is "windows of every kind" "$reply" "in 0 OK"
is "the windows' module stays" "$(unloads ki_race)" no
is "the driver stays while a session is open" "$(unloads kerninst)" no
close_board
ok "the windows' module goes when they have gone" rmmod ki_race
ok "and the driver behind a session" goes kerninst
ok "and both come again" sh -c "insmod '$top/build/kmod/$(uname -r)/kerninst.ko' && insmod '$race' cpu=0"
code=$(grep ^code /proc/ki_race)

if [ "$(nproc)" -gt 1 ]; then
	open_board
	(while :; do
		echo 0 > /sys/devices/system/cpu/cpu1/online
		echo 1 > /sys/devices/system/cpu/cpu1/online
	done) 2> /dev/null &
	hotplug=$!
	wrong=
	for i in $(seq 25); do
		for command in in more less out; do
			ask $command
			[ "$reply" = "$command 0 OK" ] || wrong="$wrong $i:$reply"
		done
	done
	is "25 rounds while a CPU goes and comes" "$wrong" ""
	kill $hotplug
	wait $hotplug 2> /dev/null
	echo 1 > /sys/devices/system/cpu/cpu1/online 2> /dev/null
	is "CPU 1 is there again" "$(cat /sys/devices/system/cpu/cpu1/online)" 1
	close_board
fi

# Traps and jumps all over the code of sleeping and waking.
"$ki" stat -q --no-move -m blocks 'kernel:*suspend*' 'kernel:*resume*' 'kernel:pm_*' 'kernel:cpuhp_*' \
	'kernel:*_cpu_up' 'kernel:dpm_*' 'kernel:*processor_state*' > /tmp/sleep 2> /dev/null &
pid=$!
for _ in $(seq 100); do
	[ "$(field windows)" -gt 500 ] && break
	sleep 0.5
done
ok "windows in the code of sleeping" test "$(field windows)" -gt 500
# The machine's file system does not let it go further than to its devices, and says so.
for level in freezer devices; do
	grep -qw $level /sys/power/pm_test 2> /dev/null || { skip "sleep as far as $level" "this kernel cannot"; continue; }
	echo $level > /sys/power/pm_test
	ok "sleep as far as $level" sh -c \
		"echo mem > /sys/power/state || { [ $level = devices ] && dmesg | grep -q 'virtio-fs: suspend/resume not yet supported'; }"
done
echo none > /sys/power/pm_test 2> /dev/null
kill -INT $pid
wait $pid
ok "it has been counted" grep -qE '^ *[1-9][0-9]* .*(suspend|dpm_|cpu)' /tmp/sleep
is "the victim's code is what it was" "$(grep ^code /proc/ki_race)" "$code"
is "and the victim saw no error" "$(sed -n 's/^errors //p' /proc/ki_race)" 0
ok "the victim's module unloads" rmmod ki_race
finish
