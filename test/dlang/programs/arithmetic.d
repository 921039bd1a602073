// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { printf("%d %d %d %d %d\n", 1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3, 100 / 7, 100 % 7); }
BEGIN { printf("%d %d %d %d\n", -7 / 2, -7 % 2, 7 / -2, 7 % -2); }
BEGIN { printf("%x %x %x\n", 0xf0 & 0x3c, 0xf0 | 0x3c, 0xf0 ^ 0x3c); }
BEGIN { printf("%x %d %d %d\n", ~0, ~5, !5, !0); }
BEGIN { printf("%d %d %d\n", 1 << 4, -16 >> 2, 1 + 2 << 3); }
BEGIN { printf("%d %d %u %d\n", (char)200, (unsigned char)-1, (unsigned int)-1, (int)0xffffffff); }
BEGIN { printf("%d %d %d\n", (short)40000, (unsigned short)-2, 0x7fffffffffffffff + 1); }
BEGIN { printf("%d %d %d\n", 5 > 3, -1 > 0u, -1 > 0); }
BEGIN { i = 2147483647; i++; u = 1U; c = (char)127; c++; printf("%d %d %d\n", i, u - 2, c); }
BEGIN { printf("%d %d %d %d\n", 1 || 0 && 0, 1 | 2 ^ 3 & 4, 5 == 5 != 0, 10 > 5 == 1); }
BEGIN { x = 0; y = 0; r = (x++ && y++); printf("%d %d %d", r, x, y); r = (x++ || y++); printf(" %d %d %d", r, x, y); r = (x++ ^^ y++); printf(" %d %d %d\n", r, x, y); }
BEGIN { printf("%d %d %d %d\n", 1 ^^ 1, 1 ^^ 0, 0 ^^ 5, 0 ^^ 0); }
BEGIN { x = 10; x += 5; printf("%d ", x); x -= 3; printf("%d ", x); x *= 4; printf("%d ", x); x /= 5; printf("%d ", x); x %= 4; printf("%d ", x); x <<= 5; printf("%d ", x); x >>= 2; printf("%d ", x); x |= 3; printf("%d ", x); x &= 6; printf("%d ", x); x ^= 5; printf("%d\n", x); }
BEGIN { x = -16; x >>= 2; printf("%d ", x); x /= 3; printf("%d ", x); x %= 2; printf("%d ", x); x = -5; x *= -3; printf("%d\n", x); }
BEGIN { x = 7; printf("%d %d %d\n", x++, ++x, x--); printf("%d %d %d\n", -5 % 3, -(-5), - -5); }
BEGIN { x = (1, 2, 3); y = 5, z = 6; printf("%d %d %d\n", x, y, z); }
BEGIN { printf("%x %x %d %d\n", 1L << 40, 1LL << 63, -1L >> 63, 0xffffffffffffffff >> 60); }
BEGIN { x = 5; printf("%s %s %d %d\n", x > 3 ? "big" : "small", x > 10 ? "big" : x > 4 ? "mid" : "small", x ? 7 : 8, 0 ? 1 : 0 ? 2 : 3); }
BEGIN { printf("%d %d %d %d\n", 0x10, 010, 10u, 0XFF); printf("%d %d\n", 18446744073709551615, 9223372036854775807); }
BEGIN { printf("%u %d %d\n", 0xffffffff + 1, sizeof (0xffffffff), sizeof (4294967295)); }
BEGIN { printf("%d %d %d %d\n", +5, + -5, 'a' + 1, -'a'); exit(0); }
