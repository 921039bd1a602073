// SPDX-License-Identifier: GPL-2.0-only
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../plugin/states.h"

#define TASK 8192 /* bytes; after them stand blocks */
#define GAP  2	  /* blocks, of what the state was filled with, after those that stand together */

_Static_assert(TASK + STATE_BLOCKS * (1 + GAP) * STATE_BLOCK <= CALL_MEMORY, "they have room");
_Static_assert((int)STATE_REGS == (int)EXEC_REGS, "the same registers");

static struct state *states; /* by entry, which is where that is now; blocks by address */
static size_t nstates;
static const struct lift *lifted;
static uint64_t slots[STATE_BLOCKS]; /* of the one that is put: where its blocks are */

static int by_entry(const void *a, const void *b)
{
	const struct state *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int by_addr(const void *a, const void *b)
{
	const struct state_block *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool read_one(FILE *f, struct state *s)
{
	if (fread(s, offsetof(struct state, blocks), 1, f) != 1 || s->nblocks > STATE_BLOCKS ||
	    fread(s->blocks, sizeof(*s->blocks), s->nblocks, f) != s->nblocks)
		return false;
	s->entry = lift_moved(lifted, s->entry);
	qsort(s->blocks, s->nblocks, sizeof(*s->blocks), by_addr);
	return s->entry;
}

int recorded_open(const char *path, const struct lift *l)
{
	FILE *f = fopen(path, "re");
	int c = EOF;

	lifted = l;
	while (f && (c = getc(f)) != EOF) {
		ungetc(c, f);
		if (!(nstates & (nstates + 1)))
			states = realloc(states, 2 * (nstates + 1) * sizeof(*states));
		if (!states || !read_one(f, &states[nstates]))
			break;
		nstates++;
	}
	if (!f || c != EOF || !nstates) {
		fprintf(stderr, "%s: no states that functions were called in\n", path);
		return -1;
	}
	fclose(f);
	qsort(states, nstates, sizeof(*states), by_entry);
	return 0;
}

size_t recorded_all(void)
{
	return nstates;
}

/* The first one of a function, or of those after it. */
static size_t first(uint64_t entry)
{
	size_t low = 0, high = nstates;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (states[mid].entry < entry)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t recorded_count(uint64_t entry)
{
	return first(entry + 1) - first(entry);
}

static uint64_t translate(const struct state *r, uint64_t word)
{
	uint64_t moved = lift_moved(lifted, word);

	if (moved)
		return moved;
	if (!state_is_memory(word))
		return word;
	for (size_t i = 0; i < r->nblocks; i++)
		if (word - r->blocks[i].addr < STATE_BLOCK)
			return slots[i] + (word - r->blocks[i].addr);
	return call_memory() + word % TASK;
}

void recorded_put(uint64_t entry, size_t k, struct call_state *s)
{
	const struct state *r = &states[first(entry) + k];
	uint64_t at = call_memory() + TASK;

	for (size_t i = 0; i < r->nblocks; i++) {
		if (i && r->blocks[i].addr != r->blocks[i - 1].addr + STATE_BLOCK)
			at += (uint64_t)GAP * STATE_BLOCK;
		slots[i] = at;
		at += STATE_BLOCK;
	}
	for (size_t i = 0; i < r->nblocks; i++)
		for (size_t w = 0; w < STATE_BLOCK / 8; w++)
			s->memory[(slots[i] - call_memory()) / 8 + w] =
				translate(r, r->blocks[i].words[w]);
	for (int i = 0; i < EXEC_REGS; i++)
		s->cpu.r[i] = translate(r, r->regs[i]);
	s->cpu.flags = (r->flags & EXEC_FLAGS) | 2;
}
