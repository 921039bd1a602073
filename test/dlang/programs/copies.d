// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
char *s; this uint8_t *t;
BEGIN { s = probeprov; printf("%c%c %d %s\n", s[0], s[5], s[6], stringof(s)); }
BEGIN { x = "abc"; s = x; s[1] = 'X'; printf("%s %s\n", x, stringof(s)); }
BEGIN { this->t = strjoin("a", "\xff"); printf("%d %d %d\n", this->t[0], this->t[1], this->t[2]); exit(0); }
