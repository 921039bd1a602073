// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random statements for common_snippet.h: every kind takes part.
 */
#include "common_grow.h"

#include <stdlib.h>

#include "snippet/tree.h"

#define DEPTH 9

static struct ki_node *stmt(struct grow *g, unsigned int depth);

static struct ki_node *update(struct grow *g, unsigned int depth)
{
	unsigned int op = grow_below(KI_UPDATES), kind = grow_below(KI_VAR_KINDS);
	struct ki_node *index;
	struct ki_var v;

	if (g->c->site.user && kind != KI_VAR_LOCAL && (op == KI_UPDATE_MIN || op == KI_UPDATE_MAX))
		op = KI_UPDATE_ADD;
	if (grow_below(3) == 0) {
		index = g->c->site.user ? ki_expr_const(g->s, KI_U64, grow_below(8))
					: grow_index(g, depth / 2);
		op = g->c->site.user && op >= KI_UPDATE_MIN ? KI_SET : op;
		v = grow_counters(g, grow_below(GROW_VECTORS));
		return ki_stmt_update(g->s, op, &v, index, grow_expr(g, depth));
	}
	v = grow_scalar(g, kind);
	return ki_stmt_update(g->s, op, &v, NULL, grow_expr(g, depth));
}

static struct ki_node *linear(struct grow *g, unsigned int depth)
{
	struct ki_node *value = grow_expr(g, depth);
	const struct ki_var v = {.name = "lin",
				 .kind = KI_VAR_CPU,
				 .type = KI_U64,
				 .first = g->c->counter + 81,
				 .count = 4 + grow_below(12)};
	struct ki_linear l = {.low = (int64_t)grow_below(50), .step = 1 + grow_below(20)};

	if (grow_below(2)) /* the value's sign may forbid it */
		value = ki_expr_cast(g->s, KI_I64, value);
	else
		value = ki_expr_cast(g->s, KI_U64, value);
	l.high = l.low + (int64_t)(l.step * (v.count - 2));
	return ki_stmt_linear(g->s, &v, &l, value);
}

/* A few values; and now and then as many as there can be. */
static struct ki_node *record(struct grow *g, unsigned int depth)
{
	unsigned int n = grow_below(8) ? grow_below(5) : grow_below(KI_RECORD_WORDS + 1), words = n,
		     more;
	struct ki_node *v[KI_RECORD_WORDS];

	for (unsigned int i = 0; i < n; i++) {
		v[i] = grow_value(g, depth / 2, KI_RECORD_WORDS - words, &more);
		words += more;
	}
	return ki_stmt_record(g->s, SNIP_RING, grow_below(3) ? (uint32_t)snip_number() : 0, v, n);
}

static struct ki_node *table_op(struct grow *g, unsigned int depth)
{
	struct ki_linear l = {.low = (int64_t)grow_below(50), .step = 1 + grow_below(20)};
	unsigned int op = KI_TABLE_SET + grow_below(KI_TABLE_OPS - KI_TABLE_SET);
	struct ki_node *key[KI_TABLE_KEYS];
	unsigned int n;
	struct ki_table_var t =
		grow_table(g, op <= KI_TABLE_DELETE || grow_below(2), key, &n, depth / 2);

	if (op == KI_TABLE_COUNT && grow_below(2)) {
		l.high = l.low + (int64_t)l.step * (1 + grow_below(60));
		return ki_stmt_table_linear(
			g->s, &(struct ki_row_value){&t, grow_below(30), key, n}, &l,
			ki_expr_cast(g->s, grow_below(2) ? KI_I64 : KI_U64, grow_expr(g, depth)));
	}
	return ki_stmt_table(
		g->s, op,
		&(struct ki_row_value){&t, op == KI_TABLE_DELETE ? 0 : grow_below(30), key, n},
		op == KI_TABLE_DELETE ? NULL : grow_expr(g, depth));
}

static struct ki_node *branches(struct grow *g, unsigned int depth)
{
	struct ki_node *cond = grow_expr(g, depth), *then = stmt(g, depth / 2);

	return ki_stmt_if(g->s, cond, then, grow_below(2) ? stmt(g, depth / 2) : NULL);
}

/* Now and then it depends on a local of 64 bits. */
static struct ki_node *or_not(struct grow *g, struct ki_node *n)
{
	const uint8_t type = grow_below(2) ? KI_I64 : KI_U64;
	const struct ki_var v = {.kind = KI_VAR_LOCAL, .type = type, .first = type};

	if (!n || grow_below(4) ||
	    (n->kind == NODE_UPDATE && (n->op == KI_UPDATE_MIN || n->op == KI_UPDATE_MAX)))
		return n;
	return ki_stmt_unless(g->s, n, &v);
}

static struct ki_node *stmt(struct grow *g, unsigned int depth)
{
	struct ki_node *list = NULL;
	struct ki_var v;

	if (depth > 1 && g->left > 0) {
		switch (grow_below(10)) {
		case 9:
			return or_not(g, g->c->in_kernel || g->c->site.user ? update(g, depth)
									    : table_op(g, depth));
		case 8:
			return or_not(g, g->c->in_kernel || g->c->site.user ? update(g, depth)
									    : record(g, depth));
		case 0:
		case 1:
			return branches(g, depth - 1);
		case 2:
			for (unsigned int i = 1 + grow_below(3); i--;)
				list = ki_stmt_append(g->s, list, stmt(g, depth - 1));
			return list;
		case 3:
			v = grow_counters(g, GROW_HISTOGRAM);
			return ki_stmt_log2(g->s, &v, grow_expr(g, depth));
		case 4:
			return linear(g, depth);
		case 5:
			return ki_stmt_eval(g->s, grow_expr(g, depth));
		default:
			break;
		}
	}
	return or_not(g, update(g, depth));
}

#define CROWD 9 /* all of them would not fit on the stack, beside what others want there */

/* Many locals are written before the others' statements, or read after them: not all of them have
   a register then. */
static struct ki_node *crowd(struct grow *g, struct ki_node *list, bool reads)
{
	const struct ki_var sum = {
		.kind = KI_VAR_CPU, .type = KI_I64, .first = g->c->counter + KI_I64};

	for (unsigned int i = 0; i < CROWD; i++) {
		const struct ki_var v = {
			.kind = KI_VAR_LOCAL, .type = (uint8_t)(i % KI_TYPES), .first = i};

		list = ki_stmt_append(g->s, list,
				      reads ? ki_stmt_update(g->s, KI_UPDATE_ADD, &sum, NULL,
							     ki_expr_var(g->s, &v))
					    : ki_stmt_update(g->s, KI_SET, &v, NULL, grow_leaf(g)));
	}
	return list;
}

struct ki_node *snip_random_list(struct ki_snippet *s, const struct snip_case *c,
				 unsigned int nodes)
{
	struct grow g = {.s = s, .c = c, .left = (int)nodes};
	struct ki_node *list = NULL;
	bool crowded = grow_below(64) == 0;

	if (crowded)
		list = crowd(&g, list, false);
	do
		list = ki_stmt_append(g.s, list, stmt(&g, 2 + grow_below(DEPTH - 2)));
	while (g.left > 0 && grow_below(3));
	return crowded ? crowd(&g, list, true) : list;
}

struct ki_snippet *snip_random(const struct snip_case *c, unsigned int nodes)
{
	struct ki_snippet *s;

	if (ki_snippet_new(&s))
		abort();
	ki_snippet_body(s, snip_random_list(s, c, nodes));
	return s;
}
