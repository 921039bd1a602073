#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What scripts for other tracers of D rely on: options of the environment, quiet programs, one time
# in a clause, numbers' types, formats, listed probes, the end of a process of -p.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 100 "$kd" -qn "$@" 2> /tmp/kd.err; }
say() { timeout 100 "$kd" "$@" 2>&1 | sed 's/^kdtrace: //; /^timeout: .*dumped core/d; /^$/d' | tr -s ' ' | tr '\n' ';'; }

is "-x plain, and as test suites ask for it: no CPU, no number" "$(_DTRACE_TESTING=t say -n 'BEGIN { trace(5); exit(0); }') $(say -x plain -Fn 'BEGIN { trace(5); exit(0); }')" \
	"description 'BEGIN ' matched 1 probe; FUNCTION:NAME; :BEGIN 5; description 'BEGIN ' matched 1 probe;FUNCTION ; | :BEGIN 5;"
is "an error without the program's line" "$(say -x plain -n 'BEGIN { trace(x) }' | grep -c '\^') $(say -n 'BEGIN { trace(x) }' | grep -c '\^')" "0 1"
frames() { timeout 60 "$kd" -qn 'fbt::vfs_read:entry { stack(); exit(0); }' -c 'cat /etc/hostname' "$@" | grep -c '`'; }
is "options of the environment, and of the command line after them" "$(DTRACE_OPT_QUIET='' say -n 'BEGIN { printf("x"); exit(0); }') $(DTRACE_OPT_MAXFRAMES=2 frames) $(DTRACE_OPT_MAXFRAMES=2 frames -x maxframes=3)" "x; 2 3"
is "one that there is not" "$(DTRACE_OPT_NIXON=1 say -n 'BEGIN { exit(0); }' | grep -c Nixon -i)" 1
printf '#pragma D option quiet\nBEGIN { printf("x"); exit(0); }\n' > /tmp/q.d
is "-i NUMBER, and right behind it a description" "$("$kd" -li 1-2 2>&1 | sed 's/^kdtrace: //' | tail -n +2 | tr -s ' ' | tr '\n' ';')" " 1 dtrace BEGIN;failed to match :::-2: No probe matches description;"
mkdir -p /tmp/core.d
is "a core of kdtrace in the end" "$(cd /tmp/core.d || exit; echo core > /proc/sys/kernel/core_pattern; say -qxcore -n 'BEGIN { printf("x"); exit(0); }'; head -c 4 core* | tail -c 3)" "x;ELF"
is "a program that is quiet by itself has no line of what it matched" "$(say -s /tmp/q.d)" "x;"
is "destructive actions are spoken of" "$(say -wn 'BEGIN { exit(0); }' | grep -c 'allowing destructive actions') $(say -qwn 'BEGIN { exit(0); }' | grep -c allowing)" "1 0"
is "one time in a clause, also with the predicate; the next has its own" "$(d 'BEGIN { this->t = timestamp; a = timestamp; printf("%d ", a - this->t); } BEGIN /(t = timestamp) > a/ { printf("%d ", timestamp - t); exit(0); }')" "0 0 "
is "small numbers stay small, larger ones decide" "$(d 'unsigned char C; signed char c; short s; BEGIN { C = 250; c = 7; s = 300; printf("%d %d %d %d %d", C + c, C + C, c - C, s + C, C + 10); exit(0); }')" "1 244 13 550 260"
is "an unsigned number has its bits, whatever is before it" "$(d 'unsigned int u; BEGIN { u = 1; x = 4294967295ll; printf("%d %d %d %d", x == -u, x == -1u, x == ~0u, x != ~(u - 1)); exit(0); }')" "1 1 1 0"
is "a precision of 0 limits nothing" "$(d 'BEGIN { printf("%0.0s|%.2s|%*.*s", "hello", "hello", 0, 0, "hello"); exit(0); }')" "hello|he|hello"
is "printa() takes a width from the keys" "$(d 'BEGIN { @[6, 42] = count(); @[-6, 43] = count(); printa("<%*d>", @); exit(0); }' | tr -d '\n')" "<    42><43    >"
is "a number is no pointer, 0 is" "$(say -en 'BEGIN { x = curthread; x = 0; x = pid; }' | grep -c 'a number is no pointer')" 1
is "segments and the trap of uregs[]" "$(d 'BEGIN { printf("%d %d %d", uregs[R_FS] == curthread->thread.fsbase, uregs[R_DS] == curthread->thread.ds, uregs[R_TRAPNO] == curthread->thread.trap_nr); exit(0); }')" "1 1 1"
is "chip, pset and lgrp" "$(d 'BEGIN { printf("%d %d %d", chip, pset, lgrp); exit(0); }')" "0 0 0"
is "major and minor numbers are of 32 bits" "$(d 'BEGIN { printf("%x %x", getmajor(0x1000000000800003), getminor(0x1000000000800003)); exit(0); }')" "8 3"
is "probes of clocks that are listed" "$("$kd" -lP profile | awk 'NR > 1 { print $NF }' | LC_ALL=C sort | tr '\n' ' ')" "profile-199 profile-1999 profile-4001 profile-499 profile-4999 profile-97 profile-997 tick-1 tick-10 tick-100 tick-1000 tick-500 tick-5000 "
is "and any of them" "$(d 'tick-* { n++; } tick-1 /n > 100/ { printf("on"); exit(0); }')" "on"
is "where the kernel is at a tick" "$(d 'tick-10ms { printf("%d %d %a", arg0 != 0, arg1 != 0, arg0); exit(0); } BEGIN { printf("%d,", arg0); }' | sed 's/ vmlinux`.*/ in the kernel/')" "0,1 0 in the kernel"
is "the shortest period of a clock" "$(say -qn 'tick-200us { printf("x"); exit(0); }')" "x;"
is "maxframes limits stacks that say no number" "$(frames -x maxframes=2)" 2
is "setopt() that cannot be, by its clause" "$(say -n 'BEGIN { } BEGIN { setopt("nixon"); exit(0); }' | grep -oc 'error in dt_clause_1 for probe ID 1')" 1
is "copyoutstr() after speculate() is refused" "$(say -en 'BEGIN { speculate(1); copyoutstr("x", 8, 1); }' -w | grep -c 'destructive actions may not follow')" 1
is "speculate() of no speculation ends the clause" "$(d 'BEGIN { speculate(0); a = 1; } BEGIN { b = 1; speculate(7); a = 2; } BEGIN { speculate(speculation()); c = 1; } BEGIN { printf("%d%d%d", a, b, c); exit(0); }')" "011"
is "arguments that change variables, one after the other" "$(d 'BEGIN { s = (char *)alloca(8); t = (char *)alloca(8); bcopy("abcdefg", s, 8); n = 2; bcopy(s + n++, t + n++, n++); printf("%d %s", n, stringof(t + 3)); exit(0); }') $(d 'syscall::write:entry /pid == $target/ { t = (char *)alloca(16); n = 2; copyinto(arg1 + n++, n++, t + n++); printf("%d %s", n, stringof(t + 4)); exit(0); }' -c 'sh -c "echo abcdefgh"' | tail -n 1 | tr -d '\n')" "5 cdef 5 cde"
is "copyinstr() of so many bytes has a 0 among them" "$(d 'syscall::write:entry /pid == $target/ { n = 3; printf("%s %s %d", copyinstr(arg1, 5), copyinstr(arg1, n), strlen(copyinstr(arg1, 1))); exit(0); }' -c 'sh -c "echo abcdefgh"' | tail -n 1)" "abcd ab 0"
is "a record of 30 values" "$(d 'BEGIN { printf("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%s", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, pid == $pid, 8, "x"); exit(0); }')" "01234567890123456789012345618x"
many=$(for ((i = 0; i < 100; i++)); do printf '@ = llquantize(%d, 10, 0, 6, 20); ' "$i"; done)
is "100 llquantize() in a clause" "$(d "BEGIN { $many exit(0); }" | awk 'NF == 3 && $2 ~ /^\|/ { n += $3 } END { print n }')" 100
is "tracemem() of no bytes, a wide column" "$(d 'BEGIN { tracemem(&`linux_banner, 14, 0); printf("%12345d", 1); exit(0); }' | tr -d '\n' | wc -c)" 12345
is "maxframes limits depths" "$(d 'fbt::vfs_read:entry { printf("%d", stackdepth); exit(0); }' -x maxframes=2 -c 'cat /etc/hostname' | tail -n 1 | grep -o '.$') $(d 'syscall::write:entry /pid == $target/ { printf("%d", ustackdepth <= 3); exit(0); }' -x maxframes=3 -c 'sh -c "echo x"' | tail -n 1)" "2 1"
is "a string as bytes, of which those after its end are 0" "$(d 'BEGIN { s = "abc"; p = (char *)s; printf("%c%c%d %c", p[0], p[2], p[3], ((char *)strjoin(s, "xy"))[4]); exit(0); }')" "ac0 y"
asked="for i in 0 1; do taskset -c \$i $prog/calls getsid \$((i * 2 + 3)); done"
is "option aggpercpu: also of each CPU" "$(d '#pragma D option aggpercpu
	syscall::getsid:entry /progenyof($target)/ { @n = count(); @k["all"] = sum(cpu + 1); @m[cpu] = min(cpu); }' -c "sh -c '$asked'" | tr -s ' \n' ' ')" \
	" 8 [CPU 0] 3 [CPU 1] 5 all 13 [CPU 0] 3 [CPU 1] 10 0 0 [CPU 0] 0 [CPU 1] 9223372036854775807 1 1 [CPU 0] 9223372036854775807 [CPU 1] 1 "
is "a command begins behind its libraries, or with option evaltime at its execve" "$(d 'proc:::exec-success /pid == $target/ { printf("exec %s;", execname); } syscall::openat:entry /pid == $target && strstr(copyinstr(arg1), "libc.so") != NULL/ { printf("libc;"); } proc:::exit /pid == $target/ { printf("end;"); }' -c /bin/true) $(d '#pragma D option evaltime=exec
	proc:::exec-success /pid == $target/ { printf("exec %s;", execname); } syscall::openat:entry /pid == $target && strstr(copyinstr(arg1), "libc.so") != NULL/ { printf("libc;"); } proc:::exit /pid == $target/ { printf("end;"); }' -c /bin/true)" "end; exec true;libc;end;"
is "actions that ? and : choose, as options of wrappers are" "$(d 'inline int A = 1; inline int B = 0; BEGIN { A ? printf("a") : printf("b"); B ? printf("c") : 1; B ? 1 : printf("d"); !B && A ? printf("e") : 1; B ? @x = count() : 1; A ? @y[1] = sum(7) : 1; this->p = pid; this->p ? printf("f%d", this->p == $pid) : 1; this->p == 0 ? printf("g") : this->p ? printf("h") : printf("i");
	B ? printa(@x) : 1; A ? printa("%-@3d|%@-3d|%-3@d|", @y) : 1; exit(0); }' | tr -d '\n')" "adef1h7  |7  |7  |"
is "what is no file of the process has an empty row of fds[]" "$(d 'syscall::write:entry /pid == $target/ { printf("%d %d %d;", fds[1000000].fi_fs == fds[-1].fi_fs, fds[arg1].fi_name == fds[-1].fi_name, fds[arg0].fi_name == fds[-1].fi_name); exit(0); }' -c 'sh -c "echo x > /dev/null"' | tail -n 1) $(cat /tmp/kd.err)" "1 1 0; "
is "an array that is read before the program assigns to it holds numbers" "$(d 'BEGIN /!a["x"]/ { printf("%d %d ", self->z["q"], a["x"]); } END { a["x"]++; self->z["q"] = 1; } BEGIN { a["x"] += 3; printf("%d", a["x"]); exit(0); }')" "0 0 3"
is "priorities that change" "$(d 'sched:::change-pri /pid == $target/ { printf("%d %d %d", args[1]->pr_pid == pid, args[0]->pr_pri, args[2]); }' -c 'perl -e "setpriority 0, 0, 5"' | tail -n 1)" "1 120 125"
# hints DESCRIPTION: what is said of a probe of another system
hints() { say -qn "$1 { }" | grep -o 'any probes: .*' | cut -d';' -f1; }
is "what Linux has instead" "$(hints syscall::exece:return) $(hints syscall::open64_nocancel:entry) $(hints sdt:::interrupt-start) $(say -qn 'BEGIN { trace(`lbolt); }' | grep -o '.lbolt: .*' | cut -d';' -f1)" \
	"any probes: Linux's call is execve any probes: Linux's call has no _nocancel in its name any probes: Linux's is rawtp:irq::irq_handler_entry \`lbolt: \`jiffies counts ticks"
is "%k is indented by its width, stack() by option stackindent" "$(timeout 60 "$kd" -qn 'syscall::write:entry /pid == $target/ { printf("%k", stack(1)); printf("%3k", stack(1)); stack(1); exit(0); }' -c 'sh -c "echo x"' 2> /tmp/kd.err | grep '`' | sed 's/[^ ].*//' | awk '{ printf "%d ", length }')" "0 3 14 "
is "a command that there is not: nothing runs" "$(say -qn 'BEGIN { printf("never"); }' -c '/no/such/file x')" "-c: No such file or directory;"
sleep 3 &
is "-p ends with its process" "$(say -p $! -n 'tick-100ms { n++; } END { trace(n > 5); }' | grep -o ':END 1;.*')" ":END 1;"
is "and says that it has" "$(sleep 1 & say -p $! -n 'tick-100ms { }' | grep -c "pid [0-9]* has exited")" 1
soon "nothing is left" 0 field windows
finish
