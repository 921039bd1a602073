// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a chunk's code run?
 *
 * Only instructions of the table below may. Their order must leave every register, the flags
 * (where the sender asked to keep them) and the stack as they were. That is a small machine: each
 * row leads from one state to another; a chunk must start and end in the state CLEAN. What is
 * stored goes to a per-CPU counter or a global variable that the session owns. From the states the
 * linker learns where the stack is deeper, for the unwinder's rows.
 *
 * Not checked: that the flags are dead where a bare counter stands. The sender knows; if it is
 * wrong, the instrumented function goes wrong.
 */
#include <linux/bits.h>
#include <linux/string.h>

#include "ki.h"

enum ki_vet_state {
	CLEAN,	 /* nothing is changed */
	PUSHED,	 /* %rax is on the stack */
	HALF,	 /* and %ah has all flags but OF */
	KEPT,	 /* and %al has OF: all flags are kept */
	ADDED,	 /* OF stands again */
	RESTORED /* all flags stand again */
};

static const struct {
	u8 len;
	u8 code[5];
	u8 from, to;
	u8 field; /* enum ki_fixup_kind of the disp32 that follows; KI_FIX_NONE: none does */
	u8 tail;  /* bytes after that, each of them 1 */
} ki_vet_rows[] = {
	{5, {0x65, 0x48, 0xff, 0x04, 0x25}, CLEAN, CLEAN, KI_FIX_PERCPU}, /* incq %gs:counter */
	{4, {0xf0, 0x48, 0xff, 0x05}, CLEAN, CLEAN, KI_FIX_GLOBAL},	/* lock incq global(%rip) */
	{2, {0xc6, 0x05}, CLEAN, CLEAN, KI_FIX_GLOBAL, 1},		/* movb $1, byte(%rip) */
	{1, {0x50}, CLEAN, PUSHED},					/* push %rax */
	{1, {0x9f}, PUSHED, HALF},					/* lahf */
	{3, {0x0f, 0x90, 0xc0}, HALF, KEPT},				/* seto %al */
	{5, {0x65, 0x48, 0xff, 0x04, 0x25}, KEPT, KEPT, KI_FIX_PERCPU}, /* incq %gs:counter */
	{4, {0xf0, 0x48, 0xff, 0x05}, KEPT, KEPT, KI_FIX_GLOBAL},	/* lock incq global(%rip) */
	{2, {0x04, 0x7f}, KEPT, ADDED},					/* add $127, %al */
	{1, {0x9e}, ADDED, RESTORED},					/* sahf */
	{1, {0x58}, RESTORED, CLEAN},					/* pop %rax */
};

static u32 size_of(int row)
{
	return ki_vet_rows[row].len + (ki_vet_rows[row].field ? 4 : 0) + ki_vet_rows[row].tail;
}

static int find_row(const struct ki_chunk *c, u32 at, u8 state)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ki_vet_rows); i++) {
		if (ki_vet_rows[i].from == state && at + size_of(i) <= c->len &&
		    !memcmp(c->code + at, ki_vet_rows[i].code, ki_vet_rows[i].len) &&
		    (!ki_vet_rows[i].tail || c->code[at + size_of(i) - 1] == 1))
			return i;
	}
	return -1;
}

/* A byte of a variable: its number in the word is in the upper half. */
static bool owns_global(const struct ki_session *s, u64 target, bool byte)
{
	u32 in_word = target >> 32;

	return (byte ? in_word < sizeof(u64) : !in_word) && ki_globals_own(s, (u32)target, 1);
}

/* The fixup of the field at `off`. */
static u16 vet_field(const struct ki_session *s, const struct ki_chunk *c, int row, u32 off,
		     u32 *seen)
{
	const struct ki_fixup *f;
	bool own;

	if (*seen >= c->nfix)
		return KI_R_BAD_FIXUP;
	f = &c->fix[(*seen)++];
	if (f->kind != ki_vet_rows[row].field || f->off != off || f->tail != ki_vet_rows[row].tail)
		return KI_R_BAD_FIXUP;
	if (f->kind == KI_FIX_PERCPU)
		own = ki_counters_own(s, f->target, 1);
	else
		own = owns_global(s, f->target, f->tail);
	return own ? KI_R_OK : KI_R_NOT_YOUR_COUNTER;
}

/* A test's build runs whatever it is given: it shows which registers code does not need. */
#ifdef KI_TEST_ANY_CODE
static const bool ki_vet_any = true;
#else
static const bool ki_vet_any;
#endif

u16 ki_vet_chunk(const struct ki_session *s, const struct ki_chunk *c)
{
	u32 at = 0, seen = 0;
	u8 state = CLEAN;

	if (ki_vet_any && !c->nfix)
		return KI_R_OK;

	while (at < c->len) {
		int row = find_row(c, at, state);
		u16 reason;

		if (row < 0)
			return KI_R_BAD_CHUNK;
		if (ki_vet_rows[row].field) {
			reason = vet_field(s, c, row, at + ki_vet_rows[row].len, &seen);
			if (reason)
				return reason;
		}
		at += size_of(row);
		state = ki_vet_rows[row].to;
	}
	if (state != CLEAN)
		return KI_R_BAD_CHUNK;
	return seen == c->nfix ? KI_R_OK : KI_R_BAD_FIXUP;
}

/* Between PUSHED and RESTORED the word is on the stack. */
u64 ki_vet_pushed(const struct ki_chunk *c)
{
	u8 state = CLEAN;
	u64 pushed = 0;
	u32 at, next;
	int row;

	for (at = 0; at < c->len; at = next) {
		row = find_row(c, at, state);
		if (row < 0)
			return 0; /* a test's build */
		next = at + size_of(row);
		if (state != CLEAN)
			pushed |= GENMASK_ULL(next - 1, at);
		state = ki_vet_rows[row].to;
	}
	return pushed;
}
