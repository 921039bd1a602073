// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
int g; string t; int d[int]; self int si; this int ti;
BEGIN { printf("%d [%s] %d %d %d\n", g, t, d[5], self->si, this->ti); }
BEGIN { self->x = 5; self->s = "str"; self->a[1, "k"] = 7; this->x = 6; this->s = "abc"; }
BEGIN { printf("%d %s %d %d %d %s\n", self->x, self->s, self->a[1, "k"], self->a[2, "k"], this->x, this->s); self->x = 0; self->s = 0; }
BEGIN { printf("%d\n", self->x); }
BEGIN { printf("never [%s]\n", self->s); }
BEGIN { a["x", 1] = 5; a["y", 2] = 6; a["x", 1]++; b[1, 2, 3] = "s"; printf("%d %d %d [%s]\n", a["x", 1], a["y", 2], a["z", 0], b[1, 2, 3]); a["x", 1] = 0; printf("%d\n", a["x", 1]); }
BEGIN { printf("never [%s]\n", b[0, 0, 0]); }
BEGIN { a["y", 2] += 4; a["n", 1] -= 1; a["y", 2] *= 3; printf("%d %d\n", a["y", 2], a["n", 1]); }
BEGIN { printf("%s [%s] [%s] %s %s\n", probeprov, probemod, probefunc, probename, execname); }
BEGIN { printf("%d %d %d\n", pid == $pid, tid > 0, ppid == $ppid); }
BEGIN { printf("%d %d %d %d\n", timestamp > 0, walltimestamp > 1000000000, vtimestamp >= 0, cpu >= 0); }
BEGIN { printf("%d %d %d %d %d\n", uid == $uid, gid == $gid, errno, id, ipl); }
BEGIN { printf("%d [%s] %d %d %d\n", curcpu->cpu_id == cpu, curpsinfo->pr_fname, arg0, arg1, arg9); }
BEGIN { printf("%d %d %d %d\n", caller == 0, stackdepth, progenyof($pid), progenyof(999999)); }
BEGIN /0/ { printf("never\n"); }
BEGIN /pid && execname == "kdtrace"/ { printf("yes\n"); exit(0); }
