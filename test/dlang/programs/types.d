// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
struct s { char a; int b; long c; short d:3; short e:5; };
union u { int a; char b[7]; };
typedef struct s st;
struct b { int a:3; unsigned int b:5; int c:8; };
struct b v;
union w { int i; char c[4]; };
union w w;
enum color { RED, GREEN = 5, BLUE };
enum color c;
typedef int number;
number m;
typedef struct pt { int x; } pt_t;
pt_t p;
int a[5];
struct pair { int x; int y; };
struct pair q;
struct pair r[3];
inline int X = 5 + 2;
inline string S = "hey";
inline int add[int a, int b] = a + b;
struct in { int a; };
struct out { int x; string s; };
translator struct out < struct in *p > { x = p->a * 2; s = "t"; };
BEGIN { printf("%d %d %d %d\n", sizeof (struct s), sizeof (union u), sizeof (st), sizeof (st *)); }
BEGIN { printf("%d %d %d %d %d\n", sizeof (char), sizeof (short), sizeof (int), sizeof (long), sizeof (long long)); }
BEGIN { printf("%d %d %d %d %d\n", sizeof (1), sizeof (1L), sizeof (1ULL), sizeof ('a'), sizeof (2147483648)); }
BEGIN { printf("%d %d %d\n", offsetof(struct s, b), offsetof(struct s, c), sizeof (((struct s *)0)->c)); }
BEGIN { printf("%d %d %d %d\n", sizeof (float), sizeof (double), sizeof (long double), sizeof (string)); }
BEGIN { v.a = 3; v.b = 31; v.c = -1; printf("%d %d %d", v.a, v.b, v.c); v.a = 7; printf(" %d %d\n", v.a, sizeof (struct b)); }
BEGIN { w.i = 0x41424344; printf("%c%c%c%c\n", w.c[0], w.c[1], w.c[2], w.c[3]); }
BEGIN { c = BLUE; printf("%d %d %d %d %d\n", RED, GREEN, BLUE, c, c == BLUE); }
BEGIN { m = 7; p.x = 3; printf("%d %d\n", m, p.x); }
BEGIN { a[0] = 1; a[4] = 9; q.x = 4; q.y = 5; r[1].y = 8; printf("%d %d %d %d %d %d %d\n", a[0], a[4], a[2], q.x, q.y, r[1].y, r[2].x); }
BEGIN { printf("%d %s %d\n", X, S, add[2, 3]); }
BEGIN { this->p = (struct in *)alloca(sizeof (struct in)); this->p->a = 21; printf("%d %s\n", (xlate <struct out> (this->p)).x, (xlate <struct out *> (this->p))->s); }
BEGIN { exit(0); }
