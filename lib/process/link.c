/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Linking: what the driver does for the kernel, for a process.
 *
 * A patch is, for each displaced instruction, the chunks before it, its copy, the chunks behind it;
 * then a jump back. The copy of a branch with chunks on its taken side leads to these, which stand
 * behind the jump back and end in a jump to where the branch went. What is replaced ends its side's
 * chunks with a jump to the other function: what stands after that is for threads that are led
 * there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "process/edits.h"
#include "process/judge.h"
#include "process/tally.h"
#include "target/process.h"
#include "util/search.h"

#define JMP_LEN	  5
#define SHORT_LEN 2
#define NEAR	  (1ull << 30) /* windows this near to each other share an arena */
#define BESIDE	  (1ull << 28) /* a function so near to a window does not narrow where that can be */

/* A counter of each thread, for one that has no block: what leads there, and where it goes on. */
struct slow {
	size_t field, back;
	uint32_t counter;
};

/* An arena's code on its way; the first time it is only measured. */
struct out {
	const struct ki_linked *x;
	uint8_t *code; /* NULL: measure */
	uint64_t base; /* where it will stand in the process */
	uint64_t counters;
	uint64_t words; /* the routine for the words of threads */
	uint64_t take;	/* that for their blocks of counters */
	size_t len;
	uint64_t lo, hi; /* what must be reached */
	bool failed;	 /* something is not */
	ki_vec(struct slow) slow;
};

static void put(struct out *o, const void *bytes, size_t n)
{
	if (o->code)
		memcpy(o->code + o->len, bytes, n);
	o->len += n;
}

static void must_reach(struct out *o, uint64_t addr)
{
	o->lo = addr < o->lo ? addr : o->lo;
	o->hi = addr > o->hi ? addr : o->hi;
}

/* The 32-bit field at off, with `tail` bytes behind it, is to lead to target. */
static void set_field(struct out *o, size_t off, unsigned int tail, uint64_t target)
{
	int64_t distance = (int64_t)(target - (o->base + off + 4 + tail));
	int32_t field = (int32_t)distance;

	if (!o->code)
		return;
	if (field != distance)
		o->failed = true;
	memcpy(o->code + off, &field, 4);
}

static void put_jmp(struct out *o, uint64_t target)
{
	static const uint8_t jmp[JMP_LEN] = {0xe9};

	must_reach(o, target);
	put(o, jmp, sizeof(jmp));
	set_field(o, o->len - 4, 0, target);
}

static void fix(struct out *o, size_t at, const struct ki_fixup *f)
{
	int32_t abs = (int32_t)f->target;

	switch (f->kind) {
	case KI_FIX_REL32:
		must_reach(o, f->target);
		set_field(o, at + f->off, f->tail, f->target);
		break;
	case KI_FIX_ABS32:
		if (o->code)
			memcpy(o->code + at + f->off, &abs, 4);
		break;
	case KI_FIX_WORD:
		abs = 8 * (int32_t)f->target;
		if (o->code)
			memcpy(o->code + at + f->off, &abs, 4);
		break;
	case KI_FIX_SELF: /* KI_SELF_WORDS: judge.c */
		set_field(o, at + f->off, f->tail, o->words);
		break;
	case KI_FIX_GLOBAL:
		set_field(o, at + f->off, f->tail, o->counters + 8 * (f->target & UINT32_MAX));
		break;
	}
}

/* Number in x->chunks of the first one of a window. */
static size_t first_chunk(const struct ki_linked *x, uint32_t window)
{
	return KI_FIRST(i, x->chunks.n, x->plan->chunks.v[x->chunks.v[i]].c.window >= window);
}

static void set_counter(struct out *o, size_t off, uint32_t counter)
{
	set_field(o, off, 0, o->counters + 8 * (uint64_t)counter);
}

static void put_tally(struct out *o, uint64_t target)
{
	struct slow s = {.counter = (uint32_t)target};
	struct ki_tally_code code;
	const size_t at = o->len;

	ki_tally_code(&code, o->x, target & KI_TALLY_KEEP);
	put(o, code.code, code.len);
	set_counter(o, at + code.counter, s.counter);
	s.field = at + code.slow;
	s.back = at + code.back;
	if (ki_vec_push(&o->slow, s))
		o->failed = true;
}

/* lea counter(%rip), %rcx; call take; jmp back */
static void put_slow(struct out *o)
{
	static const uint8_t code[] = {0x48, 0x8d, 0x0d, 0,    0, 0, 0, 0xe8, 0,
				       0,    0,	   0,	 0xe9, 0, 0, 0, 0};

	for (size_t i = 0; i < o->slow.n; i++) {
		const struct slow *s = &o->slow.v[i];
		const size_t at = o->len;

		put(o, code, sizeof(code));
		set_field(o, s->field, 0, o->base + at);
		set_counter(o, at + 3, s->counter);
		set_field(o, at + 8, 0, o->take);
		set_field(o, at + 13, 0, o->base + s->back);
	}
	o->slow.n = 0;
}

static void put_chunk(struct out *o, const struct plan_chunk *c)
{
	const struct ki_plan *p = o->x->plan;
	const struct ki_long_code *code =
		c->c.kind == KI_CHUNK_LONG ? &p->codes.v[c->code].code : NULL;
	const struct ki_fixup *fixups = code ? code->fix : c->c.fix;
	const uint32_t nfix = code ? code->nfix : c->c.nfix;
	const size_t at = o->len;

	if (!code && nfix == 1 && o->x->blocks && fixups->kind == KI_FIX_GLOBAL &&
	    (fixups->target & KI_TALLY)) {
		put_tally(o, fixups->target);
		return;
	}
	put(o, code ? code->code : c->c.code, code ? code->len : c->c.len);
	for (uint32_t k = 0; k < nfix; k++)
		fix(o, at, &fixups[k]);
}

/* To a function of the same module by a distance; of another one, which may be anywhere, by its
   address: the jump is the same wherever the patch stands. */
static void put_replacement(struct out *o, uint64_t window, uint64_t target)
{
	static const uint8_t jmp_to_next_quad[] = {0xff, 0x25, 0, 0, 0, 0};

	if (target - window + BESIDE < 2 * BESIDE) {
		put_jmp(o, target);
		return;
	}
	put(o, jmp_to_next_quad, sizeof(jmp_to_next_quad));
	put(o, &target, sizeof(target));
}

/* The chunks at one side of an instruction, of several replacements the last; how many. */
static size_t put_chunks(struct out *o, uint32_t window, unsigned int insn, enum ki_where where)
{
	const struct ki_linked *x = o->x;
	const struct ki_chunk *replacement = NULL;
	size_t n = 0;

	for (size_t i = first_chunk(x, window); i < x->chunks.n; i++) {
		const struct plan_chunk *c = &x->plan->chunks.v[x->chunks.v[i]];

		if (c->c.window != window)
			break;
		if (c->c.insn != insn || c->c.where != where)
			continue;
		if (c->c.kind == KI_CHUNK_REPLACE)
			replacement = &c->c;
		else
			put_chunk(o, c);
		n++;
	}
	if (replacement)
		put_replacement(o, x->plan->windows.v[window].addr, replacement->target);
	return n;
}

/* Returns where its last field is: that of a branch. */
static size_t put_copy(struct out *o, const struct ki_copy *c)
{
	size_t at = o->len;

	put(o, c->code, c->len);
	for (unsigned int k = 0; k < c->nfix; k++)
		fix(o, at, &c->fix[k]);
	return o->len - 4;
}

static void put_taken(struct out *o, uint32_t window, unsigned int insn, const struct ki_copy *c,
		      size_t field)
{
	size_t at = o->len;

	if (!put_chunks(o, window, insn, KI_TAKEN))
		return;
	set_field(o, field, 0, o->base + at);
	put_jmp(o, c->fix[c->nfix - 1].target);
}

static void put_patch(struct out *o, uint32_t window, struct ki_patched *out)
{
	const struct ki_plan *p = o->x->plan;
	const struct ki_window *w = &p->windows.v[window];
	const struct ki_copy *copies = &p->copies.v[w->first_copy];
	size_t begin = o->len, fields[KI_WINDOW_INSNS];
	uint8_t off = 0;

	*out = (struct ki_patched){.addr = w->addr, .at = o->base + begin, .ninsns = w->ncopy};
	must_reach(o, w->addr);
	for (unsigned int i = 0; i < w->ncopy; i++) {
		out->off[i] = off;
		out->place[i] = (uint32_t)(o->len - begin);
		put_chunks(o, window, i, KI_BEFORE);
		fields[i] = put_copy(o, &copies[i]);
		put_chunks(o, window, i, KI_AFTER);
		off += copies[i].orig_len;
	}
	put_jmp(o, w->addr + off);
	for (unsigned int i = 0; i < w->ncopy; i++)
		put_taken(o, window, i, &copies[i], fields[i]);
	put_slow(o);
}

/* Each arena has its own, so that they are in reach. */
static void put_routines(struct out *o)
{
	const struct ki_linked *x = o->x;
	const struct ki_words_at words = {
		.code = o->base + o->len,
		.lost = o->counters + 8 * ki_linked_word(x, KI_WORD_LOST),
		.gate = o->counters + 8 * ki_linked_word(x, KI_WORD_GATE),
		.rows = x->rows,
		.words = x->words,
	};

	o->words = words.code;
	if (x->words)
		o->len += ki_words_routine(o->code ? o->code + o->len : NULL, &words);
	o->take = o->base + o->len;
	if (x->blocks)
		o->len += ki_tally_routine(o->code ? o->code + o->len : NULL, x);
}

static void put_arena(struct out *o, struct ki_arena *a, struct ki_patched *windows)
{
	put_routines(o);
	for (uint32_t i = a->from; i < a->to; i++)
		put_patch(o, o->x->order.v[i], &windows[i]);
	a->lo = o->lo;
	a->hi = o->hi;
	ki_vec_free(&o->slow);
}

static size_t whole_pages(uint64_t len)
{
	return (len + KI_PAGE - 1) & ~(KI_PAGE - 1);
}

/* Windows near each other, measured. */
static int cut_arenas(struct ki_linked *x)
{
	for (uint32_t from = 0, to; from < x->order.n; from = to) {
		struct out o = {.x = x, .lo = UINT64_MAX};
		uint64_t addr = x->plan->windows.v[x->order.v[from]].addr;
		struct ki_arena a = {.from = from};

		for (to = from; to < x->order.n; to++)
			if (x->plan->windows.v[x->order.v[to]].addr - addr > NEAR)
				break;
		a.to = to;
		put_arena(&o, &a, x->windows.v);
		a.len = whole_pages(o.len);
		if (ki_vec_push(&x->arenas, a))
			return -ENOMEM;
	}
	return 0;
}

/* Of words first, then of counters. */
static size_t words_len(const struct ki_linked *x)
{
	return x->words ? whole_pages((uint64_t)KI_PROCESS_ROWS << ki_process_row_shift(x->words))
			: 0;
}

static void place_rows(struct ki_linked *x, uint64_t at)
{
	if (x->words)
		x->rows = at;
	if (x->blocks)
		x->tally = at + words_len(x);
}

static int link_arena(struct ki_linked *x, struct ki_arena *a, const struct ki_mappings *maps,
		      struct ki_err *err)
{
	size_t len = x->counters_len + a->len + a->rows;
	struct out o = {.x = x, .lo = UINT64_MAX};

	a->base = ki_room_find(maps, x, a->lo, a->hi, len);
	if (!a->base)
		return ki_err_reason(err, KI_R_PROCESS_ROOM, a->lo, "0x%llx",
				     (unsigned long long)a->lo);
	if (a->rows)
		place_rows(x, a->base + x->counters_len + a->len);
	a->code = malloc(a->len);
	if (!a->code)
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the patches");
	memset(a->code, 0xcc, a->len);
	o.code = a->code;
	o.counters = a->base;
	o.base = a->base + x->counters_len;
	put_arena(&o, a, x->windows.v);
	if (o.failed)
		return ki_err_reason(err, KI_R_TOO_FAR, a->lo, "0x%llx", (unsigned long long)a->lo);
	return 0;
}

/* What is written for a window. What stands there now is looked at when it is written. */
static int add_edits(struct ki_linked *x, const struct ki_window *w, const struct ki_patched *at)
{
	struct ki_edit board = {.addr = w->addr}, bounce = {.addr = w->bounce, .bounce = true};

	if (w->board == KI_BOARD_JMP) {
		ki_edit_jump(&board, at->at);
	} else {
		ki_edit_jump(&bounce, at->at);
		board.len = SHORT_LEN;
		board.now[0] = 0xeb;
		board.now[1] = (uint8_t)(w->bounce - (w->addr + SHORT_LEN));
		if (ki_vec_push(&x->edits, bounce))
			return -ENOMEM;
	}
	return ki_vec_push(&x->edits, board);
}

/* Instructions that begin in bytes that change, other than at a springboard. */
static int add_forbidden(struct ki_linked *x)
{
	for (size_t e = 0; e < x->edits.n; e++)
		if (ki_forbid(x, &x->edits.v[e]))
			return -ENOMEM;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_edit(const void *a, const void *b)
{
	const struct ki_edit *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static int make_edits(struct ki_linked *x, const struct ki_linking *how)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < x->order.n; i++) {
		const struct ki_window *w = &x->plan->windows.v[x->order.v[i]];
		const struct ki_patched *at = &x->windows.v[i];

		if (how->hits)
			ret = ki_vec_push(&x->edits, ki_edit_hit(w->addr, at->at, how->hits));
		else if (how->driver)
			ret = ki_vec_push(&x->edits, ki_edit_by_driver(x, w, at->at));
		else
			ret = add_edits(x, w, at);
	}
	for (size_t i = 0; !ret && i < how->nsemaphores; i++) {
		const struct ki_edit e = {
			.addr = how->semaphores[i], .len = 2, .flags = KI_PROCESS_SEMAPHORE};

		ret = ki_vec_push(&x->edits, e);
	}
	if (!ret && x->edits.n)
		qsort(x->edits.v, x->edits.n, sizeof(*x->edits.v), by_edit);
	if (!ret)
		ret = add_forbidden(x);
	if (!ret && x->forbidden.n)
		qsort(x->forbidden.v, x->forbidden.n, sizeof(*x->forbidden.v), by_value);
	return ret;
}

/* What must stand there now. */
static int note_originals(struct ki_linked *x, struct ki_target *t, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < x->edits.n; i++) {
		struct ki_edit *e = &x->edits.v[i];

		if (e->flags != KI_PROCESS_SEMAPHORE)
			ret = ki_target_read(t, e->addr, e->orig, e->len, KI_VIEW_ORIG, err);
	}
	return ret;
}

int ki_linked_make(struct ki_linked *x, struct ki_target *t, const struct ki_linking *how,
		   struct ki_err *err)
{
	uint32_t counters = how->counters;
	uint64_t off;
	int ret;

	*x = (struct ki_linked){.plan = how->plan, .counters = counters, .words = how->words};
	ki_tally_size(x, how->tally);
	off = x->counters_len;
	ret = ki_linked_judge(x, how);
	if (!ret)
		ret = ki_vec_reserve(&x->windows, x->order.n + 1);
	if (!ret)
		ret = how->alone ? ki_linked_memory(x, how) : cut_arenas(x);
	if (ret)
		return ki_err_set(err, ret, 0, "out of memory for the patches");
	x->windows.n = x->order.n;
	if (x->arenas.n)
		x->arenas.v[0].rows = words_len(x) +
				      (x->blocks ? KI_TALLY_ROWS * sizeof(struct ki_tally_row) : 0);
	for (size_t i = 0; i < x->arenas.n; i++) {
		x->arenas.v[i].off = off;
		off += x->arenas.v[i].len;
		ret = link_arena(x, &x->arenas.v[i], how->maps, err);
		if (ret)
			return ret;
	}
	if (make_edits(x, how))
		return ki_err_set(err, -ENOMEM, 0, "out of memory for the patches");
	return note_originals(x, t, err);
}

void ki_linked_free(struct ki_linked *x)
{
	if (x->released)
		munmap(x->released, x->edits.n + 1);
	for (size_t i = 0; i < x->arenas.n; i++)
		free(x->arenas.v[i].code);
	ki_vec_free(&x->arenas);
	ki_vec_free(&x->chunks);
	ki_vec_free(&x->order);
	ki_vec_free(&x->windows);
	ki_vec_free(&x->edits);
	ki_vec_free(&x->forbidden);
	*x = (struct ki_linked){0};
}

uint64_t ki_linked_place(const struct ki_linked *x, uint64_t addr)
{
	size_t lo = KI_FIRST(k, x->windows.n, x->windows.v[k].addr > addr);
	const struct ki_patched *w;

	if (!lo)
		return 0;
	w = &x->windows.v[lo - 1];
	for (unsigned int i = 0; i < w->ninsns; i++)
		if (w->addr + w->off[i] == addr)
			return w->at + w->place[i];
	return 0;
}
