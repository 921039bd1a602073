// SPDX-License-Identifier: GPL-2.0-only
#include "common_predicate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define INSIDE_MOST 8

struct ki_predicate *pred_parse(const char *text)
{
	struct ki_predicate *p;
	struct ki_err err = {0};

	if (ki_predicate_new(text, &p, &err))
		fail_msg("%s: %s", text, err.msg);
	return p;
}

char *pred_format(const struct ki_predicate *p)
{
	char *text;

	assert_int_equal(ki_predicate_format(p, &text, NULL), 0);
	return text;
}

bool pred_is_same(const struct ki_ast *a, const struct ki_ast *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->op != b->op || a->type != b->type || a->base != b->base ||
	    a->meaning != b->meaning || a->value != b->value || strcmp(a->text, b->text) != 0)
		return false;
	for (int i = 0; i < 3; i++)
		if (!pred_is_same(a->kid[i], b->kid[i]))
			return false;
	return pred_is_same(a->next, b->next);
}

static const struct ki_var out = {.kind = KI_VAR_CPU, .type = KI_U64};

static uint64_t run(struct ki_snippet *s, struct ki_node *body, struct ki_machine *m)
{
	static const struct ki_site_regs site = {.at_entry = true, .at_exit = true};
	struct ki_err err = {0};
	uint64_t value = 0;

	m->counters = &value;
	m->ncounters = 1;
	ki_snippet_body(s, body);
	if (ki_snippet_run(s, &site, m, &err))
		fail_msg("%s", err.msg);
	return value;
}

/* Does it hold, as a guard? -E2BIG: it has too many locals. */
static int holds(const struct ki_predicate *p, const struct ki_var *inside, struct ki_machine *m)
{
	struct ki_err err = {0};
	struct ki_snippet *s;
	struct ki_node *then, *n;
	int ret;

	assert_int_equal(ki_snippet_new(&s), 0);
	then = ki_stmt_update(s, KI_SET, &out, NULL, ki_expr_const(s, KI_I64, 1));
	ret = ki_predicate_guard(p, s, inside, then, &n, &err);
	if (!ret)
		ret = (int)run(s, n, m);
	else if (ret != -E2BIG)
		fail_msg("%s", err.msg);
	ki_snippet_free(s);
	return ret;
}

uint64_t pred_value(const struct ki_predicate *p, struct ki_machine *m)
{
	struct ki_var inside[INSIDE_MOST];
	struct ki_err err = {0};
	uint64_t value = 0;
	struct ki_snippet *s;
	struct ki_node *n;
	int guarded, ret;

	for (uint32_t i = 0; i < INSIDE_MOST; i++)
		inside[i] = (struct ki_var){.kind = KI_VAR_THREAD, .type = KI_U64, .first = i};
	guarded = holds(p, inside, m);
	assert_int_equal(ki_snippet_new(&s), 0);
	ret = ki_predicate_build(p, s, inside, &n, &err);
	if (!ret)
		value = run(s, n ? ki_stmt_update(s, KI_SET, &out, NULL, n) : NULL, m);
	else if (ret != -EOPNOTSUPP)
		fail_msg("%s", err.msg);
	ki_snippet_free(s);
	if (ret)
		return guarded < 0 ? 0 : (uint64_t)guarded;
	if (guarded >= 0)
		assert_int_equal(guarded, value != 0);
	return value;
}
