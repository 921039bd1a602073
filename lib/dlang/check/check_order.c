// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Which actions may follow which in a clause: what is recorded goes either to the output or into a
 * speculation, and behind a commit nothing is recorded.
 */
#include "dlang/check/check.h"
#include "dlang/words/names.h"

#define FAIL(c, n, ...) ki_d_fail((c)->d, (c)->err, (n)->at, __VA_ARGS__)

bool ki_d_begins_speculation(const struct ki_d_node *n)
{
	return n->kind == KI_D_CALL && n->sym.function->kind == KI_D_F_SPECULATE;
}

bool ki_d_only_speculates(const struct ki_d_clause *c)
{
	return c->body && !c->body->next && ki_d_begins_speculation(c->body);
}

/* Kinds of statements, and what has been seen of a clause: bits. */
enum { COMMITS = 1, SPECULATES = 2, RECORDS = 4, AGGREGATES = 8, DESTROYS = 16, EXITS = 32 };

static bool is_copy_out(const struct ki_d_function *f)
{
	return f->number == KI_TEXT_COPY_OUT || f->number == KI_TEXT_COPY_OUT_TEXT;
}

static unsigned int kind_of(const struct ki_d_node *n)
{
	if (n->kind == KI_D_AGG)
		return AGGREGATES;
	if (n->kind != KI_D_CALL)
		return 0;
	switch (n->sym.function->kind) {
	case KI_D_F_COMMIT:
		return COMMITS;
	case KI_D_F_SPECULATE:
		return SPECULATES;
	case KI_D_F_DISCARD:
	case KI_D_F_SETOPT:
		return 0;
	case KI_D_F_RAISE:
	case KI_D_F_NEVER:
		return DESTROYS;
	case KI_D_F_MEMORY:
		return is_copy_out(n->sym.function) ? DESTROYS : 0;
	case KI_D_F_SYSTEM:
	case KI_D_F_FREOPEN:
	case KI_D_F_FTRUNCATE:
		return DESTROYS | RECORDS;
	case KI_D_F_EXIT:
		return EXITS | RECORDS;
	default:
		return ki_d_is_action(n->sym.function) ? RECORDS : 0;
	}
}

static const struct {
	unsigned int now, before;
	const char *tag, *why;
} rules[] = {
	{COMMITS, RECORDS, "D_COMM_DREC", "commit() may not follow what is recorded"},
	{SPECULATES, SPECULATES, "D_SPEC_SPEC", "speculate() may not follow speculate()"},
	{SPECULATES, COMMITS, "D_SPEC_COMM", "speculate() may not follow commit()"},
	{SPECULATES, RECORDS, "D_SPEC_DREC", "speculate() may not follow what is recorded"},
	{AGGREGATES, SPECULATES, "D_AGG_SPEC", "an aggregation may not follow speculate()"},
	{DESTROYS, SPECULATES, "D_ACT_SPEC", "destructive actions may not follow speculate()"},
	{EXITS, SPECULATES, "D_EXIT_SPEC", "exit() may not follow speculate()"},
	{AGGREGATES, COMMITS, "D_AGG_COMM", "an aggregation may not follow commit()"},
	{RECORDS, COMMITS, "D_DREC_COMM", "what is recorded may not follow commit()"},
};

/* What speculate() in a branch is for ends with the branch. */
static int check_list(struct ki_d_checker *c, const struct ki_d_node *list, unsigned int *seen);

static int check_branches(struct ki_d_checker *c, const struct ki_d_node *n, unsigned int *seen)
{
	unsigned int after = *seen;
	int ret = 0;

	for (int i = 1; !ret && i < 3; i++) {
		unsigned int inside = *seen;

		ret = check_list(c, n->kid[i], &inside);
		after |= inside & ~(unsigned int)SPECULATES;
	}
	*seen = after;
	return ret;
}

static int check_list(struct ki_d_checker *c, const struct ki_d_node *list, unsigned int *seen)
{
	int ret = 0;

	for (const struct ki_d_node *n = list; !ret && n; n = n->next) {
		const unsigned int now = kind_of(n);

		if (n->kind == KI_D_IF) {
			ret = check_branches(c, n, seen);
			continue;
		}
		for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
			if (now & rules[i].now && *seen & rules[i].before)
				return FAIL(c, n, rules[i].tag, "%s", rules[i].why);
		*seen |= now & AGGREGATES ? RECORDS : now;
		if (*seen & SPECULATES)
			*seen &= ~(unsigned int)RECORDS;
	}
	return ret;
}

int ki_d_check_order(struct ki_d_checker *c, const struct ki_d_clause *clause)
{
	unsigned int seen = 0;

	return check_list(c, clause->body, &seen);
}
