// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * When a place means a probe: comparisons before its clauses.
 */
#include "dlang/code/code.h"

/* thread == this one && the call's argument == the number */
struct ki_node *ki_d_gen_trigger(struct ki_d_gen *g, struct ki_node *list, uint32_t number)
{
	struct ki_node *me = ki_expr_binary(g->s, KI_EQ, ki_expr_fact(g->s, KI_FACT_PID),
					    ki_expr_const(g->s, KI_U32, g->d->run->thread)),
		       *which = ki_expr_binary(g->s, KI_EQ, ki_d_gen_syscall_arg(g, 0),
					       ki_expr_const(g->s, KI_U64, number));

	return ki_stmt_if(g->s, me, ki_stmt_if(g->s, which, list, NULL), NULL);
}

static struct ki_node *guard_value(struct ki_d_gen *g, const struct ki_d_guarded *w)
{
	struct ki_node *x;

	if (w->kind == KI_D_FAILED || w->kind == KI_D_NULL || w->kind == KI_D_POSITIVE)
		return ki_expr_cast(g->s, KI_I64, ki_expr_fact(g->s, KI_FACT_RETVAL));
	if (w->kind == KI_D_SUCCEEDED)
		return ki_expr_cast(g->s, KI_U32, ki_expr_fact(g->s, KI_FACT_RETVAL));
	if (w->kind == KI_D_HAS_BIT)
		return ki_expr_binary(g->s, KI_AND, ki_expr_fact(g->s, KI_FACT_RETVAL),
				      ki_expr_const(g->s, KI_U64, w->value));
	x = ki_expr_param(g->s, w->param);
	if (w->kind == KI_D_PARAMS_ARE || w->kind == KI_D_PARAMS_ARE_NOT)
		x = ki_expr_binary(g->s, KI_OR,
				   ki_expr_binary(g->s, KI_SHL, x, ki_expr_const(g->s, KI_U64, 32)),
				   ki_expr_cast(g->s, KI_U32, ki_expr_param(g->s, w->param + 1)));
	if (w->kind == KI_D_FIELD_IS || w->kind == KI_D_BYTE_IS)
		x = ki_expr_load(
			g->s, w->kind == KI_D_BYTE_IS ? KI_U8 : KI_U64,
			ki_expr_binary(g->s, KI_ADD, x, ki_expr_const(g->s, KI_U64, w->offset)));
	return x;
}

struct ki_node *ki_d_gen_meant(struct ki_d_gen *g, const struct ki_d_hook *h, struct ki_node *list)
{
	static const uint8_t ops[] = {
		[KI_D_PARAM_IS] = KI_EQ,  [KI_D_FIELD_IS] = KI_EQ,	[KI_D_PARAMS_ARE] = KI_EQ,
		[KI_D_PARAM_SET] = KI_NE, [KI_D_FAILED] = KI_LT,	[KI_D_NULL] = KI_EQ,
		[KI_D_SUCCEEDED] = KI_NE, [KI_D_POSITIVE] = KI_GT,	[KI_D_HAS_BIT] = KI_NE,
		[KI_D_BYTE_IS] = KI_EQ,	  [KI_D_PARAMS_ARE_NOT] = KI_NE};

	for (unsigned int i = KI_D_GUARDS; i--;) {
		const struct ki_d_guarded *w = &h->guard[i];
		const bool has_sign = w->kind == KI_D_FAILED || w->kind == KI_D_POSITIVE;
		const uint64_t with = w->kind == KI_D_HAS_BIT ? 0 : w->value;

		if (w->kind)
			list = ki_stmt_if(
				g->s,
				ki_expr_binary(
					g->s, (enum ki_binary)ops[w->kind], guard_value(g, w),
					ki_expr_const(g->s, has_sign ? KI_I64 : KI_U64, with)),
				list, NULL);
	}
	return list;
}
