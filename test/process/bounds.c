// SPDX-License-Identifier: GPL-2.0-only
/*
 * A signal at each boundary of instructions: while work() runs the processor traps after each one,
 * and the handler calls the same functions again. So signals come at each instruction of what has
 * been put in their place, too.
 *
 * usage: bounds; reads a number of rounds, and prints: the sum of what work() said, how often a
 * handler got something else, how often step() was called, and how many boundaries there were
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TF 0x100

__attribute__((noinline, noipa)) uint64_t step(uint64_t a, uint64_t b)
{
	if (a & 1)
		return a * 3 + (b ^ 5);
	return a / 2 + b;
}

/* Flags of an instruction are asked for after calls and branches. */
__attribute__((noinline, noipa)) uint64_t work(uint64_t n)
{
	uint64_t sum = n;

	for (uint64_t i = 1; i < 8; i++) {
		sum += step(sum, i);
		switch (sum % 5) {
		case 0:
			sum ^= 0x55;
			break;
		case 1:
			sum = sum << 1 | sum >> 63;
			break;
		case 2:
			sum -= i;
			break;
		case 3:
			sum += __builtin_popcountll(sum);
			break;
		default:
			sum ^= sum >> 7;
		}
	}
	return sum;
}

static volatile uint64_t boundaries, others;
static uint64_t wanted;

static void on_trap(int sig)
{
	(void)sig;
	boundaries++;
	if (work(7) != wanted)
		others++;
}

static void set_steps(bool on)
{
	uint64_t flags = __builtin_ia32_readeflags_u64();

	__builtin_ia32_writeeflags_u64(on ? flags | TF : flags & ~(uint64_t)TF);
}

int main(void)
{
	struct sigaction sa;
	uint64_t rounds, sum = 0;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_trap;
	sigaction(SIGTRAP, &sa, NULL);
	puts("ready");
	fflush(stdout);
	while (scanf("%lu", &rounds) == 1) {
		boundaries = others = sum = 0;
		wanted = work(7);
		for (uint64_t i = 0; i < rounds; i++) {
			set_steps(true);
			sum += work(i);
			set_steps(false);
		}
		printf("%lu %lu %lu %lu\n", sum, others, 7 * (1 + rounds + boundaries), boundaries);
		fflush(stdout);
	}
	return 0;
}
