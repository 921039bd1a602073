// SPDX-License-Identifier: GPL-2.0-only
/*
 * branches: which static branches of a layout the driver accepts. Prints "ok NAME" or "not ok NAME"
 * for each case; nothing is installed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/function/function.h"
#include "kerninst/splice.h"
#include "splice/move.h"
#include "splice/plan.h"

static struct ki_target *target;

static void die(const struct ki_err *err)
{
	printf("# %s\n", err->msg);
	exit(125);
}

/* A function that is laid out as it stands, and one of its windows. */
struct asked {
	struct ki_plan *plan;
	struct ki_layout l;
	struct ki_window *w;
};

static void lay_out(struct asked *a, const struct ki_function *fn, const struct ki_spans *spans)
{
	uint32_t *blocks = calloc(fn->nblocks, sizeof(*blocks));
	struct ki_err err = {0};

	for (uint32_t i = 0; i < fn->nblocks; i++)
		blocks[i] = i;
	a->l = (struct ki_layout){.fn = fn, .spans = spans, .blocks = blocks, .nhot = 1};
	if (ki_plan_new(&a->plan) || ki_plan_lay_out(a->plan, &a->l, 1, &err))
		die(&err);
	free(blocks);
}

/* The first window that is a static branch, or the first after the entry that is none. */
static struct ki_window *find(struct asked *a, bool branch)
{
	for (size_t i = 1; i < a->plan->windows.n; i++) {
		struct ki_window *w = &a->plan->windows.v[i];

		if (!(w->flags & KI_WINDOW_BRANCH) == !branch)
			return w;
	}
	printf("not ok there is a static branch\n");
	exit(1);
}

static void say(const char *name, struct asked *a, unsigned int want)
{
	struct ki_err err = {0};
	unsigned int got;

	if (ki_plan_check(a->plan, target, &err))
		die(&err);
	got = ki_plan_refusal(a->plan, a->l.id);
	printf("%s %s\n", got == want ? "ok" : "not ok", name);
	if (got != want)
		printf("# %s, wanted %s\n", ki_reason_tag(got), ki_reason_tag(want));
	ki_plan_free(a->plan);
}

static void as_it_is(struct ki_window *w, struct ki_copy *c)
{
	(void)w;
	(void)c;
}

static void boarded(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->flags &= (uint8_t)~KI_WINDOW_UNBOARDED;
}

static void a_call(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->flags |= KI_WINDOW_CALL;
}

static void a_jump(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->board = KI_BOARD_JMP;
}

static void bytes(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->orig[0] = 0x90;
}

static void no_branch(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->flags &= (uint8_t)~KI_WINDOW_BRANCH;
}

static void shorter(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->len--;
}

static void elsewhere(struct ki_window *w, struct ki_copy *c)
{
	(void)w;
	c->fix[0].target++;
}

static void turned(struct ki_window *w, struct ki_copy *c)
{
	(void)w;
	c->code[1] ^= 1;
}

static const struct {
	const char *name;
	void (*spoil)(struct ki_window *w, struct ki_copy *c);
	unsigned int reason;
} cases[] = {
	{"a static branch asks its key", as_it_is, KI_R_OK},
	{"one with a springboard", boarded, KI_R_BAD_REQUEST},
	{"one that is a call, too", a_call, KI_R_BAD_REQUEST},
	{"one with a jump", a_jump, KI_R_BAD_REQUEST},
	{"one with bytes that are expected", bytes, KI_R_BAD_REQUEST},
	{"one as any window", no_branch, KI_R_JUMP_LABEL},
	{"a part of one", shorter, KI_R_JUMP_LABEL},
	{"one that leads elsewhere", elsewhere, KI_R_COPY_MISMATCH},
	{"one that is turned round", turned, KI_R_COPY_MISMATCH},
};

static void spoilt(const struct ki_function *fn, const struct ki_spans *spans)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct asked a;

		lay_out(&a, fn, spans);
		a.w = find(&a, true);
		cases[i].spoil(a.w, &a.plan->copies.v[a.w->first_copy]);
		say(cases[i].name, &a, cases[i].reason);
	}
}

/* What is none is said to be one: it has to be of one instruction, which its copy leaves. */
static void not_one(const struct ki_function *fn, const struct ki_spans *spans)
{
	struct asked a;

	lay_out(&a, fn, spans);
	a.w = find(&a, false);
	a.w->flags |= KI_WINDOW_BRANCH | KI_WINDOW_UNBOARDED;
	a.w->board = KI_BOARD_TRAP;
	a.w->bounce = 0;
	a.w->ncopy = 1;
	memset(a.w->orig, 0, sizeof(a.w->orig));
	say("what is no static branch", &a, KI_R_NOT_BOUNDARY);
}

/* A function that no compiler made, as far as anybody can see: its flags may be in use. */
static bool without_site(size_t i, const struct ki_function *fn)
{
	struct ki_spans spans = {0};
	struct ki_err err = {0};
	struct asked a;
	bool any = false;

	(void)i;
	if (fn->reason || ki_function_compiled(fn) || ki_spans_find(fn, &spans, &err) || !spans.n ||
	    ki_spans_add_branches(fn, &spans)) {
		ki_spans_free(&spans);
		return false;
	}
	for (size_t k = 0; k < spans.n; k++)
		any |= spans.v[k].branch;
	if (any) {
		lay_out(&a, fn, &spans);
		printf("# %s\n", fn->symbol->name);
		say("one in a function without an ftrace site", &a, KI_R_JUMP_LABEL);
	}
	ki_spans_free(&spans);
	return any;
}

static void unsited(void)
{
	size_t n;
	const struct ki_symbol *all = ki_target_symbols(target, &n);
	struct ki_function *fn;
	bool found = false;

	for (size_t i = 0; i < n && !found; i++) {
		if (all[i].alias || *all[i].module ||
		    ki_function_analyze(target, &all[i], &fn, NULL))
			continue;
		found = without_site(i, fn);
		ki_function_free(fn);
	}
	if (!found)
		printf("ok one in a function without an ftrace site # SKIP there is none\n");
}

int main(void)
{
	const struct ki_symbol *sym;
	struct ki_spans spans;
	struct ki_function *fn;
	struct ki_err err = {0};

	if (ki_target_new_live(&target, &err))
		die(&err);
	sym = ki_target_symbol_named(target, "", "wake_up_new_task", NULL);
	if (ki_function_analyze(target, sym, &fn, &err) || ki_spans_find_laid(fn, &spans, &err))
		die(&err);
	spoilt(fn, &spans);
	not_one(fn, &spans);
	unsited();
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
	return 0;
}
