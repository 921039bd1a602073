// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Windows of a function that is to be laid out: its static branches and calls are among them.
 *
 * The kernel writes these, so there can be no springboard. Where control comes to one from the text
 * it is run there, as in all else. Where it comes from the layout alone, the layout has a branch
 * that looks at the key, or a call of the trampoline (kmod/vet/branch.c and static_call.c say why
 * that is the same). Else control would leave for the text, a line of the cache, and come back by a
 * springboard, at each of them.
 *
 * That the flags are free there is known of what a compiler made. Static calls of modules are left
 * out, for the driver does not know whether their keys have trampolines.
 */
#include <errno.h>
#include <stdlib.h>

#include "code/function/function.h"
#include "splice/move.h"
#include "splice/springboard_choice.h"

static bool is_branch(const struct ki_insn *in)
{
	return in->flags & KI_INSN_JUMP_LABEL && in->reason == KI_R_JUMP_LABEL && in->target &&
	       (in->len == KI_SHORT_LEN || in->len == KI_JMP_LEN);
}

/* As the kernel has written it by now: a call, a nop, or what clears %eax. */
static bool is_static_call(const struct ki_function *fn, const struct ki_insn *in)
{
	return in->reason == KI_R_STATIC_CALL && in->len == KI_JMP_LEN &&
	       (in->kind == KI_INSN_CALL || in->kind == KI_INSN_PLAIN) &&
	       !(in->flags & KI_INSN_NORETURN) && fn->symbol && !*fn->symbol->module;
}

static uint8_t written(const struct ki_function *fn, const struct ki_insn *in)
{
	if (is_branch(in))
		return KI_WINDOW_BRANCH;
	return is_static_call(fn, in) ? KI_WINDOW_STATIC_CALL : 0;
}

static struct ki_span span_of(const struct ki_function *fn, uint32_t i)
{
	return (struct ki_span){.addr = fn->insns[i].addr,
				.first = i,
				.host = KI_NONE,
				.count = 1,
				.len = fn->insns[i].len,
				.board = KI_BOARD_TRAP,
				.written = written(fn, &fn->insns[i])};
}

/* Both in order of address. at: of each window that was there, its new index. */
static void merge(const struct ki_function *fn, const struct ki_spans *old, struct ki_spans *out,
		  uint32_t *at)
{
	size_t k = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		if (k < old->n && old->v[k].first == i) {
			at[k] = (uint32_t)out->n;
			out->v[out->n++] = old->v[k++];
		} else if (written(fn, &fn->insns[i])) {
			out->v[out->n++] = span_of(fn, i);
		}
	}
	for (size_t s = 0; s < out->n; s++)
		if (out->v[s].host != KI_NONE)
			out->v[s].host = at[out->v[s].host];
}

static int add_written(const struct ki_function *fn, struct ki_spans *s)
{
	struct ki_spans all = {.v = malloc((fn->ninsns + 1) * sizeof(*all.v))};
	uint32_t *at = malloc((s->n + 1) * sizeof(*at));

	if (!all.v || !at) {
		free(all.v);
		free(at);
		return -ENOMEM;
	}
	merge(fn, s, &all, at);
	free(at);
	ki_spans_free(s);
	*s = all;
	return 0;
}

/* Take out what is written, of what `boarded` says; how many there were. */
static size_t strike(struct ki_spans *s, const bool *boarded, uint32_t *at)
{
	size_t n = 0, struck;

	for (size_t i = 0; i < s->n; i++) {
		at[i] = (uint32_t)n;
		if (!s->v[i].written || !boarded[i])
			s->v[n++] = s->v[i];
	}
	struck = s->n - n;
	s->n = n;
	for (size_t i = 0; i < n; i++)
		if (s->v[i].host != KI_NONE)
			s->v[i].host = at[s->v[i].host];
	return struck;
}

/* What is struck is run in the text, and control comes back from there: perhaps to others. */
static int strike_entered(const struct ki_function *fn, struct ki_spans *s)
{
	uint32_t *at = malloc((s->n + 1) * sizeof(*at));
	size_t struck = 1;
	int ret = at ? 0 : -ENOMEM;

	while (struck && !ret) {
		bool *boarded = calloc(s->n + 1, sizeof(*boarded));

		/* -EINVAL: it cannot be laid out, which is for the plan to say */
		if (!boarded || ki_move_boards(fn, s, true, boarded) == -ENOMEM)
			ret = -ENOMEM;
		struck = ret ? 0 : strike(s, boarded, at);
		free(boarded);
	}
	free(at);
	return ret;
}

int ki_spans_add_written(const struct ki_function *fn, struct ki_spans *s)
{
	int ret = add_written(fn, s);

	return ret ? ret : strike_entered(fn, s);
}

int ki_spans_find_laid(const struct ki_function *fn, struct ki_spans *out, struct ki_err *err)
{
	int ret = ki_spans_find(fn, out, err);

	if (ret || !out->n || !ki_function_compiled(fn))
		return ret;
	if (!ki_spans_add_written(fn, out))
		return 0;
	ki_spans_free(out);
	return ki_err_set(err, -ENOMEM, fn->start, "windows: out of memory");
}
