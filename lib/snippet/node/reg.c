// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A register as it is at the place.
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_expr_reg(struct ki_snippet *s, enum ki_reg reg)
{
	struct ki_node *n;

	if ((unsigned int)reg > KI_R15)
		return ki_tree_fail(s, -EINVAL, "no such register: %u", reg);
	if (s->thread)
		return ki_thread_reg(s, reg);
	n = ki_tree_node(s, NODE_REG);
	if (!n)
		return NULL;
	n->op = reg;
	return n;
}

static int place_reg(const struct ki_node *n)
{
	return n->op == KI_RSP ? -1 : n->op;
}

/* Of %rsp: what has been pushed since is taken off. */
static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	(void)n;
	ki_asm_lea_stack(&g->a, dest, 8 * (int32_t)g->depth);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	return r->m->regs[n->op];
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

	(void)outside;
	fprintf(f, "%%%s", names[n->op]);
}

const struct ki_node_ops ki_node_reg = {
	.place_reg = place_reg,
	.value = value,
	.run = run,
	.write = write,
};
