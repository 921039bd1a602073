// SPDX-License-Identifier: GPL-2.0-only
/*
 * written: a program with probes that are written into it, as sys/sdt.h does: a nop, and a note
 * that says where the arguments are. For each line of its input it works a round of 100 steps:
 *
 *	test:step	how far it is, an int: in memory; twice that, in a register; 7
 *	test:round-done	the round's number, and -1
 *	test:twice	once a round at each of two places: the number 1, and 2 in a register
 *	test:costly	only if its semaphore is not 0: a number that takes long to have
 *
 * and prints how often it has computed that number.
 */
#include <stdint.h>
#include <stdio.h>

#include "note.h"

#define NOTE(name, semaphore, args) NOTE_OF("test", name, semaphore, args)

uint16_t test_costly_semaphore __attribute__((section(".probes")));
static unsigned int computed;

static __attribute__((noinline)) void step(int32_t i)
{
	volatile int32_t in_memory = -i;
	long doubled = 2l * i;

	__asm__ volatile(NOTE("step", "0", "-4@%[memory] 8@%[reg] 4@$7")
			 :
			 : [memory] "m"(in_memory), [reg] "r"(doubled));
}

static __attribute__((noinline)) void done(unsigned int round)
{
	__asm__ volatile(NOTE("round__done", "0", "4@%k[round] -8@$-1") : : [round] "r"(round));
}

static __attribute__((noinline, noclone)) void twice(unsigned long n)
{
	__asm__ volatile(NOTE("twice", "0", "4@$1"));
	__asm__ volatile(NOTE("twice", "0", "8@%[n]") : : [n] "r"(n));
}

static __attribute__((noinline)) void costly(void)
{
	unsigned long value = 0;

	if (!*(volatile uint16_t *)&test_costly_semaphore)
		return;
	for (int i = 0; i < 1000; i++)
		value += (unsigned long)i;
	computed++;
	__asm__ volatile(NOTE("costly", "test_costly_semaphore", "8@%[value]")
			 :
			 : [value] "r"(value));
}

int main(void)
{
	char line[16];

	for (unsigned int round = 1; fgets(line, sizeof(line), stdin); round++) {
		for (int32_t i = 0; i < 100; i++) {
			step(i);
			costly();
		}
		done(round);
		twice(2);
		printf("%u\n", computed);
		fflush(stdout);
	}
	return 0;
}
