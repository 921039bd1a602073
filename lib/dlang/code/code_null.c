// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Strings that variables keep: an empty string and NULL differ. A word that no string has, the
 * mark, is one of the two, and 0 the other. In what is taken away by a 0 (self->, elements of
 * associative arrays) 0 is NULL, so what nobody has assigned to is NULL, too. In other variables 0
 * is the empty string, and the mark NULL, if the program assigns NULL to any. The driver takes the
 * mark for an empty string.
 */
#include <string.h>

#include "dlang/code/code.h"

#define MARK KI_TEXT_EMPTY

static struct ki_node *number(struct ki_d_gen *g, uint64_t value)
{
	return ki_expr_const(g->s, KI_U64, value);
}

/* temp == value ? yes : no */
static struct ki_node *choose(struct ki_d_gen *g, uint64_t value, struct ki_node *yes,
			      struct ki_node *no)
{
	struct ki_node *is =
		ki_expr_binary(g->s, KI_EQ, ki_d_gen_temp(g), ki_expr_const(g->s, KI_U64, value));

	return ki_expr_cond(g->s, is, yes, no);
}

static struct ki_node *with_temp(struct ki_d_gen *g, struct ki_node *x, struct ki_node *value)
{
	return ki_expr_behind(g->s, ki_d_gen_set_temp(g, ki_expr_cast(g->s, KI_U64, x)), value);
}

/* The mark for 0, and 0 for the mark. */
static struct ki_node *swapped(struct ki_d_gen *g, struct ki_node *x)
{
	return with_temp(
		g, x,
		choose(g, 0, number(g, MARK), choose(g, MARK, number(g, 0), ki_d_gen_temp(g))));
}

/* Does a variable keep it? */
static bool is_kept(const struct ki_d_node *n)
{
	if (!ki_d_is_string(n->type))
		return false;
	return ki_d_in_variable(n) || n->kind == KI_D_SELF || n->kind == KI_D_THIS ||
	       n->kind == KI_D_INDEX || (n->kind == KI_D_NAME && !n->is_builtin);
}

static bool zero_is_null(const struct ki_d_node *n)
{
	return !ki_d_in_variable(n) && (n->kind == KI_D_SELF || n->kind == KI_D_INDEX);
}

bool ki_d_is_marked(const struct ki_d_gen *g, const struct ki_d_node *n)
{
	return is_kept(n) && (g->d->nulls || zero_is_null(n));
}

bool ki_d_may_be_null(const struct ki_d_gen *g, const struct ki_d_node *n)
{
	return ki_d_is_string(n->type) && (ki_d_is_marked(g, n) || ki_d_may_be_none(n));
}

struct ki_node *ki_d_gen_unmarked(struct ki_d_gen *g, const struct ki_d_node *n)
{
	return with_temp(g, ki_d_gen_kept(g, n), choose(g, MARK, number(g, 0), ki_d_gen_temp(g)));
}

/* It says nothing where it finds nothing, which is no fault. */
static bool is_json(const struct ki_d_node *n)
{
	return n->kind == KI_D_CALL && n->sym.function->kind == KI_D_F_TEXT &&
	       n->sym.function->number == KI_TEXT_JSON;
}

/* 0: it is NULL; the mark: it is empty. */
struct ki_node *ki_d_gen_marked(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *x;

	if (n->kind == KI_D_COND)
		return ki_expr_cond(g->s, ki_d_gen_expr(g, n->kid[0]),
				    ki_d_gen_marked(g, n->kid[1]), ki_d_gen_marked(g, n->kid[2]));
	if (ki_d_is_marked(g, n)) {
		x = ki_d_gen_kept(g, n);
		return zero_is_null(n) ? x : swapped(g, x);
	}
	x = ki_expr_cast(g->s, KI_U64, ki_d_gen_expr(g, n));
	if (ki_d_may_be_none(n) || is_json(n) || (n->kind == KI_D_TEXT && *n->text))
		return x;
	return with_temp(g, x, choose(g, 0, number(g, MARK), ki_d_gen_temp(g)));
}

struct ki_node *ki_d_gen_to_keep(struct ki_d_gen *g, const struct ki_d_node *to,
				 const struct ki_d_node *n)
{
	if (!ki_d_is_marked(g, to))
		return ki_d_gen_expr(g, n);
	if (zero_is_null(to))
		return ki_d_gen_marked(g, n);
	return n->kind == KI_D_TEXT ? ki_d_gen_expr(g, n) : swapped(g, ki_d_gen_marked(g, n));
}

struct ki_node *ki_d_gen_some_marked(struct ki_d_gen *g, const struct ki_d_node *n)
{
	return with_temp(g, ki_d_gen_some(g, ki_d_gen_marked(g, n)),
			 choose(g, MARK, number(g, 0), ki_d_gen_temp(g)));
}
