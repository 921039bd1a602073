// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Clauses: their predicates and statements, in the order of the program.
 */
#include <string.h>

#include "dlang/check/check.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

static int check_condition(struct ki_d_checker *c, struct ki_d_node *n, const char *tag,
			   const char *what)
{
	int ret = ki_d_check_expr(c, n);
	const bool is_array = !c->statement && ki_d_is_array(n->type);

	if (!ret && !is_array)
		ret = ki_d_decay(c, n);
	if (!ret && !ki_d_is_scalar(n->type))
		ret = FAIL(c, n, tag, "%s is a number: execname == \"name\"", what);
	return ret;
}

static int check_statements(struct ki_d_checker *c, struct ki_d_node **list);

/* What says more of an action that has no value has been said. */
static int check_misplaced(struct ki_d_checker *c)
{
	const struct ki_d_node *n = c->misplaced;

	if (!n)
		return 0;
	return FAIL(c, n, c->statement->kind == KI_D_CALL ? "D_CG_EXPR" : "D_OP_ACT",
		    "%s() is a statement of its own", n->text);
}

/* Of CONDITION ? ACTION : ACTION with a condition that is known only what is chosen stays. */
static bool choose(struct ki_d_node **at)
{
	struct ki_d_node *n = *at;

	if (!n->is_choice || !ki_d_fold_checked(n->kid[0]))
		return false;
	*at = n->kid[n->kid[0]->value ? 1 : 2];
	while (*at)
		at = &(*at)->next;
	*at = n->next;
	return true;
}

static int check_if(struct ki_d_checker *c, struct ki_d_node **at, bool *gone)
{
	struct ki_d_node *n = *at;
	int ret = check_condition(c, n->kid[0], "D_OP_SCALAR", "the condition of if");

	if (!ret)
		ret = check_misplaced(c);
	*gone = !ret && choose(at);
	for (int i = 1; !ret && !*gone && i < 3; i++)
		ret = check_statements(c, &n->kid[i]);
	return ret;
}

static int check_statement(struct ki_d_checker *c, struct ki_d_node *n)
{
	const bool translated = n->kind == KI_D_XLATE;
	int ret = n->kind == KI_D_AGG ? ki_d_check_agg(c, n) : ki_d_check_expr(c, n);

	if (!ret && translated)
		ret = FAIL(c, n, "D_CG_DYN", "what is translated is not a statement");
	return ret ? ret : check_misplaced(c);
}

/* What a pointer leads to cannot be written. What else is wrong behind that is said first. */
static bool yields(const struct ki_d_checker *c, const struct ki_d_node *n)
{
	const char *tag = c->d->where.tag;

	return tag && !strcmp(tag, "D_OP_WRITE") && n->kind == KI_D_ASSIGN &&
	       n->kid[0]->kind == KI_D_MEMBER;
}

static int check_rest(struct ki_d_checker *c, struct ki_d_node *failed)
{
	const struct ki_dlang_where where = c->d->where;
	const struct ki_err err = *c->err;

	ki_err_clear(c->err);
	c->d->where.tag = NULL;
	if (check_statements(c, &failed->next))
		return -EINVAL;
	c->d->where = where;
	*c->err = err;
	return -EINVAL;
}

static int check_statements(struct ki_d_checker *c, struct ki_d_node **list)
{
	int ret = 0;

	while (!ret && *list) {
		bool gone = false;

		c->statement = *list;
		ret = (*list)->kind == KI_D_IF ? check_if(c, list, &gone)
					       : check_statement(c, *list);
		if (ret && yields(c, *list))
			return check_rest(c, *list);
		if (!gone)
			list = &(*list)->next;
	}
	return ret;
}

static int check_predicate(struct ki_d_checker *c, struct ki_d_node *n)
{
	c->statement = NULL;
	return n ? check_condition(c, n, "D_PRED_SCALAR", "a predicate") : 0;
}

/* A variable that nothing has been assigned to: the clause's body may do it. */
static bool may_be_assigned(const struct ki_d_checker *c)
{
	const char *tag = c->d->where.tag;

	return tag && (!strcmp(tag, "D_IDENT_UNDEF") || !strcmp(tag, "D_VAR_UNDEF"));
}

static int check_clause(struct ki_d_checker *c, struct ki_d_clause *clause)
{
	struct ki_d_node *was = clause->predicate;
	struct ki_d_node *again = was ? ki_d_copy(c->d, was, NULL, NULL, UINT32_MAX) : NULL;
	bool later;
	int ret;

	c->clause = clause;
	c->is_first = true;
	ret = was && !again ? ki_d_no_memory(c->err) : check_predicate(c, was);
	c->is_first = false;
	later = ret && again && may_be_assigned(c);
	if (later) {
		ki_err_clear(c->err);
		c->d->where.tag = NULL;
		clause->predicate = again;
		ret = 0;
	}
	if (!ret)
		ret = check_statements(c, &clause->body);
	if (!ret && later)
		ret = check_predicate(c, again);
	return ret ? ret : ki_d_check_order(c, clause);
}

int ki_d_never_assigned(struct ki_d_checker *c, const struct ki_d_node *n)
{
	return FAIL(c, n, "D_IDENT_UNDEF", "%.40s has no value: nothing is assigned to it before",
		    n->kid[0]->text);
}

/* Arrays that are read, and nothing more. */
static int check_arrays(struct ki_d_checker *c)
{
	for (size_t i = 0; i < c->d->vars.n; i++)
		if (c->d->vars.v[i]->read)
			return ki_d_never_assigned(c, c->d->vars.v[i]->read);
	return 0;
}

int ki_d_check(struct ki_dlang *d, struct ki_err *err)
{
	struct ki_d_clause none = {0};
	struct ki_d_checker c = {.d = d, .err = err, .clause = &none};
	int ret = ki_d_prelude(d, err);

	if (!ret)
		ret = ki_d_check_translators(&c);
	if (!ret)
		ret = ki_d_check_inlines(&c);
	if (!ret && !d->providers && !d->clauses.n && !d->set.empty)
		ret = ki_d_fail(d, err, 0, "D_EMPTY", "the program has no clause");
	if (!ret)
		ret = ki_d_check_attributes(&c);
	if (!ret)
		ret = ki_d_split_clauses(&c);
	for (size_t i = 0; !ret && i < d->clauses.n; i++)
		ret = check_clause(&c, &d->clauses.v[i]);
	if (!ret)
		ret = check_arrays(&c);
	return ret ? ret : ki_d_batches(d, err);
}
