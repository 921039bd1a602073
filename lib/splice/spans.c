// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Windows of a function.
 *
 * In each block, over each run of instructions that may be displaced: take instructions until
 * there is room for a jump, close the window, begin the next. A call closes a window whatever
 * its size, because execution comes back after it: to an address that must stay the beginning
 * of something. What is then too short joins the window before it in the run, unless that ends
 * in a call; or, after an instruction that never falls through, takes filler bytes of int3 (in a
 * process of nops, too) that nothing executes: as many as a jump needs, or else as a short jump
 * does. A window joins, too, if its springboard would cover the call that it ends in: where that is
 * not covered, patches execute it in its place. Then each window gets its springboard, for which
 * windows may be joined (springboard_choice.c).
 *
 * An instruction that may fault (of the exception table) begins a window or lies after its jump:
 * a task may sleep in the fault, for as long as it likes, and comes back to just this place.
 *
 * Nothing but the function's bytes and blocks goes in, so everybody who looks finds the same.
 */
#include <errno.h>
#include <stdlib.h>

#include "splice/springboard_choice.h"
#include "util/steps.h"
#include "util/search.h"

struct finder {
	const struct ki_function *fn;
	struct ki_span *v; /* room for as many as there are instructions */
	size_t n;
	uint64_t reach;
};

static const uint8_t *bytes_of(const struct ki_function *fn, const struct ki_insn *in)
{
	return fn->bytes + (in->addr - fn->start);
}

static bool displaceable(const struct ki_function *fn, uint32_t i)
{
	const struct ki_insn *in = &fn->insns[i];

	return in->reason == KI_R_OK && ki_insn_relocates(in, bytes_of(fn, in));
}

static const struct ki_insn *last_of(const struct finder *f, const struct ki_span *s)
{
	return &f->fn->insns[s->first + s->count - 1];
}

static bool may_fault(const struct finder *f, uint32_t i)
{
	return f->fn->insns[i].flags & KI_INSN_EXTABLE;
}

static bool closed(const struct finder *f, const struct ki_span *s)
{
	return s->len >= KI_JMP_LEN || ki_insn_is_call(last_of(f, s));
}

/* The call that ends a window begins under its springboard. */
static bool covers_call(const struct finder *f, const struct ki_span *s)
{
	const struct ki_insn *last = last_of(f, s);

	return ki_insn_is_call(last) && last->addr - s->addr < KI_JMP_LEN;
}

static bool join(const struct finder *f, struct ki_span *prev, const struct ki_span *s)
{
	if (ki_insn_is_call(last_of(f, prev)) || prev->len + s->len > KI_WINDOW_MAX ||
	    prev->count + s->count > KI_WINDOW_INSNS)
		return false;
	if (prev->len < KI_JMP_LEN && may_fault(f, s->first))
		return false;
	prev->len += s->len;
	prev->count += s->count;
	return true;
}

/* In a process nops are, too: no driver has to find the same. */
static bool is_filler(const struct ki_function *fn, uint32_t i)
{
	const struct ki_insn *in = &fn->insns[i];

	if (ki_target_kind(fn->target) == KI_TARGET_PROCESS)
		return ki_insn_is_filler(fn, in);
	return in->kind == KI_INSN_PAD && !in->block_start && *bytes_of(fn, in) == 0xcc;
}

/* Reach the size of a springboard with bytes after the window that nothing executes. */
static void take_filler(const struct finder *f, struct ki_span *s)
{
	uint32_t i = s->first + s->count;
	unsigned int n = 0;

	if (!ki_insn_ends(last_of(f, s)))
		return;
	while (s->len + n < KI_JMP_LEN && i < f->fn->ninsns && is_filler(f->fn, i))
		n += f->fn->insns[i++].len;
	if (s->len + n >= KI_JMP_LEN)
		s->len = KI_JMP_LEN;
	else if (s->len + n >= KI_SHORT_LEN && s->len < KI_SHORT_LEN)
		s->len = KI_SHORT_LEN;
}

/* What begins here is too far from the first window to be asked for. */
static bool too_far(const struct finder *f, uint64_t addr)
{
	return f->reach && f->n && addr - (f->v[0].addr + f->v[0].len) >= f->reach;
}

/* The windows of the run that begins at instruction i; returns what follows the run. */
static uint32_t cut_run(struct finder *f, uint32_t i, uint32_t end)
{
	size_t run = f->n;

	while (i < end && displaceable(f->fn, i) && !too_far(f, f->fn->insns[i].addr)) {
		struct ki_span s = {.addr = f->fn->insns[i].addr, .first = i};

		do {
			s.len += f->fn->insns[i++].len;
			s.count++;
		} while (!closed(f, &s) && i < end && displaceable(f->fn, i) && !may_fault(f, i));
		if ((s.len < KI_JMP_LEN || covers_call(f, &s)) && f->n > run &&
		    join(f, &f->v[f->n - 1], &s))
			continue;
		if (s.len < KI_JMP_LEN)
			take_filler(f, &s);
		f->v[f->n++] = s;
	}
	return i;
}

int ki_spans_cut(const struct ki_function *fn, uint64_t reach, struct ki_spans *out)
{
	struct finder f = {.fn = fn, .reach = reach};

	*out = (struct ki_spans){0};
	if (fn->reason != KI_R_OK || !fn->ninsns)
		return 0;
	f.v = malloc(fn->ninsns * sizeof(*f.v));
	if (!f.v)
		return -ENOMEM;
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		uint32_t i = fn->blocks[b].first, end = i + fn->blocks[b].count;

		while (i < end && !too_far(&f, fn->insns[i].addr))
			i = displaceable(fn, i) ? cut_run(&f, i, end) : i + 1;
		if (i < end)
			break;
	}
	*out = (struct ki_spans){f.v, f.n};
	return 0;
}

int ki_spans_find(const struct ki_function *fn, struct ki_spans *out, struct ki_err *err)
{
	const uint64_t begun = ki_step_begin();

	if (ki_spans_cut(fn, 0, out) || ki_boards_assign(fn, out)) {
		ki_spans_free(out);
		return ki_err_set(err, -ENOMEM, fn->start, "windows: out of memory");
	}
	if (out->n)
		ki_step_end(KI_STEP_WINDOWS, begun, out->n);
	return 0;
}

void ki_spans_free(struct ki_spans *s)
{
	free(s->v);
	*s = (struct ki_spans){0};
}

const struct ki_span *ki_spans_at(const struct ki_spans *s, const struct ki_function *fn,
				  uint64_t addr)
{
	const struct ki_insn *in = ki_function_insn_at(fn, addr);
	size_t lo;
	uint32_t i;

	if (!in)
		return NULL;
	i = (uint32_t)(in - fn->insns);
	lo = KI_FIRST(k, s->n, s->v[k].first + s->v[k].count > i);
	return lo < s->n && s->v[lo].first <= i ? &s->v[lo] : NULL;
}

/*
 * Where a bounce is written into a host's tail, no task may be left in that tail: so the window
 * that bounces there waits, whenever it comes. The host, for itself, does not.
 */
bool ki_span_waits(const struct ki_span *s, const struct ki_function *fn)
{
	static const uint8_t written[KI_BOARD_KINDS] = {
		[KI_BOARD_JMP] = KI_JMP_LEN,
		[KI_BOARD_BOUNCE] = KI_SHORT_LEN,
		[KI_BOARD_TRAP] = 1,
	};

	return s->host != KI_NONE || (s->count > 1 && fn->insns[s->first].len < written[s->board]);
}

const struct ki_span *ki_span_of_call(const struct ki_function *fn, const struct ki_spans *spans,
				      uint64_t addr)
{
	const struct ki_insn *in = ki_function_insn_at(fn, addr);
	const struct ki_span *s = ki_spans_at(spans, fn, addr);
	uint64_t off = s ? addr - s->addr : 0;

	if (!s || s->board != KI_BOARD_JMP || in->len != KI_JMP_LEN || s->len != off + in->len ||
	    (off && off < KI_JMP_LEN) || (fn->bytes[addr - fn->start] & 0xfe) != 0xe8)
		return NULL;
	for (size_t i = 0; i < spans->n; i++)
		if (spans->v[i].host != KI_NONE && &spans->v[spans->v[i].host] == s)
			return NULL;
	return s;
}
