#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The D language on the live kernel: addresses that lead nowhere, division by zero, ERROR; scratch
# memory; speculations.
# promise: D2, D5: A fault ends its D clause without a trace of it, and ERROR says what and
#   where. [test_dlang.c, test_snippet_exec.c]
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
calls='perl -e "getpriority 0, 0 for 1 .. 500"'

# d PROGRAM [OPTION...]: its output, quiet, without the blanks at both ends of lines
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d'; }

# ---- faults ----

is "a fault ends its clause, ERROR fires, the next clause runs" "$(d 'BEGIN { printf("begin "); }
	BEGIN { x = 3; printf("lost %d", x); x = *(int *)0x10; printf("never"); x = 4; }
	BEGIN { printf("x=%d after ", x); exit(0); }
	ERROR { printf("error %d %d %d %x ", arg1, arg2, arg4, arg5); }')" "begin error 1 1 1 10 x=3 after"
is "its message" "$(grep -c 'error in dt_clause_1 for probe ID 1 (dtrace:::BEGIN): invalid address (0x10) at BPF pc 4$' /tmp/kd.err)" 1
is "a record with a value that cannot be had is none" "$(d 'BEGIN { printf("%d %s", 1, stringof((char *)8)); } BEGIN { trace("on"); exit(0); }')" "on"
is "division and modulo by zero" "$(d 'int zero; BEGIN { x = 1; me = id; x = 7 / zero; x = 2; exit(1); }
	ERROR { printf("%d %d %d %d %d\n", arg1 == me, arg2, arg4 == DTRACEFLT_DIVZERO, arg5, x); }
	BEGIN { y = 9; y %= zero; y = 10; } BEGIN { printf("%d\n", y); exit(0); }' | tr '\n' ';')" "1 0 1 0 1;1 2 1 0 1;9;"
is "a predicate that faults is false" "$(d 'BEGIN /(*(int *)0) == 0/ { trace("never"); } ERROR { printf("%d %d\n", arg2, arg4); } BEGIN /!*(int *)8 || 1/ { trace("never"); }
	BEGIN { exit(0); }' | tr '\n' ';')" "0 1;2 1;"
is "keys, values, elements of arrays and aggregations" "$(d 'BEGIN { a[1] = 5; @s[1] = sum(7); }
	BEGIN { a[*(int *)0] = 6; } BEGIN { a[1] = *(int *)0; } BEGIN { a[1] += *(int *)0; } BEGIN { @s[*(int *)0] = sum(1); } BEGIN { @s[1] = sum(*(long *)8); }
	BEGIN { self->x = *(int *)0; } BEGIN { printf("%d %d\n", a[1], self->x); exit(0); } ERROR { n++; } END { printf("%d\n", n); printa("%d %@d\n", @s); }' | tr '\n' ';')" "5 0;6;1 7;"
is "a member of what NULL leads to, and of what another address does" "$(d 'BEGIN { trace(((struct task_struct *)NULL)->real_parent->tgid); } BEGIN { trace(((struct task_struct *)64)->real_parent); } BEGIN { trace(((struct task_struct *)NULL)->se.vruntime); } BEGIN { trace(((int *)NULL)[2]); } BEGIN { exit(0); }
	ERROR { printf("%d %d %d;", arg2, arg4, arg5 == 64 + offsetof(struct task_struct, real_parent) ? -1 : arg5); }')" "0 1 0;1 1 -1;2 1 0;3 1 8;"
is "where: further on in the clause is a larger offset" "$(d 'BEGIN { zero = 0; } BEGIN { x = 1 / zero; } BEGIN { x = id ? 1 / id : 0; y = 1 / zero; } BEGIN { exit(0); } ERROR { at[arg2] = arg3; } END { printf("%d", 0 < at[1] && at[1] < at[2]); }')" 1
is "a clause with two descriptions of one probe fires twice" "$(d 'BEGIN { zero = 0; } BEGIN, dtrace:::BEGIN { n++; x = 1 / zero; } BEGIN { exit(0); } ERROR { printf("%d;", arg2); } END { printf("n=%d", n); }')" "1;2;n=2"
is "memory that can be read and is 0" "$(d 'BEGIN { this->t = curthread; printf("%d %d\n", this->t->exit_state, this->t->exit_code); exit(0); }')" "0 0"
is "in the kernel, at each hit" "$(d 'syscall::getpriority:entry /pid == $target/ { self->n = *(int *)(arg0 + 16); } ERROR /pid == $target/ { @[arg4, execname] = count(); }
	syscall::getpriority:return /pid == $target/ { @r = count(); }' -c "$calls" | tr -s ' ' | tr '\n' ';')" "1 perl 500;500;"
timeout 60 "$kd" -qn 'tick-10ms { x = *(int *)0; } ERROR { exit(7); }' 2> /dev/null
is "ERROR ends the program" $? 7
is "a fault in ERROR's own clause" "$(d 'BEGIN { x = *(int *)0; } ERROR { trace("one "); } ERROR { x = 1 / x; trace("no"); } ERROR { trace("two"); exit(0); }')" "one two"

# ---- strings that are NULL ----

is "a character, a function, a record of what is NULL, in each kind of variable" "$(d 'string g; BEGIN { g = NULL; self->s = "a"; a[1] = "b"; this->l = "c"; }
	BEGIN { trace(g[1]); } BEGIN { self->s = NULL; trace(strlen(self->s)); } BEGIN { a[1] = NULL; trace(a[1][0]); } BEGIN { this->l = NULL; trace(strjoin("x", this->l)); } BEGIN { trace(self->s); } BEGIN { printf("%s", a[7]); }
	BEGIN { exit(0); } ERROR { printf("%d:%d:%d ", arg2, arg4, arg5); }')" "1:1:0 2:1:0 3:1:0 4:1:0 5:1:0 6:1:0"
is "what is empty is not NULL" "$(d 'string g, h; BEGIN { g = ""; self->s = ""; a[1] = ""; this->l = ""; h = strchr("abc", 122); } BEGIN { printf("%d%d%d%d%d|", strlen(g), strlen(self->s), strlen(a[1]), strlen(this->l), g[0]); printf("%s|%s|%s|%s|%d", g, self->s, a[1], strjoin(this->l, "x"), h == NULL); exit(0); }')" "00000||||x|1"
is "NULL is equal to NULL alone, in each kind of variable" "$(d 'string g, h; self string u, s; this string l; this string m; BEGIN { g = NULL; h = ""; self->s = NULL; a[1] = ""; this->l = NULL; this->m = "";
	printf("%d%d%d%d%d%d ", g == "", h == "", self->s == "", a[1] == "", this->l == "", this->m == ""); printf("%d%d%d%d%d%d%d ", g == NULL, h == NULL, self->s == NULL, a[1] == NULL, self->u == NULL, self->u == "", strchr("a", 98) == "");
	printf("%d%d%d %d%d", g == self->s, g != h, a[1] == h, probefunc == NULL, probefunc == ""); exit(0); }')" "010101 1010100 111 01"
is "and no key" "$(d 'string g; self string s; int b[string, int]; BEGIN { g = NULL; } BEGIN { @[g] = count(); } BEGIN { a[self->s] = 1; } BEGIN { trace(b[strchr("a", 98), 1]); } BEGIN { @[""] = count(); a[""] = 2; exit(0); } ERROR { printf("%d:%d:%d ", arg2, arg4, arg5); } END { printf("%d", a[""]); printa("%@d", @); }')" "1:1:0 2:1:0 3:1:0 21"
is "the rest of a string" "$(d 'BEGIN { s = "abcdef"; self->t = "xyz"; i = 2; printf("%s %s [%s] %d", s + i, 1 + self->t, s + 9, strlen(s + 1)); } BEGIN { s = NULL; trace(s + 1); } BEGIN { exit(0); } ERROR { printf(" %d", arg4); }')" "cdef yz [] 5 1"
is "from one variable to another" "$(d 'BEGIN { g = strstr("abc", "q"); self->a = g; b[1] = self->a; this->c = b[1]; h = 1 ? this->c : "x"; printf("%d%d%d%d%d ", g == NULL, self->a == NULL, b[1] == NULL, this->c == NULL, h == NULL); }
	BEGIN { trace(strlen(h)); } BEGIN { self->a = "ab"; b[1] = self->a; h = b[1]; trace(strlen(h)); self->a = ""; h = self->a; b[2] = h; trace(strlen(b[2])); @[h] = count(); @[self->a] = count(); printa("%@d", @); exit(0); } ERROR { printf("E%d ", arg4); }')" "11111 E1 202"

# ---- memory ----

is "alloca, stores and loads" "$(d 'BEGIN { p = (char *)alloca(8); *p = 97; p[1] = 98; p[2] = p[0] + 2; p[2]++; p[3] = 0; q = (int *)(p + 4); *q = 0x1234; *q += 1; printf("%s %x %d %d", stringof(p), *q, p[4], p[7]); exit(0); }')" "abd 1235 53 0"
a8='BEGIN { p = (char *)alloca(8);'
is "outside of what was taken" "$(d "$a8 p[8] = 1; } $a8 p[-1] = 1; } $a8 trace(p[8]); } $a8 trace(p[-1]); } $a8 q = (long *)(p + 4); *q = 1; }
	$a8 bcopy(p, p + 4, 5); } $a8 bcopy(p, (void *)curthread, 4); } BEGIN { n = 5000; p = (char *)alloca(n); } $a8 bcopy((void *)8, p, 4); } BEGIN { exit(0); }
	ERROR { printf(\"%d:%d \", arg2, arg4); }")" "0:1 1:1 2:1 3:1 4:1 5:1 6:1 7:5 8:1"
is "pieces are one after the other, and whole words" "$(d 'BEGIN { b = (char *)alloca(0); x = (char *)alloca(1); y = (char *)alloca(10); z = (char *)alloca(1); printf("%d %d %d", x - b, y - x, z - y); x[7] = 1; y[-1] = 3; printf(" %d", x[7]); exit(0); }')" "0 8 16 3"
is "what another clause has taken is not there; the next one begins where it did" "$(d 'BEGIN { s = (char *)alloca(1); *s = 97; } BEGIN { trace(*s); } BEGIN { t = (char *)alloca(1); printf("%d %d", s == t, *t); exit(0); } ERROR { printf("%d:%d ", arg2, arg4); }')" "1:1 1 0"
is "the whole is not more than scratchsize" "$(d 'BEGIN { p = alloca(8); p = alloca(5); } BEGIN { p = alloca(16); p = alloca(1); } BEGIN { n = 17; p = alloca(n); } BEGIN { exit(0); } ERROR { printf("%d:%d ", arg2, arg4); }' -x scratchsize=16)" "1:5 2:5"
is "sizes that nothing has" "$(d 'BEGIN { p = (char *)alloca(8); n = -1; bcopy(p, p, n); } BEGIN { p = (char *)alloca(8); bcopy(p, p, 5000); } BEGIN { exit(0); } ERROR { printf("%d:%d:%d ", arg2, arg4, arg5); }')" "0:10:-1 1:10:5000"
is "rooms are given back: more firings than there are" "$(d 'syscall::getpriority:entry /pid == $target/ { this->p = (int *)alloca(4000); *this->p = 5; @ = sum(*this->p); } ERROR { @e = count(); }' -c "$calls" | tr -s ' ')" "2500"
is "a string through a pointer" "$(d 'BEGIN { p = (string *)alloca(sizeof(string)); *p = "abc"; printf("%s%d", *p, strlen(*p)); q = (string *)alloca(4); } BEGIN { *q = "a"; } BEGIN { trace(*(string *)8); } BEGIN { exit(0); } ERROR { printf(" %d:%d", arg2, arg4); }')" "abc3 1:1 2:1"
is "alloca(0) is one address, which has no bytes" "$(d 'BEGIN { p = (char *)alloca(0); printf("%d", p == (char *)alloca(0)); trace(*p); } BEGIN { exit(0); } ERROR { printf(" %d", arg4); }')" "1"
is "bcopy, copyin, copyinto" "$(d 'syscall::write:entry /pid == $target && arg2 == 6/ { this->p = (char *)copyin(arg1, 6); this->q = (char *)alloca(8); bcopy(this->p, this->q + 1, 3); this->q[0] = 45;
	copyinto(arg1 + 3, 2, this->q + 4); printf("%c%c %s %s %s", this->p[0], *(this->p + 5), stringof(this->q), copyinstr(arg1, 4), (string)copyin(arg1 + 2, 3)); }' -c 'perl -e "syswrite STDOUT, q(abcdef)" > /dev/null')" "af -abcde abc cde"
is "a string of the process where a pointer to one is wanted" "$(d 'syscall::write:entry /pid == $target && arg2 == 6/ { printf("%s %s %d;", strjoin((char *)arg1, "-"), strtok((void *)arg1, "d"), strlen((char *)arg1)); trace((string)(char *)arg1); }' -c 'perl -e "syswrite STDOUT, q(abcdef)" > /dev/null')" "abcdef- abc 6;abcdef"
is "copies that cannot be had" "$(d 'BEGIN { n = 0; } syscall::getpriority:entry /pid == $target && n < 1/ { n = 1; this->p = copyin(8, 4); } ERROR /n == 1/ { printf("%d %d;", arg4, arg5); n++; }
	syscall::getpriority:entry /pid == $target && n == 2/ { trace(copyinstr(16)); } ERROR /n == 2 && arg5 == 16/ { printf("%d %d", arg4, arg5); n++; }' -c "$calls")" "1 8;1 16"
is "tracemem" "$(timeout 60 "$kd" -qn 'BEGIN { p = (char *)alloca(40); p[0] = 65; p[17] = 126; p[18] = 127; p[39] = 255; tracemem(p, 40); tracemem(p, 40, 2); exit(0); }' 2>&1)" "
             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 41 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  A...............
        10: 00 7e 7f 00 00 00 00 00 00 00 00 00 00 00 00 00  .~..............
        20: 00 00 00 00 00 00 00 ff                          ........

             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef
         0: 41 00                                            A."
is "tracemem of the kernel, in more than one piece" "$(d 'BEGIN { tracemem(curthread->comm, 16); tracemem(&`linux_banner, 300); exit(0); }' | grep -c '^[0-9a-f]*: ')" 20

is "memory that cannot be read is not shown" "$(d 'BEGIN { tracemem((void *)8, 300); } BEGIN { tracemem(&`linux_banner, 4); tracemem((void *)-4096, 8); } ERROR { printf("%d %x;", arg4, arg5); } BEGIN { exit(0); }')" "1 8;1 fffffffffffff000;"

# ---- speculations ----

is "what is committed, and what is discarded" "$(d 'BEGIN { self->a = speculation(); printf("%d", self->a); }
	BEGIN { speculate(self->a); printf(" kept %d", x++); } BEGIN { printf(" first"); } BEGIN { speculate(self->a); printf(" too"); }
	BEGIN { commit(self->a); } BEGIN { self->a = speculation(); } BEGIN { speculate(self->a); printf(" gone"); } BEGIN { discard(self->a); }
	BEGIN { commit(self->a); } BEGIN { printf(" %d", speculation()); exit(0); }')" "1 first kept 0 too 1"
is "as many as nspec says" "$(d '#pragma D option nspec=3
BEGIN { printf("%d %d %d %d\n", speculation(), speculation(), speculation(), speculation()); exit(0); }')" "1 2 3 0"
is "the rest is reported" "$(grep -c '1 failed speculation (no speculative buffer available)' /tmp/kd.err)" 1
is "a number that is none" "$(d 'BEGIN { speculate(0); trace("no"); } BEGIN { speculate(7); trace("no"); } BEGIN { commit(7); } BEGIN { commit(0); } BEGIN { trace("on"); exit(0); }')" "on"
is "no more than specsize" "$(d 'BEGIN { i = speculation(); } tick-10ms { speculate(i); n++; printf("%d ", n); } tick-500ms { commit(i); } tick-600ms { exit(0); }' -x specsize=64 | wc -w)" "2"
is "the rest is counted" "$(grep -c 'speculative drops' /tmp/kd.err)" 1
is "a string takes all that it may have" "$(d 'BEGIN { i = speculation(); speculate(i); trace("ab"); } BEGIN { commit(i); } BEGIN { exit(0); }' -x specsize=64 -x strsize=100 -x droptags) $(grep -c '\[DTRACEDROP_SPEC\] 1 speculative drop$' /tmp/kd.err)" " 1"
is "faults of ERROR are counted, with their tag" "$(d 'int x; BEGIN { trace(1 / x); } BEGIN { trace(*(int *)8); } ERROR /arg4 == DTRACEFLT_DIVZERO/ { y = 2 % x; } ERROR { printf("%d ", arg4); } BEGIN { exit(0); }' -x droptags) $(grep -c '\[DTRACEDROP_DBLERROR\] 1 error in ERROR probe enabling$' /tmp/kd.err)" "4 1 1"
is "of the kernel: failed calls only" "$(d 'syscall::openat:entry /pid == $target/ { self->s = speculation(); speculate(self->s); printf("%s ", basename(copyinstr(arg1))); }
	syscall::openat:return /self->s && errno == ENOENT/ { commit(self->s); self->s = 0; } syscall::openat:return /self->s/ { discard(self->s); self->s = 0; }' -x nspec=4 \
	-c 'cat /etc/hostname /nowhere1 /etc/passwd /nowhere2 2> /dev/null > /dev/null' | grep -ow 'nowhere.\|hostname\|passwd' | tr '\n' ' ')" "nowhere1 nowhere2 "
soon "nothing is left" 0 field windows
finish
