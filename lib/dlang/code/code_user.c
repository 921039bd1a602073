// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Clauses at a place in a process. They stand at the entry of ki_hit_N(address, regs), which the
 * driver calls at each hit of its breakpoint, or of uprobe_dispatcher(consumer, regs), which each
 * hit of a uprobe comes to; regs are the thread's when it was at the place.
 */
#include "dlang/code/code.h"
#include "dlang/probe/user.h"

/* The parameters. */
#define ADDRESS	  0 /* not of uprobe_dispatcher */
#define REGISTERS 1

/* Where struct pt_regs has the registers, by their numbers; and %rip. */
static const uint8_t at_register[] = {80, 88, 96, 40, 152, 32, 104, 112,
				      72, 64, 56, 48, 24,  16, 8,   0};
#define AT_IP 128
enum { RAX = 0, RCX = 1, RDX = 2, RSP = 4, RSI = 6, RDI = 7, R8 = 8, R9 = 9 };
static const uint8_t parameters[] = {RDI, RSI, RDX, RCX, R8, R9};

static struct ki_node *word(struct ki_d_gen *g, uint64_t offset)
{
	return ki_expr_load(g->s, KI_U64,
			    ki_expr_binary(g->s, KI_ADD, ki_expr_param(g->s, REGISTERS),
					   ki_expr_const(g->s, KI_U64, offset)));
}

static struct ki_node *reg(struct ki_d_gen *g, unsigned int number)
{
	return word(g, at_register[number]);
}

static struct ki_node *constant(struct ki_d_gen *g, int64_t value)
{
	return ki_expr_const(g->s, KI_U64, (uint64_t)value);
}

/* ---- arguments that the program describes ---- */

static enum ki_type type_of(const struct ki_d_operand *o)
{
	static const enum ki_type types[2][4] = {{KI_U8, KI_U16, KI_U32, KI_U64},
						 {KI_I8, KI_I16, KI_I32, KI_I64}};

	return types[o->is_signed][o->size == 8 ? 3 : o->size / 2];
}

/* base + index * scale + disp */
static struct ki_node *address(struct ki_d_gen *g, const struct ki_d_operand *o)
{
	struct ki_node *at = constant(g, o->disp);

	if (o->index >= 0)
		at = ki_expr_binary(g->s, KI_ADD, at,
				    ki_expr_binary(g->s, KI_MUL, reg(g, (unsigned int)o->index),
						   constant(g, o->scale)));
	if (o->base >= 0)
		at = ki_expr_binary(g->s, KI_ADD, at, reg(g, (unsigned int)o->base));
	return at;
}

static struct ki_node *operand(struct ki_d_gen *g, const struct ki_d_operand *o)
{
	struct ki_node *x;

	switch (o->kind) {
	case KI_D_REGISTER:
		x = reg(g, (unsigned int)o->base);
		if (o->shift)
			x = ki_expr_binary(g->s, KI_SHR, x, constant(g, o->shift));
		return ki_expr_cast(g->s, type_of(o), x);
	case KI_D_IMMEDIATE:
		return constant(g, o->disp);
	case KI_D_IN_MEMORY:
		return ki_d_gen_user_load(g, type_of(o), address(g, o));
	default:
		return constant(g, 0);
	}
}

/* At a function's beginning: the return address, then the parameters that no register has. */
static struct ki_node *on_the_stack(struct ki_d_gen *g, unsigned int i)
{
	const uint64_t at = 8 * (i - sizeof(parameters) + 1);

	return ki_d_gen_user_load(
		g, KI_U64, ki_expr_binary(g->s, KI_ADD, reg(g, RSP), constant(g, (int64_t)at)));
}

/* Is the thread at the function's first instruction, or at its return? */
bool ki_d_gen_has_top(const struct ki_d_gen *g)
{
	const struct ki_d_hook *h = g->d->probes.v[g->site->probe].hook;
	const struct ki_d_user *u = h && h->kind == KI_D_HOOK_USER ? h->user : NULL;

	return u && !u->is_written && (u->is_return || u->places[g->site->place].addr == u->start);
}

struct ki_node *ki_d_gen_top(struct ki_d_gen *g)
{
	return ki_d_gen_user_load(g, KI_U64, reg(g, RSP));
}

struct ki_node *ki_d_gen_user_argument(struct ki_d_gen *g, const struct ki_d_user *u,
				       unsigned int i)
{
	struct ki_node *value = NULL;

	if (u->is_written && i < KI_D_USDT_ARGS)
		value = operand(g, &u->places[g->site->place].args[i]);
	else if (!u->is_written && !u->is_return && i < sizeof(parameters))
		value = reg(g, parameters[i]);
	else if (!u->is_written && !u->is_return && u->places[g->site->place].addr == u->start)
		value = on_the_stack(g, i);
	else if (u->is_return && !i)
		value = constant(g, (int64_t)(u->places[g->site->place].addr - u->start));
	else if (u->is_return && i == 1)
		value = reg(g, RAX);
	else
		value = constant(g, 0);
	return ki_expr_cast(g->s, KI_I64, value);
}

/* What asks whether the probe is enabled is told so. */
struct ki_node *ki_d_gen_user_answer(struct ki_d_gen *g, const struct ki_d_user *u)
{
	return ki_d_gen_user_store(g, KI_U32, operand(g, &u->places[g->site->place].args[0]),
				   constant(g, 1));
}

struct ki_node *ki_d_gen_user_meant(struct ki_d_gen *g, const struct ki_d_user *u,
				    struct ki_node *list)
{
	const struct ki_d_user_place *place = &u->places[g->site->place];
	struct ki_node *here, *process;

	here = place->stub ? ki_expr_param(g->s, ADDRESS) : word(g, AT_IP);
	here = ki_expr_binary(g->s, KI_EQ, here, ki_expr_const(g->s, KI_U64, place->addr));
	process = ki_expr_binary(g->s, KI_EQ, ki_expr_fact(g->s, KI_FACT_TGID),
				 ki_expr_const(g->s, KI_U32, (uint64_t)u->pid));
	return ki_stmt_if(g->s, here, ki_stmt_if(g->s, process, list, NULL), NULL);
}
