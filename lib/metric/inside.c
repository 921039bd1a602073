// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * inside(FUNCTION): a word of the thread that says how deep it is in there. One for each name in a
 * measurement, whoever asks: several functions of one name share it, each with code of its own.
 *
 * It counts up before anything else at the entry, and down after everything else when the caller
 * gets control back, so that the function is inside itself. Who was there already when the code
 * came is not seen: going down, 0 stays.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/measure.h"

#define FIRST 0
#define LAST  UINT16_MAX

static struct ki_var word_of(const struct inside *i)
{
	return (struct ki_var){
		.name = "inside", .kind = KI_VAR_THREAD, .type = KI_I64, .first = i->word};
}

static struct ki_node *step(struct ki_snippet *s, const struct ki_var *word, enum ki_update op)
{
	return ki_stmt_update(s, op, word, NULL, ki_expr_const(s, KI_I64, 1));
}

static int make_snippets(const struct ask *a, struct inside *i)
{
	const struct ki_var word = word_of(i);
	struct ki_snippet *s;

	if (ki_snippet_new(&i->enter.snippet) || ki_snippet_new(&i->leave.snippet))
		return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	s = i->enter.snippet;
	ki_snippet_body(s, ki_measure_pass(a->m, s, i->passes, step(s, &word, KI_UPDATE_ADD)));
	s = i->leave.snippet;
	ki_snippet_body(s, ki_measure_pass(a->m, s, i->passes,
					   ki_stmt_if(s, ki_expr_var(s, &word),
						      step(s, &word, KI_UPDATE_SUB), NULL)));
	return 0;
}

static int put_inside(const struct ask *a, struct inside *i, const struct places *entry,
		      const struct exits *exits)
{
	int ret = i->word == KI_NONE ? ki_words_take(a->m->t, 1, &i->word, a->err) : 0;

	if (!ret && a->m->metered)
		ret = ki_measure_counters(a->m, 1, &i->passes, a->err);
	if (!ret)
		ret = make_snippets(a, i);
	if (!ret && ki_plan_bundle_begin(a->m->plan, &i->bundle))
		ret = ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	if (ret)
		return ret;
	ki_plan_stage(a->m->plan, STAGE_STOP);
	ret = ki_exits_put(a, &i->leave, exits, LAST);
	ki_plan_stage(a->m->plan, STAGE_INSIDE);
	if (!ret)
		ret = ki_code_put(a, &i->enter, entry, FIRST);
	ki_plan_bundle_end(a->m->plan);
	if (ret)
		ki_plan_leave_out(a->m->plan, i->bundle, KI_R_BAD_REQUEST);
	return ret;
}

/* Of the function that `a` is about. */
static int new_inside(const struct ask *a, uint32_t word, struct inside *i)
{
	struct places entry = {0};
	struct exits exits = {0};
	int ret = ki_measure_places(a, KI_POINT_ENTRY, &entry);

	*i = (struct inside){.function = a->fn->start, .word = word};
	if (!ret)
		ret = ki_exits_find(a, &exits);
	if (!ret)
		ret = put_inside(a, i, &entry, &exits);
	free(entry.v);
	ki_exits_free(&exits);
	if (ret) {
		ki_code_free(&i->enter);
		ki_code_free(&i->leave);
	}
	return ret;
}

/* A function's name, taken apart: [MODULE:]NAME[@0xADDRESS]. */
struct name {
	char text[640];
	const char *module, *function; /* in it; module NULL: any */
	uint64_t addr;		       /* 0: any */
};

static bool take_apart(const char *text, struct name *n)
{
	char *colon, *at;

	*n = (struct name){0};
	if (strlen(text) >= sizeof(n->text))
		return false;
	strcpy(n->text, text);
	colon = strchr(n->text, ':');
	n->function = colon ? colon + 1 : n->text;
	if (colon) {
		*colon = 0;
		n->module = strcmp(n->text, "kernel") ? n->text : "";
	}
	at = strchr(colon ? colon + 1 : n->text, '@');
	if (at) {
		*at = 0;
		n->addr = strtoull(at + 1, NULL, 16);
	}
	return true;
}

typedef ki_vec(const struct ki_symbol *) symbols;

/* All functions of that name. */
static int find_functions(const struct ask *a, const char *text, symbols *out)
{
	const struct ki_symbol *sym = NULL;
	struct name n;

	if (take_apart(text, &n))
		while ((sym = ki_target_symbol_named(a->m->t, n.module, n.function, sym)))
			if ((!n.addr || sym->addr == n.addr) && ki_vec_push(out, sym))
				return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	if (!out->n)
		return ki_err_set(a->err, -ENOENT, 0, "inside(%s): no such function", text);
	return 0;
}

/* Analyse the function and put the code into the plan. word KI_NONE: take one. */
static int make_inside(const struct ask *a, const struct ki_symbol *sym, uint32_t word,
		       struct inside *i)
{
	struct ask own = {.m = a->m, .err = a->err};
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_point pt = {.kind = KI_POINT_ENTRY};
	int ret = ki_function_analyze(a->m->t, sym, &fn, a->err);

	if (ret)
		return ret;
	ret = ki_spans_find(fn, &spans, a->err);
	if (!ret) {
		own.fn = fn;
		own.spans = &spans;
		own.pt = &pt;
		ret = new_inside(&own, word, i);
		ki_spans_free(&spans);
	}
	ki_function_free(fn);
	return ret;
}

/* Do those from there on have these functions, and the word no other? */
static bool is_made(const struct ki_measure *m, size_t first, const symbols *functions)
{
	const struct inside *v = m->insides.v;
	const size_t end = first + functions->n;

	if (end > m->insides.n || (first && v[first - 1].word == v[first].word) ||
	    (end < m->insides.n && v[end].word == v[first].word))
		return false;
	for (size_t i = first; i < end; i++)
		if (v[i].function != functions->v[i - first]->addr || v[i].word != v[first].word)
			return false;
	return true;
}

/* All, or none: of one that is not seen inside() would say what is not so. */
static int make_insides(const struct ask *a, const symbols *functions)
{
	struct ki_measure *m = a->m;
	struct inside *v;
	size_t n = 0;
	int ret = 0;

	if (ki_vec_reserve(&m->insides, functions->n))
		return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	v = m->insides.v + m->insides.n;
	while (!ret && n < functions->n) {
		ret = make_inside(a, functions->v[n], n ? v->word : KI_NONE, &v[n]);
		n += !ret;
	}
	if (!ret)
		m->insides.n += n;
	while (ret && n) {
		ki_plan_leave_out(m->plan, v[--n].bundle, KI_R_BAD_REQUEST);
		ki_code_free(&v[n].enter);
		ki_code_free(&v[n].leave);
	}
	return ret;
}

/* The first of those that a name stands for, made or found, and how many they are. */
static int get_insides(const struct ask *a, const char *name, size_t *first, size_t *count)
{
	symbols functions = {0};
	int ret = find_functions(a, name, &functions);

	*first = 0;
	while (!ret && *first < a->m->insides.n && !is_made(a->m, *first, &functions))
		++*first;
	if (!ret && *first == a->m->insides.n)
		ret = make_insides(a, &functions);
	*count = functions.n;
	ki_vec_free(&functions);
	return ret;
}

static int add_words(const struct ask *a, const char *name, struct words *out)
{
	size_t first, count;
	int ret = get_insides(a, name, &first, &count);

	if (!ret && ki_vec_push(&out->v, word_of(&a->m->insides.v[first])))
		return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	for (size_t i = first; !ret && i < first + count; i++)
		if (ki_vec_push(&out->insides, (uint32_t)i) ||
		    ki_vec_push(&out->bundles, a->m->insides.v[i].bundle))
			ret = ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	return ret;
}

int ki_words_of(const struct ask *a, struct words *out)
{
	const char *name;
	int ret = 0;

	for (size_t n = 0; !ret && a->when; n++) {
		name = ki_predicate_inside(a->when, n);
		if (!name)
			break;
		ret = add_words(a, name, out);
	}
	return ret;
}

int ki_words_need(const struct ask *a, const struct words *w, uint32_t bundle)
{
	for (size_t i = 0; i < w->bundles.n; i++)
		if (ki_plan_bundle_need(a->m->plan, bundle, w->bundles.v[i]))
			return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	return 0;
}

ki_numbers ki_words_insides(struct words *w)
{
	const ki_numbers out = w->insides;

	w->insides = (ki_numbers){0};
	return out;
}

void ki_words_free(struct words *w)
{
	ki_vec_free(&w->v);
	ki_vec_free(&w->insides);
	ki_vec_free(&w->bundles);
}
