// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
BEGIN { printf("[%5d][%-5d][%05d][%+d][% d][%-+5d]\n", 42, 42, 42, 42, 42, 42); }
BEGIN { printf("[%#x][%#o][%X][%x][%#X]\n", 255, 8, 255, -1, 255); }
BEGIN { printf("[%10s][%-10s][%.2s][%5.1s][%s]\n", "abc", "abc", "abc", "abc", ""); }
BEGIN { printf("[%c][%3c][%-3c]\n", 'a', 'b', 'c'); }
BEGIN { printf("[%5.3d][%.5d][%8.3x][%-8.3d]\n", 7, 7, 255, 7); }
BEGIN { printf("[%*d][%-*d][%.*s][%*.*d]\n", 6, 1, 6, 2, 2, "abcd", 6, 3, 9); }
BEGIN { printf("[%d][%u][%x][%o]\n", (char)-1, (char)-1, (char)-1, (char)-1); }
BEGIN { printf("[%d][%u][%x]\n", (short)-1, (short)-1, (short)-1); }
BEGIN { printf("[%d][%u][%x]\n", -1L, -1L, -1L); }
BEGIN { printf("[%i][%i][%d]\n", -3, 3u, 4294967295u); }
BEGIN { printf("[%p][%#p][%10p][%?x]\n", (void *)0x1234, (void *)0x1234, (void *)0x12, 18); }
BEGIN { printf("[%lc][%wc][%hd][%ld][%lld][%llu][%lx]\n", 'a', 'b', (short)1, 2L, 3LL, 4ULL, 5L); }
BEGIN { printf("%d%%|%%|%5s%%\n", 7, "a"); printf("a"); printf("b\tc\n"); printf("no arguments\n"); }
BEGIN { printf("%a|%-22a|%a\n", (uintptr_t)&`vfs_read + 4, &`vfs_read, (uintptr_t)1); exit(0); }
