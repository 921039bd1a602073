// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
int zero;
BEGIN { printf("lost\n"); printf("%d\n", 5 / zero); printf("never\n"); }
BEGIN { trace(5 % zero); }
BEGIN { trace(*(int *)0x10); }
BEGIN { this->p = (char *)alloca(10); this->p[70000] = 1; }
BEGIN { trace(copyinstr(0)); }
BEGIN { a = *(long *)0x28; }
BEGIN { trace(strtoll("1", zero + 1)); }
BEGIN { trace(lltostr(5, zero - 1)); }
BEGIN { trace(strtoll("1", 37)); }
BEGIN { printf("kept\n"); exit(0); }
ERROR { printf("%s: clause %d, kind %d\n", probename, arg2, arg4); }
