// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Count in buckets by powers of two.
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_stmt_log2(struct ki_snippet *s, const struct ki_var *v, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_LOG2);

	if (!n || !ki_tree_var(n, v, true))
		return NULL;
	if (v->count != KI_LOG2_BUCKETS)
		return ki_tree_fail(s, -EINVAL, "%s: %u buckets, not %d", n->var.name, v->count,
				    KI_LOG2_BUCKETS);
	return ki_tree_adopt(n, 0, value, false) ? n : NULL;
}

/*
 * bsr leaves its destination alone if there is no bit: -1 then, as it does on every CPU with 64
 * bits, though one vendor's manual long called it undefined.
 */
static void action(struct gen *g, struct ki_node *n)
{
	struct opnd v;
	unsigned int t;
	struct rm m;

	if (n->kid[0]->konst) {
		ki_gen_count_konst(g, n, ki_log2_bucket(n->kid[0]->value));
		return;
	}
	v = ki_gen_reg_operand(g, n->kid[0]);
	t = ki_gen_alloc(g, 0);
	m = rm_reg(t);
	ki_asm_alu_imm(&g->a, ALU_OR, 8, &m, -1, false);
	ki_asm_bsr(&g->a, t, v.m.reg);
	ki_asm_alu_imm(&g->a, ALU_ADD, 8, &m, 1, false);
	ki_gen_count(g, n, t);
	ki_gen_release(g, t);
	ki_gen_drop(g, &v);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	ki_run_count(r, n, ki_log2_bucket(ki_run_node(r, n->kid[0])));
	return 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "%s[log2(", n->var.name);
	ki_format_expr(f, n->kid[0], 0);
	fputs(")] += 1", f);
}

const struct ki_node_ops ki_node_log2 = {
	.has_var = true,
	.action = action,
	.run = run,
	.write = write,
};
