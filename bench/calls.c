// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls FILE SYSTEM_MAP: how many calls of an image stay where they are when code is put into their
 * windows, and why the others do not. A call stays if its window's springboard does not cover it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kerninst/program.h"
#include "kerninst/splice.h"

enum why { STAYS, BLOCK_BEGINS, AFTER_CALL, AFTER_FIXED, WHYS };

static const char *const texts[WHYS] = {
	"stay",
	"covered: the block begins less than five bytes before",
	"covered: another call ends less than five bytes before",
	"covered: what stands before must not be moved, or there is no room for both",
};

struct tally {
	unsigned long n[WHYS];
};

static bool is_call(const struct ki_insn *in)
{
	return in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT;
}

static enum why judge(const struct ki_function *fn, const struct ki_span *v,
		      const struct ki_insn *call)
{
	static const unsigned char covered[KI_BOARD_KINDS] = {5, 2, 1};
	const struct ki_insn *first = &fn->insns[v->first];

	if (call->addr - v->addr >= covered[v->board])
		return STAYS;
	if (first->block_start && !(v->first && is_call(first - 1)))
		return BLOCK_BEGINS;
	return v->first && is_call(first - 1) ? AFTER_CALL : AFTER_FIXED;
}

static int look(void *arg, size_t i, const struct ki_function *fn)
{
	struct tally *t = arg;
	struct ki_spans s;

	(void)i;
	if (!fn || fn->reason)
		return 0;
	if (ki_spans_find(fn, &s, NULL))
		return -1;
	for (size_t k = 0; k < s.n; k++) {
		const struct ki_insn *last = &fn->insns[s.v[k].first + s.v[k].count - 1];

		if (is_call(last))
			t->n[judge(fn, &s.v[k], last)]++;
	}
	ki_spans_free(&s);
	return 0;
}

static void print(const struct tally *t)
{
	unsigned long all = 0;

	for (int w = 0; w < WHYS; w++)
		all += t->n[w];
	printf("%lu calls in windows\n", all);
	for (int w = 0; w < WHYS; w++)
		printf("%9lu  %5.1f %%  %s\n", t->n[w], 100.0 * (double)t->n[w] / (double)all,
		       texts[w]);
}

int main(int argc, char **argv)
{
	const struct ki_symbol *s, **syms;
	struct ki_err err = {0};
	struct tally t = {0};
	struct ki_target *target;
	size_t n, count = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: calls FILE SYSTEM_MAP\n");
		return 2;
	}
	if (ki_target_new_with_map(argv[1], argv[2], &target, &err)) {
		fprintf(stderr, "calls: %s\n", err.msg);
		return 1;
	}
	s = ki_target_symbols(target, &n);
	syms = calloc(n + 1, sizeof(*syms));
	for (size_t i = 0; syms && i < n; i++)
		if (!s[i].alias)
			syms[count++] = &s[i];
	if (!syms ||
	    ki_functions_analyze(
		    target,
		    &(struct ki_functions_job){
			    .syms = syms, .n = count, .threads = 1, .each = look, .arg = &t},
		    &err))
		return 1;
	print(&t);
	free(syms);
	ki_target_free(target);
	return 0;
}
