#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The D language on the live kernel: strings as values, the kernel's types, expressions.
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
calls='perl -e "getpriority 0, 0 for 1 .. 500"'

# d PROGRAM [OPTION...]: its output, quiet, without the blanks at both ends of lines
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d'; }

is "strings as values" "$(d 'syscall::openat:entry /pid == $target/ { self->p = copyinstr(arg1); }
	syscall::openat:return /pid == $target && self->p != NULL && dirname(self->p) == "/etc" && basename(self->p) == "hostname"/
	{ seen[basename(self->p)] = strjoin(execname, strjoin(":", self->p)); self->p = 0; @[basename(dirname(self->p = "/a/b"))] = count(); }
	END { printf("%s\n", seen["hostname"]); printf("%s %d\n", seen["nothing"] == NULL ? "none" : "one", seen["hostname"] > "cat" ); }' \
	-c 'cat /etc/hostname > /dev/null' | tr -s ' ' | grep -v '^$' | tail -n +1 | tr '\n' ';')" "cat:/etc/hostname;none 1;a 1;"
deep=1 chain=
for i in {1..20}; do deep="curthread->tgid + ($deep)" chain="$chain(curthread->tgid == -$i || (pid == curthread->tgid && "; done
is "what is nested deep" "$(d "BEGIN { printf(\"%d %d %d\", ($deep) == 20 * pid + 1, 7 < $deep, ${chain}1$(printf '))%.0s' {1..20})); exit(0); }")" "1 1 1"
is "what is more than its type holds" "$(d 'BEGIN { a = 0x7fffffff; printf("%d %d %x %u ", a + 1, 1 << 33, 1 << 33, (unsigned)-1 >> 1); trace(1 << 31); exit(0); }')" "-2147483648 0 0 2147483647 -2147483648"
is "characters of the kernel's" "$(d 'BEGIN { printf("%d", stringof(`linux_banner) == (string)`linux_banner); trace(substr(stringof(`linux_banner), 0, 5)); trace(*`linux_banner == 76); exit(0); }')" "1Linux1"
is "bytes of a string" "$(d 'BEGIN { s = "hello"; i = 4; printf("%c%c%d %c %d %d %c", s[0], s[i], s[5], execname[0], s[i + 300], sizeof(1L), strjoin(s, "xyz")[6]); exit(0); }')" "ho0 k 0 8 y"
is "what nothing is assigned to is 0, and empty; of self-> and arrays NULL" "$(d 'this int x; this string s; string g; self string t; string a[int]; BEGIN { printf("[%d][%s][%s]", this->x, this->s, g); } BEGIN { printf("[%s]", self->t); } BEGIN { printf("[%s]", a[1]); } BEGIN { exit(self->t != NULL); } ERROR { printf("%d", arg4); }')" "[0][][]11"
is "functions of strings" "$(d 'BEGIN { printf("%s|%s|%s|%s|%s|%d|%d|%d|%s|%s|%s|%s|%s|%d|%s\n", substr("abcdef", 2, 3), substr("abcdef", -2), strjoin("a", ""),
	strchr("abcb", 98), strrchr("abcb", 98), index("abcb", "b"), rindex("abcb", "b"), strlen("abc"), dirname("/usr/lib/x"), basename("/usr/lib/"),
	cleanpath("/a/./b//../c"), lltostr(-12), toupper("aBc"), strtoll("0x1f", 16), strstr("abcde", "cd")); exit(0); }')" \
	"cde|ef|a|bcb|b|1|3|3|/usr/lib|lib|/a/c|-12|ABC|31|cde"
is "a char * beside a string is the string there: compared, behind ?:, assigned, kept" "$(d 'string s, a[int]; struct { string m; } x; BEGIN { p = (char *)alloca(8); p[0] = 97; p[1] = 98; s = "ab"; printf("%d%d%d%d ", p == s, s != p, "b" > p, p < "aa");
	printf("%s %s ", pid ? p : "no", !pid ? "no" : p); s = p; a[1] = p; x.m = p; p[0] = 99; printf("%s %s %s %s", s, a[1], x.m, pid ? p : s); } BEGIN { printf(" %s %s", s, a[1]); exit(0); }')" "1010 ab ab ab ab ab cb ab ab"
is "and where it leads nowhere that is a fault, and NULL is none" "$(d 'BEGIN { s = "x"; p = (char *)8; s = p; printf("no"); } BEGIN { p = (char *)8; s = pid ? "y" : p; printf("%s", s); s = (char *)0; printf(" %d", s == NULL); exit(0); } ERROR { printf("%d ", arg4); }')" "1 y 1"
is "strtok" "$(d 'BEGIN { printf("%s,", strtok("a  bc;d", " ;")); printf("%s,", strtok(NULL, " ;")); printf("%s,", strtok(NULL, " ;"));
	printf("%s\n", strtok(NULL, " ;") == NULL ? "end" : "more"); exit(0); }')" "a,bc,d,end"
is "strtok: what ends a piece begins the rest" "$(d 'BEGIN { printf("%s,", strtok("ab-cd+e", "-")); printf("%s,", strtok(NULL, "+")); printf("%s\n", strtok(NULL, "")); exit(0); }')" "ab,-cd,+e"
is "NULL where a string is wanted" "$(d 'BEGIN { trace(strtok(NULL, "x")); } BEGIN { strlen(NULL); printf("no"); } BEGIN { strtok("a", NULL); printf("no"); }
	BEGIN { x = strjoin(strstr("abc", "z"), "no"); printf("no"); } BEGIN { printf("%d", strlen("")); exit(0); } ERROR { printf("E"); }')" "EEEE0"
is "addresses of IPv4 in those of IPv6" "$(d 'BEGIN { p = (in6_addr_t *)alloca(16); q = (uint8_t *)p; q[15] = 1; printf("%s ", inet_ntoa6(p)); q[12] = 127; printf("%s %s ", inet_ntoa6(p), inet_ntoa6(p, 1));
	q[10] = 255; q[11] = 255; printf("%s %s ", inet_ntoa6(p), inet_ntoa6(p, 1)); q[11] = 254; printf("%s", inet_ntoa6(p)); exit(0); }')" \
	"::1 127.0.0.1 ::127.0.0.1 127.0.0.1 ::ffff:127.0.0.1 ::fffe:7f00:1"
is "a predicate of what its body assigns to" "$(d 'tick-10ms /turns < 3/ { turns++; printf("%d", turns); } tick-200ms { exit(0); }')" "123"
is "an option whose value is computed" "$(d 'BEGIN { @a[1] = sum(1); @b[1] = sum(9); @a[2] = sum(2); @b[2] = sum(5); i = 0; printa("%d %@d %@d,", @a, @b); setopt("aggsortpos", lltostr(i + 1)); printa("%d %@d %@d,", @a, @b); exit(0); }')" "1 1 9,2 2 5,2 2 5,1 1 9,"
is "speculations that there cannot be" "$(d 'BEGIN { discard(9); } BEGIN { commit(-1); } BEGIN { commit(1); } BEGIN { printf("x"); exit(0); } ERROR { printf("E"); }' -x nspec=8)" "EEx"
is "a translated variable, by value, and casts to the type that it has" "$(d 'struct s { int a, b; }; struct t { int c; char d; }; struct s v; translator struct t < struct s i > { c = ((struct s)i).b; d = i.a; };
	BEGIN { v.a = 120; v.b = 5; trace(((struct s)v).b); x = xlate < struct t > (v).c; y = xlate < struct t * > (v)->d; v.b = 6; printf(" %d %c %d", x, y, xlate < struct t > (v).c); exit(0); }')" "5 5 x 6"
is "-L: libraries each after those that it depends on; none for a module that is not there" "$(mkdir -p /tmp/kd.lib && cd /tmp/kd.lib && printf '#pragma D depends_on library b.d\ninline int A = B + 1;\n' > a.d && printf 'inline int B = 6;\n' > b.d && printf '#pragma D depends_on module nosuchmodule\ninline int C = nothing;\n' > c.d && timeout 60 "$kd" -L /tmp/kd.lib -qn 'BEGIN { trace(A); exit(0); }' 2> /tmp/kd.err | tr -d ' \n')" "7"
is "aggsize and dynvarsize: what has no room is dropped, and said" "$(timeout 60 "$kd" -xdroptags -xstrsize=512 -xaggsize=1024 -xdynvarsize=1024 -qn 'BEGIN { @["a"] = count(); @["b"] = count(); @["c"] = count(); x["d"] = 1; x["e"] = 1; } BEGIN { printf("%d%d", x["d"], x["e"]); exit(0); }' 2>&1 | sed '/^$/d; s/^kdtrace: //' | tr -s ' ' | tr '\n' ';')" "10; a 1;[DTRACEDROP_AGGREGATION] 2 aggregation drops;[DTRACEDROP_DYNAMIC] 1 dynamic variable drop;"
is "aggsortrev: the last aggregation is printed first" "$(d 'BEGIN { @a[1] = sum(1); @b[2] = sum(2); @b[3] = sum(1); @c = sum(3); exit(0); }' -x aggsortrev | tr -s ' ' | tr '\n' ';')" "3;2 2;3 1;1 1;"
is "lquantize of 65,535 buckets, by keys and without" "$(d 'BEGIN { n = 0; } syscall::getpriority:entry /pid == $target/ { @k[n % 2, execname] = lquantize(n * 100, 0, 655330, 10); @ = lquantize(n++ * -1, -65533, 0, 1); } END { @ = lquantize(7, -65533, 0, 1); @ = lquantize(-70000, -65533, 0, 1); }' -c "$calls" |
	awk -F'|' 'NF < 2 || /distribution/ { next } { c = $2; sub(/^[ @]*/, "", c); if (c > 0) { n++; sum += c; split($1, v, " "); at += v[1] * c; if (/^ *[<>]/) ends++ } } END { print n, sum, at == 99 * 124750, ends }')" "1001 1002 1 2"
is "a string of 200 bytes" "$(d 'BEGIN { s = "0123456789"; s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); printf("%d\n", strlen(s)); exit(0); }')" 255
is "the kernel's types" "$(d 'BEGIN { ppid_of = $pid; printf("%d\n", `max_pfn > 1000 && sizeof(struct task_struct) > 1000); }
	syscall::getpriority:entry /pid == $target/ { @[curthread->comm, curthread->tgid == pid, curthread->real_parent->tgid == ppid_of, stringof(curthread->comm) == execname] = count(); }' -c "$calls" | tr -s ' ' | tr '\n' ';')" "1;perl 1 1 1 500;"
is "assignments in expressions, inlines, arrays of threads" "$(d 'inline int twice[int a] = 2 * a; BEGIN { x = y = 3; self->a[1, "k"] = twice[x] + (z = 4); printf("%d %d %d %d\n", x++ + ++y, x, self->a[1, "k"], (1, z)); exit(0); }')" "7 4 10 4"
is "min and max that are cleared" "$(d 'BEGIN { i = 0; @m = min(5); @x["a"] = max(5); @l["b"] = max(8); } tick-50ms { i++; } tick-50ms /i == 2/ { printa("%@d", @m); clear(@m); clear(@x); trunc(@l); }
	tick-50ms /i == 6/ { @m = min(9); @m = min(8); @x["a"] = max(2); exit(0); } END { printa("%@d\n", @m); }' | tr -s ' ' | tr '\n' ';')" "58;a 2;"
# ---- if, else ----

is "of 500 numbers, by what divides them" "$(d 'syscall::getpriority:entry /pid == $target/ { n++; if (n % 15 == 0) @["fizzbuzz"] = count(); else if (n % 5 == 0) @["buzz"] = count(); else if (n % 3 == 0) { @["fizz"] = count(); } else { @["number"] = count(); @s = sum(n); } }' \
	-c "$calls" | tr -s ' ' | tr '\n' ';')" "fizzbuzz 33;buzz 67;fizz 133;number 267;$(perl -e '$s += $_ % 3 && $_ % 5 ? $_ : 0 for 1 .. 500; print $s');"
is "records and changes in both branches" "$(d 'BEGIN { x = 2; printf("a"); if (x == 2) { printf("b%d", x); x = 3; this->y = "k"; printf("c%d", x); } else { printf("no"); x = 9; }
	if (x == 2) printf("no"); else { if (x == 3) { printf("d%s", this->y); a[x] = 7; } } if (!x); else printf("e%d", a[3]); printf("f"); exit(x == 3 ? 0 : 1); }')" "ab2c3dke7f"
is "one line for a firing, none if nothing is recorded" "$(timeout 60 "$kd" -n 'int x; BEGIN { trace(1); if (0) trace(2); else trace(3); trace(4); } BEGIN { if (0) trace(5); }
	BEGIN { if (1) trace(6); else { trace(7); } } BEGIN { if (0) { trace(8); trace(9); } } BEGIN { if (x) trace("no"); if (!x++) { trace("one"); if (x) trace(2); } exit(0); }' 2> /dev/null | sed 's/^  [0-9]/  0/')" \
	"CPU     ID                    FUNCTION:NAME
  0      1                           :BEGIN           1          3          4
  0      1                           :BEGIN           6
$(printf '%3u %6u %32s   %-33s %10d' 0 1 :BEGIN one 2)"
is "a condition that faults takes no branch" "$(d 'BEGIN { printf("no"); if (*(int *)0) x = 1; else x = 2; x = 3; } ERROR { printf("%d %d", arg2, x); } BEGIN { exit(0); }')" "0 0"
is "a fault in a branch ends the clause, one in the other does not" "$(d 'int x, y; BEGIN { printf("lost"); if (!x) { y = 1; z = *(int *)8; y = 2; } else w = *(int *)0; y = 3; printf("never"); } ERROR { printf("%d %d %d;", arg2, arg5, y); }
	BEGIN { printf("kept "); if (x) { y = *(int *)0; } else { y = 5; } printf("%d;", y); } ERROR { if (y == 1) printf("E%d", y); else printf("never"); printf("F;"); } BEGIN { exit(0); }')" "0 8 1;E1F;kept 5;"
is "what is speculative in a branch" "$(d 'BEGIN { i = speculation(); if (i) { speculate(i); printf("later "); if (i == 1) printf("too "); } printf("now "); } BEGIN { if (i == 1) commit(i); else discard(i); } BEGIN { exit(0); }')" "now later too"
is "a rest has the quotient's sign" "$(d 'BEGIN { x = 17; y = 4; printf("%d %d %d %d %d", x % y, x % -y, -x % y, -x % -y, -7 % -3); x %= -y; printf(" %d", x); exit(0); }')" "1 -1 -1 1 1 -1"
is "what is computed with is read before the right side changes it" "$(d 'BEGIN { i = 3; i += i++ * 2; j = 5; j -= --j; a[1] = 7; a[1] -= a[1]++ + k++; printf("%d %d %d", i, j, a[1]); exit(0); }')" "9 1 0"
is "the order of NULL and other strings" "$(d 'self string u; BEGIN { s = "b"; n = s; n = NULL; e = ""; printf("%d%d%d%d%d%d%d%d%d%d", n < e, e < n, n <= n, n < n, s > n, n >= s, n >= e, e >= n, self->u < e, NULL < s); exit(0); }')" "1010100111"
is "and of what a function does not find, and of the empty string it finds" "$(d 'BEGIN { printf("%d%d%d%d%d", strstr("ab", "x") < "", "" > strchr("ab", 99), strstr("ab", "x") >= NULL, strstr("", "") < "", strstr("", "") > NULL); s = "x"; printf("%d%d%d", strtok("", " ") < "", strstr("", "") > s, strrchr(s, 121) < s); exit(0); }')" "11101101"
frames='s/+0x.*//'
is "stacks in variables: how deep they are, and less" "$(d 'fbt::vfs_read:entry /pid == $target/ { v[1] = stack(4); self->s = v[1]; printf("%d %d %d ", v[1].depth, self->s.is_user, stack(2).depth); self->s.depth = 2;
	printf("%d%k<%k>", self->s.depth, self->s, v[1]); @[self->s] = count(); exit(0); }' -c 'cat /etc/hostname' | grep -v "^$(cat /etc/hostname)\$" | sed "$frames" | tr '\n' ' ')" \
	"4 0 2 2 vmlinux\`vfs_read vmlinux\`ksys_read < vmlinux\`vfs_read vmlinux\`ksys_read vmlinux\`do_syscall_64 vmlinux\`entry_SYSCALL_64_after_hwframe > vmlinux\`vfs_read vmlinux\`ksys_read 1 "
is "a depth that no stack has" "$(d 'BEGIN { v = stack(2); v.depth = 1000; printf("%k", v); }'; echo $?; sed 's/^kdtrace: //' /tmp/kd.err)" "0
processing aborted: Data record has incorrect size"
is "bufsize: records that have no room are left out, and said" "$(timeout 60 "$kd" -xdroptags -xstrsize=2k -xbufsize=16k -qn 'BEGIN { trace("a"); trace("b"); } BEGIN { trace("c"); trace("d"); } BEGIN { trace("e"); trace("f"); } BEGIN { trace("g"); trace("h"); } BEGIN { trace("i"); trace("j"); } BEGIN { exit(0); }
	END { trace("k"); }' 2>&1 | sed '/^$/d; s/^kdtrace: //; s/CPU [0-9]*/CPU/' | tr '\n' ';')" "abcdefk;[DTRACEDROP_PRINCIPAL] 2 drops on CPU;"
is "bufpolicy=ring: the newest of a CPU, at the end; fill: the first, and the program ends" "$(for policy in ring,40 fill,64; do timeout 60 "$kd" -x bufpolicy="${policy%,*}" -x bufsize="${policy#*,}" -x cpu=0 -qn 'int n; tick-2ms { @ = count(); }
	tick-2ms /n < 100/ { printf("%d,", n++); } tick-2ms /n == 100/ { exit(3); } END { printf("end"); printa("%@d", @); }' | sed "s/end[0-9]*/ended/; /^$/d"; echo " ${PIPESTATUS[0]}"; done 2>&1 | tr '\n' ';')" "96,97,98,99,ended; 3;0,1,2,3,4,5,6,7,ended; 0;"
is "and what a speculation commits is one of them" "$(d 'int n; BEGIN { s = speculation(); } BEGIN { speculate(s); printf("%d,", 9); } tick-2ms /n++ < 9/ { printf("%d,", n); } tick-2ms /n == 7/ { commit(s); } tick-2ms /n == 9/ { exit(0); }' -x bufpolicy=ring -x bufsize=41 -x cpu=0)" "7,9,8,9,"
# In how many gaps of more than so many milliseconds do lines come?
gaps() { perl -MTime::HiRes=time -ne '$t = time; $n++ if $last && $t - $last > '"$1"' / 1000; $last = $t; END { print $n + 0 }'; }
is "switchrate: records are read as often" "$(timeout 60 "$kd" -qn 'tick-50ms { printf("%d\n", n++); } tick-50ms /n == 60/ { exit(0); }' -x switchrate=700ms 2> /tmp/kd.err | gaps 500)" 4
is "specsize, byte by byte" "$(for size in 39 40 71 72; do timeout 60 "$kd" -xspecsize=$size -qn 'BEGIN { s = speculation(); x = 1ll; n = 0; } BEGIN { speculate(s); printf("%d%d%d,", x, x, x); n++; } BEGIN { speculate(s); printf("%d%d", x + 1, x + 1); n++; }
	BEGIN { commit(s); } BEGIN { printf("%d", n); exit(0); }' 2>&1 | sed '/^$/d; s/^kdtrace: //' | tr '\n' ';'; done)" \
	"221;1 speculative drop;111,1;1 speculative drop;111,2;1 speculative drop;111,222;"
is "speculate() alone records what a clause without a body does" "$(timeout 60 "$kd" -n 'BEGIN { s = speculation(); } BEGIN { speculate(s); } BEGIN { commit(s); } BEGIN { exit(0); }' 2> /dev/null | grep -c ':BEGIN *$')" 2
is "switchrate: read no sooner" "$(at=$EPOCHREALTIME; d 'BEGIN { exit(0); }' -x switchrate=3sec; echo $((${EPOCHREALTIME/./} - ${at/./} >= 3000000)))" 1
is "statusrate: exit() is noticed no sooner" "$(d 'BEGIN { exit(0); } BEGIN { t = timestamp; } END { printf("%d", timestamp - t > 2000000000); }' -x statusrate=3sec)" 1
is "noresolve: addresses of processes by their file alone" "$(d 'syscall::getpriority:entry /pid == $target/ { @[usym(uregs[R_PC])] = count(); }' -x noresolve -c "$calls" | sed 's/^libc.so.6:0x[0-9a-f]* */file /')" "file 500"
is "what ends a process, as its signal" "$(d 'proc:::signal-handle /pid == $target/ { printf("%d", args[0]); }' -c "perl -e 'kill USR1, \$\$; sleep 1'")" "10"
is "printsize: a string that it cuts off ends there" "$(d 'struct s { int a; char b[5]; long c; }; BEGIN { p = (struct s *)alloca(sizeof(struct s)); p->a = 1; p->b[0] = 104; p->b[1] = 105; p->b[2] = 106; p->b[3] = 107; p->c = 7; print(p); exit(0); }' -x printsize=8 | sed -n '/^\.b/,$p' | tr -d '\n')" \
	".b = (char [5]) [(char)'h',(char)'i',(char)'j',(char)'k',],...}"
is "stringof, an operator" "$(d 'struct s { char name[8]; }; struct s v; BEGIN { v.name[0] = 104; v.name[1] = 105; printf("%s %d %s", stringof v.name, stringof v.name == "hi", strjoin(stringof v.name, "!")); exit(0); }')" "hi 1 hi!"
# Forty variables of this->, all of which hold something when the second clause begins, and keys beside them.
vars=$(seq 0 39)
{
	echo "BEGIN {"
	for i in $vars; do echo "this->v$i = arg0 + $((i * i));"; done
	echo "} BEGIN { @[this->v3, execname] = sum(this->v39); printf(\"%d %d \", this->v7, this->v39); trace(0"
	for i in $vars; do echo "+ this->v$i * $((i + 1))"; done
	echo "); exit(0); }"
} > /tmp/many.d
sum=0
for i in $vars; do sum=$((sum + i * i * (i + 1))); done
is "forty variables of a clause" "$(timeout 60 "$kd" -qs /tmp/many.d 2>&1 | tr -s ' \n' ' ')" "49 1521 $sum 9 kdtrace 1521 "
soon "nothing is left" 0 field windows
finish
