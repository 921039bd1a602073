// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * From a predicate's tree to nodes of a snippet.
 */
#include <errno.h>

#include "predicate/predicate.h"

struct builder {
	struct ki_snippet *s;
	const struct ki_var *inside;
};

static struct ki_node *build(const struct builder *b, const struct ki_ast *e);

static struct ki_node *number(const struct builder *b, uint64_t value)
{
	return ki_expr_const(b->s, value > INT64_MAX ? KI_U64 : KI_I64, value);
}

/* Arguments and return values are signed, as the D language has them. */
static struct ki_node *name(const struct builder *b, const struct ki_ast *e)
{
	switch (e->meaning) {
	case KI_MEANS_PARAM:
		return ki_expr_cast(b->s, KI_I64, ki_expr_param(b->s, (unsigned int)e->value));
	case KI_MEANS_RETVAL:
		return ki_expr_cast(b->s, KI_I64, ki_expr_fact(b->s, KI_FACT_RETVAL));
	default:
		return ki_expr_fact(b->s, (enum ki_fact)e->value);
	}
}

static struct ki_node *equals(const struct builder *b, const struct ki_ast *l,
			      const struct ki_ast *r)
{
	if (l->kind == KI_AST_STRING)
		return equals(b, r, l);
	if (r->kind != KI_AST_STRING)
		return ki_expr_binary(b->s, KI_EQ, build(b, l), build(b, r));
	if (l->meaning == KI_MEANS_COMM)
		return ki_expr_comm_is(b->s, r->text);
	return ki_expr_binary(b->s, KI_EQ, build(b, l), number(b, r->value));
}

static struct ki_node *binary(const struct builder *b, const struct ki_ast *e)
{
	bool strings = e->kid[0]->kind == KI_AST_STRING || e->kid[1]->kind == KI_AST_STRING;

	if (e->op == KI_EQ)
		return equals(b, e->kid[0], e->kid[1]);
	if (e->op == KI_NE && strings)
		return ki_expr_unary(b->s, KI_LNOT, equals(b, e->kid[0], e->kid[1]));
	return ki_expr_binary(b->s, (enum ki_binary)e->op, build(b, e->kid[0]),
			      build(b, e->kid[1]));
}

/* The next n members, as a tree that is as flat as it can be. */
static struct ki_node *any_of(const struct builder *b, const struct ki_ast *left,
			      const struct ki_ast **member, size_t n)
{
	struct ki_node *first;

	if (n == 1) {
		first = equals(b, left, *member);
		*member = (*member)->next;
		return first;
	}
	first = any_of(b, left, member, n / 2);
	return ki_expr_binary(b->s, KI_LOR, first, any_of(b, left, member, n - n / 2));
}

static struct ki_node *in(const struct builder *b, const struct ki_ast *e)
{
	const struct ki_ast *member = e->kid[1];
	size_t n = 0;

	for (const struct ki_ast *m = member; m; m = m->next)
		n++;
	if (n > 1)
		return any_of(b, e->kid[0], &member, n);
	return equals(b, e->kid[0], member);
}

static struct ki_node *choice(const struct builder *b, const struct ki_ast *e)
{
	struct ki_node *c = build(b, e->kid[0]), *yes = build(b, e->kid[1]);

	return ki_expr_cond(b->s, c, yes, build(b, e->kid[2]));
}

static struct ki_node *inside(const struct builder *b, const struct ki_ast *e)
{
	struct ki_node *word = ki_expr_var(b->s, &b->inside[e->value]);

	return ki_expr_binary(b->s, KI_NE, word, number(b, 0));
}

static struct ki_node *build(const struct builder *b, const struct ki_ast *e)
{
	switch (e->kind) {
	case KI_AST_NUMBER:
		return ki_expr_const(b->s, (enum ki_type)e->type, e->value);
	case KI_AST_NAME:
		return name(b, e);
	case KI_AST_REGISTER:
		return ki_expr_reg(b->s, (enum ki_reg)e->op);
	case KI_AST_UNARY:
		return ki_expr_unary(b->s, (enum ki_unary)e->op, build(b, e->kid[0]));
	case KI_AST_CAST:
		return ki_expr_cast(b->s, (enum ki_type)e->type, build(b, e->kid[0]));
	case KI_AST_LOAD:
		return ki_expr_load(b->s, (enum ki_type)e->type, build(b, e->kid[0]));
	case KI_AST_COND:
		return choice(b, e);
	case KI_AST_IN:
		return in(b, e);
	case KI_AST_CALL:
		return inside(b, e);
	default:
		return binary(b, e);
	}
}

int ki_predicate_build(const struct ki_predicate *p, struct ki_snippet *s,
		       const struct ki_var *inside, struct ki_node **out, struct ki_err *err)
{
	const struct builder b = {.s = s, .inside = inside};

	*out = NULL;
	if (p->inside.n && !inside)
		return ki_err_set(err, -EINVAL, 0, "predicate: nobody counts inside(%s)",
				  p->inside.v[0]);
	*out = build(&b, p->root);
	return *out ? 0 : ki_snippet_check(s, NULL, err);
}
