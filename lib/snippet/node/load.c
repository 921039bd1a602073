// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memory of the kernel.
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_expr_load(struct ki_snippet *s, enum ki_type type, struct ki_node *addr)
{
	return s->thread ? ki_thread_load(s, type, addr) : ki_tree_load(s, type, addr);
}

struct ki_node *ki_tree_load(struct ki_snippet *s, enum ki_type type, struct ki_node *addr)
{
	struct ki_node *n = ki_tree_node(s, NODE_LOAD);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	n->type = type;
	return ki_tree_adopt(n, 0, addr, false) ? n : NULL;
}

static uint16_t fixed(const struct ki_node *n)
{
	(void)n;
	return ki_gen_fixed_args(1);
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	static const uint8_t helpers[9] = {[1] = KI_HELPER_LOAD8,
					   [2] = KI_HELPER_LOAD16,
					   [4] = KI_HELPER_LOAD32,
					   [8] = KI_HELPER_LOAD64};
	struct rm m = rm_reg(dest);

	ki_gen_helper(g, helpers[ki_types[n->type].size], n->kid, 1, dest);
	if (ki_types[n->type].sign)
		ki_asm_extend(&g->a, n->type, dest, &m);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t addr = ki_run_node(r, n->kid[0]);

	return ki_type_extend(n->type, ki_run_load(r, addr, ki_types[n->type].size));
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "*(%s *)", ki_types[n->type].name);
	ki_format_expr(f, n->kid[0], BINDS_UNARY - 1);
}

const struct ki_node_ops ki_node_load = {
	.foreign = "memory by its address",
	.fixed = fixed,
	.in_rax = ki_node_yes,
	.value = value,
	.run = run,
	.write = write,
};
