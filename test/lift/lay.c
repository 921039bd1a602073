// SPDX-License-Identifier: GPL-2.0-only
#include "lay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common_link.h"
#include "kerninst/err.h"
#include "splice/plan.h"

#define AROUND 160 /* bytes, that a jump of two bytes reaches */

static uint8_t *at(uint64_t addr)
{
	return (uint8_t *)(uintptr_t)addr; // NOLINT
}

static void write_board(const struct ki_window *w, const uint8_t *to, lay_trap *trap)
{
	if (w->flags & KI_WINDOW_UNBOARDED)
		return;
	if (w->board == KI_BOARD_JMP) {
		link_jump(at(w->addr), (uintptr_t)to);
	} else if (w->board == KI_BOARD_BOUNCE) {
		*at(w->addr) = 0xeb;
		*at(w->addr + 1) = (uint8_t)(w->bounce - (w->addr + 2));
		link_jump(at(w->bounce), (uintptr_t)to);
	} else {
		*at(w->addr) = 0xcc;
		trap(w->addr, (uintptr_t)to);
	}
}

static void protect(const struct lay_text *t, int prot)
{
	uint64_t first = t->start & ~(uint64_t)(LIFT_PAGE - 1);

	if (mprotect(at(first), t->start + t->len - first, prot))
		abort();
}

/* Bounces may stand in the padding around it. */
static int keep_text(struct laid *v, const struct ki_function *fn)
{
	struct lay_text *t = &v->texts[v->ntexts];

	t->start = fn->start - AROUND;
	t->len = fn->end - fn->start + 2 * (size_t)AROUND;
	t->bytes = malloc(t->len);
	if (!t->bytes)
		return -1;
	memcpy(t->bytes, at(t->start), t->len);
	v->ntexts++;
	return 0;
}

static int keep_texts(struct laid *v, const struct ki_layout *l, size_t n)
{
	v->texts = calloc(n, sizeof(*v->texts));
	for (size_t i = 0; v->texts && i < n; i++)
		if (keep_text(v, l[i].fn))
			return -1;
	return v->texts ? 0 : -1;
}

static void tell_starts(const struct ki_layout *l, size_t n)
{
	size_t most = sizeof(linker_starts) / sizeof(*linker_starts) - 1;

	memset(linker_starts, 0, sizeof(linker_starts));
	for (size_t i = 0; n > 1 && i < n && i < most; i++)
		linker_starts[i] = l[i].fn->start;
}

/* ---- static branches: the kernel's own table ---- */

static const struct jump_row {
	int32_t code, target; /* as all, from where it stands */
	int64_t key;	      /* bit 0: taken while it is off */
} * rows, *rows_end;

static void find_branch(unsigned long addr, unsigned long *key, bool *off)
{
	for (const struct jump_row *r = rows; r < rows_end; r++) {
		if ((uintptr_t)&r->code + (uintptr_t)(intptr_t)r->code != addr)
			continue;
		*key = (uintptr_t)&r->key + (uintptr_t)(r->key & ~(int64_t)3);
		*off = r->key & 1;
		return;
	}
	abort();
}

void lay_branches(uint64_t start, uint64_t end)
{
	rows = (const struct jump_row *)(uintptr_t)start;   // NOLINT
	rows_end = (const struct jump_row *)(uintptr_t)end; // NOLINT
	linker_branch = find_branch;
}

/* ---- static calls: as they were built, they call the trampoline ---- */

static unsigned long find_trampoline(unsigned long addr)
{
	static const uint8_t call = 0xe8, mark[] = {0x0f, 0xb9, 0xcc};
	const uint8_t *code = at(addr);
	int32_t rel;

	memcpy(&rel, code + 1, sizeof(rel));
	if (*code != call || memcmp(code + 5 + rel + 5, mark, sizeof(mark)) != 0)
		abort();
	return (uintptr_t)code + 5 + (unsigned long)rel;
}

/* ---- */

unsigned int lay_in(struct laid *v, struct ki_layout *l, size_t n, uint8_t *patch, size_t room)
{
	struct ki_err err = {0};
	unsigned int reason;

	*v = (struct laid){.patch = patch};
	if (ki_plan_new(&v->plan))
		return KI_R_HEAP_FULL;
	if (ki_plan_lay_out(v->plan, l, n, &err)) {
		lay_free(v);
		return err.reason ? err.reason : KI_R_HEAP_FULL;
	}
	for (size_t i = 0; i < v->plan->windows.n; i++)
		v->asks |= v->plan->windows.v[i].flags & KI_WINDOW_BRANCH;
	tell_starts(l, n);
	linker_trampoline = find_trampoline;
	v->linked = linker_link(patch, v->plan->windows.v, (uint32_t)v->plan->windows.n,
				v->plan->copies.v, NULL, 0);
	reason = v->linked.reason;
	if (!reason && (v->linked.len > room || keep_texts(v, l, n)))
		reason = KI_R_HEAP_FULL;
	if (reason)
		lay_free(v);
	return reason;
}

/* All text comes back first: a bounce may stand in the padding of another. */
void lay_switch(struct laid *v, bool on, lay_trap *trap)
{
	for (size_t i = 0; i < v->ntexts; i++) {
		protect(&v->texts[i], PROT_READ | PROT_WRITE | PROT_EXEC);
		memcpy(at(v->texts[i].start), v->texts[i].bytes, v->texts[i].len);
	}
	for (size_t i = 0; on && i < v->plan->windows.n; i++)
		write_board(&v->plan->windows.v[i], v->patch + v->linked.at[i], trap);
	for (size_t i = 0; i < v->ntexts; i++)
		protect(&v->texts[i], PROT_READ | PROT_EXEC);
}

void lay_free(struct laid *v)
{
	lay_switch(v, false, NULL);
	for (size_t i = 0; i < v->ntexts; i++)
		free(v->texts[i].bytes);
	free(v->texts);
	free(v->linked.at);
	free(v->linked.to);
	ki_plan_free(v->plan);
	*v = (struct laid){0};
}

/* Where the windows begin that have that byte of the patch: one has it, and those before it which
   a layout has left without a byte. */
static uint64_t start_of(const struct laid *v, uint64_t off)
{
	uint64_t start = 0;

	for (uint32_t i = 0; i < v->plan->windows.n; i++)
		if (v->linked.at[i] <= off && v->linked.at[i] > start)
			start = v->linked.at[i];
	return start;
}

/* The instruction of a window that has a byte, or the end of its last one; and what is after. */
static uint64_t insn_at(const struct laid *v, const struct ki_window *w, uint64_t off,
			uint64_t *behind)
{
	uint64_t addr = w->addr;

	*behind = 0;
	for (uint32_t i = 0; i < w->ncopy; i++) {
		const struct ki_copy *c = &v->plan->copies.v[w->first_copy + i];

		*behind = addr + c->orig_len;
		if (off < (uint64_t)c->len + (w->flags & KI_WINDOW_BRANCH ? LINKER_ASKS : 0))
			break;
		off -= c->len;
		addr = *behind;
	}
	return addr;
}

static bool found(const struct laid *v, uint64_t off, uint64_t text, bool before)
{
	uint64_t start = start_of(v, off), behind;

	for (uint32_t i = 0; i < v->plan->windows.n; i++) {
		uint64_t addr;

		if (v->linked.at[i] != start)
			continue;
		addr = insn_at(v, &v->plan->windows.v[i], off - start, &behind);
		if ((before ? behind : addr) == text)
			return true;
	}
	return false;
}

uint64_t lay_entry(const struct laid *v)
{
	uint64_t start = v->texts[0].start + AROUND;

	for (uint32_t i = 0; i < v->plan->windows.n; i++)
		if (v->plan->windows.v[i].addr == start || v->plan->windows.v[i].addr == start + 5)
			return (uintptr_t)v->patch + v->linked.at[i];
	return 0;
}

bool lay_stands_for(const struct laid *v, uint64_t addr, uint64_t text)
{
	uint64_t off = addr - (uintptr_t)v->patch;

	if (!v->plan || off > v->linked.len)
		return false;
	return found(v, off, text, false) || (off && found(v, off - 1, text, true));
}
