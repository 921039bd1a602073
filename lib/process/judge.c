/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which of a plan's chunks can be put into a process, and which windows that takes.
 */
#include "process/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A call's copy pushes the return address and jumps, or calls over a byte and writes the return
 * address over the one that this has pushed (splice/relocate.c). No other copy that is not the
 * instruction itself begins so.
 */
static bool is_call(const struct ki_copy *c)
{
	return (c->code[0] == 0x68 || c->code[0] == 0xe8) && c->orig_len != c->len;
}

static bool has_call(const struct ki_plan *p, uint32_t window)
{
	const struct ki_window *w = &p->windows.v[window];

	for (uint32_t i = 0; i < w->ncopy; i++)
		if (is_call(&p->copies.v[w->first_copy + i]))
			return true;
	return false;
}

#define JMP_LEN 5

/* The test for more stack, with which Go's functions begin: nobody is preempted in it. */
static bool is_stack_test(const struct ki_window *w)
{
	/* cmp 0x10(%r14), %rsp, or %r12 */
	return w->ncopy == 2 && (w->orig[0] == 0x49 || w->orig[0] == 0x4d) &&
	       !memcmp(w->orig + 1, "\x3b\x66\x10", 3);
}

/* Goroutines that have been preempted wait on stacks that are no thread's (ki_threads_clear), each
   to go on at any instruction. */
static bool may_resume(const struct ki_linking *how, const struct ki_window *w)
{
	const struct ki_process *p = how->process;

	return !how->driver && p->begun && p->go.n && ki_process_is_go(p, w->addr);
}

static bool is_resumed(const struct ki_linking *how, const struct ki_window *w)
{
	const bool inside = w->ncopy > 1 && how->plan->copies.v[w->first_copy].orig_len < JMP_LEN;

	return inside && !is_stack_test(w) && may_resume(how, w);
}

static unsigned int judge_window(const struct ki_linking *how, uint32_t window)
{
	if (!how->driver && how->plan->windows.v[window].board == KI_BOARD_TRAP)
		return KI_R_NO_TRAP;
	if (is_resumed(how, &how->plan->windows.v[window]))
		return KI_R_GO_RESUMED;
	return how->shadow_stack && has_call(how->plan, window) ? KI_R_SHADOW_STACK : KI_R_OK;
}

/* The window in whose tail another one bounces; KI_NONE. */
static uint32_t host_of(const struct ki_linking *how, uint32_t window)
{
	return how->driver ? KI_NONE : how->plan->more.v[window].host;
}

static bool ends_in_field(const struct ki_copy *c)
{
	return c->nfix && c->fix[c->nfix - 1].kind == KI_FIX_REL32 &&
	       c->fix[c->nfix - 1].off + 4 == c->len;
}

static bool is_known(const struct ki_fixup *f)
{
	return f->kind == KI_FIX_GLOBAL || f->kind == KI_FIX_REL32 || f->kind == KI_FIX_WORD ||
	       (f->kind == KI_FIX_SELF && f->target == KI_SELF_WORDS);
}

static unsigned int judge_chunk(const struct ki_plan *p, const struct plan_chunk *pc)
{
	const struct ki_chunk *c = &pc->c;
	const struct ki_window *w = &p->windows.v[c->window];
	const struct ki_long_code *code =
		c->kind == KI_CHUNK_LONG ? &p->codes.v[pc->code].code : NULL;
	const struct ki_fixup *fixups = code ? code->fix : c->fix;
	const uint32_t nfix = code ? code->nfix : c->nfix;

	if ((c->kind != KI_CHUNK_CODE && c->kind != KI_CHUNK_REPLACE && !code) ||
	    c->where == KI_RETURNED)
		return KI_R_NOT_IN_PROCESS;
	if (c->where == KI_TAKEN && !ends_in_field(&p->copies.v[w->first_copy + c->insn]))
		return KI_R_NOT_IN_PROCESS;
	if (c->kind == KI_CHUNK_REPLACE)
		return c->where == KI_AFTER ? KI_R_NOT_REPLACEABLE : KI_R_OK;
	for (uint32_t i = 0; i < nfix; i++)
		if (!is_known(&fixups[i]))
			return KI_R_NOT_IN_PROCESS;
	return KI_R_OK;
}

static unsigned int judge(const struct ki_linking *how, const struct plan_chunk *c)
{
	uint32_t host = host_of(how, c->c.window);
	unsigned int reason = judge_window(how, c->c.window);

	if (!reason && host != KI_NONE)
		reason = may_resume(how, &how->plan->windows.v[host]) ? KI_R_GO_RESUMED
								      : judge_window(how, host);
	return reason ? reason : judge_chunk(how->plan, c);
}

/* Those that stand or fall with a chunk, too. */
static void judge_all(const struct ki_linking *how)
{
	struct ki_plan *p = how->plan;

	ki_bundle_begin(p);
	for (uint32_t i = 0; i < p->chunks.n; i++) {
		const struct plan_chunk *c = &p->chunks.v[i];
		unsigned int reason = c->c.reason ? KI_R_OK : judge(how, c);

		if (reason)
			ki_bundle_refuse(p, i, reason);
	}
}

static int by_place(const void *a, const void *b, void *plan)
{
	const struct ki_plan *p = plan;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct ki_chunk *x = &p->chunks.v[i].c, *y = &p->chunks.v[k].c;

	if (x->window != y->window)
		return x->window < y->window ? -1 : 1;
	if (x->insn != y->insn)
		return x->insn < y->insn ? -1 : 1;
	if (x->where != y->where)
		return x->where < y->where ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return (i > k) - (i < k);
}

static int by_address(const void *a, const void *b, void *plan)
{
	const struct ki_plan *p = plan;
	uint64_t x = p->windows.v[*(const uint32_t *)a].addr;
	uint64_t y = p->windows.v[*(const uint32_t *)b].addr;

	return (x > y) - (x < y);
}

int ki_linked_judge(struct ki_linked *x, const struct ki_linking *how)
{
	struct ki_plan *p = how->plan;
	bool *wanted = calloc(p->windows.n + 1, sizeof(*wanted));
	int ret = wanted ? 0 : -ENOMEM;

	judge_all(how);
	if (!ret)
		ret = ki_circle_refuse(p, how->target);
	for (uint32_t i = 0; !ret && i < p->chunks.n; i++) {
		const struct ki_chunk *c = &p->chunks.v[i].c;
		uint32_t host = host_of(how, c->window);

		if (c->reason)
			continue;
		ret = ki_vec_push(&x->chunks, i);
		wanted[c->window] = true;
		if (host != KI_NONE)
			wanted[host] = true;
	}
	for (uint32_t w = 0; !ret && w < p->windows.n; w++)
		if (wanted[w])
			ret = ki_vec_push(&x->order, w);
	free(wanted);
	if (x->chunks.n)
		qsort_r(x->chunks.v, x->chunks.n, sizeof(*x->chunks.v), by_place, p);
	if (x->order.n)
		qsort_r(x->order.v, x->order.n, sizeof(*x->order.v), by_address, p);
	return ret;
}
