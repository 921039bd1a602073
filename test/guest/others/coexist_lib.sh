# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of coexistence share. A splice lasts as long as a command runs; the command is a
# piece of shell that uses these functions too, so they are exported.
# shellcheck disable=SC2317 # functions are called by name
F=read_zero # all of whose calls are known: one for each read of prog/calls
N=300
T=/sys/kernel/tracing
# Where whose windows are: one by one, or in functions that are moved as a whole; and what the names
# of cases say of it.
how=--no-move as=
both() { # COMMAND...
	how=--no-move as=
	"$@"
	how=--move as="moved, "
	"$@"
	how=--no-move as=
}
export F N T ki prog top how

# Who was checked: the names of all results.
eval "plain_$(declare -f ok)"
ok() {
	echo "$1" >> /tmp/names
	plain_ok "$@"
}

reads() { "$prog/calls" read $N 1; }
mate() { # COMMAND: what the module says afterwards
	echo "$1" > /proc/ki_mate && cat /proc/ki_mate
}

# ---- one kprobe event, kx ----
enable() { echo "$1" > $T/events/kprobes/enable; }
arm() {
	echo "$1" > $T/kprobe_events && enable 1
}
disarm() {
	[ ! -e $T/events/kprobes/enable ] || enable 0
	probe_hits > /tmp/probe_hits
	echo > $T/kprobe_events
}
probe_hits() { awk '$1 == "kx" { print $2 }' $T/kprobe_profile; }
last_hits() { cat /tmp/probe_hits; } # when it has gone

# inside FUNCTIONS SHELL: run it while all blocks of the functions carry counters
inside() {
	# shellcheck disable=SC2086
	"$ki" stat -q --json $how -m blocks -o /tmp/inside.json $1 -- bash -c "$2"
}

# How often the function was entered, by the last `inside`.
entered() { value "${1%:block/0}:block/0" < /tmp/inside.json; }
export -f reads field until_true mate enable arm disarm probe_hits inside

# together WHO: on_WHO, off_WHO, hits_WHO in every order; both must count right.
together() {
	local on=on_${1//-/_} off=off_${1//-/_} hits=hits_${1//-/_}

	echo > $T/trace
	$on
	inside $F "reads; $off; reads"
	is "$1: ${as}before, goes first: it counts" "$($hits)" $N
	is "$1: ${as}before, goes first: we count" "$(entered $F)" $((2 * N))

	echo > $T/trace
	inside $F "reads; $on; reads; $off; reads"
	is "$1: ${as}during: it counts" "$($hits)" $N
	is "$1: ${as}during: we count" "$(entered $F)" $((3 * N))

	echo > $T/trace
	inside $F "$on; reads"
	reads
	$off
	is "$1: ${as}during, goes last: it counts" "$($hits)" $((2 * N))
	is "$1: ${as}during, goes last: we count" "$(entered $F)" $N

	echo > $T/trace
	$on
	reads
	$off
	is "$1: ${as}after: it counts" "$($hits)" $N
	echo > $T/trace
}
