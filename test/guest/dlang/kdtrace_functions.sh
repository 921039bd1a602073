#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions and actions of D, each against what is known otherwise: /proc/kallsyms, perl, the shell.
# promise: D2, D4: D names addresses, shows structures, and reaches the process by raise() and
#   stop() only with -w. [errors.sh, accepts.sh]
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace

# d PROGRAM [OPTION...]: its output, quiet, without the blanks at both ends of lines
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d'; }
repeat() { for ((i = 0; i < $1; i++)); do printf '%s' "$2"; done; }
calls='perl -e "getpriority 0, 0 for 1 .. 50"'

# ---- addresses by name ----

is "sym(), func(), mod() in columns" "$(timeout 60 "$kd" -qn 'BEGIN { sym((uintptr_t)&`vfs_read); func((uintptr_t)&`vfs_read + 3); mod((uintptr_t)&`vfs_read); sym(0); mod(7); exit(0); }' 2> /tmp/kd.err)" \
	"$(printf '  %-50s  %-50s  %-50s  %-50s  %-50s' 'vmlinux`vfs_read' 'vmlinux`vfs_read' vmlinux 0x0 0x7)"
is "as conversions" "$(d 'BEGIN { printf("%a|%a|%24a|%-24a|%a", &`vfs_read, (uintptr_t)&`vfs_read + 5, &`vfs_read, &`vfs_read, sym((uintptr_t)&`vfs_read + 9)); exit(0); }')" \
	'vmlinux`vfs_read|vmlinux`vfs_read+0x5|        vmlinux`vfs_read|vmlinux`vfs_read        |vmlinux`vfs_read'
is "a variable that the program names" "$(d 'BEGIN { printf("%a|%a", &`max_pfn, sym((uintptr_t)&`cad_pid)); exit(0); }')" 'vmlinux`max_pfn|vmlinux`cad_pid'
is "variables of the kernel have types" "$(d 'BEGIN { printf("%d %d %s %d", `crashing_cpu, `cad_pid->numbers[0].nr, `init_task.comm, sizeof(`console_printk)); exit(0); }')" "-1 1 swapper/0 16"
is "as keys: what is in one function is one" "$(d 'BEGIN { this->a = (uintptr_t)&`vfs_read; @[sym(this->a)] = count(); @[sym(this->a + 1)] = count(); @[func(this->a + 2)] = count(); @[sym(9)] = count();
	@m[mod(this->a)] = sum(3); @m[mod((uintptr_t)&`vfs_write)] = sum(4); @x[sym(this->a)] = max(3); @x[sym(this->a + 4)] = max(8); @x[sym(this->a + 5)] = max(5);
	@n[sym(this->a)] = min(3); @n[sym(this->a + 4)] = min(-8); @v[sym(this->a)] = avg(3); @v[sym(this->a + 1)] = avg(6); @v[sym(this->a + 2)] = avg(6); exit(0); }' | tr -s ' ' | tr '\n' ';')" \
	'0x9 1;vmlinux`vfs_read 3;vmlinux 7;vmlinux`vfs_read 8;vmlinux`vfs_read -8;vmlinux`vfs_read 5;'
is "printa of them" "$(d 'BEGIN { @[sym((uintptr_t)&`vfs_read + 1)] = count(); printa("%-20a%@3d\n", @); exit(0); }')" 'vmlinux`vfs_read      1'
is "and cleared" "$(d 'BEGIN { @[sym((uintptr_t)&`vfs_read + 1)] = count(); @[sym((uintptr_t)&`vfs_read + 2)] = count(); printa("%a %@d,", @); clear(@); printa("%a %@d,", @); trunc(@); printa("%a %@d,", @); exit(0); }')" 'vmlinux`vfs_read 2,vmlinux`vfs_read 0,'
is "the module of a variable" "$(d 'BEGIN { mod((uintptr_t)&`linux_banner); trace("|"); @[mod((uintptr_t)&`linux_banner)] = count(); exit(0); }' | tr -s ' \n' ' ')" "vmlinux | vmlinux 1 "
is "a process's, where it is not known" "$(d 'BEGIN { usym(4096); ufunc(4096); umod(4096); uaddr(4096); exit(0); }' | tr -s ' ')" "0x1000 0x1000 0x1000 0x1000"
is "a program's code, by its file" "$(d 'profile-197 /pid == $target && arg1/ { @[umod(arg1)] = count(); } END { printa("%A\n", @); }' -c 'perl -e "alarm 2; 1 while 1"' | grep -c '^\(perl\|libperl.so.*\)$')" 1
is "usym() has no offsets, and is shorter than uaddr()" "$(d 'profile-197 /pid == $target && arg1/ { @[usym(arg1)] = count(); @a[uaddr(arg1)] = count(); } END { printa("s %A\n", @); printa("a %A\n", @a); }' -c 'perl -e "alarm 2; 1 while 1"' |
	awk '/^s.*[+]/ { bad++ } /^s/ { s++ } /^a/ { a++ } END { print bad + 0, (s > 0 && s < a) }')" "0 1"

# ---- print() ----

types='struct in { int a; char c[8]; }; enum e { NONE, ONE, TWO }; struct out { struct in i; long l[4]; unsigned int b:3, r:5; enum e e; struct in *p; union { short s; uint8_t u; }; long zero; };'
is "print() of a structure" "$(timeout 60 "$kd" -qn "$types"' BEGIN { this->o = (struct out *)alloca(sizeof(struct out)); this->o->i.a = -5; this->s = (char *)this->o + 4; *this->s = 97; *(this->s + 1) = 98; *(this->s + 2) = 99; *(this->o->l + 2) = 77; *((uint8_t *)this->o + 48) = 0x2d;
	this->o->e = TWO; this->o->p = (struct in *)0x1234; this->o->s = 9; print(this->o); exit(0); }' 2> /tmp/kd.err | sed 's/^0x[0-9a-f]* /ADDR /; s/^ \{44\}/>/')" "ADDR = *
>(struct out) {
> .i = (struct in) {
>  .a = (int)-5,
>  .c = (char [8]) [
>   (char)'a',
>   (char)'b',
>   (char)'c',
>  ],
> },
> .l = (long [4]) [
>  (long)77,
> ],
> .b = (unsigned int)5,
> .r = (unsigned int)5,
> .e = (enum e)TWO,
> .p = (struct in *)0x1234,
> (union) {
>  .s = (short)9,
>  .u = (uint8_t)9,
> },
>}"
is "types as they are written, characters up to the first 0" "$(d 'typedef struct { int a; } t_t; struct q { t_t t; bool b; __u8 c; long long ll; unsigned long long ull; char ch[4]; int8_t i[2]; pid_t p; unsigned char uc; char *s; t_t ts[2]; char none[2]; }; BEGIN { p = (struct q *)alloca(sizeof(struct q));
	p->t.a = 1; p->b = 1; p->c = 65; p->ll = -2; p->ull = 3; p->ch[0] = 7; p->ch[1] = 113; p->ch[3] = 114; p->i[1] = 65; p->p = 4; p->uc = 66; p->s = (char *)16; p->ts[1].a = 5; p->none[1] = 1; print(p); exit(0); }' | sed 's/^0x[0-9a-f]* /ADDR /' | tr -d '\n')" \
	"ADDR = *(struct q) {.t = (t_t) {.a = (int)1,},.b = (bool)1,.c = (__u8)65,.ll = (long long)-2,.ull = (unsigned long long)3,.ch = (char [4]) [(char)7,(char)'q',],.i = (int8_t [2]) [(int8_t)65,],.p = (pid_t)4,.uc = (unsigned char)66,.s = (char *)0x10,.ts = (t_t [2]) [(t_t) {.a = (int)5,},],.none = (char [2]) [],}"
is "of the kernel's" "$(timeout 60 "$kd" -qn 'BEGIN { print(curthread); print(*curthread); exit(0); }' -x strsize=1024 2> /tmp/kd.err | grep -c '(struct task_struct) {')" 2
is "of numbers that pointers lead to, of a part of it" "$(d "$types"' BEGIN { this->c = (unsigned char *)alloca(8); *this->c = 1; print(this->c); print((enum e *)this->c); this->o = (struct out *)alloca(sizeof(struct out)); this->o->i.a = 3; print(&this->o->i.a); exit(0); }' | sed 's/^0x[0-9a-f]* /ADDR /' | tr '\n' ';')" \
	'ADDR = *;(unsigned char)1;ADDR = *;(enum e)ONE;ADDR = *;(int)3;'
is "as many bytes as printsize says" "$(d "$types"' BEGIN { this->o = (struct out *)alloca(sizeof(struct out)); this->o->i.a = 3; this->o->p = (struct in *)7; print(this->o); exit(0); }' -x printsize=16 | tr '\n' ';' | sed 's/^0x[0-9a-f]* /ADDR /')" \
	'ADDR = *;(struct out) {;.i = (struct in) {;.a = (int)3,;...;},;};'
is "and a member that begins before their end is whole" "$(d "$types"' BEGIN { this->o = (struct out *)alloca(sizeof(struct out)); this->o->i.a = 3; this->o->i.c[7] = 120; this->o->l[3] = 4; print(this->o); setopt("printsize", "17"); print(this->o); exit(0); }' -x printsize=4 | tr '\n' ';' | sed 's/0x[0-9a-f]* = /ADDR /g')" \
	'ADDR *;(struct out) {;.i = (struct in) {;.a = (int)3,;...;},;};ADDR *;(struct out) {;.i = (struct in) {;.a = (int)3,;.c = (char [8]) [;],;},;.l = (long [4]) [;(long)4,;],;...;};'
is "of what cannot be read: a fault" "$(d "$types"' BEGIN { print((struct out *)8); } ERROR { printf("%d %d\n", arg4, arg5); } BEGIN { exit(0); }')" "1 8"

# ---- stacks ----

is "as many frames as stack() says: printed, as a key, in a variable" "$(d 'fbt::__x64_sys_getpriority:entry /pid == $target/ { x = stack(2); @[stack(1)] = count(); @v[x] = count(); } END { printf("%k", x); printa("K%k%@d\n", @); printa("V%k%@d\n", @v); }' -c "$calls" | sed 's/+0x.*//' | tr '\n' ';')" \
	'vmlinux`__x64_sys_getpriority;vmlinux`do_syscall_64;K;vmlinux`__x64_sys_getpriority;50;V;vmlinux`__x64_sys_getpriority;vmlinux`do_syscall_64;50;'
is "stacks that begin alike are one key" "$(d 'fbt::security_task_getscheduler:entry,fbt::__x64_sys_getpriority:entry /pid == $target/ { @[stack(1)] = count(); } fbt::__x64_sys_getpriority:return /pid == $target/ { @n = count(); } END { printa("%@d\n", @n); }' -c "$calls" | tail -n 1)" 50
is "a stack of the thread's, forgotten" "$(d 'BEGIN { self->s = stack(1); self->s = 0; printf("[%k]", self->s); y[1] = stack(); exit(0); }' | tr -d '\n')" "[]"

is "members of a stack" "$(d 'fbt::__x64_sys_getpriority:entry /pid == $target && !n++/ { printf("%d %d %d %d %d ", stack(2).depth, stack(9).depth > stackdepth, stack(2).is_user, stack(2).pid, stack(2).strsz);
	printf("%d %d %d ", ustack(3, 50).is_user, ustack().pid == pid, ustack(3, 50).strsz); printf("%a %a", stack(5).addrs[0], stack(5).addrs[1]); }' -c "$calls" | sed 's/+0x.*//')" '2 1 0 0 0 1 1 50 vmlinux`__x64_sys_getpriority vmlinux`do_syscall_64'
is "short strings" "$(d 'BEGIN { s = "abcdef"; printf("%s %d %s", s, strlen(s), strjoin("ab", s)); exit(0); }' -x strsize=4)" "abc 3 aba"
is "strings as bytes" "$(d 'BEGIN { s = "abcdefgh"; trace(s); trace(probeprov); trace(execname); printf("%s\n", "x"); trace(7); exit(0); }' -x strsize=6 -x rawbytes | tr -s ' ' | grep -v '^0 1 2' | tr '\n' ';')" "0: 61 62 63 64 65 00 abcde.;0: 64 74 72 61 63 00 dtrac.;0: 6b 64 74 72 61 00 kdtra.;x;7;"
# room OPTION=SIZE PROGRAM: its status, and if there was no room
room() { timeout 60 "$kd" -x "$1" -qn "$2" > /dev/null 2> /tmp/kd.err; echo "$? $(grep -c 'Enabling exceeds size of buffer' /tmp/kd.err)"; }
is "room for one record, row, element, and one byte less; variables of threads have theirs" "$(for size in 64 63; do room bufsize=$size 'BEGIN { exit(0); }'; done; for size in 288 287; do room bufsize=$size 'string s; BEGIN { trace(s); exit(0); }'; done
	for size in 40 39; do room aggsize=$size 'BEGIN { @[1L] = count(); exit(0); }'; done; for size in 20 19; do room dynvarsize=$size 'BEGIN { a[1] = 1; exit(0); }'; done
	room dynvarsize=15 'BEGIN { self->s = "a"; exit(0); }')" "$(yes $'0 0\n1 1' | head -n 8; echo 0 0)"
is "a buffer that holds no record" "$(d 'BEGIN { exit(0); }' -b 59; grep -c 'could not enable tracing: Enabling exceeds size of buffer' /tmp/kd.err)" 1

# ---- how often a value counts ----

is "weights of quantize()" "$(d 'BEGIN { @ = quantize(4, 3); @ = quantize(5); @ = quantize(6, 1 + 1); @ = quantize(-1, 4); this->w = -1; @ = quantize(1, this->w); exit(0); }' | grep -v Dist | awk '$NF { print $1, $NF }' | tr '\n' ';')" "-1 4;1 -1;4 6;"
is "by keys, of lquantize() and llquantize()" "$(d 'BEGIN { @["a"] = lquantize(7, 0, 10, 5, 20); @["b"] = lquantize(7, 0, 10, 5); @["a"] = lquantize(1, 0, 10, 5, 2); @["a"] = lquantize(9, 0, 10, 5, 1);
	@l = llquantize(7, 10, 0, 1, 10, 6); @l = llquantize(7, 10, 0, 1, 10, 7); exit(0); }' | grep -v Dist | awk '$NF { print $1, $NF }' | tr '\n' ';')" "b b;5 1;a a;0 2;5 21;7 13;"
is "cleared, and then more" "$(d 'BEGIN { @ = quantize(4, 3); @ = quantize(4, 5); clear(@); } tick-300ms { @ = quantize(4, 5); @ = quantize(1, 9); exit(0); } END { printa(@); }' | grep -v Dist | awk '$NF { print $1, $NF }' | tr '\n' ';')" "1 9;4 5;"

# ---- numbers, memory, networks ----

is "inet_ntop(), link_ntop()" "$(d 'BEGIN { this->p = (uint8_t *)alloca(16); this->p[0] = 192; this->p[1] = 168; this->p[2] = 0; this->p[3] = 1; printf("%s ", inet_ntop(AF_INET, this->p)); printf("%s ", inet_ntoa(this->p));
	printf("%s ", link_ntop(ARPHRD_ETHER, this->p)); this->p[15] = 0xfe; this->p[0] = 0x20; this->p[1] = this->p[2] = this->p[3] = 0; printf("%s\n", inet_ntop(AF_INET6, this->p)); exit(0); }')" "192.168.0.1 192.168.0.1 c0:a8:00:01:00:00 2000::fe"
is "of arrays that variables keep" "$(d 'uint8_t a[20]; BEGIN { a[0] = 0xfe; a[1] = 0x80; a[5] = 0xcd; a[15] = 9; a[19] = 0xab; printf("%s %s ", link_ntop(ARPHRD_INFINIBAND, a), link_ntop(ARPHRD_ETHER, a)); printf("%s\n", inet_ntop(AF_INET6, a)); exit(0); }')" \
	"fe:80:00:00:00:cd:00:00:00:00:00:00:00:00:00:09:00:00:00:ab fe:80:00:00:00:cd fe80:0:cd::9"
is "addresses of IPv4 in those of IPv6: inet_ntop() says so" "$(d 'BEGIN { p = (uint8_t *)alloca(16); p[12] = 127; p[15] = 1; printf("%s %s ", inet_ntop(AF_INET6, p), inet_ntoa6((struct in6_addr *)p)); p[10] = p[11] = 255; printf("%s %s ", inet_ntop(AF_INET6, p), inet_ntoa6((struct in6_addr *)p)); p[11] = 254; printf("%s", inet_ntop(AF_INET6, p)); exit(0); }')" "::127.0.0.1 127.0.0.1 ::ffff:127.0.0.1 127.0.0.1 ::fffe:7f00:1"
is "12 addresses in one record" "$(d 'BEGIN { p = (uint8_t *)alloca(16); p[15] = 1; printf("'"$(repeat 12 '%s ')"'"'"$(repeat 12 ', inet_ntop(AF_INET6, p)')"'); exit(0); }')" "$(repeat 11 '::1 ')::1"
is "what is found at the end of a string is empty, not NULL" "$(d 'BEGIN { s = ""; t = "abc"; printf("<%s><%s>%d%d%d%d<%s>", strstr(s, ""), strstr(strstr(t, "b"), ""), strstr(s, s) == NULL, strstr(s, s) == "", strstr(t, "x") == NULL, strlen(strstr(s, s)), strjoin(strstr(s, s), "y")); x = strstr(s, s); self->x = x; @[strstr(s, s)] = count(); printf("%d%d", x == NULL, self->x == NULL); printa("<%s>", @); exit(0); }')" "<><bc>0110<y>00<>"
is "functions in functions" "$(d 'BEGIN { s = "/usr/lib/../foobarbarbazbarbop"; c = "ba"; printf("%s %s %s %s %s %d %d %s %s %s", strstr(strstr(s, "baz"), strstr(s, "bop")), strchr(strrchr(s, 98), 111), substr(strstr(s, c), 3, strlen(c)), strjoin(strtok(s, "/"), strtok(NULL, "/")),
	basename(dirname(cleanpath(strjoin(s, strjoin("/x", c))))), index(strstr(s, c), strstr(s, "op")), rindex(strjoin(s, s), strjoin(c, "r")), toupper(strjoin(tolower("AB"), lltostr(strlen(s)))), lltostr(strtoll(substr(lltostr(12345), 1, 3))), strstr(s, strjoin(c, "z"))); exit(0); }')" "bop op ba usrlib foobarbarbazbarbop 13 54 AB30 234 bazbarbop"
is "an unknown family is a fault" "$(d 'BEGIN { this->p = (uint8_t *)alloca(16); printf("%s", inet_ntop(99, this->p)); } ERROR { printf("%d\n", arg4); } BEGIN { exit(0); }')" 1
is "rand(): 300 numbers in each half, two halves of the lowest bit" "$(d 'syscall::getpriority:entry /pid == $target/ { this->r = rand(); @n[0] = count(); @h = sum(this->r > 0); @l = sum(this->r & 1); @d[rand()] = count(); } END { printa("%d %@d\n", @n); printa("h %@d\n", @h); printa("l %@d\n", @l); printa("d%d\n", @d); }' -c 'perl -e "getpriority 0, 0 for 1 .. 600"' |
	awk '/^0/ { n = $2 } /^[hl]/ { if ($2 < 200 || $2 > 400) bad = bad " " $0 } /^d/ { d++ } END { print n, (d > 595), bad }')" "600 1 "
printf '%s\n' "$calls" true > /tmp/inner.sh
printf 'sh /tmp/inner.sh\ntrue\n' > /tmp/outer.sh
is "progenyof()" "$(d 'syscall::getpriority:entry /progenyof($target)/ { @[pid == $target, progenyof(1), progenyof(99999999)] = count(); }' -c "sh /tmp/outer.sh" | tr -s ' ')" "0 1 0 50"
is "who has a mutex" "$(d 'fbt::mutex_unlock:entry /pid == $target/ { this->m = (struct mutex *)arg0; @[mutex_owned(this->m) != 0, mutex_owner(this->m) == curthread, mutex_type_adaptive(this->m), mutex_type_spin(this->m)] = count(); } END { printa("%d %d %d %d\n", @); }' -c "$calls; ls -lR /etc | cat > /dev/null")" "1 1 1 0"
is "a lock that nobody has" "$(d 'BEGIN { printf("%d %d %d\n", rw_read_held((rwlock_t *)&`tasklist_lock), rw_write_held((rwlock_t *)&`tasklist_lock), rw_iswriter((rwlock_t *)&`tasklist_lock)); exit(0); }')" "0 0 0"
is "one whose type is known" "$(d 'BEGIN { printf("%d %d\n", rw_iswriter(&`tasklist_lock), mutex_type_adaptive(&`text_mutex)); exit(0); }')" "0 1"
# Its states: free; one reads, two; a writer waits, for nobody, for one that reads; a writer has it, one waits
# to read, one waits to write, both.
states() { for n in 0 0x200 0x400 0x100 0x300 0xff 0x2ff 0x1ff 0x3ff; do printf '*this->n = %s; printf("%%d%%d%%d ", rw_read_held((rwlock_t *)this->n), rw_write_held((rwlock_t *)this->n), rw_iswriter((rwlock_t *)this->n)); ' $n; done; }
is "each state of one: who waits to read has nothing" "$(d "BEGIN { this->n = (int *)alloca(64); $(states) exit(0); }")" "000 100 100 001 101 011 011 011 011"
is "one that each new process is written under" "$(d 'fbt::attach_pid:entry { @[rw_write_held((rwlock_t *)&`tasklist_lock), rw_iswriter((rwlock_t *)&`tasklist_lock), rw_read_held((rwlock_t *)&`tasklist_lock)] = count(); }
	END { printa("%d %d %d\n", @); }' -c 'sh -c "/bin/true; /bin/true"')" "1 1 0"

# ---- what changes the system ----

is "freopen() of what is no file: output stays, the program goes on" "$(d 'BEGIN { freopen(".."); freopen("%s", "/nowhere/x"); printf("%d", ++i); freopen("%c%c", 46, 46); } BEGIN /i == 1/ { printf("%d\n", ++i); exit(0); }' -w)
$(grep -c 'freopen(".*"): .*; output goes where it went before' /tmp/kd.err)" "12
3"
timeout 60 "$kd" -qwn 'syscall::getpriority:entry /pid == $target/ { raise(SIGUSR1); }' -c 'perl -e "\$SIG{USR1} = sub { print qq(caught\n); exit 5 }; getpriority 0, 0; sleep 9"' > /tmp/kd.out 2>&1
is "raise() is a signal to the process" "$(tr '\n' ' ' < /tmp/kd.out)" "caught  "
timeout 60 "$kd" -qwn 'syscall::getpriority:entry /pid == $target/ { stop(); x = 1; } tick-500ms /x/ { x++; } tick-500ms /x == 3/ { system("grep State /proc/%d/status; kill -CONT %d", $target, $target); exit(0); }' -c 'perl -e "getpriority 0, 0; sleep 5"' > /tmp/kd.out 2>&1
ok "stop() stops it: $(tr '\n' ' ' < /tmp/kd.out)" grep -q 'State:.T (stopped)' /tmp/kd.out
for p in 'raise(9)' 'stop()' 'system("true")' 'freopen("/tmp/x")' 'chill(1)' 'panic()' 'breakpoint()'; do
	timeout 60 "$kd" -qn "BEGIN { $p; exit(0); }" > /tmp/kd.out 2> /tmp/kd.err
	is "$p needs -w" "$? $(cat /tmp/kd.err)" "1 kdtrace: could not enable tracing: Destructive actions not allowed"
done
for p in 'chill(1)' 'panic()' 'breakpoint()'; do
	timeout 60 "$kd" -qwn "BEGIN { $p; exit(0); }" > /tmp/kd.out 2> /tmp/kd.err
	is "$p is refused" "$? $(cat /tmp/kd.err)" "1 kdtrace: could not enable tracing: ${p%(*}() would stop the system"
done
soon "nothing is left" 0 field windows
finish
