// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random expressions for common_snippet.h: every kind of node, type and variable takes part.
 */
#include "common_grow.h"

#include <stdio.h>
#include <string.h>

static struct ki_node *table_get(struct grow *g, unsigned int depth);

static uint32_t first_of(const struct grow *g, unsigned int kind)
{
	const uint32_t first[KI_VAR_KINDS] = {
		[KI_VAR_CPU] = g->c->counter,
		[KI_VAR_GLOBAL] = g->c->global,
		[KI_VAR_THREAD] = g->c->word,
	};

	return first[kind];
}

struct ki_var grow_scalar(const struct grow *g, unsigned int kind)
{
	static const uint8_t often[] = {KI_I64, KI_U64, KI_I8, KI_U32};
	unsigned int type = grow_below(KI_TYPES);

	/* a few that are used several times are worth more than many */
	if (kind >= KI_VAR_THREAD && grow_below(8))
		type = often[grow_below(4)];
	return (struct ki_var){
		.kind = (uint8_t)kind, .type = (uint8_t)type, .first = first_of(g, kind) + type};
}

static const struct ki_var vectors[GROW_VECTORS + 1] = {
	{.name = "vec", .kind = KI_VAR_CPU, .type = KI_U64, .first = 8, .count = 5},
	{.name = "sums", .kind = KI_VAR_CPU, .type = KI_I64, .first = 13, .count = 3},
	[GROW_HISTOGRAM] =
		{.name = "hist", .kind = KI_VAR_CPU, .type = KI_U64, .first = 16, .count = 65},
};

struct ki_var grow_counters(const struct grow *g, unsigned int n)
{
	struct ki_var own = vectors[n];

	own.first += g->c->counter;
	return own;
}

static struct ki_node *konst(struct grow *g)
{
	return ki_expr_const(g->s, grow_below(3) ? KI_I64 : grow_below(KI_TYPES), snip_number());
}

/* What code in a process knows. The CPU cannot be foretold, but it is a small number. */
static struct ki_node *user_fact(struct grow *g)
{
	static const uint8_t facts[] = {KI_FACT_TSC, KI_FACT_ADDR, KI_FACT_PLACE, KI_FACT_CPU,
					KI_FACT_RETVAL};
	unsigned int f = facts[grow_below(g->c->site.at_exit ? 5 : 4)];

	if (f == KI_FACT_CPU)
		return ki_expr_binary(g->s, KI_LT, ki_expr_fact(g->s, f),
				      ki_expr_const(g->s, KI_I64, 4096));
	if (f == KI_FACT_TSC)
		return ki_expr_binary(g->s, KI_NE, ki_expr_fact(g->s, f),
				      ki_expr_const(g->s, KI_U64, 0));
	return ki_expr_fact(g->s, f);
}

/* The clock cannot be foretold, but it is not 0. */
static struct ki_node *fact(struct grow *g)
{
	unsigned int f = grow_below(KI_FACTS);

	if (g->c->site.user)
		return user_fact(g);
	if (f == KI_FACT_TSC || (f == KI_FACT_CLOCK && !g->c->in_kernel))
		return ki_expr_binary(g->s, KI_NE, ki_expr_fact(g->s, f),
				      ki_expr_const(g->s, KI_U64, 0));
	if ((f == KI_FACT_RETVAL && !g->c->site.at_exit) ||
	    (g->c->in_kernel && (f == KI_FACT_NANOTIME || (f >= KI_FACT_CLOCK && f < KI_FACT_UID) ||
				 f == KI_FACT_CGROUP)))
		f = KI_FACT_PID;
	return ki_expr_fact(g->s, f);
}

static unsigned int some_register(const struct grow *g)
{
	unsigned int r;

	do
		r = grow_below(16);
	while (g->c->reads && !(g->c->reads >> r & 1));
	return r;
}

struct ki_node *grow_leaf(struct grow *g)
{
	struct ki_var v;

	switch (grow_below(14)) {
	case 0:
	case 1:
	case 2:
		return konst(g);
	case 12:
		v = grow_scalar(g, KI_VAR_THREAD);
		return ki_expr_var(g->s, &v);
	case 13:
		v = grow_scalar(g, KI_VAR_LOCAL);
		return ki_expr_var(g->s, &v);
	case 3:
		v = grow_scalar(g, KI_VAR_CPU);
		return ki_expr_var(g->s, &v);
	case 4:
		v = grow_scalar(g, KI_VAR_GLOBAL);
		return ki_expr_var(g->s, &v);
	case 5:
		v = grow_scalar(g, KI_VAR_THREAD);
		return ki_expr_var(g->s, &v);
	case 6:
	case 7:
		return fact(g);
	case 8:
	case 9:
		if (g->c->site.at_entry)
			return ki_expr_param(g->s, g->c->in_kernel || grow_below(4)
							   ? grow_below(6)
							   : grow_below(KI_PARAMS));
		return ki_expr_reg(g->s, some_register(g));
	default:
		return ki_expr_reg(g->s, some_register(g));
	}
}

#define NOWHERE UINT64_C(0xdead000000000000)

/* Of memory; in the kernel, of what is known, a string's length before its end, or of nothing. */
static struct ki_node *address(struct grow *g, unsigned int depth, bool user)
{
	const struct snip_memory *k = &g->c->known[user];
	const bool bad = !grow_below(8);
	struct ki_node *x, *at;

	if (!g->c->in_kernel)
		return grow_expr(g, depth);
	x = ki_expr_const(g->s, KI_U64, bad ? 4096 : k->size - 8 * KI_STRING_WORDS);
	x = ki_expr_binary(g->s, KI_MOD, grow_expr(g, depth), x);
	at = ki_expr_const(g->s, KI_U64, bad ? NOWHERE : k->at);
	return ki_expr_binary(g->s, KI_ADD, at, x);
}

/* One that is known, or one that is calculated. */
static struct ki_node *signal_sent(struct grow *g, unsigned int depth)
{
	struct ki_node *a[] = {
		ki_expr_const(g->s, KI_U64, grow_below(2) * grow_below(KI_SIGNALS + 1)),
		grow_expr(g, depth)};

	return ki_expr_helper(g->s, KI_HELPER_SIGNAL, a, 2);
}

static struct ki_node *helper(struct grow *g, unsigned int depth)
{
	static const struct {
		uint8_t helper, args;
	} rows[] = {{KI_HELPER_LOAD8, 1},      {KI_HELPER_LOAD16, 1},	{KI_HELPER_LOAD32, 1},
		    {KI_HELPER_LOAD64, 1},     {KI_HELPER_NANOTIME, 0}, {KI_HELPER_CGROUP, 0},
		    {KI_HELPER_UID, 0},	       {KI_HELPER_DIV, 2},	{KI_HELPER_UDIV, 2},
		    {KI_HELPER_MOD, 2},	       {KI_HELPER_UMOD, 2},	{KI_HELPER_EVENT, 1},
		    {KI_HELPER_UNREADABLE, 2}, {KI_HELPER_UDEPTH, 0},	{KI_HELPER_UCALLER, 0}};
	unsigned int r = !g->c->in_kernel ? grow_below(15)
			 : grow_below(3)  ? 6 + grow_below(5)
					  : grow_below(4);
	struct ki_node *a[2];

	if (!g->c->in_kernel && !grow_below(16))
		return signal_sent(g, depth);
	for (unsigned int i = 0; i < rows[r].args; i++)
		a[i] = r < 4 ? address(g, depth, false) : grow_expr(g, depth);
	return ki_expr_helper(g->s, rows[r].helper, a, rows[r].args);
}

/* Function n of the test takes n arguments. */
static struct ki_node *call(struct grow *g, unsigned int depth)
{
	struct ki_node *a[KI_CALL_ARGS];
	unsigned int n = grow_below(KI_CALL_ARGS + 1);

	for (unsigned int i = 0; i < n; i++)
		a[i] = grow_expr(g, depth);
	return ki_expr_call(g->s, grow_below(KI_TYPES), 64 + n, "callee", a, n);
}

/* At a constant address now and then: where the text is always the same. */
static struct ki_node *string(struct grow *g, unsigned int depth, unsigned int words)
{
	const bool user = grow_below(2);

	if (g->c->in_kernel || grow_below(4))
		return ki_expr_string(g->s, address(g, depth, user), words, user);
	return ki_expr_string(g->s, konst(g), words, user);
}

/* Compared with a text that it may be, or with the beginning of one. */
static struct ki_node *string_is(struct grow *g, unsigned int depth)
{
	unsigned int words = 1 + grow_below(grow_below(8) ? 4 : KI_STRING_WORDS);
	bool prefix = grow_below(2);
	char text[8 * KI_STRING_WORDS];

	snprintf(text, 8 * words - !prefix, "%s", snip_texts[grow_below(SNIP_TEXTS)]);
	if (prefix)
		text[grow_below((unsigned int)strlen(text) + 1)] = 0;
	return ki_expr_string_is(g->s, string(g, depth, words), text, prefix);
}

struct ki_node *grow_index(struct grow *g, unsigned int depth)
{
	if (grow_below(3) == 0)
		return grow_expr(g, depth);
	return ki_expr_binary(g->s, KI_MOD, grow_expr(g, depth), ki_expr_const(g->s, KI_U64, 8));
}

/* In a process nothing divides but by powers of two. */
static struct ki_node *divided(struct grow *g, enum ki_binary op, unsigned int depth)
{
	struct ki_node *x = ki_expr_cast(g->s, KI_U64, grow_expr(g, depth));

	return ki_expr_binary(g->s, op, x, ki_expr_const(g->s, KI_U64, 1ull << grow_below(31)));
}

static struct ki_node *swap(struct grow *g, unsigned int depth)
{
	static const uint8_t types[] = {KI_I16, KI_U16, KI_I32, KI_U32, KI_I64, KI_U64};

	return ki_expr_swap(g->s, types[grow_below(6)], grow_expr(g, depth));
}

static struct ki_node *user_inner(struct grow *g, unsigned int depth)
{
	unsigned int op = grow_below(KI_BINARIES);
	struct ki_node *x;
	struct ki_var v;

	switch (grow_below(11)) {
	case 10:
		return swap(g, depth);
	case 0:
		return ki_expr_cast(g->s, grow_below(KI_TYPES), grow_expr(g, depth));
	case 1:
		return ki_expr_unary(g->s, grow_below(KI_UNARIES), grow_expr(g, depth));
	case 2:
		x = grow_expr(g, depth);
		return ki_expr_cond(g->s, x, grow_expr(g, depth), grow_expr(g, depth));
	case 3:
		v = grow_counters(g, grow_below(GROW_VECTORS));
		return ki_expr_index(g->s, &v, ki_expr_const(g->s, KI_U64, grow_below(8)));
	default:
		if (op == KI_DIV || op == KI_MOD)
			return divided(g, op, depth);
		x = grow_expr(g, depth);
		return ki_expr_binary(g->s, op, x, grow_expr(g, depth));
	}
}

static struct ki_node *inner(struct grow *g, unsigned int depth)
{
	struct ki_node *x;
	struct ki_var v;

	if (g->c->site.user)
		return user_inner(g, depth);
	switch (grow_below(24)) {
	case 23:
		return swap(g, depth);
	case 22:
		return g->c->in_kernel ? grow_leaf(g) : table_get(g, depth);
	case 20:
		return string_is(g, depth);
	case 21:
		if (g->c->in_kernel)
			return grow_leaf(g);
		return grow_below(3)
			       ? ki_expr_stack(g->s, SNIP_STACKS, grow_below(4), grow_below(2))
			       : ki_expr_depth(g->s, SNIP_STACKS, grow_below(4));
	case 0:
	case 1:
		return ki_expr_cast(g->s, grow_below(KI_TYPES), grow_expr(g, depth));
	case 2:
	case 3:
		return ki_expr_unary(g->s, grow_below(KI_UNARIES), grow_expr(g, depth));
	case 4:
		x = grow_expr(g, depth);
		return ki_expr_cond(g->s, x, grow_expr(g, depth), grow_expr(g, depth));
	case 5:
	case 6:
		v = grow_counters(g, grow_below(GROW_VECTORS));
		return ki_expr_index(g->s, &v, grow_index(g, depth));
	case 7:
		return ki_expr_load(g->s, grow_below(KI_TYPES), address(g, depth, false));
	case 8:
		return g->c->in_kernel || grow_below(2) ? helper(g, depth) : call(g, depth);
	case 9:
		return ki_expr_comm_is(g->s, grow_below(2) ? "nginx" : "kworker/u8:123");
	default:
		x = grow_expr(g, depth);
		return ki_expr_binary(g->s, grow_below(KI_BINARIES), x, grow_expr(g, depth));
	}
}

struct ki_node *grow_expr(struct grow *g, unsigned int depth)
{
	if (--g->left < 0 || !depth || grow_below(4) == 0)
		return grow_leaf(g);
	return inner(g, depth - 1);
}

struct ki_node *grow_value(struct grow *g, unsigned int depth, unsigned int room,
			   unsigned int *more)
{
	bool is_string = !grow_below(4);

	room = room < KI_STRING_WORDS ? room : KI_STRING_WORDS - 1;
	*more = is_string ? grow_below(room + 1) : 0;
	return is_string ? string(g, depth, *more + 1) : grow_expr(g, depth);
}

struct ki_table_var grow_table(struct grow *g, bool shared, struct ki_node **key,
			       unsigned int *nkeys, unsigned int depth)
{
	unsigned int n = 1 + (grow_below(8) ? grow_below(3) : grow_below(KI_TABLE_KEYS)), words = n,
		     more;

	*nkeys = n;
	for (unsigned int i = 0; i < n; i++) {
		key[i] = grow_value(g, depth, KI_TABLE_KEYS - words, &more);
		words += more;
	}
	n = words;
	return (struct ki_table_var){.number = n - 1 + (shared ? KI_TABLE_KEYS : 0),
				     .keys = n,
				     .values = SNIP_TABLE_VALUES,
				     .shared = shared};
}

static struct ki_node *table_get(struct grow *g, unsigned int depth)
{
	struct ki_node *key[KI_TABLE_KEYS];
	unsigned int n;
	struct ki_table_var t = grow_table(g, true, key, &n, depth / 2);

	return ki_expr_table(g->s,
			     &(struct ki_row_value){&t, grow_below(SNIP_TABLE_VALUES), key, n});
}
