#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What scripts for other tracers of D rely on: options of the environment, quiet programs, one time
# in a clause, numbers' types, formats, listed probes, the end of a process of -p.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 100 "$kd" -qn "$@" 2> /tmp/kd.err; }
say() { timeout 100 "$kd" "$@" 2>&1 | sed 's/^kdtrace: //; /^$/d' | tr -s ' ' | tr '\n' ';'; }

is "-x plain, and as test suites ask for it: no CPU, no number" "$(_DTRACE_TESTING=t say -n 'BEGIN { trace(5); exit(0); }') $(say -x plain -Fn 'BEGIN { trace(5); exit(0); }')" \
	"description 'BEGIN ' matched 1 probe; FUNCTION:NAME; :BEGIN 5; description 'BEGIN ' matched 1 probe;FUNCTION ; | :BEGIN 5;"
is "an error without the program's line" "$(say -x plain -n 'BEGIN { trace(x) }' | grep -c '\^') $(say -n 'BEGIN { trace(x) }' | grep -c '\^')" "0 1"
frames() { timeout 60 "$kd" -qn 'fbt::vfs_read:entry { stack(); exit(0); }' -c 'cat /etc/hostname' "$@" | grep -c '`'; }
is "options of the environment, and of the command line after them" "$(DTRACE_OPT_QUIET='' say -n 'BEGIN { printf("x"); exit(0); }') $(DTRACE_OPT_MAXFRAMES=2 frames) $(DTRACE_OPT_MAXFRAMES=2 frames -x maxframes=3)" "x; 2 3"
is "one that there is not" "$(DTRACE_OPT_NIXON=1 say -n 'BEGIN { exit(0); }' | grep -c Nixon -i)" 1
printf '#pragma D option quiet\nBEGIN { printf("x"); exit(0); }\n' > /tmp/q.d
is "a program that is quiet by itself has no line of what it matched" "$(say -s /tmp/q.d)" "x;"
is "destructive actions are spoken of" "$(say -wn 'BEGIN { exit(0); }' | grep -c 'allowing destructive actions') $(say -qwn 'BEGIN { exit(0); }' | grep -c allowing)" "1 0"
is "one time in a clause, also with the predicate; the next has its own" "$(d 'BEGIN { this->t = timestamp; a = timestamp; printf("%d ", a - this->t); } BEGIN /(t = timestamp) > a/ { printf("%d ", timestamp - t); exit(0); }')" "0 0 "
is "small numbers stay small, larger ones decide" "$(d 'unsigned char C; signed char c; short s; BEGIN { C = 250; c = 7; s = 300; printf("%d %d %d %d %d", C + c, C + C, c - C, s + C, C + 10); exit(0); }')" "1 244 13 550 260"
is "a precision of 0 limits nothing" "$(d 'BEGIN { printf("%0.0s|%.2s|%*.*s", "hello", "hello", 0, 0, "hello"); exit(0); }')" "hello|he|hello"
is "printa() takes a width from the keys" "$(d 'BEGIN { @[6, 42] = count(); @[-6, 43] = count(); printa("<%*d>", @); exit(0); }' | tr -d '\n')" "<    42><43    >"
is "a number is no pointer, 0 is" "$(say -en 'BEGIN { x = curthread; x = 0; x = pid; }' | grep -c 'a number is no pointer')" 1
is "segments and the trap of uregs[]" "$(d 'BEGIN { printf("%d %d %d", uregs[R_FS] == curthread->thread.fsbase, uregs[R_DS] == curthread->thread.ds, uregs[R_TRAPNO] == curthread->thread.trap_nr); exit(0); }')" "1 1 1"
is "chip, pset and lgrp" "$(d 'BEGIN { printf("%d %d %d", chip, pset, lgrp); exit(0); }')" "0 0 0"
is "major and minor numbers are of 32 bits" "$(d 'BEGIN { printf("%x %x", getmajor(0x1000000000800003), getminor(0x1000000000800003)); exit(0); }')" "8 3"
is "probes of clocks that are listed" "$("$kd" -lP profile | awk 'NR > 1 { print $NF }' | LC_ALL=C sort | tr '\n' ' ')" "profile-199 profile-1999 profile-4001 profile-499 profile-4999 profile-97 profile-997 tick-1 tick-10 tick-100 tick-1000 tick-500 tick-5000 "
is "and any of them" "$(d 'tick-* { n++; } tick-1 /n > 100/ { printf("on"); exit(0); }')" "on"
is "the shortest period of a clock" "$(say -qn 'tick-200us { printf("x"); exit(0); }')" "x;"
is "maxframes limits stacks that say no number" "$(frames -x maxframes=2)" 2
is "setopt() that cannot be, by its clause" "$(say -n 'BEGIN { } BEGIN { setopt("nixon"); exit(0); }' | grep -oc 'error in dt_clause_1 for probe ID 1')" 1
is "copyoutstr() after speculate() is refused" "$(say -en 'BEGIN { speculate(1); copyoutstr("x", 8, 1); }' -w | grep -c 'destructive actions may not follow')" 1
is "a command that there is not: nothing runs" "$(say -qn 'BEGIN { printf("never"); }' -c '/no/such/file x')" "-c: No such file or directory;"
sleep 3 &
is "-p ends with its process" "$(say -p $! -n 'tick-100ms { n++; } END { trace(n > 5); }' | grep -o ':END 1;.*')" ":END 1;"
is "and says that it has" "$(sleep 1 & say -p $! -n 'tick-100ms { }' | grep -c "pid [0-9]* has exited")" 1
soon "nothing is left" 0 field windows
finish
