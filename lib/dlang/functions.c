// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls: what a function takes; what an aggregation's tuple is; how values travel in records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check.h"
#include "dlang/format.h"
#include "dlang/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

static unsigned int count(const struct ki_d_node *list)
{
	unsigned int n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

bool ki_d_is_constant(const struct ki_d_node *n)
{
	return n->kind == KI_D_NUMBER || n->kind == KI_D_TEXT ||
	       (n->kind == KI_D_NAME && n->is_builtin &&
		(n->sym.builtin->kind == KI_D_B_PROBE || n->sym.builtin->kind == KI_D_B_ID));
}

uint8_t ki_d_form_of(const struct ki_d_node *n)
{
	if (n->type.base == KI_D_STACK && !n->type.stars)
		return KI_D_FORM_STACK;
	if (!ki_d_is_string(n->type))
		return KI_D_FORM_WORD;
	if (ki_d_is_constant(n))
		return KI_D_FORM_PROBE;
	return n->kind == KI_D_NAME && n->is_builtin ? KI_D_FORM_COMM : KI_D_FORM_TEXT;
}

unsigned int ki_d_form_words(uint8_t form)
{
	static const uint8_t words[] = {
		[KI_D_FORM_WORD] = 1, [KI_D_FORM_PROBE] = 0,	[KI_D_FORM_COMM] = KI_D_COMM_WORDS,
		[KI_D_FORM_TEXT] = 1, [KI_D_FORM_NUMBERED] = 1, [KI_D_FORM_STACK] = 1};

	return words[form];
}

/* ---- printf and printa ---- */

static int check_format(struct ki_d_checker *c, const struct ki_d_node *n)
{
	const struct ki_d_node *fmt = n->kid[0], *arg = fmt->next;
	const char *p = fmt->text, *why;
	struct ki_d_spec s;
	char name[KI_D_TYPE_NAME];
	int ret;

	if (fmt->kind != KI_D_TEXT)
		return FAIL(c, fmt, "D_PRINTF_ARG_FMT", "%s begins with a format: %s(\"%%d\", pid)",
			    n->text, n->text);
	if (!*p)
		return FAIL(c, fmt, "D_PRINTF_FMT_EMPTY", "the format is empty");
	while ((ret = ki_d_format_next(&p, &s, &why)) > 0) {
		const unsigned int stars = s.width_arg + s.precision_arg;

		for (unsigned int i = 0; s.conversion && i <= stars; i++) {
			if (s.at)
				return FAIL(c, fmt, "D_PRINTF_AGG_CONV", "%%@ is for printa");
			if (!arg)
				return FAIL(c, fmt,
					    i < stars ? "D_PRINTF_DYN_PROTO" : "D_PRINTF_ARG_PROTO",
					    "the format has more conversions than arguments");
			if (i < stars && !ki_d_is_scalar(arg->type))
				return FAIL(c, arg, "D_PRINTF_DYN_TYPE",
					    "a width or precision is a number");
			if (i == stars && !ki_d_format_takes(&s, arg->type))
				return FAIL(c, arg, "D_PRINTF_ARG_TYPE",
					    "%%%c cannot print a value of type %s", s.conversion,
					    ki_d_type_name(arg->type, name));
			arg = arg->next;
		}
	}
	if (ret)
		return FAIL(c, fmt, "D_SYNTAX", "%s", why);
	return arg ? FAIL(c, arg, "D_PRINTF_ARG_EXTRA",
			  "the format has fewer conversions than arguments")
		   : 0;
}

static struct ki_d_agg *find_agg(const struct ki_dlang *d, const char *name)
{
	for (size_t i = 0; i < d->aggs.n; i++)
		if (!strcmp(d->aggs.v[i]->name, name))
			return d->aggs.v[i];
	return NULL;
}

/* An aggregation as an argument: it must be known. */
static int check_agg_arg(struct ki_d_checker *c, struct ki_d_node *n)
{
	if (n->kind != KI_D_AGG || n->kid[0] || n->kid[1])
		return FAIL(c, n, c->tag_aggarg, "an aggregation is expected: @name");
	n->sym.agg = find_agg(c->d, n->text);
	return n->sym.agg ? 0
			  : FAIL(c, n, c->tag_aggbad,
				 "no aggregation @%.40s: it is used nowhere before", n->text);
}

/* Aggregations that are printed together have keys of one kind. */
static int check_same_keys(struct ki_d_checker *c, const struct ki_d_agg *a,
			   const struct ki_d_node *n)
{
	const struct ki_d_agg *b = n->sym.agg;

	if (a->nkeys != b->nkeys)
		return FAIL(c, n, "D_PRINTA_AGGPROTO", "@%.40s has %u keys, and @%.40s has %u",
			    a->name, a->nkeys, b->name, b->nkeys);
	for (unsigned int i = 0; i < a->nkeys; i++)
		if (ki_d_is_scalar(a->keys[i]) != ki_d_is_scalar(b->keys[i]) ||
		    a->keys[i].base != b->keys[i].base)
			return FAIL(c, n, "D_PRINTA_AGGKEY",
				    "key %u of @%.40s has another type than that of @%.40s", i + 1,
				    b->name, a->name);
	return 0;
}

static int check_printa(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *agg = n->kid[0]->kind == KI_D_TEXT ? n->kid[0]->next : n->kid[0];
	const struct ki_d_node *first;
	const char *p = n->kid[0]->text, *why;
	struct ki_d_spec s;
	int ret;

	if (!agg)
		return FAIL(c, n, "D_PRINTA_PROTO",
			    "printa takes a format, if any, and aggregations: printa(@a, @b)");
	first = agg;
	for (ret = 0; !ret && agg; agg = agg->next) {
		ret = check_agg_arg(c, agg);
		if (!ret)
			ret = check_same_keys(c, first->sym.agg, agg);
	}
	if (ret || first == n->kid[0])
		return ret;
	while ((ret = ki_d_format_next(&p, &s, &why)) > 0)
		;
	return ret ? FAIL(c, n->kid[0], "D_SYNTAX", "%s", why) : 0;
}

/* ---- the others ---- */

static int check_numbers(struct ki_d_checker *c, struct ki_d_node *list, const char *tag)
{
	int ret = 0;

	for (struct ki_d_node *k = list; !ret && k; k = k->next) {
		ret = ki_d_check_expr(c, k);
		if (!ret)
			ret = ki_d_decay(c, k);
		if (!ret && !ki_d_is_scalar(k->type))
			ret = FAIL(c, k, tag, "a number is expected");
	}
	return ret;
}

/* clear(@a), trunc(@a, 5), normalize(@a, 1000) */
static int check_about_agg(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *more = n->kid[0]->next;
	int ret = check_agg_arg(c, n->kid[0]);

	if (!ret && n->sym.function->kind == KI_D_F_CLEAR &&
	    !ki_d_agg_can_clear(n->kid[0]->sym.agg))
		ret = FAIL(c, n, "D_UNKNOWN",
			   "clear() of @%.40s, which is a %s(), is not supported yet",
			   n->kid[0]->text, n->kid[0]->sym.agg->fn->name);
	return ret ? ret
		   : check_numbers(c, more,
				   n->sym.function->kind == KI_D_F_TRUNC ? "D_TRUNC_SCALAR"
									 : "D_NORMALIZE_SCALAR");
}

static int check_all(struct ki_d_checker *c, struct ki_d_node *list)
{
	int ret = 0;

	for (struct ki_d_node *k = list; !ret && k; k = k->next) {
		ret = ki_d_check_expr(c, k);
		if (!ret)
			ret = ki_d_to_text(c, k);
		if (!ret)
			ret = ki_d_decay(c, k);
	}
	return ret;
}

static int check_trace(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_node *of = n->kid[0];
	int ret;

	if (of->kind == KI_D_AGG)
		return FAIL(c, of, "D_TRACE_AGG", "an aggregation has no value: printa(@%.40s)",
			    of->text);
	ret = check_all(c, of);
	if (!ret && of->type.base == KI_D_VOID && !of->type.stars)
		ret = FAIL(c, of, "D_TRACE_VOID", "trace() wants a value");
	return ret;
}

static int check_stack(struct ki_d_checker *c, struct ki_d_node *n)
{
	const bool user = n->sym.function->kind == KI_D_F_USTACK;
	const char *tag = user ? "D_USTACK_FRAMES" : "D_STACK_SIZE";
	struct ki_d_node *k = n->kid[0];
	int ret = check_numbers(c, k, tag);

	if (!ret && k && (!ki_d_fold_checked(k) || k->value < 1 || k->value > 127))
		ret = FAIL(c, k, tag, "a number of frames from 1 to 127 is expected");
	if (!ret && k && k->next && !ki_d_fold_checked(k->next))
		ret = FAIL(c, k->next, "D_USTACK_STRSIZE",
			   "a constant number of bytes is expected");
	n->type = (struct ki_d_type){.base = KI_D_STACK};
	c->d->stacks_used = true;
	return ret;
}

static int check_setopt(struct ki_d_checker *c, struct ki_d_node *n)
{
	for (struct ki_d_node *k = n->kid[0]; k; k = k->next) {
		if (k->kind != KI_D_TEXT)
			return FAIL(c, k, "D_PROTO_ARG",
				    "setopt() takes constant strings: setopt(\"quiet\", \"1\")");
		k->type = (struct ki_d_type){.base = KI_D_STRING};
	}
	return 0;
}

static int check_arguments(struct ki_d_checker *c, struct ki_d_node *n)
{
	int ret;

	switch (n->sym.function->kind) {
	case KI_D_F_SYSTEM:
	case KI_D_F_FREOPEN:
		c->d->destroys = true;
		/* fall through */
	case KI_D_F_PRINTF:
		ret = check_all(c, n->kid[0]);
		return ret ? ret : check_format(c, n);
	case KI_D_F_PRINTA:
		return check_printa(c, n);
	case KI_D_F_FTRUNCATE:
		return 0;
	case KI_D_F_SETOPT:
		return check_setopt(c, n);
	case KI_D_F_STACK:
	case KI_D_F_USTACK:
		return check_stack(c, n);
	case KI_D_F_CLEAR:
	case KI_D_F_TRUNC:
	case KI_D_F_NORMALIZE:
	case KI_D_F_DENORMALIZE:
		return check_about_agg(c, n);
	case KI_D_F_TRACE:
		return check_trace(c, n);
	case KI_D_F_EXIT:
		c->d->exits = true;
		return check_numbers(c, n->kid[0], "D_PROTO_ARG");
	default:
		return ki_d_check_text_call(c, n);
	}
}

/* The tags of what is said of a function's aggregation. */
static void set_tags(struct ki_d_checker *c, const struct ki_d_function *f)
{
	static const char *const tags[][2] = {
		[KI_D_F_PRINTA] = {"D_PRINTA_AGGARG", "D_PRINTA_AGGBAD"},
		[KI_D_F_CLEAR] = {"D_CLEAR_AGGARG", "D_CLEAR_AGGBAD"},
		[KI_D_F_TRUNC] = {"D_TRUNC_AGGARG", "D_TRUNC_AGGBAD"},
		[KI_D_F_NORMALIZE] = {"D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
		[KI_D_F_DENORMALIZE] = {"D_NORMALIZE_AGGARG", "D_NORMALIZE_AGGBAD"},
	};
	const bool known = f->kind < sizeof(tags) / sizeof(*tags) && tags[f->kind][0];

	c->tag_aggarg = known ? tags[f->kind][0] : "D_PROTO_ARG";
	c->tag_aggbad = known ? tags[f->kind][1] : "D_PROTO_ARG";
}

/* ... and of how many arguments it has. */
static const char *length_tag(const struct ki_d_function *f)
{
	static const char *const tags[] = {
		[KI_D_F_PRINTA] = "D_PRINTA_PROTO",
		[KI_D_F_CLEAR] = "D_CLEAR_PROTO",
		[KI_D_F_TRUNC] = "D_TRUNC_PROTO",
		[KI_D_F_NORMALIZE] = "D_NORMALIZE_PROTO",
		[KI_D_F_DENORMALIZE] = "D_NORMALIZE_PROTO",
		[KI_D_F_STACK] = "D_STACK_PROTO",
		[KI_D_F_USTACK] = "D_USTACK_PROTO",
	};
	const bool known = f->kind < sizeof(tags) / sizeof(*tags) && tags[f->kind];

	return known ? tags[f->kind] : "D_PROTO_LEN";
}

int ki_d_check_call(struct ki_d_checker *c, struct ki_d_node *n)
{
	const struct ki_d_function *f = ki_d_function_find(n->text);
	const bool statement = c->statement == n;
	unsigned int nargs = count(n->kid[0]);

	if (!f && ki_d_inline_find(c->d, n->text))
		return ki_d_inline_call(c, n, ki_d_inline_find(c->d, n->text));
	if (!f)
		return FAIL(c, n, "D_FUNC_UNDEF", "no function '%.40s'", n->text);
	if (f->kind == KI_D_F_LATER)
		return FAIL(c, n, "D_FUNC_IDKIND", "%s() is not supported yet", f->name);
	if (f->kind == KI_D_F_AGG)
		return FAIL(c, n, "D_FUNC_IDKIND", "%s() aggregates: @name = %s(...)", f->name,
			    f->name);
	if (ki_d_is_action(f) && !statement && f->kind != KI_D_F_STACK && f->kind != KI_D_F_USTACK)
		return FAIL(c, n,
			    c->statement && c->statement->kind == KI_D_CALL ? "D_CG_EXPR"
									    : "D_OP_ACT",
			    "%s() is a statement of its own", f->name);
	if (nargs < f->least || nargs > f->most)
		return FAIL(c, n, length_tag(f), "%s() takes %s%u argument%s, not %u", f->name,
			    f->least == f->most ? ""
			    : nargs < f->least	? "at least "
						: "at most ",
			    nargs < f->least ? f->least : f->most,
			    (nargs < f->least ? f->least : f->most) == 1 ? "" : "s", nargs);
	n->sym.function = f;
	set_tags(c, f);
	return check_arguments(c, n);
}

/* ---- aggregations ---- */

static int new_agg(struct ki_d_checker *c, const struct ki_d_node *n, struct ki_d_agg **out)
{
	struct ki_d_agg *a = calloc(1, sizeof(*a));

	if (a)
		a->name = strdup(n->text);
	if (!a || !a->name || ki_vec_push(&c->d->aggs, a)) {
		if (a)
			free(a->name);
		free(a);
		return ki_d_no_memory(c->err);
	}
	a->at = n->at;
	a->normal = 1;
	*out = a;
	return 0;
}

/* How a key travels in the aggregation's rows: as in all its other uses. */
static uint8_t key_form(const struct ki_d_node *k)
{
	uint8_t form = ki_d_form_of(k);

	return form == KI_D_FORM_PROBE ? KI_D_FORM_NUMBERED : form;
}

static int note_keys(struct ki_d_checker *c, struct ki_d_node *n, struct ki_d_agg *a, bool first)
{
	unsigned int i = 0, words = 0;

	for (const struct ki_d_node *k = n->kid[0]; k; k = k->next, i++) {
		uint8_t form = key_form(k);

		if (first) {
			a->keys[i] = k->type;
			a->forms[i] = form;
		} else if (ki_d_is_scalar(a->keys[i]) != ki_d_is_scalar(k->type) ||
			   (a->keys[i].base == KI_D_STACK) != (k->type.base == KI_D_STACK)) {
			return FAIL(c, k, "D_PROTO_ARG",
				    "key %u of @%.40s has another type elsewhere", i + 1, n->text);
		} else if (form != a->forms[i]) {
			a->forms[i] = KI_D_FORM_TEXT;
			c->d->texts_used = true;
		}
		words += ki_d_form_words(a->forms[i]);
	}
	if (words > KI_TABLE_KEYS)
		return FAIL(c, n, "D_KEY_TYPE",
			    "the keys take %u words, and there is room for %d: execname takes %d",
			    words, KI_TABLE_KEYS, KI_D_COMM_WORDS);
	return 0;
}

int ki_d_check_agg(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_agg *a = find_agg(c->d, n->text);
	struct ki_d_node *call = n->kid[1];
	const struct ki_d_function *f;
	const bool first = !a;
	unsigned int nargs;
	int ret;

	if (!call || call->kind != KI_D_CALL)
		return FAIL(c, n, call ? "D_AGG_FUNC" : "D_AGG_NULL",
			    "an aggregation is assigned to: @%.40s = count()", n->text);
	f = ki_d_function_find(call->text);
	if (!f || f->kind != KI_D_F_AGG)
		return FAIL(c, call, f ? "D_AGG_FUNC" : "D_FUNC_UNDEF",
			    "%.40s() does not aggregate: count, sum, avg, min, max, stddev, "
			    "quantize and lquantize do",
			    call->text);
	nargs = count(call->kid[0]);
	if (nargs < f->least || nargs > f->most)
		return FAIL(c, call, "D_PROTO_LEN", "%s() takes %u argument%s", f->name, f->least,
			    f->least == 1 ? "" : "s");
	ret = check_numbers(c, call->kid[0], "D_AGG_SCALAR");
	if (!ret)
		ret = check_all(c, n->kid[0]);
	if (!ret && first)
		ret = new_agg(c, n, &a);
	if (ret)
		return ret;
	if (!first && a->fn != &ki_d_agg_functions[f->number])
		return FAIL(c, call, "D_AGG_REDEF", "@%.40s is made by %s() elsewhere", n->text,
			    a->fn->name);
	if (!first && count(n->kid[0]) != a->nkeys)
		return FAIL(c, n, "D_PROTO_LEN", "@%.40s has %u keys elsewhere", n->text, a->nkeys);
	if (count(n->kid[0]) > KI_D_KEYS)
		return FAIL(c, n, "D_PROTO_LEN", "more than %d keys", KI_D_KEYS);
	a->fn = &ki_d_agg_functions[f->number];
	a->nkeys = count(n->kid[0]);
	n->sym.agg = a;
	ret = ki_d_check_buckets(c, call, a, first);
	return ret ? ret : note_keys(c, n, a, first);
}
