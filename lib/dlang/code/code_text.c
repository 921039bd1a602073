// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Strings: each is a word, its number in the session's table.
 *
 * A string that stands in the program, or that the probe's description has, is in that table before
 * code uses it: a global variable holds its number. The driver takes it from this process, by a
 * piece of code that runs once (ki_d_code_constants).
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/code/code.h"

#define GLOBALS 64 /* taken at once */

static struct ki_node *text(struct ki_d_gen *g, enum ki_text_op op, struct ki_node *const *args,
			    unsigned int n)
{
	return ki_expr_text(g->s, ki_texts_number(g->d->run->strings), op, args, n);
}

static struct ki_node *zero(struct ki_d_gen *g)
{
	return ki_expr_const(g->s, KI_U64, 0);
}

/* ---- constants ---- */

static bool is_constant(const struct ki_d_constant *c, const char *bytes)
{
	return bytes && c->text ? !strcmp(c->text, bytes) : bytes == c->text;
}

/* Its index; SIZE_MAX: it cannot be had. bytes: NULL: of the memory of variables. */
static size_t constant_of(struct ki_dlang *d, const char *bytes)
{
	struct ki_d_run *r = d->run;
	struct ki_d_constant c = {0};

	for (size_t i = 0; i < d->constants.n; i++)
		if (is_constant(&d->constants.v[i], bytes))
			return i;
	if (!r->constants_left && ki_globals_take(r->t, GLOBALS, &r->constants_next, NULL))
		return SIZE_MAX;
	r->constants_left = r->constants_left ? r->constants_left : GLOBALS;
	c.global = r->constants_next;
	c.text = bytes ? strdup(bytes) : NULL;
	if ((bytes && !c.text) || ki_vec_push(&d->constants, c)) {
		free(c.text);
		return SIZE_MAX;
	}
	r->constants_next++;
	r->constants_left--;
	return d->constants.n - 1;
}

static struct ki_var var_of(const struct ki_d_constant *c)
{
	return (struct ki_var){.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = c->global};
}

static struct ki_node *constant(struct ki_d_gen *g, const char *bytes)
{
	size_t i = !bytes || *bytes ? constant_of(g->d, bytes) : SIZE_MAX;
	struct ki_var v;

	if (i == SIZE_MAX)
		return zero(g);
	v = var_of(&g->d->constants.v[i]);
	return ki_expr_var(g->s, &v);
}

struct ki_node *ki_d_gen_variables(struct ki_d_gen *g)
{
	return constant(g, NULL);
}

struct ki_node *ki_d_gen_constants(struct ki_d_gen *g, size_t from, size_t to)
{
	struct ki_node *list = NULL;

	for (size_t i = from; i < to; i++) {
		const struct ki_d_constant *c = &g->d->constants.v[i];
		const uint64_t what = c->text ? (uint64_t)(uintptr_t)c->text : g->d->memory;
		struct ki_node *args[] = {ki_expr_const(g->s, KI_U64, what), zero(g)};
		const enum ki_text_op op = c->text ? KI_TEXT_USER : KI_TEXT_ALLOCA;
		struct ki_var v = var_of(c);

		list = ki_stmt_append(g->s, list,
				      ki_stmt_update(g->s, KI_SET, &v, NULL, text(g, op, args, 2)));
	}
	return list;
}

/* ---- functions ---- */

/* Is k, a second argument, the base of a number, and perhaps none that there is? */
static bool may_be_no_base(const struct ki_d_function *f, const struct ki_d_node *k)
{
	const bool known =
		k->kind == KI_D_NUMBER && k->value >= KI_D_BASE_LEAST && k->value <= KI_D_BASE_MOST;

	return (f->number == KI_TEXT_NUMBER || f->number == KI_TEXT_VALUE) && !known;
}

struct ki_node *ki_d_gen_string(struct ki_d_gen *g, const struct ki_d_node *n)
{
	if (ki_d_is_marked(g, n) || ki_d_may_be_none(n))
		return ki_d_gen_some(g, ki_d_gen_marked(g, n));
	return ki_d_gen_expr(g, n);
}

static unsigned int arguments(struct ki_d_gen *g, const struct ki_d_node *n, struct ki_node **args)
{
	const struct ki_d_function *f = n->sym.function;
	unsigned int count = 0;

	for (const struct ki_d_node *k = n->kid[0]; k; k = k->next, count++) {
		args[count] = f->args[count] == 's' ? ki_d_gen_string(g, k) : ki_d_gen_expr(g, k);
		if (count == 1 && may_be_no_base(f, k))
			args[count] = ki_d_gen_base(g, args[count]);
	}
	for (; f->args[count]; count++)
		args[count] = ki_expr_const(g->s, KI_I64, (uint64_t)f->usual[count]);
	return count;
}

/* word = s; piece = its first one; word = the rest; piece. Without s it goes on with the rest. */
static struct ki_node *token(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct ki_d_node *s = n->kid[0];
	struct ki_var rest = {.kind = KI_VAR_THREAD, .type = KI_U64, .first = g->d->run->token},
		      piece = rest;
	struct ki_node *args[2], *value;

	piece.first++;
	value = ki_expr_var(g->s, &piece);
	args[0] = ki_expr_var(g->s, &rest);
	args[1] = ki_d_gen_string(g, s->next);
	value = ki_expr_behind(g->s,
			       ki_d_gen_effect(g, ki_stmt_update(g->s, KI_SET, &rest, NULL,
								 text(g, KI_TEXT_REST, args, 2))),
			       value);
	args[0] = ki_expr_var(g->s, &rest);
	args[1] = ki_d_gen_string(g, s->next);
	value = ki_expr_behind(
		g->s, ki_stmt_update(g->s, KI_SET, &piece, NULL, text(g, KI_TEXT_TOKEN, args, 2)),
		value);
	if (!ki_d_is_string(s->type))
		return value;
	return ki_expr_behind(
		g->s, ki_stmt_update(g->s, KI_SET, &rest, NULL, ki_d_gen_string(g, s)), value);
}

struct ki_node *ki_d_gen_text_call(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *args[3];
	unsigned int count;

	if (n->sym.function->kind == KI_D_F_TOKEN)
		return token(g, n);
	count = arguments(g, n, args);
	if (ki_d_text_may_fault(n->sym.function))
		return ki_d_gen_text_at(g, (enum ki_text_op)n->sym.function->number, args, count);
	return text(g, (enum ki_text_op)n->sym.function->number, args, count);
}

/* ---- values ---- */

struct ki_node *ki_d_gen_text(struct ki_d_gen *g, const struct ki_d_node *n)
{
	if (ki_d_is_constant(n))
		return constant(g, ki_d_gen_known(g, n));
	return text(g, KI_TEXT_COMM, NULL, 0);
}

/* ---- comparison ---- */

/* Without a place in the table: with a short constant, of what is only compared. */
static struct ki_node *same_as(struct ki_d_gen *g, const struct ki_d_node *n, const char *bytes)
{
	const size_t len = strlen(bytes);

	if (ki_d_is_constant(n))
		return ki_expr_const(g->s, KI_I64, !strcmp(ki_d_gen_known(g, n), bytes));
	if (n->kind == KI_D_NAME && n->is_builtin)
		return len < 16 ? ki_expr_comm_is(g->s, bytes) : zero(g);
	return NULL;
}

/* NULL is equal to NULL alone. What is no string is NULL. */
static bool null_matters(struct ki_d_gen *g, const struct ki_d_node *a, const struct ki_d_node *b)
{
	const bool text = ki_d_is_string(b->type);

	if (!ki_d_is_string(a->type))
		return true;
	return ki_d_may_be_null(g, a) && !(text && ki_d_is_constant(b) && *ki_d_gen_known(g, b));
}

static struct ki_node *equal(struct ki_d_gen *g, const struct ki_d_node *a,
			     const struct ki_d_node *b)
{
	struct ki_node *same = NULL;

	if (null_matters(g, a, b) || null_matters(g, b, a))
		return ki_expr_binary(g->s, KI_EQ, ki_d_gen_marked(g, a), ki_d_gen_marked(g, b));
	if (ki_d_is_string(a->type) && ki_d_is_string(b->type)) {
		if (ki_d_is_constant(b))
			same = same_as(g, a, ki_d_gen_known(g, b));
		else if (ki_d_is_constant(a))
			same = same_as(g, b, ki_d_gen_known(g, a));
	}
	return same ? same : ki_expr_binary(g->s, KI_EQ, ki_d_gen_expr(g, a), ki_d_gen_expr(g, b));
}

/* Less than 0, 0 or more. NULL is less than all others, the empty string too. */
static struct ki_node *order(struct ki_d_gen *g, const struct ki_d_node *a,
			     const struct ki_d_node *b)
{
	const bool marked = ki_d_may_be_null(g, a) || ki_d_may_be_null(g, b) ||
			    ki_d_is_nothing(a) || ki_d_is_nothing(b);
	struct ki_node *args[] = {marked ? ki_d_gen_marked(g, a) : ki_d_gen_expr(g, a),
				  marked ? ki_d_gen_marked(g, b) : ki_d_gen_expr(g, b)};

	return text(g, KI_TEXT_COMPARE, args, 2);
}

struct ki_node *ki_d_gen_compare_texts(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *same;

	if (n->op == KI_EQ || n->op == KI_NE) {
		same = equal(g, n->kid[0], n->kid[1]);
		return n->op == KI_EQ ? same : ki_expr_unary(g->s, KI_LNOT, same);
	}
	return ki_expr_binary(g->s, (enum ki_binary)n->op, order(g, n->kid[0], n->kid[1]),
			      ki_expr_const(g->s, KI_I64, 0));
}
