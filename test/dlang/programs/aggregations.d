// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { @n = avg(-10); @n = avg(-5); @p = avg(3); @p = avg(4); printa("avg %@d\n", @n); printa("avg %@d\n", @p); }
BEGIN { @s = stddev(5000000000); @s = stddev(5000000100); @s = stddev(5000000200); @s = stddev(5000000300); printa("stddev %@d\n", @s); }
BEGIN { @t = stddev(-5); @t = stddev(5); printa("stddev %@d\n", @t); }
BEGIN { @a[1, "x"] = count(); @b[1, "x"] = sum(10); @c[1, "x"] = max(4); @c[2, "y"] = max(7); printa(@a, @b, @c); }
BEGIN { printa("%d %s %@d %@d %@d\n", @a, @b, @c); clear(@c); printa("%d %s %@d\n", @c); trunc(@a); trunc(@b); trunc(@c); }
BEGIN { @w["foo", 3] = sum(1234567); printa("[%-10s|%5d|%@12d]\n", @w); printa("%s %@x %@u %@o %@X\n", @w); printa("%@d\n", @w); printa("x\n", @w); printa("%@d %@d\n", @w); trunc(@w); }
BEGIN { @m = sum(100); normalize(@m, 10); printa("%@d\n", @m); denormalize(@m); printa("%@d\n", @m); normalize(@m, 3); printa("%@d\n", @m); }
BEGIN { @k[1] = sum(1); @k[2] = sum(2); @k[3] = sum(3); trunc(@k, 2); printa("k %d\n", @k); trunc(@k, -1); printa("k %d\n", @k); trunc(@k, 0); printa("never\n", @k); }
BEGIN { @mn = min(-5); @mn = min(3); @mx = max(-5); @mx = max(-7); @ct = count(); @ct = count(); printa("%@d", @mn); printa(" %@d", @mx); printa(" %@d\n", @ct); }
BEGIN { @u = sum(0xffffffffffffffff); @v = max(0xffffffffffffffff); @v = max(5); printa("%@d", @u); printa(" %@d\n", @v); }
BEGIN { @e[1, 2, 3, 4, 5, 6, 7, 8] = count(); printa(@e); trunc(@e); }
BEGIN { @y[(char)65, (short)2, (int)3, (long)4, "str", probename] = count(); printa(@y); trunc(@y); }
BEGIN { trunc(@n); trunc(@p); trunc(@s); trunc(@t); trunc(@m); trunc(@mn); trunc(@mx); trunc(@ct); trunc(@u); trunc(@v); exit(0); }
