#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hosts: windows in whose tails others bounce. Two sessions share one, kprobes stand in the way of
# their removal, in each order; chains of hosts are refused. All on a function that is being called
# all the time, whose caller notices everything (test/guest/race).
. "$(dirname "$0")/../common/lib.sh"
start
victim=ki_race:ki_race_victim
short=bounce:5:2:13 # [+5, +7), bounces in
host=host:7:5       # [+7, +18), whose tail begins at +12
insmod "$top/build/race/$(uname -r)/ki_race.ko" cpu=0
code=$(grep ^code /proc/ki_race)
state() { sed -n "s/^$1 //p" /proc/ki_race; }

# ---- sessions, by name ----
open_board() { # NAME SPEC...
	local name=$1
	shift
	rm -f "/tmp/$name.in" "/tmp/$name.out"
	mkfifo "/tmp/$name.in" "/tmp/$name.out"
	"$top/build/test/board" $victim "$@" < "/tmp/$name.in" > "/tmp/$name.out" 2>&1 &
	eval "pid_$name=\$!; exec {in_$name}> /tmp/$name.in {out_$name}< /tmp/$name.out"
}
ask() { # NAME COMMAND: what it answers
	local in=in_$1 out=out_$1 reply=nothing
	echo "$2" >&"${!in}"
	read -r -t 100 reply <&"${!out}"
	echo "$reply"
}
close_board() { # NAME: a word that is no command ends it
	local in=in_$1 pid=pid_$1
	echo end >&"${!in}"
	wait "${!pid}" 2> /dev/null
	eval "exec {in_$1}>&- {out_$1}<&-"
}

# ---- one kprobe ----
probe() { printf 'probe %x\n' $((0x$(state start) + $1)) > /proc/ki_race; } # OFFSET
unprobe() { echo unprobe > /proc/ki_race; }
said_so() { # NAME TIMES: the driver's warning, which is expected
	is "$1: the driver has said so" "$(dmesg | grep -c 'another tool has written')" "$2"
}
# It runs, and nobody has seen an error.
runs() {
	local before
	before=$(state iterations)
	sleep 1
	ok "$1: the victim runs" test "$(state iterations)" -gt "$before"
	is "$1: and sees no error" "$(state errors)" 0
}
clean() {
	is "$1: no window is left" "$(field windows)" 0
	is "$1: the code is what it was" "$(grep ^code /proc/ki_race)" "$code"
}

# ---- two sessions in one host ----
open_board a $short $host
open_board b jmp:7:5
is "a host comes with the window that needs it" "$(ask a in)" "in 0 OK"
is "its window is another's too" "$(ask b in)" "in 0 OK"
is "two windows" "$(field windows)" 2
close_board b
is "which goes: it stays a host" "$(field windows)" 2
runs "shared"
open_board b jmp:7:5
is "and again" "$(ask b in)" "in 0 OK"
close_board a
is "the one who bounces goes: the other stays" "$(field windows)" 1
sleep 0.2
ok "and counts" test "$(ask b count | cut -d' ' -f2)" -gt 0
close_board b
clean "shared"

# ---- kprobes ----
open_board a $short $host
is "who installs is ready" "$(ask a info | cut -d' ' -f1)" info
probe 7
is "a kprobe on a host, first: refused" "$(ask a in)" "in 16 FOREIGN_BREAKPOINT"
unprobe
is "when it has gone: accepted" "$(ask a in)" "in 0 OK"
for at in 9 13 15; do
	ok "a kprobe in a host's tail, at $at: refused" eval "! probe $at 2> /dev/null"
done
probe 7
runs "a kprobe on a host"
close_board a
is "a kprobe on a host: who bounces there goes, the host stays" "$(field windows)" 1
is "a kprobe on a host: the driver stays" "$(rmmod kerninst 2> /dev/null; echo $?)" 1
runs "a kprobe on a host that is left over"
"$ki" info --quick > /tmp/info
ok "kerninst info says so" grep "^held  *1 windows, the first at ki_race:ki_race_victim+0x7, by a kprobe that calls ki_race:.* \[FOREIGN_BREAKPOINT\]" /tmp/info
said_so "a kprobe on a host" 1
open_board b $short $host
is "a host that is left over, and pinned, serves another" "$(ask b in)" "in 0 OK"
runs "a host that serves another"
close_board b
is "which goes; it stays" "$(field windows)" 1
unprobe
ok "the kprobe was hit" test "$(state probed)" -gt 0
clean "a kprobe on a host"

open_board a $short $host
is "in" "$(ask a in)" "in 0 OK"
probe 5
runs "a kprobe on who bounces"
close_board a
is "a kprobe on who bounces: both stay" "$(field windows)" 2
said_so "a kprobe on who bounces" 2
runs "a kprobe on who bounces, left over"
unprobe
clean "a kprobe on who bounces"

# ---- chains ----
far=host:49:4 # [+49, +61), whose tail begins at +54
is_refused() { # NAME ANSWER SPEC...
	local name=$1 want=$2
	shift 2
	open_board a "$@"
	is "$name" "$(ask a in)" "$want"
	close_board a
	clean "$name"
}
is_refused "a host that bounces itself" "in 16 BOUNCE_LIVE" $short bounce:7:5:54 $far
is_refused "a host in a group, of which another bounces" "in 22 BAD_BOARD" \
	$short host:7:5:0:1 bounce:18:1:54:1 $far
open_board b host:7:5:0:1 bounce:18:1:54:1 $far
is "without who needs it: accepted" "$(ask b in)" "in 0 OK"
open_board a $short host:7:5:0:1 bounce:18:1:54:1
is "who needs it comes later: refused" "$(ask a in)" "in 22 BAD_BOARD"
close_board a
runs "a group that bounces"
close_board b
clean "a group that bounces"

is "the victim saw no error" "$(state errors)" 0
ok "the victim's module unloads" rmmod ki_race
finish
