// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * for (VARIABLE = constant; VARIABLE < constant [&& condition]; VARIABLE++) statement
 *
 * Code only goes forward, so each turn has code of its own: its statements are copied, with the
 * number in the variable's place. A loop that may not end after so many turns is refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/check.h"
#include "dlang/parse/parse.h"

#define MOST	    256 /* turns */
#define MOST_NESTED 32	/* of a loop that a condition may end: each is inside of the one before */
#define MOST_NODES  65536

struct loop {
	struct ki_d_parser *p;
	uint32_t at;
	struct ki_d_node *init, *cond, *step, *body;
	struct ki_d_node *var;	/* in init */
	struct ki_d_node *rest; /* conditions that are no bound; NULL: none */
	int64_t from, by, to;
	uint8_t op; /* of the bound */
	unsigned int turns;
};

static int fail(const struct loop *l, const char *why)
{
	l->p->d->where = (struct ki_dlang_where){0};
	return ki_d_fail(l->p->d, l->p->lex.err, l->at, "D_FOR_BOUND",
			 "%s: for (i = 0; i < 10; i++), or i < n && i < 10", why);
}

static bool is_var(const struct loop *l, const struct ki_d_node *n)
{
	return n->kind == l->var->kind && !strcmp(n->text, l->var->text);
}

static struct ki_d_node *copy(const struct loop *l, const struct ki_d_node *n, struct ki_d_node *in)
{
	const bool replaces = in && l->var->kind == KI_D_NAME;

	return ki_d_copy(l->p->d, n, replaces ? l->var->text : NULL, in, UINT32_MAX);
}

/* ---- what is constant ---- */

static bool constant(const struct loop *l, const struct ki_d_node *n, int64_t *value)
{
	struct ki_d_node *seen = copy(l, n, NULL);
	struct ki_err ignored = {0};

	if (!seen || ki_d_fold(l->p->d, seen, &ignored))
		return false;
	*value = (int64_t)seen->value;
	return true;
}

static bool is_bound(const struct loop *l, const struct ki_d_node *n)
{
	return n->kind == KI_D_BINARY && n->op >= KI_EQ && n->op <= KI_GE && is_var(l, n->kid[0]);
}

/* One of the conditions that are joined by && is the bound, the others are the rest. */
static int find_bound(struct loop *l, struct ki_d_node *n, bool *found)
{
	struct ki_d_node *both;
	int ret;

	if (n->kind == KI_D_BINARY && n->op == KI_LAND) {
		ret = find_bound(l, n->kid[0], found);
		return ret ? ret : find_bound(l, n->kid[1], found);
	}
	if (!*found && is_bound(l, n) && constant(l, n->kid[1], &l->to)) {
		*found = true;
		l->op = n->op;
		return 0;
	}
	both = l->rest ? ki_d_node_new(&l->p->d->pool, KI_D_BINARY, n->at, 0) : n;
	if (!both)
		return ki_d_no_memory(l->p->lex.err);
	if (l->rest) {
		both->op = KI_LAND;
		both->kid[0] = l->rest;
		both->kid[1] = n;
	}
	l->rest = both;
	return 0;
}

static bool step_of(struct loop *l)
{
	const struct ki_d_node *s = l->step;

	if ((s->kind != KI_D_STEP && s->kind != KI_D_ASSIGN) || !is_var(l, s->kid[0]) ||
	    (s->op != KI_ADD && s->op != KI_SUB))
		return false;
	l->by = 1;
	if (s->kind == KI_D_ASSIGN && !constant(l, s->kid[1], &l->by))
		return false;
	if (s->op == KI_SUB)
		l->by = (int64_t)(0 - (uint64_t)l->by);
	return true;
}

static bool goes_on(const struct loop *l, int64_t i)
{
	const bool is[] = {
		[KI_EQ - KI_EQ] = i == l->to,
		[KI_NE - KI_EQ] = i != l->to,
		[KI_LT - KI_EQ] = i<l->to, [KI_LE - KI_EQ] = i <= l->to, [KI_GT - KI_EQ] = i> l->to,
		[KI_GE - KI_EQ] = i >= l->to};

	return is[l->op - KI_EQ];
}

static bool changes(const struct loop *l, const struct ki_d_node *list, unsigned int *nodes)
{
	bool found = false;

	for (const struct ki_d_node *n = list; !found && n; n = n->next) {
		++*nodes;
		found = (n->kind == KI_D_ASSIGN || n->kind == KI_D_STEP) && is_var(l, n->kid[0]);
		for (unsigned int i = 0; !found && i < 3; i++)
			found = changes(l, n->kid[i], nodes);
	}
	return found;
}

static int measure(struct loop *l)
{
	unsigned int nodes = 0;
	bool found = false;
	int64_t i;
	int ret;

	if (l->init->kind != KI_D_ASSIGN || l->init->op != KI_BINARIES)
		return fail(l, "the loop begins with an assignment");
	l->var = l->init->kid[0];
	if (l->var->kind != KI_D_NAME && l->var->kind != KI_D_SELF && l->var->kind != KI_D_THIS)
		return fail(l, "what the loop counts is a variable");
	if (!constant(l, l->init->kid[1], &l->from))
		return fail(l, "the loop does not begin with a constant");
	ret = find_bound(l, l->cond, &found);
	if (ret)
		return ret;
	if (!found)
		return fail(l, "the loop has no bound that is constant");
	if (!step_of(l))
		return fail(l, "the loop's step is no constant");
	if (changes(l, l->body, &nodes) || (l->rest && changes(l, l->rest, &nodes)))
		return fail(l, "the loop changes its variable inside");
	for (i = l->from; goes_on(l, i); i = (int64_t)((uint64_t)i + (uint64_t)l->by))
		if (l->turns++ == (l->rest ? MOST_NESTED : MOST) ||
		    (uint64_t)nodes * l->turns > MOST_NODES)
			return fail(l, l->rest ? "the loop has more than 32 turns"
					       : "the loop has too many turns: at most 256");
	return 0;
}

/* ---- turns ---- */

static struct ki_d_node *number(const struct loop *l, int64_t value)
{
	struct ki_d_node *n = ki_d_node_new(&l->p->d->pool, KI_D_NUMBER, l->at, 0);

	if (!n)
		return NULL;
	n->value = (uint64_t)value;
	n->is_turn = true;
	n->type = ki_d_int(value >= INT32_MIN && value <= INT32_MAX ? KI_I32 : KI_I64);
	return n;
}

/* Past the last one. */
static struct ki_d_node **append(struct ki_d_node **end, struct ki_d_node *n)
{
	if (!n)
		return NULL;
	*end = n;
	return &n->next;
}

static struct ki_d_node **assign(const struct loop *l, struct ki_d_node **end, int64_t value)
{
	struct ki_d_node *n = copy(l, l->init, NULL);

	if (!n)
		return NULL;
	n->kid[1] = number(l, value);
	return n->kid[1] ? append(end, n) : NULL;
}

static struct ki_d_node **turn(const struct loop *l, struct ki_d_node **end, int64_t i)
{
	struct ki_d_node *in = number(l, i), *branch;

	if (end && l->rest) {
		branch = ki_d_node_new(&l->p->d->pool, KI_D_IF, l->at, 0);
		if (branch)
			branch->kid[0] = copy(l, l->rest, in);
		end = branch && branch->kid[0] ? append(end, branch) : NULL;
		end = end ? &branch->kid[1] : NULL;
	}
	for (const struct ki_d_node *n = l->body; in && end && n; n = n->next)
		end = append(end, copy(l, n, in));
	if (!in || !end)
		return NULL;
	return l->rest || l->var->kind != KI_D_NAME
		       ? assign(l, end, (int64_t)((uint64_t)i + (uint64_t)l->by))
		       : end;
}

/* Behind a loop that no condition ends the list goes on; else it does behind the outermost if. */
static int unroll(const struct loop *l, struct ki_d_node ***list)
{
	struct ki_d_node **end = assign(l, *list, l->from), **first;
	int64_t i = l->from;

	first = end;
	for (unsigned int k = 0; end && k < l->turns; k++) {
		end = turn(l, end, i);
		i = (int64_t)((uint64_t)i + (uint64_t)l->by);
	}
	if (end && !l->rest && l->turns)
		end = assign(l, end, i);
	if (!end)
		return ki_d_no_memory(l->p->lex.err);
	*list = l->rest && *first ? &(*first)->next : end;
	return 0;
}

static int part(struct ki_d_parser *p, struct ki_d_node **out, const char *close)
{
	int ret = ki_d_parse_comma(p, out);

	return ret ? ret : ki_lex_take(&p->lex, close);
}

int ki_d_parse_for(struct ki_d_parser *p, struct ki_d_node ***end)
{
	struct loop l = {.p = p, .at = p->lex.now.at};
	int ret = ki_lex_next(&p->lex);

	if (!ret)
		ret = ki_lex_take(&p->lex, "(");
	if (!ret)
		ret = part(p, &l.init, ";");
	if (!ret)
		ret = part(p, &l.cond, ";");
	if (!ret)
		ret = part(p, &l.step, ")");
	if (!ret)
		ret = ki_d_parse_block(p, &l.body);
	if (!ret)
		ret = measure(&l);
	return ret ? ret : unroll(&l, end);
}
