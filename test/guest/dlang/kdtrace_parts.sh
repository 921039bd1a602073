#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Variables of D that have parts: structs, unions, arrays, against what C says of the same bytes.
# promise: D2, D3: Structs, arrays and loops of D have the bytes that C gives them, and bounds
#   are kept. [errors.sh, accepts.sh]
# shellcheck disable=SC2016 # $target is kdtrace's
. "$(dirname "$0")/../common/lib.sh"
start
kd=$top/build/release/bin/kdtrace
d() { timeout 120 "$kd" -qn "$@" 2> /tmp/kd.err | sed 's/^ *//; s/ *$//; /^$/d'; }

is "members of each size, bit-fields, negative numbers" "$(d 'struct s { char c; short h; int i; long l; unsigned char uc; int b:5; unsigned ub:7; struct { short x, y; } in; };
	struct s f; BEGIN { f.c = -3; f.h = -300; f.i = 70000; f.l = -5000000000; f.uc = 255; f.b = -7; f.ub = 100; f.in.x = 11; f.in.y = -12;
	printf("%d %d %d %d %d %d %d %d %d", f.c, f.h, f.i, f.l, f.uc, f.b, f.ub, f.in.x, f.in.y); } BEGIN { f.i += 5; f.in.y--; f.b <<= 1; printf(" %d %d %d %d", f.i, f.in.y, f.b, f.c++ + f.c); exit(0); }')" \
	"-3 -300 70000 -5000000000 255 -7 100 11 -12 70005 -13 -14 -5"
is "a union's bytes" "$(d 'union u { int i; char c[4]; short s[2]; }; union u v; BEGIN { v.i = 0x41424344; printf("%c%c %x", v.c[0], v.c[3], v.s[1]); v.c[1] = 0; printf(" %x", v.i); exit(0); }')" "DA 4142 41420044"
is "elements: constant and computed, two dimensions" "$(d 'int a[5], m[2][3]; short h[7]; BEGIN { a[0] = 1; a[4] = -9; i = 2; a[i] = 5; a[i]++; a[i + 1] = a[i] * 2; m[1][2] = 8; m[i - 1][0] = 4; m[0][i] = 3; h[i] = -1; h[3] = 2;
	printf("%d %d %d %d %d|%d %d %d|%d %d %d", a[0], a[1], a[i], a[3], a[4], m[1][i], m[1][0], m[0][2], h[1], h[i], h[i + 1]); x = a[i] = 77; printf(" %d %d", x, a[2]); exit(0); }')" "1 0 6 12 -9|8 4 3|0 -1 2 77 77"
is "an index out of range is a fault, and changes nothing" "$(d 'int a[3]; BEGIN { i = 3; a[i] = 5; x = 1; } BEGIN { i = -1; trace(a[i]); } ERROR { printf("%d %d;", arg4 == DTRACEFLT_BADINDEX, arg5); } END { printf("%d %d", x, a[2]); } BEGIN { exit(0); }')" "1 3;1 -1;0 0"
is "its message" "$(grep -c 'index out-of-bounds (3) at BPF pc' /tmp/kd.err)" 1
is "of a thread, of a firing" "$(d 'struct s { int a; int b[3]; }; self struct s t; this struct s l; BEGIN { self->t.a = 3; self->t.b[2] = 4; this->l.a = 5; this->l.b[1] = 6; }
	BEGIN { i = 2; printf("%d %d %d %d", self->t.a, self->t.b[i], this->l.a, this->l.b[i - 1]); self->t.b[i] = 9; } tick-10ms { printf(" %d %d %d", self->t.b[2], this->l.a, this->l.b[1]); exit(0); }')" "3 4 5 6 9 0 0"
is "a whole struct: from a variable, from memory" "$(d 'struct s { int a; char c[6]; long l; }; struct s f, g; struct w { int n; struct s in[2]; }; struct w w; BEGIN { f.a = 1; f.c[5] = 7; f.l = -2; g = f; f.a = 9; w.in[1] = g; i = 1; h = w.in[i];
	p = (struct s *)alloca(sizeof(struct s)); p->a = 44; p->c[1] = 45; p->l = 46; w.in[i] = *p; w.in[0] = h; this->k = *p;
	printf("%d %d %d %d|%d %d %d|%d %d %d|%d %d", g.a, g.c[5], g.l, w.n, w.in[1].a, w.in[1].c[1], w.in[1].l, w.in[0].a, w.in[0].c[5], h.l, this->k.a, this->k.l); exit(0); }')" "1 7 -2 0|44 45 46|1 7 -2|44 46"
is "bcopy() into arrays of a firing, a thread, a keyed struct, and from one to another" "$(d 'this char t[16], u[16]; struct k { int n; char c[8]; } m[string]; int i;
	BEGIN { bcopy("hello", this->t, 6); this->u[6] = 33; bcopy(this->t, this->u, 5); bcopy(this->u, this->t, 8); i = 3; bcopy("XY", &this->t[i], 2); bcopy("Z", &this->t[0], 1); printf("%s %s ", stringof(this->t), stringof(this->u)); }
	BEGIN { m["a"].n = 7; m["a"].c[7] = 90; bcopy("keyed", m["a"].c, 5); printf("%d %s%c ", m["a"].n, stringof(m["a"].c), m["a"].c[7]); printf("%s ", stringof(this->t)); }' -n 'self int n[5]; BEGIN { self->n[4] = 9; bcopy(&`max_pfn, self->n, 8); bcopy(self->n, self->n, 8); }
	BEGIN { p = (int *)&`max_pfn; printf("%d%d %d", self->n[0] == p[0], self->n[1] == p[1], self->n[4]); exit(0); }')" "ZelXY hello 7 keyedZ ZelXY 11 9"
is "copyinto() too; of a fault nothing is there" "$(d 'this char t[16]; self long n[2]; syscall::write:entry /pid == $target && arg2 == 6/ { copyinto(arg1, 6, this->t); printf("%s ", stringof(this->t)); self->n[1] = 5; copyinto(arg1, 8, self->n); printf("%d ", self->n[1]); } syscall::write:entry /self->n[1]/ { copyinto(8, 4, self->n); printf("no"); }
	ERROR { printf("%d %c%d", arg4, (char)self->n[0], self->n[1]); exit(0); }' -c 'perl -e "syswrite STDERR, q(direct)"' 2> /dev/null)" "direct 5 1 d5"
is "of the kernel" "$(d 'BEGIN { t = curthread->se.load; this->r = curthread->signal->rlim[7]; printf("%d %d", t.weight == curthread->se.load.weight && t.weight > 0, this->r.rlim_cur); exit(0); }')" "1 $(ulimit -n)"
is "a large struct of the kernel's is copied" "$(d 'BEGIN { u = `init_uts_ns.name; printf("%s %s", u.release, u.sysname); exit(0); }')" "$(uname -r) Linux"
copies=$(for i in {1..40}; do printf 'v%d = `init_uts_ns.name; ' "$i"; done)
is "what is too large is refused in a line, and runs nothing" "$(d "BEGIN { printf(\"never\"); $copies exit(0); }")$(wc -l < /tmp/kd.err)" 1
sed 's/^/# /' /tmp/kd.err
is "a copy that cannot be read is a fault" "$(d 'struct s { int a, b; }; struct s f; BEGIN { f.a = 6; f = *(struct s *)16; } ERROR { printf("%d %d %d", arg4, arg5, f.a); exit(0); }')" "1 16 6"
is "associative arrays of structs" "$(d 'struct s { int a; string n; char c[4]; }; struct s m[string, int]; self struct s t[int]; BEGIN { m["x", 1].a = 5; m["x", 2].a = 6; m["x", 1].n = "one"; self->t[3].a = 8; m["y", 1] = m["x", 1]; m["y", 1].a += 10; m["y", 1].c[2] = 9;
	printf("%d %d %s %d %d %s %d", m["x", 1].a, m["x", 2].a, m["y", 1].n, m["y", 1].a, self->t[3].a, m["z", 1].n == "" ? "none" : "some", m["y", 1].c[2]); exit(0); }')" "5 6 one 15 8 none 9"
is "assignments of assignments" "$(d 'BEGIN { p = (int *)alloca(32); *p = 0; a = p; b = p + 1; c = p + 2; d = p + 3; *a = *b = *c = *d = p[4] = p[5] = p[6] = p[7] = 5; *a += *b -= *c = d[1] = 3; x = y = m[1] = z = 7;
	printf("%d %d %d %d %d %d %d %d %d", *a, *b, *c, *d, p[4], p[7], x, y + z, m[1]); } BEGIN { p = (int *)8; x = *p = y = 9; } ERROR { printf(" %d %d", x, y); exit(0); }')" "7 2 3 5 3 5 7 14 7 7 9"
is "aggregations by structs" "$(d 'struct s { int a; char b; }; struct s v; BEGIN { v.a = 1; v.b = 2; @[v, "x"] = count(); @[v, "x"] = count(); v.a = 2; @[v, "x"] = count(); printa("%d %d %s %@d;", @); exit(0); }')" "2 2 x 1;1 2 x 2;"
is "arrays of characters, of strings" "$(d 'struct s { char n[8]; }; struct s f; char c[4]; string s[3]; BEGIN { f.n[0] = 104; f.n[1] = 105; c[0] = 97; c[2] = 98; s[1] = "abc"; i = 1; s[i + 1] = strjoin(s[i], f.n);
	printf("%s|%s|%s|%s|%d", f.n, stringof(c), s[i + 1], s[1], s[0] == ""); exit(0); }')" "hi|a|abchi|abc|1"
is "printed as what they are in memory" "$(d 'struct s { int a; char c[4]; struct { short x, y; } in; }; struct s f; BEGIN { f.a = 7; f.c[0] = 104; f.in.y = -2; p = (struct s *)alloca(sizeof(struct s)); p->a = 7; p->c[0] = 104; p->in.y = -2; print(f); printf("|"); print(*p); exit(0); }' | tr -d '\n' | sed 's/0x[0-9a-f]* = //g' | tr -d ' ')" '*(structs){.a=(int)7,.c=(char[4])[(char)'\''h'\'',],.in=(struct){.y=(short)-2,},}|*(structs){.a=(int)7,.c=(char[4])[(char)'\''h'\'',],.in=(struct){.y=(short)-2,},}'
is "an address stays: other clauses and firings write to it and find it" "$(d 'struct s { char c; int n[3]; int b:5; } g; int a[5]; int *p; short h[2][3]; BEGIN { a[1] = 7; p = a; p[2] = 9; q = &a[4]; *q = -3; t = &g.n[1]; *t = 5; g.n[2] = 6; g.c = 4; g.b = -2; k = &h[1][2]; *k = 12; }
	BEGIN { i = 2; a[i]++; a[3] += a[i]; w = &a[i]; printf("%d %d %d %d %d|%d %d %d", p[1], *(p + 2), p[3], p[4], a[4], q - p, t - &g.n[0], (long)&a[5] - (long)&a[1]); }
	tick-10ms { i = 1; printf("|%d %d %d %d|%d %d|%d %d %d %d", *p + p[1], *w, *q, a[2], *t, t[1], g.c, g.b, h[i][2], &a[4] == q && p == a); exit(0); } END { g.n[1] = 8; f = g; printf("|%d %d %d", *t, f.n[1], f.b); }')" "7 10 10 -3 -3|4 1 16|7 10 -3 10|5 6|4 -2 12 1|8 8 -2"
is "assignments inside of expressions" "$(d 'int a[4]; struct { short s; int n[2]; } g; BEGIN { p = a; q = &g.n[1]; i = 1; x = a[2] = 5; y = a[i] = -6; z = 10 + a[i]++; w = 3 + (a[i + 1] += 4); v = g.s = g.n[i] = 70000; printf("%d %d %d %d|%d %d %d %d|%d %d %d", x, y, z, w, p[1], p[2], --a[3], *(p + 3), v, g.s, *q); exit(0); }')" "5 -6 4 12|-5 9 -1 -1|4464 4464 70000"
is "a fault writes nothing there" "$(d 'int a[3]; BEGIN { p = a; i = 3; a[i] = 4; p[0] = 9; } BEGIN { p[1] = 1 / p[2]; } BEGIN { a[1] = *(int *)8; } ERROR { printf("%d ", arg4); } END { printf("%d %d %d", p[0], p[1], p[2]); } BEGIN { exit(0); }')" "11 4 1 0 0 0"
is "a pointer finds zeros behind an array" "$(d 'int a[5]; BEGIN { a[4] = 1; printf("%d %d", ((int *)a)[4], ((int *)a)[10]); exit(0); }')" "1 0"
is "what takes too much is refused in a line" "$(d "$(for i in $(seq 20); do printf 'int a%d[256]; ' "$i"; done) BEGIN { $(for i in $(seq 20); do printf 'p = a%d; ' "$i"; done) }")$(grep -c 'address is used take 20480 bytes' /tmp/kd.err)" 1
is "nor do they find bytes of alloca()" "$(d 'int a[4]; BEGIN { p = a; x = (int *)alloca(16); x[0] = 5; a[3] = 6; } BEGIN { y = (int *)alloca(16); printf("%d %d %d", y[0], p[0], p[3]); exit(0); }')" "0 0 6"
is "sizes" "$(d 'struct s { char c; long l; int b:3; }; struct s f; int a[7]; struct s m[int]; BEGIN { printf("%d %d %d %d %d %d %d", sizeof(f), sizeof(struct s), sizeof(a), sizeof(a[0]), sizeof("abc"), sizeof(f.l + 1), offsetof(struct s, l)); exit(0); }')" "24 24 28 4 4 8 8"
is "in the kernel, by threads" "$(d 'struct s { int n; int last; }; struct s g; self struct s t; int by[8]; syscall::getpriority:entry /pid == $target/ { g.n++; self->t.n++; self->t.last = arg1; by[self->t.n % 8]++; }
	END { printf("%d", g.n); } syscall::exit_group:entry /pid == $target/ { printf("%d %d %d ", self->t.n, self->t.last, by[0] + by[7]); }' -c 'perl -e "getpriority 0, 7 for 1 .. 400"')" "400 7 100 400"
# ---- for ----

is "loops: up, down, inside of each other, over an array" "$(d 'int a[6], m[3][4]; BEGIN { for (i = 0; i < sizeof(a) / sizeof(a[0]); i++) a[i] = i * i; for (self->k = 5; self->k > 0; self->k -= 2) { printf("%d:%d ", self->k, a[self->k]); }
	for (i = 0; i < 3; i++) for (j = 0; j < 4; j++) { m[i][j] = 10 * i + j; if (i == j) s += m[i][j]; } for (i = 9; i < 3; i++) printf("never"); printf("%d %d %d %d", s, m[2][3], i, j); exit(0); }')" "5:25 3:9 1:1 33 23 9 4"
is "one that a condition ends" "$(d 'int a[8]; BEGIN { n = 5; for (i = 0; i < 8; i++) a[i] = 7 - i; for (i = 0; i < n && i < 8; i++) { t += a[i]; printf("%d,", i); } printf(" %d %d ", t, i); for (i = 0; i < 8 && a[i] != 5; i++) ; printf("%d", i); exit(0); }')" "0,1,2,3,4, 25 5 2"
is "a fault ends it" "$(d 'int a[4]; BEGIN { for (i = 0; i < 4; i++) { n++; x = 1 / (2 - i); } n = 100; } ERROR { printf("%d %d %d", arg4, n, i); exit(0); }')" "4 3 0"
is "in the kernel: bytes of a name" "$(d 'syscall::getpriority:entry /pid == $target/ { for (this->i = 0; this->i < 16 && curthread->comm[this->i]; this->i++) @[curthread->comm[this->i]] = count(); }' -c 'perl -e "getpriority 0, 0 for 1 .. 20"' | tr -s ' ' | tr '\n' ';')" "101 20;108 20;112 20;114 20;"

# ---- variables that are built in ----

is "who: as the process says" "$(d 'syscall::getpriority:entry /pid == $target/ { printf("%d %d %d %d %d %d %s %d %s", uid, gid, pid, tid, ppid == curthread->real_parent->tgid, curpsinfo->pr_euid, execname, curcpu->cpu_id == cpu, zonename); }' \
	-c 'perl -e "open F, q(>/tmp/kd.pid); print F \$\$; close F; \$) = \$( = 1234; \$> = \$< = 1235; getpriority 0, 0"')" "1235 1234 $(cat /tmp/kd.pid 2> /dev/null) $(cat /tmp/kd.pid 2> /dev/null) 1 1235 perl 1 global"
is "registers of the process" "$(d 'syscall::getpriority:entry /pid == $target/ { printf("%d %d %d %d %d", uregs[R_RDI] == arg0, uregs[R_RSI], uregs[R_ORIG_RAX], uregs[R_RIP] != 0 && (int64_t)uregs[R_RIP] > 0, uregs[R_CS]); }' -c 'perl -e "getpriority 0, 77"')" "1 77 140 1 51"
is "where it is: as /proc says" "$(d 'syscall::read:entry /pid == $target && fds[arg0].fi_name == "syscall"/ { printf("%x %x ", uregs[R_RSP], uregs[R_RIP]); }' -c 'perl -e "open F, q(</proc/self/syscall); sysread F, \$x, 200; @f = split q( ), \$x; s/0x// for @f; open G, q(>/tmp/kd.sys); print G qq(\$f[7] \$f[8])"')" "$(cat /tmp/kd.sys 2> /dev/null)"
soon "nothing is left" 0 field windows
finish
