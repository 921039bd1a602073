#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# D in processes, of what comes while the program runs: libraries that a process loads, other
# programs that it becomes, processes that it forks, processes that begin.
# promise: D9: Libraries that the target loads have their probes before any of their code runs.
# promise: D9: Of several sessions at one process each has its probes in a library before its code runs.
# promise: D9: Processes that begin or are forked while a D program runs have the probes that are
#   written into them.
# shellcheck disable=SC2016,SC2317 # $target is kdtrace's; functions are called by name
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
later=$top/build/test/process/later
lib=$top/build/test/process/libturned.so
d() { timeout 120 "$kd" -Zq "$@" 2> /tmp/kd.err < /dev/null | sed 's/^ *//; s/ *$//; /^$/d; /^child/d' | tr -s ' '; }
sorted() { d "$@" | sort | tr '\n' ' '; }
came() { grep -q "have come in processes: $1 times" /tmp/kd.err; } # TIMES
turns='pid$target:libturned.so:turn:entry { @ = count(); }'

# ---- libraries: each call of each, the first one too ----
is "a library that is loaded" "$(d -n "$turns" -c "$later $lib load calls")" 1000
is "nothing is said of it" "$(cat /tmp/kd.err)" ""
is "its returns, by a glob" "$(sorted -n 'pid$target:libturn*:turn:entry, pid$target:libturn*:turn:return { @[probename] = count(); }' -c "$later $lib load calls")" "entry 1000 return 1000 "
is "what it returns" "$(d -n 'pid$target:libturned:turn:return { @ = sum(arg1); }' -c "$later $lib load calls")" 1498700
is "one that comes and goes, under one number" "$(d -n 'pid$target:libturned.so:turn:entry { @[id > 0] = count(); @n[id] = count(); } END { printa("%d %@d\n", @); printa("n %@d\n", @n); trunc(@); trunc(@n); }' \
	-c "$later $lib load calls unload load calls unload load calls")" "$(printf '1 3000\nn 3000')"
is "with probes that were there" "$(sorted -n 'pid$target:a.out:step:entry, pid$target:libturned.so:turn:entry { @[probefunc] = count(); }' -c "$later $lib go load calls go unload go load calls go")" "step 400 turn 2000 "
is "variables, and the kernel's probes" "$(d -n 'pid$target:libturned.so:turn:entry { self->in = 1; n++; } syscall::exit_group:entry /self->in/ { printf("%d\n", n); }' -c "$later $lib load calls")" 1000
is "one that never comes" "$(d -n 'pid$target:no_such.so:turn:entry { @ = count(); } END { printf("none\n"); }' -c "$later $lib load calls")" none

# ---- another program in the process ----
mkfifo /tmp/to
# begin ARGUMENT...: later in the background, $pid; its input is $to, what it says is in /tmp/its
begin() {
	"$later" "$lib" "$@" < /tmp/to > /tmp/its &
	pid=$!
	exec {to}> /tmp/to
}
order() { # WHAT
	local before
	before=$(grep -c "^did $1$" /tmp/its)
	echo "$1" >&"$to"
	until_true 60 eval '[ "$(grep -c "^did '"$1"'$" /tmp/its)" -gt '"$before"' ]'
}
# trace DESCRIPTION...: kdtrace in the background, $tool; it has begun. What it says is in $out, $err.
out=/tmp/out err=/tmp/kd.err
trace() {
	"$kd" -Zv -qn 'BEGIN { printf("begun\n"); }' "$@" > "$out" 2> "$err" &
	tool=$!
	until_true 60 grep -qx begun "$out" # -v has the text, too
}
stop() { kill -INT "$tool" && wait "$tool"; }
counted() { sed 's/^ *//; s/ *$//' "$out" | tr -s ' ' | grep -E '^[a-z]+ [0-9]+$' | sort | tr '\n' ' '; }
begin read
trace -n 'pid$target:later:step:entry, pid$target:libturned.so:turn:entry { @[probefunc] = count(); }' -p $pid
order go
echo become >&"$to"
ok "what it has become has them" until_true 60 came 1
order go
order load
order calls
stop
is "each call, but of the moment when it began" "$(counted)" "step 200 turn 1000 "
exec {to}>&-
wait $pid

# ---- several at one process: it waits for each of them ----
turn='pid$target:libturned.so:turn:entry { @["turn"] = count(); }'
loads() { echo load >&"$to" && order calls; } # without a moment between the two
begin read
trace -n "$turn" -p $pid
first=$tool
out=/tmp/second err=/tmp/second.err trace -n "$turn" -p $pid
loads
stop
is "the second one has each call" "$(out=/tmp/second counted)" "turn 1000 "
tool=$first stop
is "and the first one" "$(counted)" "turn 1000 "
is "neither is late" "$(grep -h 'not waited' /tmp/kd.err /tmp/second.err)" ""
exec {to}>&-
wait $pid
begin read
trace -n "$turn" -p $pid
first=$tool
out=/tmp/second err=/tmp/second.err trace -n "$turn" -p $pid
kill -STOP $first
loads
stop
is "one that does not answer holds no other up" "$(out=/tmp/second counted)" "turn 1000 "
order calls
kill -CONT $first
ok "it is told that it was late" until_true 60 grep -q "process $pid has not waited any longer" /tmp/kd.err
order calls
tool=$first stop
ok "and has what came afterwards" test "$(counted | tr -dc 0-9)" -ge 1000
exec {to}>&-
wait $pid
begin read
trace -n "$turn" -p $pid
first=$tool
out=/tmp/second err=/tmp/second.err trace -n "$turn" -p $pid
kill -KILL $first
wait $first 2> /dev/null
loads
stop
is "one that has been killed holds nobody up" "$(out=/tmp/second counted)" "turn 1000 "
exec {to}>&-
wait $pid

# ---- processes that begin, and that are forked ----
go='later*:::go { @[probefunc] = count(); @p[strjoin("as", probeprov == strjoin("later", lltostr(pid)) ? "own" : "other")] = count(); @s[probename] = sum(arg0); }'
trace -n "$go"
begin read
ok "a process that begins" until_true 60 came 1
order go
exec {to}>&-
wait $pid
begin read
ok "another one" until_true 60 came 2
order go
echo fork >&"$to"
ok "what it forks" until_true 60 came 3
order go
order end
order go
exec {to}>&-
wait $pid
stop
is "each has come by each probe, and its number is in the provider's name" "$(counted)" "asown 400 go 19800 go 400 "
begin read
trace -n "$go"
order go
stop
is "one that was there" "$(counted)" "asown 100 go 100 go 4950 "
exec {to}>&-
wait $pid
is "of the command, and of no other" "$(d -n 'later$target:::go { @ = count(); }' -c "$later $lib go fork go")" 200
rm /tmp/to
soon "nothing is left" 0 field windows
finish
