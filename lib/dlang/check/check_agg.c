// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Statements that aggregate: what their tuple is, and which buckets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

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

		if (k->type.base == KI_D_VOID && !k->type.stars)
			return FAIL(c, k, "D_KEY_TYPE", "key %u of @%.40s cannot be void", i + 1,
				    n->text);
		if (first) {
			a->keys[i] = k->type;
			a->forms[i] = form;
		} else if (ki_d_is_scalar(a->keys[i]) != ki_d_is_scalar(k->type) ||
			   (a->keys[i].base == KI_D_STACK) != (k->type.base == KI_D_STACK) ||
			   ki_d_is_place(a->keys[i]) != ki_d_is_place(k->type) ||
			   (ki_d_is_place(k->type) && a->keys[i].num != k->type.num)) {
			return FAIL(c, k, "D_PROTO_ARG",
				    "key %u of @%.40s has another type elsewhere", i + 1, n->text);
		} else if (form != a->forms[i]) {
			a->forms[i] = KI_D_FORM_TEXT;
			c->d->texts_used = true;
		}
		words += ki_d_form_words(a->forms[i]);
	}
	if (words + a->weighted > KI_TABLE_KEYS)
		return FAIL(c, n, "D_KEY_TYPE",
			    "the keys take %u words, and there is room for %d: execname takes %d",
			    words, KI_TABLE_KEYS, KI_D_COMM_WORDS);
	return 0;
}

/* What stands nowhere, since it is translated: curpsinfo. */
static bool is_translated(const struct ki_d_checker *c, const struct ki_d_node *k)
{
	const struct ki_d_inline *in =
		k->kind == KI_D_NAME ? ki_d_inline_find(c->d, k->text) : NULL;

	return k->kind == KI_D_XLATE || (in && !in->n && in->body->kind == KI_D_XLATE);
}

int ki_d_check_key_kinds(struct ki_d_checker *c, const struct ki_d_node *list)
{
	for (const struct ki_d_node *k = list; k; k = k->next) {
		if (k->kind == KI_D_NAME && ki_d_known(c->d, k->text, c->err))
			return -EINVAL;
		if (is_translated(c, k))
			return FAIL(c, k, "D_KEY_TYPE",
				    "what is translated cannot be a key: its members can");
		const struct ki_d_function *f =
			k->kind == KI_D_CALL ? ki_d_function_find(k->text) : NULL;

		if (k->kind == KI_D_AGG ||
		    (f && (ki_d_is_action(f) || f->kind == KI_D_F_AGG) && !ki_d_is_value(f)))
			return FAIL(c, k, "D_KEY_TYPE", "%s%.40s has no value: it cannot be a key",
				    f ? "" : "@", k->text);
	}
	return 0;
}

static int check_values(struct ki_d_checker *c, const struct ki_d_node *call)
{
	struct ki_d_node *weight = ki_d_weight(call);
	int ret = 0;

	for (struct ki_d_node *k = call->kid[0]; !ret && k; k = k->next) {
		ret = ki_d_check_expr(c, k);
		if (!ret)
			ret = ki_d_decay(c, k);
		if (!ret && !ki_d_is_scalar(k->type))
			ret = FAIL(c, k, k == weight ? "D_PROTO_ARG" : "D_AGG_SCALAR",
				   "a number is expected");
	}
	return ret;
}

/* The function that a call of the right form aggregates by. */
static int check_call(struct ki_d_checker *c, const struct ki_d_node *n,
		      const struct ki_d_function **out)
{
	const struct ki_d_node *call = n->kid[1];
	const struct ki_d_function *f;
	unsigned int nargs;

	if (!call || call->kind != KI_D_CALL)
		return FAIL(c, n,
			    call					? "D_AGG_FUNC"
			    : n->kid[0] || ki_d_agg_find(c->d, n->text) ? "D_AGG_NULL"
									: "D_IDENT_UNDEF",
			    "an aggregation is assigned to: @%.40s = count()", n->text);
	f = ki_d_function_find(call->text);
	if (!f || f->kind != KI_D_F_AGG)
		return FAIL(c, call, f ? "D_AGG_FUNC" : "D_FUNC_UNDEF",
			    "%.40s() does not aggregate: count, sum, avg, min, max, stddev, "
			    "quantize and lquantize do",
			    call->text);
	nargs = ki_d_count(call->kid[0]);
	if (nargs < f->least || nargs > f->most)
		return FAIL(c, call, "D_PROTO_LEN", "%s() takes %u argument%s", f->name, f->least,
			    f->least == 1 ? "" : "s");
	*out = f;
	return 0;
}

/* Function and keys are as elsewhere. */
static int check_agrees(struct ki_d_checker *c, const struct ki_d_node *n, const struct ki_d_agg *a,
			const struct ki_d_function *f)
{
	if (a->fn != &ki_d_agg_functions[f->number])
		return FAIL(c, n->kid[1], "D_AGG_REDEF", "@%.40s is made by %s() elsewhere",
			    n->text, a->fn->name);
	if (ki_d_count(n->kid[0]) != a->nkeys)
		return FAIL(c, n, "D_PROTO_LEN", "@%.40s has %u keys elsewhere", n->text, a->nkeys);
	return 0;
}

/* A struct becomes its members, each of which is a key. */
static int check_keys(struct ki_d_checker *c, struct ki_d_node *list)
{
	struct ki_d_node *was[KI_D_KEYS] = {NULL}, *next;
	unsigned int i = 0;
	int ret = ki_d_check_key_kinds(c, list);

	for (struct ki_d_node *k = list; k && i < KI_D_KEYS; k = k->next)
		if (!(was[i++] = ki_d_copy(c->d, k, NULL, NULL, UINT32_MAX)))
			return ki_d_no_memory(c->err);
	if (!ret)
		ret = ki_d_check_all(c, list);
	i = 0;
	for (struct ki_d_node *k = list; ret >= 0 && k && i < KI_D_KEYS; k = next, i++) {
		next = k->next;
		if (ki_d_is_struct(k->type))
			ret = ki_d_spread_key(c, k, was[i]);
	}
	return ret < 0 ? ret : 0;
}

int ki_d_check_agg(struct ki_d_checker *c, struct ki_d_node *n)
{
	struct ki_d_agg *a = ki_d_agg_find(c->d, n->text);
	struct ki_d_node *call = n->kid[1];
	const struct ki_d_function *f = NULL;
	const bool first = !a;
	int ret = check_call(c, n, &f);

	if (!ret)
		ret = check_values(c, call);
	if (!ret)
		ret = check_keys(c, n->kid[0]);
	if (!ret)
		ret = first ? new_agg(c, n, &a) : check_agrees(c, n, a, f);
	if (ret)
		return ret;
	if (ki_d_count(n->kid[0]) > KI_D_KEYS)
		return FAIL(c, n, "D_PROTO_LEN", "more than %d keys", KI_D_KEYS);
	a->fn = &ki_d_agg_functions[f->number];
	a->nkeys = ki_d_count(n->kid[0]);
	a->weighted |= ki_d_weight(call) != NULL;
	n->sym.agg = a;
	ret = ki_d_check_key_count(c, n, a->nkeys);
	if (!ret)
		ret = ki_d_check_buckets(c, call, a, first);
	return ret ? ret : note_keys(c, n, a, first);
}
