// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Builders of expressions. What only constants go into becomes one at once.
 */
#include <errno.h>
#include <string.h>

#include "snippet/tree.h"

#define COMM_LEN 16

static void set_konst(struct ki_node *n, uint64_t value)
{
	n->konst = true;
	n->value = value;
	n->need = 0;
}

struct ki_node *ki_expr_const(struct ki_snippet *s, enum ki_type type, uint64_t value)
{
	struct ki_node *n = ki_tree_node(s, NODE_CONST);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	n->type = type;
	set_konst(n, ki_type_extend(type, value));
	return n;
}

struct ki_node *ki_expr_var(struct ki_snippet *s, const struct ki_var *v)
{
	struct ki_node *n = ki_tree_node(s, NODE_VAR);

	return n && ki_tree_var(n, v, false) ? n : NULL;
}

struct ki_node *ki_expr_index(struct ki_snippet *s, const struct ki_var *v, struct ki_node *index)
{
	struct ki_node *n = ki_tree_node(s, NODE_VAR);

	return n && ki_tree_var(n, v, true) && ki_tree_adopt(n, 0, index, false) ? n : NULL;
}

/* Of a thread they are what it has where it is. */
static bool is_of_place(enum ki_fact fact)
{
	return fact == KI_FACT_RETVAL || fact == KI_FACT_ADDR || fact == KI_FACT_PLACE;
}

struct ki_node *ki_expr_fact(struct ki_snippet *s, enum ki_fact fact)
{
	struct ki_node *n;

	if (s->thread && is_of_place(fact))
		return ki_thread_fact(s, fact);
	n = ki_tree_node(s, NODE_FACT);
	if (!n)
		return NULL;
	if ((unsigned int)fact >= KI_FACTS)
		return ki_tree_fail(s, -EINVAL, "no such fact: %u", fact);
	n->op = fact;
	n->type = ki_fact_types[fact];
	return n;
}

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

static struct ki_node *comm_word(struct ki_snippet *s, enum ki_fact fact, const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return ki_expr_binary(s, KI_EQ, ki_expr_fact(s, fact), ki_expr_const(s, KI_U64, word));
}

/* The kernel fills a name up with zeros, so of a short one the first word says all. */
struct ki_node *ki_expr_comm_is(struct ki_snippet *s, const char *name)
{
	char bytes[COMM_LEN] = {0};
	size_t len = name ? strlen(name) : COMM_LEN;

	if (s->err.code)
		return NULL;
	if (len >= COMM_LEN)
		return ki_tree_fail(s, -EINVAL, "no task's name has more than %d bytes",
				    COMM_LEN - 1);
	memcpy(bytes, name, len);
	if (len < 8)
		return comm_word(s, KI_FACT_COMM0, bytes);
	return ki_expr_binary(s, KI_LAND, comm_word(s, KI_FACT_COMM0, bytes),
			      comm_word(s, KI_FACT_COMM1, bytes + 8));
}

struct ki_node *ki_expr_cast(struct ki_snippet *s, enum ki_type type, struct ki_node *x)
{
	struct ki_node *n = ki_tree_node(s, NODE_CAST);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	n->type = type;
	if (!ki_tree_adopt(n, 0, x, false))
		return NULL;
	if (x->konst)
		set_konst(n, ki_type_extend(type, x->value));
	return n;
}

struct ki_node *ki_expr_unary(struct ki_snippet *s, enum ki_unary op, struct ki_node *x)
{
	struct ki_node *n = ki_tree_node(s, NODE_UNARY);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_UNARIES)
		return ki_tree_fail(s, -EINVAL, "no such operator: %u", op);
	n->op = op;
	if (!ki_tree_adopt(n, 0, x, false))
		return NULL;
	n->type = op == KI_LNOT ? KI_I64 : ki_type_common(x->type, x->type);
	if (x->konst)
		set_konst(n, ki_arith_unary(op, x->value));
	return n;
}

struct ki_node *ki_expr_binary(struct ki_snippet *s, enum ki_binary op, struct ki_node *l,
			       struct ki_node *r)
{
	struct ki_node *n = ki_tree_node(s, NODE_BINARY);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_BINARIES)
		return ki_tree_fail(s, -EINVAL, "no such operator: %u", op);
	n->op = op;
	if (!ki_tree_adopt(n, 0, l, false) || !ki_tree_adopt(n, 1, r, false))
		return NULL;
	n->type = op >= KI_EQ ? KI_I64 : ki_type_common(l->type, r->type);
	if (l->konst && r->konst)
		set_konst(n, ki_arith_binary(op, ki_node_is_signed(n), l->value, r->value));
	return n;
}

struct ki_node *ki_expr_cond(struct ki_snippet *s, struct ki_node *c, struct ki_node *yes,
			     struct ki_node *no)
{
	struct ki_node *n = ki_tree_node(s, NODE_COND);

	if (!n || !ki_tree_adopt(n, 0, c, false) || !ki_tree_adopt(n, 1, yes, false) ||
	    !ki_tree_adopt(n, 2, no, false))
		return NULL;
	n->type = ki_type_common(yes->type, no->type);
	if (c->konst && yes->konst && no->konst)
		set_konst(n, c->value ? yes->value : no->value);
	return n;
}

static bool adopt_args(struct ki_node *n, struct ki_node *const *args, unsigned int nargs)
{
	for (unsigned int i = 0; i < nargs; i++)
		if (!ki_tree_adopt(n, i, args[i], false))
			return false;
	n->effects = true;
	return true;
}

/* Those of which there are nodes of their own. */
static const char *const helper_uses[KI_HELPERS] = {
	[KI_HELPER_ENTER] = "calls",	    [KI_HELPER_LEAVE] = "calls",
	[KI_HELPER_ENTER_RECORD] = "calls", [KI_HELPER_RECORD] = "records",
	[KI_HELPER_TABLE] = "tables",	    [KI_HELPER_STACK] = "stacks",
	[KI_HELPER_USTACK] = "stacks",	    [KI_HELPER_STRING] = "strings",
	[KI_HELPER_USTRING] = "strings",    [KI_HELPER_EXTREME] = "updates",
	[KI_HELPER_KCOV] = "traces",	    [KI_HELPER_TEXT] = "strings",
	[KI_HELPER_DEPTH] = "stacks",	    [KI_HELPER_KCOV_COMPARISON] = "traces",
};

struct ki_node *ki_expr_helper(struct ki_snippet *s, enum ki_helper helper,
			       struct ki_node *const *args, unsigned int nargs)
{
	struct ki_node *n = ki_tree_node(s, NODE_HELPER);

	if (!n)
		return NULL;
	if ((unsigned int)helper >= KI_HELPERS)
		return ki_tree_fail(s, -EINVAL, "no such helper: %u", helper);
	if (helper_uses[helper])
		return ki_tree_fail(s, -EINVAL, "helper %s is for %s only", ki_helper_name(helper),
				    helper_uses[helper]);
	if (nargs != ki_helper_args(helper))
		return ki_tree_fail(s, -EINVAL, "helper %s takes %u arguments, not %u",
				    ki_helper_name(helper), ki_helper_args(helper), nargs);
	n->op = helper;
	return adopt_args(n, args, nargs) ? n : NULL;
}

struct ki_node *ki_expr_call(struct ki_snippet *s, enum ki_type type, uint64_t addr,
			     const char *name, struct ki_node *const *args, unsigned int nargs)
{
	struct ki_node *n = ki_tree_node(s, NODE_CALL);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	if (nargs > KI_CALL_ARGS)
		return ki_tree_fail(s, -EINVAL, "a call with %u arguments: at most %d", nargs,
				    KI_CALL_ARGS);
	n->type = type;
	n->value = addr;
	if (name) {
		n->name = ki_tree_string(s, name);
		if (!n->name)
			return NULL;
	}
	return adopt_args(n, args, nargs) ? n : NULL;
}

struct ki_node *ki_expr_call_recording(struct ki_snippet *s, struct ki_node *call,
				       const struct ki_hit *hit)
{
	if (!call)
		return NULL;
	if (hit->ring > UINT8_MAX || hit->id >= KI_HIT_IDS)
		return ki_tree_fail(s, -EINVAL, "no such ring or id: %u, %u", hit->ring, hit->id);
	call->op = 1;
	call->ring = KI_HIT(hit->ring, hit->id);
	return call;
}
