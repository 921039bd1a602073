// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A parameter of the function.
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_expr_param(struct ki_snippet *s, unsigned int param)
{
	return s->thread ? ki_thread_param(s, param) : ki_tree_param(s, param);
}

struct ki_node *ki_tree_param(struct ki_snippet *s, unsigned int param)
{
	struct ki_node *n = ki_tree_node(s, NODE_PARAM);

	if (!n)
		return NULL;
	if (param >= KI_PARAMS)
		return ki_tree_fail(s, -EINVAL, "no parameter %u: less than %d", param, KI_PARAMS);
	n->value = param;
	return n;
}

static int stands(const struct ki_node *n, const struct ki_site_regs *site, struct ki_err *err)
{
	if (site->at_entry)
		return 0;
	return ki_err_reason(err, KI_R_NO_PARAMETER, 0, "snippet: parameter %u",
			     (unsigned int)n->value);
}

static uint16_t fixed(const struct ki_node *n)
{
	return n->value < 6 ? 0 : ki_gen_fixed_args(1);
}

static int place_reg(const struct ki_node *n)
{
	return n->value < 6 ? ki_param_regs[n->value] : -1;
}

/* One that is on the stack, above the return address and what the function has pushed. */
static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct rm word = {.mode = RM_STACK};
	struct claims c = {0};

	if (!g->site->user) {
		ki_gen_claim(g, KI_RDI, dest, &c);
		ki_gen_claim(g, KI_RAX, dest, &c);
	}
	word.disp = 8 * (int32_t)(g->depth + g->site->pushed + n->value - 5);
	if (g->site->user) {
		ki_asm_mov(&g->a, 8, dest, &word);
		return;
	}
	ki_asm_lea_stack(&g->a, KI_RDI, word.disp);
	ki_gen_finish_helper(g, KI_HELPER_LOAD64, dest, &c);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	if (n->value < 6)
		return r->m->regs[ki_param_regs[n->value]];
	return ki_run_load(r, r->m->regs[KI_RSP] + 8 * (r->site->pushed + n->value - 5), 8);
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "arg%u", (unsigned int)n->value);
}

const struct ki_node_ops ki_node_param = {
	.stands = stands,
	.fixed = fixed,
	.place_reg = place_reg,
	.value = value,
	.run = run,
	.write = write,
};
