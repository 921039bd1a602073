// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
char *s; this uint8_t *t;
struct from { int n; char c; }; struct to { int m; char d; };
translator struct to < struct from f > { m = ((struct from)f).n + 1; d = ((struct from)(struct from)f).c; };
struct from v, w; struct to out;
BEGIN { s = probeprov; printf("%c%c %d %s\n", s[0], s[5], s[6], stringof(s)); }
BEGIN { x = "abc"; s = x; s[1] = 'X'; printf("%s %s\n", x, stringof(s)); }
BEGIN { this->t = strjoin("a", "\xff"); printf("%d %d %d\n", this->t[0], this->t[1], this->t[2]); }
BEGIN { v.n = 6; v.c = 'q'; printf("%d %c\n", ((struct from)v).n, ((struct from)v).c); w = (struct from)v; printf("%d %c\n", w.n, w.c); }
BEGIN { out.m = xlate<struct to>(v).m; out.d = xlate<struct to>(v).d; printf("%d %c\n", out.m, out.d); exit(0); }
