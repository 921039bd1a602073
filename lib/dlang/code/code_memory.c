// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What stands in memory: its address, and its value.
 */
#include <string.h>

#include "dlang/code/code.h"

static struct ki_node *plus(struct ki_d_gen *g, struct ki_node *at, uint64_t bytes)
{
	return bytes ? ki_expr_binary(g->s, KI_ADD, at, ki_expr_const(g->s, KI_U64, bytes)) : at;
}

/* Bytes that are read at once: those of the type that a bit-field is cut out of. */
static uint64_t unit_of(struct ki_d_gen *g, const struct ki_d_node *n)
{
	return ki_d_sizeof(&g->d->types, n->type);
}

static uint64_t offset_of(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const uint64_t unit = 8 * unit_of(g, n);

	return n->op ? n->value / unit * unit / 8 : n->value / 8;
}

struct ki_node *ki_d_gen_address(struct ki_d_gen *g, const struct ki_d_node *n)
{
	switch (n->kind) {
	case KI_D_SYMBOL:
		return ki_expr_const(g->s, KI_U64, n->value);
	case KI_D_MEMBER:
		return plus(g, ki_d_gen_address(g, n->kid[0]), offset_of(g, n));
	case KI_D_DEREF:
		return ki_d_gen_expr(g, n->kid[0]);
	default:
		return ki_d_gen_expr(g, n);
	}
}

/* From the pointer that leads to the struct to what is read of it. */
static uint64_t behind(struct ki_d_gen *g, const struct ki_d_node *n)
{
	uint64_t bytes = 0;

	for (; n->kind == KI_D_MEMBER; n = n->kid[0])
		bytes += offset_of(g, n);
	return n->kind == KI_D_DEREF ? bytes : 0;
}

/* (word << above) >> (above + below), as the type's sign says. */
static struct ki_node *bit_field(struct ki_d_gen *g, const struct ki_d_node *n,
				 struct ki_node *word)
{
	const uint64_t unit = 8 * unit_of(g, n), first = n->value % unit;
	const enum ki_type t = ki_d_num(n->type) >= KI_U8 ? KI_U64 : KI_I64;

	word = ki_expr_binary(g->s, KI_SHL, ki_expr_cast(g->s, KI_U64, word),
			      ki_expr_const(g->s, KI_I64, 64 - first - n->op));
	return ki_expr_binary(g->s, KI_SHR, ki_expr_cast(g->s, t, word),
			      ki_expr_const(g->s, t, 64u - n->op));
}

struct ki_node *ki_d_gen_memory(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *at = ki_d_gen_address(g, n), *word;

	if (!ki_d_is_scalar(n->type)) /* a struct or array: where it is */
		return at;
	g->behind = behind(g, n);
	word = ki_d_gen_load(g, ki_d_num(n->type), at);
	g->behind = 0;
	return n->kind == KI_D_MEMBER && n->op ? bit_field(g, n, word) : word;
}
