// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Laying code out. All branches begin short and those that do not reach are made wide, until
 * nothing changes: widening never makes another one reach, so there is an end, and it is the
 * shortest code.
 */
#include <errno.h>
#include <string.h>

#include "snippet/asm.h"

static uint8_t branch_len(const struct asm_insn *i)
{
	if (!i->wide)
		return 2;
	return i->branch == ASM_JMP ? 5 : 6;
}

/* Offsets; returns the length. */
static uint32_t place(struct code_list *a)
{
	uint32_t off = 0;

	for (size_t k = 0; k < a->insns.n; k++) {
		struct asm_insn *i = &a->insns.v[k];

		if (i->branch != ASM_NONE && !i->fix_kind)
			i->len = branch_len(i);
		i->off = off;
		off += i->len;
	}
	return off;
}

static uint32_t target_of(const struct code_list *a, const struct asm_insn *i, uint32_t end)
{
	uint32_t at = a->labels.v[i->label];

	return at < a->insns.n ? a->insns.v[at].off : end;
}

static bool widen(struct code_list *a, uint32_t end)
{
	bool changed = false;

	for (size_t k = 0; k < a->insns.n; k++) {
		struct asm_insn *i = &a->insns.v[k];

		if (i->branch == ASM_NONE || i->wide ||
		    target_of(a, i, end) - (i->off + i->len) <= INT8_MAX)
			continue;
		i->wide = changed = true;
	}
	return changed;
}

static void drop(struct asm_insn *i)
{
	i->branch = ASM_NONE;
	i->fix_kind = KI_FIX_NONE;
	i->len = 0;
}

/* What nothing leads to: after a condition that is constant. */
static void drop_unreached(struct code_list *a)
{
	bool falls = true;

	for (size_t k = 0; k < a->insns.n; k++) {
		struct asm_insn *i = &a->insns.v[k];

		falls |= i->reached;
		if (!falls) {
			drop(i);
			continue;
		}
		if (i->branch != ASM_NONE && a->labels.v[i->label] < a->insns.n)
			a->insns.v[a->labels.v[i->label]].reached = true;
		falls = i->branch != ASM_JMP;
	}
}

/* A jump to what follows anyway. */
static void drop_idle(struct code_list *a)
{
	for (size_t k = a->insns.n; k--;) {
		struct asm_insn *i = &a->insns.v[k];
		size_t to = k + 1;

		if (i->branch != ASM_JMP)
			continue;
		while (to < a->labels.v[i->label] && !a->insns.v[to].len &&
		       a->insns.v[to].branch == ASM_NONE)
			to++;
		if (to == a->labels.v[i->label])
			drop(i);
	}
}

static void put_branch(const struct asm_insn *i, uint8_t *to, uint32_t disp)
{
	bool jmp = i->branch == ASM_JMP;

	if (!i->wide) {
		to[0] = jmp ? 0xeb : (uint8_t)(0x70 | i->branch);
		to[1] = (uint8_t)disp;
		return;
	}
	if (!jmp)
		*to++ = 0x0f;
	to[0] = jmp ? 0xe9 : (uint8_t)(0x80 | i->branch);
	memcpy(to + 1, &disp, 4);
}

static void put_insn(struct ki_long_code *out, const struct code_list *a, const struct asm_insn *i)
{
	if (!out->nlines || out->lines[out->nlines - 1].line != i->line)
		out->lines[out->nlines++] = (struct ki_code_line){i->off, i->line};
	out->ninsns++;
	if (i->branch != ASM_NONE)
		put_branch(i, out->code + i->off, target_of(a, i, out->len) - (i->off + i->len));
	else
		memcpy(out->code + i->off, i->bytes, i->len);
	if (i->fix_kind)
		out->fix[out->nfix++] = (struct ki_fixup){.kind = i->fix_kind,
							  .tail = i->fix_tail,
							  .off = (uint32_t)(i->off + i->fix_off),
							  .target = i->fix_target};
}

void ki_long_code_free(struct ki_long_code *c)
{
	free(c->code);
	free(c->fix);
	free(c->lines);
	*c = (struct ki_long_code){0};
}

int ki_asm_finish(struct code_list *a, struct ki_long_code *out)
{
	size_t nfix = 0, n = a->insns.n + 1;

	*out = (struct ki_long_code){0};
	if (a->failed)
		return -ENOMEM;
	drop_unreached(a);
	drop_idle(a);
	do
		out->len = place(a);
	while (widen(a, out->len));
	for (size_t k = 0; k < a->insns.n; k++)
		nfix += a->insns.v[k].fix_kind != KI_FIX_NONE;
	if (out->len > KI_LONG_MAX || a->insns.n > KI_LONG_MAX || nfix > KI_LONG_FIXUPS)
		return -E2BIG;
	out->code = calloc(out->len + 1, 1);
	out->fix = calloc(nfix + 1, sizeof(*out->fix));
	out->lines = calloc(n, sizeof(*out->lines));
	if (!out->code || !out->fix || !out->lines) {
		ki_long_code_free(out);
		return -ENOMEM;
	}
	for (size_t k = 0; k < a->insns.n; k++)
		if (a->insns.v[k].len)
			put_insn(out, a, &a->insns.v[k]);
	return 0;
}
