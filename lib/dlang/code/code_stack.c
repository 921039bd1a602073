// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Stacks: their numbers, how many frames they have, and variables that keep them.
 */
#include <string.h>

#include "dlang/code/code.h"

static struct ki_node *number(struct ki_d_gen *g, uint64_t value)
{
	return ki_expr_const(g->s, KI_U64, value);
}

/* BEGIN, END, places in processes: what the kernel does there is how the clauses come to run. */
bool ki_d_gen_has_no_stack(const struct ki_d_gen *g)
{
	const struct ki_d_probe *p = &g->d->probes.v[g->site->probe];

	if (p->hook)
		return p->hook->kind == KI_D_HOOK_USER;
	return !p->sym && (!strcmp(p->name, "BEGIN") || !strcmp(p->name, "END"));
}

/* As maxframes allows. */
static struct ki_node *limited(struct ki_d_gen *g, struct ki_node *frames)
{
	struct ki_node *set = ki_d_gen_set_temp(g, ki_expr_cast(g->s, KI_U64, frames)),
		       *most = number(g, (uint64_t)g->d->set.maxframes), *more;

	more = ki_expr_binary(g->s, KI_GT, ki_d_gen_temp(g), most);
	most = number(g, (uint64_t)g->d->set.maxframes);
	return ki_expr_behind(g->s, set, ki_expr_cond(g->s, more, most, ki_d_gen_temp(g)));
}

struct ki_node *ki_d_gen_frames(struct ki_d_gen *g, enum ki_helper helper)
{
	const bool top = ki_d_gen_has_top(g);
	struct ki_node *x;

	if (helper == KI_HELPER_UCALLER)
		return top ? ki_d_gen_top(g) : ki_expr_helper(g->s, helper, NULL, 0);
	if (helper == KI_HELPER_UDEPTH) {
		x = ki_expr_helper(g->s, helper, NULL, 0);
		return limited(g, top ? ki_expr_binary(g->s, KI_ADD, x, number(g, 1)) : x);
	}
	return ki_d_gen_has_no_stack(g)
		       ? number(g, 0)
		       : limited(g, ki_expr_depth(g->s, ki_stacks_number(g->d->run->stacks), 0));
}

#define DEPTH_MOST 0x7fffffff

static struct ki_node *with_depth(struct ki_d_gen *g, struct ki_node *number_of,
				  struct ki_node *depth)
{
	depth = ki_expr_binary(g->s, KI_ADD, ki_expr_cast(g->s, KI_U64, depth), number(g, 1));
	return ki_expr_binary(g->s, KI_OR, number_of,
			      ki_expr_binary(g->s, KI_SHL, depth, number(g, KI_D_DEPTH_SHIFT)));
}

struct ki_node *ki_d_gen_stack(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const bool user = n->type.user;
	struct ki_node *x;

	if (!user && ki_d_gen_has_no_stack(g))
		return number(g, 0);
	x = ki_expr_stack(g->s, ki_stacks_number(g->d->run->stacks),
			  user && ki_d_gen_has_top(g) ? KI_STACK_TOP : 0, user);
	return g->d->depths_used ? with_depth(g, x, number(g, ki_d_stack_frames(g->d, n->type)))
				 : x;
}

/* VARIABLE.depth, and the variable's stack with another depth. */
struct ki_node *ki_d_gen_depth(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *x = ki_d_gen_expr(g, n->kid[0]);

	if (n->kid[1])
		return with_depth(
			g, ki_expr_binary(g->s, KI_AND, x, number(g, UINT32_MAX)),
			ki_expr_binary(g->s, KI_AND,
				       ki_expr_cast(g->s, KI_U64, ki_d_gen_expr(g, n->kid[1])),
				       number(g, DEPTH_MOST)));
	x = ki_d_gen_set_temp(g, ki_expr_binary(g->s, KI_SHR, x, number(g, KI_D_DEPTH_SHIFT)));
	return ki_expr_cast(
		g->s, KI_U32,
		ki_expr_behind(
			g->s, x,
			ki_expr_cond(g->s, ki_d_gen_temp(g),
				     ki_expr_binary(g->s, KI_SUB, ki_d_gen_temp(g), number(g, 1)),
				     number(g, 0))));
}
