// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
#pragma D option nspec=2
BEGIN { self->i = speculation(); self->j = speculation(); printf("%d %d %d\n", self->i, self->j, speculation()); }
BEGIN { speculate(self->i); printf("later\n"); }
BEGIN { speculate(self->j); printf("never\n"); }
BEGIN { speculate(0); printf("none\n"); }
BEGIN { printf("first\n"); }
BEGIN { commit(self->i); }
BEGIN { discard(self->j); }
BEGIN { self->i = speculation(); printf("%d\n", self->i > 0); exit(0); }
END { printf("end\n"); }
