#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# D at probes that are written into programs as sys/usdt.h of DTrace does (section .note.usdt).
# promise: D9: Probes of sys/usdt.h have the arguments and types that their notes say.
# promise: D9: A program that asks whether such a probe is enabled hears yes while it is.
#   [test_notes.c]
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
noted=$top/build/test/process/noted
d() { timeout 120 "$kd" -q "$@" 2> /tmp/kd.err < /tmp/line | sed 's/^ *//; s/ *$//; /^$/d' | tr -s ' '; }
sorted() { d "$@" | sort | tr '\n' ' '; }
echo > /tmp/line
first='bare$target:::plain' # nobody asks for it

is "nobody traces: it hears no" "$("$noted" < /tmp/line)" 0
is "its probes: the function is the one that the notes name" "$("$kd" -ln 'noted$target:::,bare$target:::' -c "$noted" < /tmp/line 2> /dev/null | awk 'NR > 1 { print $3, $4, $5 }' | sort | tr '\n' ' ')" \
	"noted elsewhere pair noted round_of plain noted round_of shy-one "
# The first line of what is sorted is how often the program has heard yes.
is "arguments that no note has types of" "$(sorted -n "$first"' { printf("%d %d %d %d\n", arg0, arg1, arg2, arg3); }' -c "$noted")" "0 1 -7 200 0 "
is "nor args[]" "$(sorted -n "$first"' { printf("%d %d %d\n", args[0], args[1], args[2]); }' -c "$noted")" "0 1 -7 200 "
is "it hears yes, each time, and its probe fires" "$(sorted -n 'noted$target:::pair { @ = count(); }' -c "$noted")" "100 100 "
is "what arg0 to arg9 are" "$(sorted -n 'noted$target:::pair { @[copyinstr(arg0), arg1 <= 0 && arg1 == arg2, arg3] = count(); @s = sum(arg1); }' -c "$noted")" "-4950 100 e 1 0 50 o 1 0 50 "
is "what args[] are: a text, a number, a smaller one" "$(sorted -n 'noted$target:::pair { @[stringof(args[0]), args[1] <= 0, (uint8_t)arg1 == args[2]] = count(); }' -c "$noted")" "100 e 1 1 50 o 1 1 50 "
is "their types, in a list" "$("$kd" -lvn 'noted$target:::pair' -c "$noted" < /tmp/line | grep -o 'args\[.*' | tr -d '\t' | tr '\n' ';')" "args[0]: char *;args[1]: int;args[2]: unsigned char;"
refused() { # WHAT PROGRAM
	is "$1" "$("$kd" -xerrtags -n "$2" -c "$noted" < /tmp/line 2>&1 | grep -c D_ARGS_IDX)" 1
}
refused "one more than there are" 'noted$target:::pair { trace(args[3]); }'
refused "of a probe that shows none" 'noted$target:::shy-one { trace(args[0]); }'
is "it fires all the same" "$(sorted -n 'noted$target:::shy-one { trace(arg0); }' -c "$noted")" "0 0 "
is "another probe is enabled: it hears no" "$(sorted -n 'noted$target:::shy-one { @ = count(); }' -c "$noted")" "0 1 "
is "with a uprobe, too" "$(sorted -xuprobes -n 'noted$target:::pair { @ = count(); }' -c "$noted")" "100 100 "
# ---- one that runs, and is not traced any more ----
mkfifo /tmp/to.noted
"$noted" < /tmp/to.noted > /tmp/its &
pid=$!
exec {to}> /tmp/to.noted
until_true 20 grep -q noted /proc/$pid/comm
"$kd" -q -p $pid -o /tmp/out -n 'noted$target:::pair { @ = count(); }' 2> /tmp/kd.err &
tool=$!
until_true 60 measures $tool
echo >&"$to"
until_true 60 eval '[ "$(wc -l < /tmp/its)" = 1 ]'
kill -INT $tool
wait $tool
is "a process that runs: what it has heard is what has fired" "$(tr -d ' \n' < /tmp/out) $(cat /tmp/its)" "100 100"
echo >&"$to"
exec {to}>&-
wait $pid
is "and behind that it hears no" "$(tail -n 1 /tmp/its)" 100
soon "nothing is left" 0 field windows
finish
