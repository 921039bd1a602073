// SPDX-License-Identifier: GPL-2.0-only
/*
 * branches: which static branches and static calls of a layout the driver accepts. Prints "ok NAME"
 * or "not ok NAME" for each case; nothing is installed.
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

/* The first window that has what is written, or the first after the entry that has none. */
static struct ki_window *find(struct asked *a, uint8_t written)
{
	for (size_t i = 1; i < a->plan->windows.n; i++) {
		struct ki_window *w = &a->plan->windows.v[i];

		if ((w->flags & KI_WINDOW_WRITTEN) == written)
			return w;
	}
	printf("not ok there is a static %s\n", written == KI_WINDOW_BRANCH ? "branch" : "call");
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

static void neither(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->flags &= (uint8_t)~KI_WINDOW_WRITTEN;
}

static void both(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->flags |= KI_WINDOW_WRITTEN;
}

static void other(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->flags ^= KI_WINDOW_WRITTEN;
}

static void shorter(struct ki_window *w, struct ki_copy *c)
{
	(void)c;
	w->len--;
}

static void elsewhere(struct ki_window *w, struct ki_copy *c)
{
	(void)w;
	c->fix[c->nfix - 1].target++;
}

static void turned(struct ki_window *w, struct ki_copy *c)
{
	(void)w;
	c->code[1] ^= 1;
}

static void to_itself(struct ki_window *w, struct ki_copy *c)
{
	c->fix[c->nfix - 1].target = w->addr;
}

static void back_elsewhere(struct ki_window *w, struct ki_copy *c)
{
	(void)w;
	c->fix[0].target++;
}

struct spoilt {
	const char *name;
	void (*spoil)(struct ki_window *w, struct ki_copy *c);
	unsigned int reason;
};

static const struct spoilt branch_cases[] = {
	{"a static branch asks its key", as_it_is, KI_R_OK},
	{"one with a springboard", boarded, KI_R_BAD_REQUEST},
	{"one that is a call, too", a_call, KI_R_BAD_REQUEST},
	{"one with a jump", a_jump, KI_R_BAD_REQUEST},
	{"one with bytes that are expected", bytes, KI_R_BAD_REQUEST},
	{"one as any window", neither, KI_R_JUMP_LABEL},
	{"one that is a static call, too", both, KI_R_BAD_REQUEST},
	{"one as a static call", other, KI_R_JUMP_LABEL},
	{"a part of one", shorter, KI_R_JUMP_LABEL},
	{"one that leads elsewhere", elsewhere, KI_R_COPY_MISMATCH},
	{"one that is turned round", turned, KI_R_COPY_MISMATCH},
	{},
};

static const struct spoilt call_cases[] = {
	{"a static call calls its trampoline", as_it_is, KI_R_OK},
	{"a static call with a springboard", boarded, KI_R_BAD_REQUEST},
	{"a static call that may lead elsewhere", a_call, KI_R_BAD_REQUEST},
	{"a static call with a jump", a_jump, KI_R_BAD_REQUEST},
	{"a static call with bytes that are expected", bytes, KI_R_BAD_REQUEST},
	{"a static call as any window", neither, KI_R_STATIC_CALL},
	{"a static call as a static branch", other, KI_R_STATIC_CALL},
	{"a part of a static call", shorter, KI_R_STATIC_CALL},
	{"a static call of an address", elsewhere, KI_R_COPY_MISMATCH},
	{"a static call of itself", to_itself, KI_R_COPY_MISMATCH},
	{"a static call that comes back elsewhere", back_elsewhere, KI_R_COPY_MISMATCH},
	{},
};

static void spoilt(const struct ki_function *fn, const struct ki_spans *spans, uint8_t written,
		   const struct spoilt *c)
{
	for (; c->name; c++) {
		struct asked a;

		lay_out(&a, fn, spans);
		a.w = find(&a, written);
		c->spoil(a.w, &a.plan->copies.v[a.w->first_copy]);
		say(c->name, &a, c->reason);
	}
}

/* What is none is said to be one: it has to be of one instruction, which its copy leaves. */
static void not_one(const struct ki_function *fn, const struct ki_spans *spans, uint8_t written,
		    const char *name)
{
	struct asked a;

	lay_out(&a, fn, spans);
	a.w = find(&a, 0);
	a.w->flags |= written | KI_WINDOW_UNBOARDED;
	a.w->board = KI_BOARD_TRAP;
	a.w->bounce = 0;
	a.w->ncopy = 1;
	memset(a.w->orig, 0, sizeof(a.w->orig));
	say(name, &a, KI_R_NOT_BOUNDARY);
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
	    ki_spans_add_written(fn, &spans)) {
		ki_spans_free(&spans);
		return false;
	}
	for (size_t k = 0; k < spans.n; k++)
		any |= spans.v[k].written == KI_WINDOW_BRANCH;
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

/* ---- static calls that are no calls of the kernel's own ---- */

/* A window more, of an instruction that has none. */
static bool add_span(const struct ki_function *fn, struct ki_spans *s, uint32_t insn)
{
	struct ki_span *v = calloc(s->n + 1, sizeof(*v));
	size_t at = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].host != KI_NONE) {
			free(v);
			return false;
		}
	while (at < s->n && s->v[at].first < insn)
		at++;
	memcpy(v, s->v, at * sizeof(*v));
	memcpy(v + at + 1, s->v + at, (s->n - at) * sizeof(*v));
	v[at] = (struct ki_span){.addr = fn->insns[insn].addr,
				 .first = insn,
				 .host = KI_NONE,
				 .count = 1,
				 .len = 5,
				 .board = KI_BOARD_TRAP,
				 .written = KI_WINDOW_STATIC_CALL};
	free(s->v);
	s->v = v;
	s->n++;
	return true;
}

/* The first of the function's that is such; false: there is none. */
static bool asked_for(const struct ki_function *fn, const char *name, enum ki_insn_kind kind)
{
	struct ki_spans spans = {0};
	struct ki_err err = {0};
	struct asked a = {0};
	uint32_t i = 0;

	while (i < fn->ninsns && (fn->insns[i].reason != KI_R_STATIC_CALL ||
				  fn->insns[i].len != 5 || fn->insns[i].kind != kind))
		i++;
	if (fn->reason || i == fn->ninsns || ki_spans_find(fn, &spans, &err))
		return false;
	if (spans.n < 2 || !add_span(fn, &spans, i)) {
		ki_spans_free(&spans);
		return false;
	}
	lay_out(&a, fn, &spans);
	a.w = find(&a, KI_WINDOW_STATIC_CALL);
	a.w->flags |= KI_WINDOW_UNBOARDED;
	printf("# %s\n", fn->symbol->name);
	say(name, &a, KI_R_STATIC_CALL);
	ki_spans_free(&spans);
	return true;
}

static void refused(const char *name, bool module, enum ki_insn_kind kind)
{
	size_t n;
	const struct ki_symbol *all = ki_target_symbols(target, &n);
	struct ki_function *fn;
	bool found = false;

	for (size_t i = 0; i < n && !found; i++) {
		if (all[i].alias || !strcmp(all[i].module, "kerninst") ||
		    !*all[i].module == module || ki_function_analyze(target, &all[i], &fn, NULL))
			continue;
		found = ki_function_compiled(fn) && asked_for(fn, name, kind);
		ki_function_free(fn);
	}
	if (!found)
		printf("ok %s # SKIP there is none\n", name);
}

static void those_of(const char *name, uint8_t written, const struct spoilt *cases,
		     const char *none)
{
	const struct ki_symbol *sym = ki_target_symbol_named(target, "", name, NULL);
	struct ki_spans spans;
	struct ki_function *fn;
	struct ki_err err = {0};

	if (ki_function_analyze(target, sym, &fn, &err) || ki_spans_find_laid(fn, &spans, &err))
		die(&err);
	spoilt(fn, &spans, written, cases);
	not_one(fn, &spans, written, none);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

int main(void)
{
	struct ki_err err = {0};

	if (ki_target_new_live(&target, &err))
		die(&err);
	those_of("wake_up_new_task", KI_WINDOW_BRANCH, branch_cases, "what is no static branch");
	unsited();
	those_of("__fput", KI_WINDOW_STATIC_CALL, call_cases, "what is no static call");
	refused("a static call that is a jump", false, KI_INSN_JMP);
	refused("a static call of a module", true, KI_INSN_CALL);
	ki_target_free(target);
	return 0;
}
