// SPDX-License-Identifier: GPL-2.0-only
#include "state.h"

#include "recorded.h"

#define TEXTS 64

static const struct lift *lifted;
static uint64_t texts[TEXTS]; /* where functions begin */

uint64_t state_below(uint64_t n)
{
	return exec_random() % n;
}

static uint64_t pointer(void)
{
	return call_memory() + state_below(CALL_MEMORY / 8 - 256) * 8;
}

/* What kernel code finds in registers and memory, more or less. */
static uint64_t word(uint64_t entry)
{
	uint64_t at;

	switch (state_below(16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return 0;
	case 4:
	case 5:
	case 6:
		return state_below(64);
	case 7:
		return state_below(1 << 16);
	case 8:
		return exec_random();
	case 9:
		at = texts[state_below(TEXTS)];
		return at == entry ? 0 : at; /* its text has springboards */
	case 10:
		return lifted->data + state_below((lifted->data_end - lifted->data) / 8) * 8;
	case 11:
		return ~0ull - state_below(40);
	default:
		return pointer();
	}
}

static void make_random(uint64_t entry, struct call_state *s)
{
	for (size_t i = 0; i < CALL_MEMORY / 8; i++)
		s->memory[i] = word(entry);
	for (int i = 0; i < EXEC_REGS; i++)
		s->cpu.r[i] = word(entry);
	if (state_below(4))
		s->cpu.r[6] = pointer(); /* rdi */
	if (state_below(2))
		s->cpu.r[5] = pointer(); /* rsi */
	s->cpu.flags = (exec_random() & EXEC_FLAGS) | 2;
}

void state_init(const struct lift *l, const struct ki_symbol *const *fns, size_t n)
{
	lifted = l;
	for (size_t i = 0; i < TEXTS && n; i++)
		texts[i] = fns[state_below(n)]->addr;
}

static void change(uint64_t entry, struct call_state *s)
{
	for (uint64_t n = 1 + state_below(4); n; n--)
		if (state_below(2))
			s->cpu.r[state_below(EXEC_REGS)] = word(entry);
		else
			s->memory[state_below(CALL_MEMORY / 8)] = word(entry);
}

enum state_kind state_make(uint64_t entry, size_t nth, struct call_state *s)
{
	size_t n = recorded_all() ? recorded_count(entry) : 0;

	make_random(entry, s);
	if (nth < n) {
		recorded_put(entry, nth, s);
		return STATE_RECORDED;
	}
	if (!n || nth % 2)
		return STATE_RANDOM;
	recorded_put(entry, state_below(n), s);
	change(entry, s);
	return STATE_CHANGED;
}
