// SPDX-License-Identifier: GPL-2.0-only
/*
 * returns [DEPTH...]: what the form of a displaced call costs where functions return. It needs no
 * kernel of ours: the code is made here, in a process, with the bytes that patches have.
 *
 * A processor remembers where calls came from, and takes it for granted that returns go there, the
 * last first. A patch that pushes a return address and jumps has called nobody: the return takes
 * the entry of the call before, and so does each outer return after it.
 *
 * A chain of functions call each other, DEPTH deep, over and over. Each is an instruction of five
 * bytes, a call and a return; in the innermost ("one"), in each fourth from there ("fourth"), or in
 * all ("all"), that instruction is a springboard to a patch, which has its copy and then, by the
 * form:
 *
 *	plain		(no springboard: what the others are compared with)
 *	stays		jmp to the call, which is executed in its place
 *	push		push $return; jmp callee
 *	balanced	call over a byte; movq $return, (%rsp); jmp callee
 *
 * Ticks of the time stamp counter for a round of the chain, the least of many runs that take turns.
 * Fails if, of a deep chain with one displaced call or each fourth, stays or balanced is no less
 * than push.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

#define ROUNDS	2000
#define RUNS	400
#define DEEPEST 64
#define EACH	64 /* bytes of a function, or of a patch */
#define SPACE	(EACH * (DEEPEST + 2))

enum form { PLAIN, STAYS, PUSH, BALANCED, FORMS };

static const char *const names[FORMS] = {"plain", "stays", "push", "balanced"};

/* One in how many functions has a displaced call. */
static const struct {
	const char *name;
	int step;
} shares[] = {{"one", DEEPEST}, {"fourth", 4}, {"all", 1}};

static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/* Functions and patches of one form, in pages of their own. */
struct chain {
	uint8_t *text, *patches;
	uint64_t least; /* ticks of a run */
};

static uint8_t *put(uint8_t *p, const void *bytes, size_t n)
{
	memcpy(p, bytes, n);
	return p + n;
}

static uint8_t *put_branch(uint8_t *p, uint8_t opcode, const uint8_t *target)
{
	int32_t disp = (int32_t)(target - (p + 5));

	*p++ = opcode;
	return put(p, &disp, 4);
}

/* A 32-bit field with an address: everything lies below 2 GiB, as the kernel does from above. */
static uint8_t *put_addr(uint8_t *p, const uint8_t *addr)
{
	int32_t field = (int32_t)(uintptr_t)addr;

	return put(p, &field, 4);
}

static void put_patch(uint8_t *p, enum form form, const uint8_t *call, const uint8_t *callee)
{
	static const uint8_t over[] = {0xe8, 1, 0, 0, 0, 0xcc}, store[] = {0x48, 0xc7, 0x04, 0x24};

	p = put(p, nop5, sizeof(nop5));
	if (form == STAYS) {
		put_branch(p, 0xe9, call);
		return;
	}
	if (form == PUSH) {
		*p++ = 0x68;
	} else {
		p = put(p, over, sizeof(over));
		p = put(p, store, sizeof(store));
	}
	p = put_addr(p, call + 5);
	put_branch(p, 0xe9, callee);
}

/* Function number i of the chain, of which the last only returns. */
static void put_function(struct chain *c, int i, enum form form, bool last)
{
	uint8_t *p = c->text + i * EACH, *patch = c->patches + i * EACH, *next = p + EACH, *call;

	if (form == PLAIN || last)
		p = put(p, nop5, sizeof(nop5));
	else
		p = put_branch(p, 0xe9, patch);
	call = p;
	if (!last) {
		p = put_branch(p, 0xe8, next);
		put_patch(patch, form, call, next);
	}
	*p = 0xc3;
}

static int make(struct chain *c, enum form form, int depth, int step)
{
	uint8_t *v = mmap(NULL, 2 * SPACE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (v == MAP_FAILED)
		return -1;
	*c = (struct chain){.text = v, .patches = v + SPACE, .least = UINT64_MAX};
	memset(v, 0xcc, 2 * SPACE);
	for (int i = 0; i <= depth; i++)
		put_function(c, i, (depth - 1 - i) % step ? PLAIN : form, i == depth);
	return mprotect(v, 2 * SPACE, PROT_READ | PROT_EXEC);
}

static void run(struct chain *c)
{
	uint64_t start = __rdtsc(), ticks;

	for (int i = 0; i < ROUNDS; i++)
		__asm__ volatile("call *%0" : : "r"(c->text) : "memory", "cc");
	ticks = __rdtsc() - start;
	if (ticks < c->least)
		c->least = ticks;
}

/* Of deep chains with few displaced calls: stays and balanced must cost less than push. */
static int measure(int depth, size_t share)
{
	struct chain c[FORMS];

	for (int f = 0; f < FORMS; f++)
		if (make(&c[f], (enum form)f, depth, shares[share].step)) {
			perror("returns");
			return 1;
		}
	for (int i = 0; i < RUNS; i++)
		for (int f = 0; f < FORMS; f++)
			run(&c[f]);
	printf("%5d  %-9s", depth, shares[share].name);
	for (int f = 0; f < FORMS; f++) {
		printf("  %8.1f", (double)c[f].least / ROUNDS);
		munmap(c[f].text, 2 * SPACE);
	}
	for (int f = STAYS; f < FORMS; f++)
		printf("  %8.2f", (double)c[f].least / (double)c[PLAIN].least);
	printf("\n");
	return shares[share].step > 1 && depth >= 4 &&
	       (c[STAYS].least >= c[PUSH].least || c[BALANCED].least >= c[PUSH].least);
}

static void print_processor(void)
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10)) {
			printf("#%s", strchr(line, ':') + 1);
			break;
		}
	if (f)
		fclose(f);
}

static void print_head(void)
{
	printf("depth  displaced");
	for (int f = 0; f < FORMS; f++)
		printf("  %8.8s", names[f]);
	for (int f = STAYS; f < FORMS; f++)
		printf("  %8.8s", names[f]);
	printf("\n                      ticks a round                             times plain\n");
}

int main(int argc, char **argv)
{
	static const int usual[] = {1, 4, 12};
	int n = argc > 1 ? argc - 1 : 3, failed = 0;

	print_processor();
	print_head();
	for (int i = 0; i < n; i++) {
		int depth = argc > 1 ? atoi(argv[i + 1]) : usual[i];

		if (depth < 1 || depth > DEEPEST) {
			fprintf(stderr, "usage: returns [DEPTH...], each 1 to %d\n", DEEPEST);
			return 2;
		}
		for (size_t share = 0; share < sizeof(shares) / sizeof(*shares); share++)
			failed |= measure(depth, share);
	}
	return failed;
}
