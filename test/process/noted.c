// SPDX-License-Identifier: GPL-2.0-only
/*
 * noted: a program with probes that are written into it as sys/usdt.h of DTrace does: a nop, and
 * notes that say where the arguments are, what types they have, and which of them are seen. For
 * each line of its input it works a round:
 *
 *	noted:pair	an int in memory and a text, of which text, number, number are seen: for
 *			each of 100 times that it has asked whether it is enabled, and heard yes
 *	noted:shy__one	seen are none of its arguments
 *	bare:plain	three arguments that no note has types of
 *
 * and prints how often it has heard yes. Of noted:pair the notes say that the function is another
 * one.
 */
#include <stdint.h>
#include <stdio.h>

#include "note.h"

static const char elsewhere[] __attribute__((used)) = "elsewhere";
static const char round_of_name[] __attribute__((used)) = "round_of";

__asm__(USDT_TYPES_BEGIN("noted", 2) "	.asciz \"pair\"\n"
				     "	.byte 2\n"
				     "	.asciz \"int\", \"char *\"\n"
				     "	.byte 3\n"
				     "	.asciz \"char *\"\n"
				     "	.byte 1\n"
				     "	.asciz \"int\"\n"
				     "	.byte 0\n"
				     "	.asciz \"uint8_t\"\n"
				     "	.byte 0\n"
				     "	.balign 4\n"
				     "	.asciz \"shy__one\"\n"
				     "	.byte 1\n"
				     "	.asciz \"int\"\n"
				     "	.byte 0\n" USDT_TYPES_END);

static unsigned int enabled;

static __attribute__((noinline, noclone)) void pair(int number)
{
	volatile int32_t in_memory = -number;
	const char name[] = {number & 1 ? 'o' : 'e', 0}; /* of a page that is there */
	int yes = 0;

	__asm__ volatile(USDT_OF("2", "elsewhere", "noted", "pair", "1", "8@%[at]")
			 :
			 : [at] "r"(&yes)
			 : "memory");
	if (!yes)
		return;
	enabled += (unsigned int)yes;
	__asm__ volatile(USDT_OF("1", "elsewhere", "noted", "pair", "2", "-4@%[memory] 8@%[name]")
			 :
			 : [memory] "m"(in_memory), [name] "r"(name), "m"(name));
}

static __attribute__((noinline, noclone)) void round_of(long n)
{
	for (int i = 0; i < 100; i++)
		pair(i);
	__asm__ volatile(USDT_OF("1", "round_of_name", "noted", "shy__one", "1", "-4@$5"));
	__asm__ volatile(USDT_OF("1", "round_of_name", "bare", "plain", "3", "8@%[n] -4@$-7 1@$200")
			 :
			 : [n] "r"(n));
}

int main(void)
{
	char line[16];

	for (long n = 1; fgets(line, sizeof(line), stdin); n++) {
		round_of(n);
		printf("%u\n", enabled);
		fflush(stdout);
	}
	return 0;
}
