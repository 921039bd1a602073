// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * From a predicate's tree to nodes of a snippet.
 *
 * `x in (1, 2, 3)` is x == 1 || x == 2 || x == 3, with x evaluated once. That takes a local, which
 * a statement sets; so it can be had only of a guard, which is a statement, and there the setting
 * stands as late as possible: `a && x in (...)` becomes if (a) { local = x; if (...) }, so that
 * nothing is done for x where a does not hold. In an expression x is built for each comparison,
 * if that makes no difference.
 */
#include <errno.h>
#include <string.h>

#include "predicate/predicate.h"
#include "snippet/tree.h"

struct builder {
	struct ki_snippet *s;
	const struct ki_hit *hit; /* NULL: nobody records */
	const struct ki_var *inside;
	const struct ki_ast *held[KI_LOCALS]; /* `in`s whose left side is in a local */
	unsigned int nheld;
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

/* A string from memory, of so many words if it does not say. */
static struct ki_node *string(const struct builder *b, const struct ki_ast *e, unsigned int words)
{
	return ki_expr_string(b->s, build(b, e->kid[0]), ki_ast_words(e, words), e->op);
}

static struct ki_node *string_is(const struct builder *b, const struct ki_ast *e, const char *text,
				 bool prefix)
{
	unsigned int words = (unsigned int)(strlen(text) + !prefix) / 8 + 1;

	return ki_expr_string_is(b->s, string(b, e, words), text, prefix);
}

static struct ki_node *equals(const struct builder *b, const struct ki_ast *l,
			      const struct ki_ast *r)
{
	if (l->kind == KI_AST_STRING)
		return equals(b, r, l);
	if (r->kind != KI_AST_STRING)
		return ki_expr_binary(b->s, KI_EQ, build(b, l), build(b, r));
	if (l->kind == KI_AST_STR)
		return string_is(b, l, r->text, false);
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

static struct ki_var local(unsigned int n)
{
	return (struct ki_var){
		.name = "left", .kind = KI_VAR_LOCAL, .type = KI_U64, .first = KI_LOCALS - 1 - n};
}

/* The left side of an `in`, or NULL if it is in no local. */
static struct ki_node *held(const struct builder *b, const struct ki_ast *in)
{
	struct ki_var v;

	for (unsigned int i = 0; i < b->nheld; i++) {
		if (b->held[i] != in)
			continue;
		v = local(i);
		return ki_expr_var(b->s, &v);
	}
	return NULL;
}

static struct ki_node *is_member(const struct builder *b, const struct ki_ast *in,
				 const struct ki_ast *member)
{
	struct ki_node *left = held(b, in);

	if (!left)
		return equals(b, in->kid[0], member);
	return ki_expr_binary(b->s, KI_EQ, left,
			      member->kind == KI_AST_STRING ? number(b, member->value)
							    : build(b, member));
}

/* The next n members, as a tree that is as flat as it can be. */
static struct ki_node *any_of(const struct builder *b, const struct ki_ast *in,
			      const struct ki_ast **member, size_t n)
{
	struct ki_node *first;

	if (n == 1) {
		first = is_member(b, in, *member);
		*member = (*member)->next;
		return first;
	}
	first = any_of(b, in, member, n / 2);
	return ki_expr_binary(b->s, KI_LOR, first, any_of(b, in, member, n - n / 2));
}

static struct ki_node *in(const struct builder *b, const struct ki_ast *e)
{
	const struct ki_ast *member = e->kid[1];
	size_t n = 0;

	for (const struct ki_ast *m = member; m; m = m->next)
		n++;
	return any_of(b, e, &member, n);
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

/* With nobody who records, an instrument's id is 0. */
static struct ki_node *instrument(const struct builder *b, const struct ki_ast *e)
{
	struct ki_node *args[KI_CALL_ARGS], *call;
	unsigned int n = 0;

	if (e->op & KI_TAKES_ID)
		args[n++] = ki_expr_const(b->s, KI_U32, b->hit ? b->hit->id : 0);
	if (e->op & KI_TAKES_HERE) {
		args[n++] = ki_expr_fact(b->s, KI_FACT_ADDR);
		args[n++] = ki_expr_fact(b->s, KI_FACT_PLACE);
	}
	for (const struct ki_ast *a = e->kid[0]; a && n < KI_CALL_ARGS; a = a->next)
		args[n++] = build(b, a);
	call = ki_expr_call(b->s, KI_I64, e->value, e->text, args, n);
	return b->hit && (e->op & KI_RECORDS) ? ki_expr_call_recording(b->s, call, b->hit) : call;
}

static struct ki_node *call(const struct builder *b, const struct ki_ast *e)
{
	switch (e->meaning) {
	case KI_MEANS_INSIDE:
		return inside(b, e);
	case KI_MEANS_SWAP:
		return ki_expr_swap(b->s, (enum ki_type)e->type, build(b, e->kid[0]));
	default:
		return instrument(b, e);
	}
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
		return call(b, e);
	case KI_AST_STR:
		return string(b, e, KI_STRING_USUAL);
	case KI_AST_STARTS:
		return string_is(b, e->kid[0], e->kid[1]->text, true);
	default:
		return binary(b, e);
	}
}

/* ---- locals ---- */

static bool is_instrument(const struct ki_ast *e)
{
	return e->kind == KI_AST_CALL && e->meaning == KI_MEANS_INSTRUMENT;
}

/* What it reads may change while it is read twice; an instrument may do anything. */
static bool is_once(const struct ki_ast *e)
{
	return e->kind == KI_AST_LOAD || is_instrument(e);
}

/* Is it one of these, or is one in it? */
static bool has(const struct ki_ast *e, bool (*one)(const struct ki_ast *))
{
	bool found = one(e);

	for (unsigned int i = 0; !found && i < 3; i++)
		for (const struct ki_ast *k = e->kid[i]; !found && k; k = k->next)
			found = has(k, one);
	return found;
}

/* An `in` that compares more than once what is neither in a register nor a thread's name. */
static bool wants_local(const struct ki_ast *e)
{
	const struct ki_ast *left = e->kid[0];

	if (e->kind != KI_AST_IN || !e->kid[1]->next)
		return false;
	return left->kind != KI_AST_REGISTER && left->kind != KI_AST_STR &&
	       !(left->kind == KI_AST_NAME &&
		 (left->meaning == KI_MEANS_COMM || left->meaning == KI_MEANS_PARAM ||
		  left->meaning == KI_MEANS_RETVAL));
}

/* Is what stands at kid i evaluated whenever e is? */
static bool is_always(const struct ki_ast *e, unsigned int i, const struct ki_ast *kid)
{
	if (e->kind == KI_AST_IN)
		return !i || kid == e->kid[1];
	return !i || !(e->kind == KI_AST_COND ||
		       (e->kind == KI_AST_BINARY && (e->op == KI_LAND || e->op == KI_LOR)));
}

/*
 * Statements that set the locals of an expression, what is inside first; *list may be NULL. They
 * stand before all of it: an instrument that it would not call each time is not called there.
 */
static void hold(struct builder *b, const struct ki_ast *e, bool always, struct ki_node **list)
{
	struct ki_var v;

	for (unsigned int i = 0; i < 3; i++)
		for (const struct ki_ast *k = e->kid[i]; k; k = k->next)
			hold(b, k, always && is_always(e, i, k), list);
	if (!wants_local(e))
		return;
	if (!always && has(e->kid[0], is_instrument)) {
		ki_tree_fail(b->s, -EOPNOTSUPP,
			     "predicate: the instrument before in (...) would be called also where "
			     "its result is not needed: compare it by ==");
		return;
	}
	if (b->nheld == KI_LOCALS) {
		ki_tree_fail(b->s, -E2BIG, "more than %d left sides of in", KI_LOCALS);
		return;
	}
	v = local(b->nheld);
	*list = ki_stmt_append(b->s, *list,
			       ki_stmt_update(b->s, KI_SET, &v, NULL, build(b, e->kid[0])));
	b->held[b->nheld++] = e;
}

static struct ki_node *guard(struct builder *b, const struct ki_ast *e, struct ki_node *then)
{
	struct ki_node *list = NULL, *cond, *stmt;

	if (e->kind == KI_AST_BINARY && e->op == KI_LAND)
		return guard(b, e->kid[0], guard(b, e->kid[1], then));
	hold(b, e, true, &list);
	cond = build(b, e);
	stmt = ki_stmt_if(b->s, cond, then, NULL);
	return list ? ki_stmt_append(b->s, list, stmt) : stmt;
}

/* ---- the interface ---- */

static int check_inside(const struct ki_predicate *p, const struct ki_var *inside,
			struct ki_err *err)
{
	if (!p->inside.n || inside)
		return 0;
	return ki_err_set(err, -EINVAL, 0, "predicate: nobody counts inside(%s)", p->inside.v[0]);
}

/* An `in` that cannot be built without a local. */
static bool needs_local(const struct ki_ast *e)
{
	bool needs = wants_local(e) && has(e->kid[0], is_once);

	for (unsigned int i = 0; !needs && i < 3; i++)
		for (const struct ki_ast *k = e->kid[i]; !needs && k; k = k->next)
			needs = needs_local(k);
	return needs;
}

int ki_predicate_build(const struct ki_predicate *p, struct ki_snippet *s,
		       const struct ki_var *inside, struct ki_node **out, struct ki_err *err)
{
	const struct builder b = {.s = s, .hit = p->hit, .inside = inside};
	int ret = check_inside(p, inside, err);

	*out = NULL;
	if (ret)
		return ret;
	if (needs_local(p->root))
		return ki_err_set(
			err, -EOPNOTSUPP, 0,
			"predicate: what stands before in (...) would be loaded or called twice here: "
			"compare it by ==");
	*out = build(&b, p->root);
	return *out ? 0 : ki_snippet_check(s, NULL, err);
}

int ki_predicate_guard(const struct ki_predicate *p, struct ki_snippet *s,
		       const struct ki_var *inside, struct ki_node *then, struct ki_node **out,
		       struct ki_err *err)
{
	struct builder b = {.s = s, .hit = p->hit, .inside = inside};
	int ret = check_inside(p, inside, err);

	*out = ret ? NULL : guard(&b, p->root, then);
	return ret || *out ? ret : ki_snippet_check(s, NULL, err);
}
