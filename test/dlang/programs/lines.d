// SPDX-License-Identifier: GPL-2.0-only
BEGIN { trace((char)1); trace((short)2); trace(3); trace(4L); trace("str"); trace((unsigned)5); trace((unsigned long)6); }
BEGIN { printf("hello"); printf(" %d", 1); }
BEGIN { @a["x"] = count(); @b = sum(5); printa(@a); printa("%s %@d\n", @a); trunc(@a); trunc(@b); }
BEGIN { }
BEGIN { this->d = alloca(20); bcopy("hello world", this->d, 12); tracemem(this->d, 18); exit(0); }
