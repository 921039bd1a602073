// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Count in buckets of equal width. The bucket's number is an expression of the value, which is
 * evaluated before and held in a register.
 */
#include <errno.h>
#include <inttypes.h>

#include "snippet/node.h"

static struct ki_node *held(struct ki_snippet *s, enum ki_type type)
{
	struct ki_node *n = ki_tree_node(s, NODE_HELD);

	if (n)
		n->type = type;
	return n;
}

static struct ki_node *number(struct ki_snippet *s, enum ki_type type, uint64_t value)
{
	return ki_expr_const(s, type, value);
}

/* The bucket's number as an expression of the value, which is held. */
static struct ki_node *lower_linear(struct ki_snippet *s, const struct ki_linear *l, bool sign)
{
	enum ki_type type = sign ? KI_I64 : KI_U64;
	uint64_t low = (uint64_t)l->low, high = (uint64_t)l->high;
	struct ki_node *off, *bucket;

	off = ki_expr_binary(s, KI_SUB, held(s, type), number(s, type, low));
	if (l->step > 1)
		off = ki_expr_binary(s, KI_DIV, off, number(s, KI_U64, l->step));
	bucket = ki_expr_binary(s, KI_ADD, off, number(s, KI_U64, 1));
	bucket = ki_expr_cond(s, ki_expr_binary(s, KI_GE, held(s, type), number(s, type, high)),
			      number(s, KI_U64, ki_linear_buckets(l) - 1), bucket);
	if (!sign && !low)
		return bucket;
	return ki_expr_cond(s, ki_expr_binary(s, KI_LT, held(s, type), number(s, type, low)),
			    number(s, KI_U64, 0), bucket);
}

struct ki_node *ki_tree_lower_linear(struct ki_node *n, const struct ki_linear *l,
				     const struct ki_node *value)
{
	bool sign = ki_types[value->type].sign;

	if (!ki_linear_buckets(l) || (!sign && l->low < 0))
		return ki_tree_fail(n->snippet, -EINVAL, "%s: bounds or step cannot be so",
				    n->var.name);
	n->linear = *l;
	n->lowered = lower_linear(n->snippet, l, sign);
	if (n->lowered && n->depth <= n->lowered->depth)
		n->depth = n->lowered->depth + 1;
	return n->lowered;
}

struct ki_node *ki_stmt_linear(struct ki_snippet *s, const struct ki_var *v,
			       const struct ki_linear *l, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_LINEAR);

	if (!n || !ki_tree_var(n, v, true) || !ki_tree_adopt(n, 0, value, false) ||
	    !ki_tree_lower_linear(n, l, value))
		return NULL;
	if (v->count != ki_linear_buckets(l))
		return ki_tree_fail(s, -EINVAL, "%s: %u buckets, not %u", n->var.name, v->count,
				    ki_linear_buckets(l));
	return n;
}

static void action(struct gen *g, struct ki_node *n)
{
	const struct ki_node *value = n->kid[0];
	struct opnd v;
	unsigned int t;

	if (value->konst) {
		ki_gen_count_konst(
			g, n,
			ki_linear_bucket(&n->linear, ki_types[value->type].sign, value->value));
		return;
	}
	v = ki_gen_reg_operand(g, value);
	g->held = v.m.reg;
	t = ki_gen_alloc(g, 0);
	ki_gen_expr(g, n->lowered, t);
	ki_gen_count(g, n, t);
	ki_gen_release(g, t);
	ki_gen_drop(g, &v);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	const uint64_t value = ki_run_node(r, n->kid[0]);

	ki_run_count(r, n, ki_linear_bucket(&n->linear, ki_types[n->kid[0]->type].sign, value));
	return 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "%s[linear(", n->var.name);
	ki_format_expr(f, n->kid[0], 0);
	fprintf(f, ", %" PRId64 ", %" PRId64 ", %" PRIu64 ")] += 1", n->linear.low, n->linear.high,
		n->linear.step);
}

const struct ki_node_ops ki_node_linear = {
	.has_var = true,
	.action = action,
	.run = run,
	.write = write,
};

static bool held_leaf(const struct gen *g, const struct ki_node *n, struct opnd *o)
{
	(void)n;
	*o = (struct opnd){.kind = OPND_REG, .m = rm_reg(g->held)};
	return true;
}

const struct ki_node_ops ki_node_held = {
	.leaf = held_leaf,
};
