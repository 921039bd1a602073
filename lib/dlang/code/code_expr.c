// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/code/code.h"

#include <stddef.h>
#include <string.h>

static struct ki_node *number(struct ki_d_gen *g, int64_t value)
{
	return ki_expr_const(g->s, KI_I64, (uint64_t)value);
}

/* The word above what the function has pushed. */
static struct ki_node *caller(struct ki_d_gen *g)
{
	const struct ki_site_regs *regs = g->site->regs;

	if ((!regs->at_entry && !regs->at_exit) || ki_d_gen_has_no_stack(g))
		return number(g, 0);
	return ki_expr_load(
		g->s, KI_U64,
		ki_expr_binary(g->s, KI_ADD, ki_expr_reg(g->s, KI_RSP),
			       ki_expr_const(g->s, KI_U64, regs->at_entry ? 8 * regs->pushed : 0)));
}

/* A function's entry may be behind its first bytes, which ftrace writes. */
static struct ki_node *place_address(struct ki_d_gen *g)
{
	const struct ki_d_probe *p = &g->d->probes.v[g->site->probe];

	if (p->point && p->point->kind == KI_POINT_INSN)
		return ki_expr_const(g->s, KI_U64, p->point->addr);
	return g->site->regs->at_entry && p->sym ? ki_expr_const(g->s, KI_U64, p->sym->addr)
						 : ki_expr_fact(g->s, KI_FACT_ADDR);
}

static struct ki_node *builtin(struct ki_d_gen *g, const struct ki_d_builtin *b)
{
	switch (b->kind) {
	case KI_D_B_FACT:
		return ki_expr_cast(g->s, ki_d_num(b->type),
				    ki_expr_fact(g->s, (enum ki_fact)b->number));
	case KI_D_B_ARG:
		return ki_d_gen_argument(g, b->number);
	case KI_D_B_ID:
		return ki_expr_const(g->s, KI_U32, g->d->probes.v[g->site->probe].id);
	case KI_D_B_EPID:
		return ki_expr_const(g->s, KI_U32, ki_d_epid(g->d, g->site->probe, g->clause));
	case KI_D_B_TIME:
		return ki_d_gen_time(g);
	case KI_D_B_WALL:
		return ki_expr_cast(g->s, KI_I64, ki_d_gen_walltimestamp(g));
	case KI_D_B_VTIME:
		return ki_expr_cast(g->s, KI_I64, ki_d_gen_vtimestamp(g));
	case KI_D_B_ERRNO:
		return ki_d_gen_errno(g);
	case KI_D_B_REG:
		return ki_expr_reg(g->s, (enum ki_reg)b->number);
	case KI_D_B_ADDR:
		return place_address(g);
	case KI_D_B_FRAMES:
		return ki_expr_cast(g->s, ki_d_num(b->type),
				    ki_d_gen_frames(g, (enum ki_helper)b->number));
	default:
		return caller(g);
	}
}

static struct ki_node *variable(struct ki_d_gen *g, const struct ki_d_var *v)
{
	static const uint8_t kinds[] = {[KI_D_GLOBAL_SCOPE] = KI_VAR_GLOBAL,
					[KI_D_SELF_SCOPE] = KI_VAR_THREAD,
					[KI_D_THIS_SCOPE] = KI_VAR_LOCAL};
	const struct ki_var var = {.name = v->name,
				   .kind = kinds[v->scope],
				   .type = (uint8_t)ki_d_num(v->type),
				   .first = v->number};

	return ki_expr_var(g->s, &var);
}

static struct ki_node *element(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_table_var t = ki_table_var_of(n->sym.var->table, n->sym.var->name);
	struct ki_node *keys[KI_TABLE_KEYS];
	unsigned int nkeys = ki_d_gen_array_keys(g, n, keys);

	return ki_expr_cast(g->s, ki_d_num(n->type),
			    ki_expr_table(g->s, &(struct ki_row_value){&t, 0, keys, nkeys}));
}

/* ---- strings ---- */

static const char *const no_text = "";

const char *ki_d_gen_known(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct ki_d_probe *p = &g->d->probes.v[g->site->probe];

	if (n->kind == KI_D_TEXT)
		return n->text;
	if (n->kind != KI_D_NAME)
		return no_text;
	switch (n->sym.builtin->number) {
	case 0:
		return ki_d_provider_name(p);
	case 1:
		return p->module;
	case 2:
		return p->function;
	default:
		return p->name;
	}
}

uint64_t ki_d_gen_constant(struct ki_d_gen *g, const struct ki_d_node *n)
{
	if (n->kind == KI_D_NUMBER)
		return n->value;
	if (n->kind == KI_D_NAME && n->sym.builtin->kind == KI_D_B_ID)
		return g->d->probes.v[g->site->probe].id;
	return ki_d_string_number(g->d, ki_d_gen_known(g, n));
}

unsigned int ki_d_gen_value(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t form,
			    struct ki_node **nodes)
{
	switch (form) {
	case KI_D_FORM_PROBE:
		return 0;
	case KI_D_FORM_COMM:
		nodes[0] = ki_expr_fact(g->s, KI_FACT_COMM0);
		nodes[1] = ki_expr_fact(g->s, KI_FACT_COMM1);
		return KI_D_COMM_WORDS;
	case KI_D_FORM_NUMBERED:
		nodes[0] = ki_expr_const(g->s, KI_U64, ki_d_gen_constant(g, n));
		return 1;
	case KI_D_FORM_SPECULATION:
		nodes[0] = ki_d_gen_speculation_now(g);
		return 1;
	case KI_D_FORM_ADDRESS:
		nodes[0] = ki_d_gen_expr(g, n->kid[0]);
		return 1;
	case KI_D_FORM_USER:
		nodes[0] = ki_expr_fact(g->s, KI_FACT_TGID);
		nodes[1] = ki_d_gen_expr(g, n->kid[0]);
		return 2;
	default:
		nodes[0] =
			ki_d_may_be_null(g, n) ? ki_d_gen_some_marked(g, n) : ki_d_gen_expr(g, n);
		return 1;
	}
}

unsigned int ki_d_gen_keys(struct ki_d_gen *g, const struct ki_d_node *list,
			   const struct ki_d_agg *a, struct ki_node **nodes)
{
	unsigned int n = 0, i = 0;

	if (a && a->renewed) {
		const struct ki_var epoch = {
			.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = a->of_epoch};

		nodes[n++] = ki_expr_var(g->s, &epoch);
	}
	if (a && a->weighted)
		nodes[n++] =
			g->weight ? ki_d_gen_expr(g, g->weight) : ki_expr_const(g->s, KI_I64, 1);
	for (const struct ki_d_node *k = list; k; k = k->next, i++) {
		n += ki_d_gen_value(g, k, a ? a->forms[i] : KI_D_FORM_WORD, nodes + n);
	}
	if (!list)
		nodes[n++] = ki_expr_const(g->s, KI_U64, 0);
	return n;
}

unsigned int ki_d_gen_array_keys(struct ki_d_gen *g, const struct ki_d_node *n,
				 struct ki_node **nodes)
{
	unsigned int first = n->sym.var->scope == KI_D_SELF_SCOPE;

	if (first)
		nodes[0] = ki_expr_fact(g->s, KI_FACT_PID);
	return first + ki_d_gen_keys(g, n->kid[1], NULL, nodes + first);
}

/* ---- operators ---- */

/* To the type that both sides are brought to. */
static struct ki_node *to_usual(struct ki_d_gen *g, const struct ki_d_node *n, enum ki_type t)
{
	return ki_expr_cast(g->s, t, ki_d_gen_expr(g, n));
}

static enum ki_type usual(const struct ki_d_node *n)
{
	unsigned int size = 4;
	bool is_unsigned = false;

	for (int i = 0; i < 2; i++)
		if (ki_d_size(n->kid[i]->type) > size)
			size = ki_d_size(n->kid[i]->type);
	for (int i = 0; i < 2; i++)
		is_unsigned |=
			ki_d_num(n->kid[i]->type) >= KI_U8 && ki_d_size(n->kid[i]->type) == size;
	if (!is_unsigned)
		return KI_I64;
	return size == 4 ? KI_U32 : KI_U64;
}

int64_t ki_d_gen_stride(struct ki_d_gen *g, struct ki_d_type t)
{
	const uint64_t size =
		t.stars ? ki_d_sizeof(&g->d->types, ki_d_pointed(&g->d->types, t)) : 0;

	return size ? (int64_t)size : 1;
}

static struct ki_node *scaled(struct ki_d_gen *g, const struct ki_d_node *n, struct ki_d_type by)
{
	return ki_expr_binary(g->s, KI_MUL, ki_d_gen_expr(g, n), number(g, ki_d_gen_stride(g, by)));
}

static struct ki_node *pointer(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const bool right = n->kid[1]->type.stars && !n->kid[0]->type.stars;
	const struct ki_d_node *p = n->kid[right], *by = n->kid[!right];

	if (by->type.stars || (n->op != KI_ADD && n->op != KI_SUB))
		return ki_expr_binary(g->s, (enum ki_binary)n->op, ki_d_gen_expr(g, n->kid[0]),
				      ki_d_gen_expr(g, n->kid[1]));
	return ki_expr_binary(g->s, (enum ki_binary)n->op, ki_d_gen_expr(g, p),
			      scaled(g, by, p->type));
}

/* Elements between two pointers. */
static struct ki_node *distance(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct ki_d_type of = ki_d_pointed(&g->d->types, n->kid[0]->type);
	const uint64_t size = ki_d_sizeof(&g->d->types, of);
	struct ki_node *bytes = ki_expr_binary(g->s, KI_SUB, ki_d_gen_expr(g, n->kid[0]),
					       ki_d_gen_expr(g, n->kid[1]));

	return ki_expr_binary(g->s, KI_DIV, ki_expr_cast(g->s, KI_I64, bytes),
			      number(g, size ? (int64_t)size : 1));
}

#define NESTED 4

/*
 * What is nested to the right is computed first: all that stands left of it would be in registers
 * meanwhile. The operator then; KI_BINARIES: it stays where it is.
 */
static enum ki_binary turned(const struct ki_d_node *n)
{
	static const struct {
		uint8_t op, to;
	} ops[] = {{KI_ADD, KI_ADD}, {KI_MUL, KI_MUL}, {KI_AND, KI_AND}, {KI_OR, KI_OR},
		   {KI_XOR, KI_XOR}, {KI_EQ, KI_EQ},   {KI_NE, KI_NE},	 {KI_LT, KI_GT},
		   {KI_GT, KI_LT},   {KI_LE, KI_GE},   {KI_GE, KI_LE}};

	if (n->kid[1]->depth <= n->kid[0]->depth + NESTED || ki_d_steps(n->kid[0]) ||
	    ki_d_steps(n->kid[1]))
		return KI_BINARIES;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (ops[i].op == n->op)
			return (enum ki_binary)ops[i].to;
	return KI_BINARIES;
}

/* What is left by a division of numbers with signs has the quotient's. */
static struct ki_node *with_sign(struct ki_d_gen *g, const struct ki_d_node *by, enum ki_type t,
				 struct ki_node *rest)
{
	struct ki_node *sign;

	if (by->kind == KI_D_NUMBER && by->value)
		return (int64_t)by->value < 0 ? ki_expr_unary(g->s, KI_NEG, rest) : rest;
	sign = ki_expr_binary(g->s, KI_SHR, ki_expr_cast(g->s, KI_I64, ki_d_gen_temp(g)),
			      number(g, 63)); /* the divisor's: ki_d_gen_divisor */
	sign = ki_expr_binary(g->s, KI_OR, sign, number(g, 1));
	return ki_expr_binary(g->s, KI_MUL, rest, ki_expr_cast(g->s, t, sign));
}

/* Code has 64 bits: what is above those of an unsigned number goes. */
static struct ki_node *unary(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *x = ki_expr_unary(g->s, (enum ki_unary)n->op, ki_d_gen_expr(g, n->kid[0]));
	const enum ki_type t = ki_d_num(n->type);

	return n->op != KI_LNOT && t >= KI_U8 && t < KI_U64 ? ki_expr_cast(g->s, t, x) : x;
}

static struct ki_node *binary(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const enum ki_binary turn = turned(n);
	const enum ki_type t = usual(n);
	struct ki_node *x[2];

	if (ki_d_is_string(n->kid[0]->type) || ki_d_is_string(n->kid[1]->type))
		return ki_d_gen_compare_texts(g, n);
	if (n->type.stars)
		return pointer(g, n);
	if (n->op == KI_SUB && n->kid[0]->type.stars && n->kid[1]->type.stars)
		return distance(g, n);
	if (n->op == KI_LAND || n->op == KI_LOR)
		return ki_expr_binary(g->s, (enum ki_binary)n->op, ki_d_gen_expr(g, n->kid[0]),
				      ki_d_gen_expr(g, n->kid[1]));
	if (n->op == KI_D_XOR_LOGIC) {
		for (int i = 0; i < 2; i++)
			x[i] = ki_expr_unary(g->s, KI_LNOT, ki_d_gen_expr(g, n->kid[i]));
		return ki_expr_binary(g->s, KI_NE, x[0], x[1]);
	}
	if (n->op == KI_SHL || n->op == KI_SHR)
		return ki_expr_binary(
			g->s, (enum ki_binary)n->op,
			ki_expr_cast(g->s, ki_d_num(n->type), ki_d_gen_expr(g, n->kid[0])),
			ki_expr_cast(g->s, KI_I64, ki_d_gen_expr(g, n->kid[1])));
	for (int i = 0; i < 2; i++)
		x[i] = to_usual(g, n->kid[i], t);
	if (ki_d_divides(n->op) && !ki_d_is_nonzero(n->kid[1]))
		x[1] = ki_d_gen_divisor(g, t, x[1]);
	if (turn != KI_BINARIES)
		return ki_expr_binary(g->s, turn, x[1], x[0]);
	x[0] = ki_expr_binary(g->s, (enum ki_binary)n->op, x[0], x[1]);
	if (n->op == KI_MOD && t < KI_U8)
		x[0] = with_sign(g, n->kid[1], t, x[0]);
	return ki_d_size(n->type) < 4 ? ki_expr_cast(g->s, ki_d_num(n->type), x[0]) : x[0];
}

/* The variable behind its change; x++: what it was. */
static struct ki_node *changed(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *change = ki_d_gen_assign(g, n), *x = ki_d_gen_expr(g, n->kid[0]);

	if (n->kind == KI_D_STEP && n->value)
		x = ki_expr_cast(g->s, ki_d_num(n->type),
				 ki_expr_binary(g->s, n->op == KI_ADD ? KI_SUB : KI_ADD, x,
						number(g, ki_d_gen_stride(g, n->type))));
	return ki_expr_behind(g->s, change, x);
}

/* a, b: the value of b; a is evaluated for what it does. */
static struct ki_node *comma(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *first = ki_stmt_eval(g->s, ki_d_gen_expr(g, n->kid[0]));

	return ki_expr_behind(g->s, first, ki_d_gen_expr(g, n->kid[1]));
}

static struct ki_node *call(struct ki_d_gen *g, const struct ki_d_node *n)
{
	if (n->type.base == KI_D_STACK)
		return ki_d_gen_stack(g, n);
	switch (n->sym.function->kind) {
	case KI_D_F_SPECULATION:
		return ki_d_gen_speculation(g);
	case KI_D_F_RANDOM:
		return ki_d_gen_random(g);
	case KI_D_F_PROGENY:
		return ki_d_gen_progeny(g, n->kid[0]);
	case KI_D_F_SWAP:
		return ki_expr_swap(g->s, (enum ki_type)n->sym.function->number,
				    ki_d_gen_expr(g, n->kid[0]));
	case KI_D_F_MEMORY:
		return ki_d_gen_memory_call(g, n);
	default:
		return ki_d_gen_text_call(g, n);
	}
}

static struct ki_node *named(struct ki_d_gen *g, const struct ki_d_node *n)
{
	if (n->is_builtin && ki_d_is_string(n->type))
		return ki_d_gen_text(g, n);
	if (n->type.base == KI_D_FLOAT && !n->type.stars) /* nothing can be assigned to it */
		return number(g, 0);
	return n->is_builtin ? builtin(g, n->sym.builtin) : variable(g, n->sym.var);
}

static struct ki_node *converted(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_node *x = ki_d_gen_expr(g, n->kid[0]);

	if (ki_d_is_string(n->type) || !ki_d_is_scalar(n->type))
		return x;
	return ki_expr_cast(g->s, ki_d_num(n->type), x);
}

struct ki_node *ki_d_gen_kept(struct ki_d_gen *g, const struct ki_d_node *n)
{
	if (ki_d_in_variable(n))
		return ki_d_gen_part(g, n);
	return n->kind == KI_D_INDEX ? element(g, n) : variable(g, n->sym.var);
}

static bool is_of_stack(const struct ki_d_node *n)
{
	return n->kind == KI_D_MEMBER && n->kid[0]->type.base == KI_D_STACK;
}

struct ki_node *ki_d_gen_expr(struct ki_d_gen *g, const struct ki_d_node *n)
{
	if (ki_d_is_marked(g, n) || ki_d_in_variable(n))
		return ki_d_is_marked(g, n) ? ki_d_gen_unmarked(g, n) : ki_d_gen_part(g, n);
	switch (n->kind) {
	case KI_D_STEP:
	case KI_D_ASSIGN:
		return changed(g, n);
	case KI_D_TEXT:
		return ki_d_gen_text(g, n);
	case KI_D_CALL:
		return call(g, n);
	case KI_D_NUMBER:
		return ki_expr_const(g->s, ki_d_num(n->type), n->value);
	case KI_D_NAME:
	case KI_D_SELF:
	case KI_D_THIS:
		return named(g, n);
	case KI_D_INDEX:
		return element(g, n);
	case KI_D_UNARY:
		return unary(g, n);
	case KI_D_BINARY:
		return binary(g, n);
	case KI_D_COND:
		return ki_expr_cond(g->s, ki_d_gen_expr(g, n->kid[0]), ki_d_gen_expr(g, n->kid[1]),
				    ki_d_gen_expr(g, n->kid[2]));
	case KI_D_CAST:
		return converted(g, n);
	case KI_D_ADDRESS:
		return ki_d_in_variable(n->kid[0]) ? ki_d_gen_part_address(g, n->kid[0])
						   : ki_d_gen_address(g, n->kid[0]);
	case KI_D_COMMA:
		return comma(g, n);
	case KI_D_LET:
		return ki_d_gen_let(g, n);
	case KI_D_HELD:
		return ki_d_gen_held(g, n);
	default:
		return is_of_stack(n) ? ki_d_gen_depth(g, n) : ki_d_gen_memory(g, n);
	}
}
