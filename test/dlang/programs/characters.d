// SPDX-License-Identifier: GPL-2.0-only
#pragma D option quiet
/* a */ // b
BEGIN /* c */ { /* d **/ printf("%d %d %d %d %d\n", '\n', '\t', '\0', '\\', '"'); // e
}
BEGIN { printf("%d %d %d %d\n", '\101', '\x41', 'ab', 'abcd'); }
BEGIN { printf("|\101\x42|\\n|\"|\q|\?|\'|\n"); }
BEGIN { printf("%d %d\n", '\'', '"\''); }
BEGIN { printf("[%s] [%s]\n", "ab\0cd", "\t"); }
BEGIN { printf("[%S][%C][%C][%S]\n", "a\tb\n\"q\"\\\001", 'a', '\n', "\x7f\x80\xff"); exit(0); }
