// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
short n[3]; char c[6]; char w[6]; char full[3]; int z[40];
struct pair { int a; char b; }; struct pair p;
struct one { int8_t x; }; struct one o;
struct deep { struct pair in; char text[4]; }; struct deep d;
BEGIN { n[0] = 0x6241; n[1] = 0x1043; n[2] = -1; trace(n); printf("\n"); }
BEGIN { c[0] = 'a'; c[1] = 'b'; c[4] = 'c'; trace(c); printf("\n"); }
BEGIN { w[0] = 'a'; w[1] = ' '; w[2] = 'b'; trace(w); printf("|\n"); }
BEGIN { full[0] = 'x'; full[1] = 'y'; full[2] = 'z'; trace(full); printf("|\n"); }
BEGIN { w[1] = 7; trace(w); printf("|\n"); w[1] = 5; trace(w); printf("|\n"); }
BEGIN { p.a = 0x102; p.b = 'q'; trace(p); printf("\n"); }
BEGIN { o.x = 'o'; trace(o); printf("|\n"); }
BEGIN { d.text[0] = 'd'; d.text[1] = 'e'; trace(d.text); printf("|\n"); trace(d); printf("\n"); }
BEGIN { z[0] = 1; z[39] = 2; trace(z); printf("\n"); }
BEGIN { this->m = (struct deep *)alloca(sizeof (struct deep)); this->m->text[2] = 'f'; trace(this->m->text); trace(*this->m); printf("\n"); }
BEGIN { setopt("rawbytes"); trace(full); printf("|\n"); exit(0); }
