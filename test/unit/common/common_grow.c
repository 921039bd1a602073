// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random trees for common_snippet.h: every kind of node, type and variable takes part.
 */
#include "common_snippet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snippet/tree.h"

#define DEPTH 9

struct grow {
	struct ki_snippet *s;
	const struct snip_case *c;
	int left; /* nodes */
};

static struct ki_node *expr(struct grow *g, unsigned int depth);
static struct ki_node *stmt(struct grow *g, unsigned int depth);
static struct ki_node *table_get(struct grow *g, unsigned int depth);

static unsigned int below(unsigned int n)
{
	return (unsigned int)(exec_random() >> 33) % n;
}

static uint32_t first_of(const struct grow *g, unsigned int kind)
{
	const uint32_t first[KI_VAR_KINDS] = {
		[KI_VAR_CPU] = g->c->counter,
		[KI_VAR_GLOBAL] = g->c->global,
		[KI_VAR_THREAD] = g->c->word,
	};

	return first[kind];
}

static struct ki_var scalar(const struct grow *g, unsigned int kind)
{
	static const uint8_t often[] = {KI_I64, KI_U64, KI_I8, KI_U32};
	unsigned int type = below(KI_TYPES);

	/* a few that are used several times are worth more than many */
	if (kind >= KI_VAR_THREAD && below(8))
		type = often[below(4)];
	return (struct ki_var){
		.kind = (uint8_t)kind, .type = (uint8_t)type, .first = first_of(g, kind) + type};
}

static const struct ki_var vectors[] = {
	{.name = "vec", .kind = KI_VAR_CPU, .type = KI_U64, .first = 8, .count = 5},
	{.name = "sums", .kind = KI_VAR_CPU, .type = KI_I64, .first = 13, .count = 3},
};
static const struct ki_var histogram = {
	.name = "hist", .kind = KI_VAR_CPU, .type = KI_U64, .first = 16, .count = 65};

static struct ki_var counters(const struct grow *g, const struct ki_var *v)
{
	struct ki_var own = *v;

	own.first += g->c->counter;
	return own;
}

static struct ki_node *konst(struct grow *g)
{
	return ki_expr_const(g->s, below(3) ? KI_I64 : below(KI_TYPES), snip_number());
}

/* What code in a process knows. The CPU cannot be foretold, but it is a small number. */
static struct ki_node *user_fact(struct grow *g)
{
	static const uint8_t facts[] = {KI_FACT_TSC, KI_FACT_ADDR, KI_FACT_PLACE, KI_FACT_CPU,
					KI_FACT_RETVAL};
	unsigned int f = facts[below(g->c->site.at_exit ? 5 : 4)];

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
	unsigned int f = below(KI_FACTS);

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
		r = below(16);
	while (g->c->reads && !(g->c->reads >> r & 1));
	return r;
}

static struct ki_node *leaf(struct grow *g)
{
	struct ki_var v;

	switch (below(14)) {
	case 0:
	case 1:
	case 2:
		return konst(g);
	case 12:
		v = scalar(g, KI_VAR_THREAD);
		return ki_expr_var(g->s, &v);
	case 13:
		v = scalar(g, KI_VAR_LOCAL);
		return ki_expr_var(g->s, &v);
	case 3:
		v = scalar(g, KI_VAR_CPU);
		return ki_expr_var(g->s, &v);
	case 4:
		v = scalar(g, KI_VAR_GLOBAL);
		return ki_expr_var(g->s, &v);
	case 5:
		v = scalar(g, KI_VAR_THREAD);
		return ki_expr_var(g->s, &v);
	case 6:
	case 7:
		return fact(g);
	case 8:
	case 9:
		if (g->c->site.at_entry)
			return ki_expr_param(g->s, g->c->in_kernel || below(4) ? below(6)
									       : below(KI_PARAMS));
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
	const bool bad = !below(8);
	struct ki_node *x, *at;

	if (!g->c->in_kernel)
		return expr(g, depth);
	x = ki_expr_const(g->s, KI_U64, bad ? 4096 : k->size - 8 * KI_STRING_WORDS);
	x = ki_expr_binary(g->s, KI_MOD, expr(g, depth), x);
	at = ki_expr_const(g->s, KI_U64, bad ? NOWHERE : k->at);
	return ki_expr_binary(g->s, KI_ADD, at, x);
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
	unsigned int r = !g->c->in_kernel ? below(15) : below(3) ? 6 + below(5) : below(4);
	struct ki_node *a[2];

	for (unsigned int i = 0; i < rows[r].args; i++)
		a[i] = r < 4 ? address(g, depth, false) : expr(g, depth);
	return ki_expr_helper(g->s, rows[r].helper, a, rows[r].args);
}

/* Function n of the test takes n arguments. */
static struct ki_node *call(struct grow *g, unsigned int depth)
{
	struct ki_node *a[KI_CALL_ARGS];
	unsigned int n = below(KI_CALL_ARGS + 1);

	for (unsigned int i = 0; i < n; i++)
		a[i] = expr(g, depth);
	return ki_expr_call(g->s, below(KI_TYPES), 64 + n, "callee", a, n);
}

/* At a constant address now and then: where the text is always the same. */
static struct ki_node *string(struct grow *g, unsigned int depth, unsigned int words)
{
	const bool user = below(2);

	if (g->c->in_kernel || below(4))
		return ki_expr_string(g->s, address(g, depth, user), words, user);
	return ki_expr_string(g->s, konst(g), words, user);
}

/* Compared with a text that it may be, or with the beginning of one. */
static struct ki_node *string_is(struct grow *g, unsigned int depth)
{
	unsigned int words = 1 + below(below(8) ? 4 : KI_STRING_WORDS);
	bool prefix = below(2);
	char text[8 * KI_STRING_WORDS];

	snprintf(text, 8 * words - !prefix, "%s", snip_texts[below(SNIP_TEXTS)]);
	if (prefix)
		text[below((unsigned int)strlen(text) + 1)] = 0;
	return ki_expr_string_is(g->s, string(g, depth, words), text, prefix);
}

static struct ki_node *index_of(struct grow *g, unsigned int depth)
{
	if (below(3) == 0)
		return expr(g, depth);
	return ki_expr_binary(g->s, KI_MOD, expr(g, depth), ki_expr_const(g->s, KI_U64, 8));
}

/* In a process nothing divides but by powers of two. */
static struct ki_node *divided(struct grow *g, enum ki_binary op, unsigned int depth)
{
	struct ki_node *x = ki_expr_cast(g->s, KI_U64, expr(g, depth));

	return ki_expr_binary(g->s, op, x, ki_expr_const(g->s, KI_U64, 1ull << below(31)));
}

static struct ki_node *user_inner(struct grow *g, unsigned int depth)
{
	unsigned int op = below(KI_BINARIES);
	struct ki_node *x;
	struct ki_var v;

	switch (below(10)) {
	case 0:
		return ki_expr_cast(g->s, below(KI_TYPES), expr(g, depth));
	case 1:
		return ki_expr_unary(g->s, below(KI_UNARIES), expr(g, depth));
	case 2:
		x = expr(g, depth);
		return ki_expr_cond(g->s, x, expr(g, depth), expr(g, depth));
	case 3:
		v = counters(g, &vectors[below(2)]);
		return ki_expr_index(g->s, &v, ki_expr_const(g->s, KI_U64, below(8)));
	default:
		if (op == KI_DIV || op == KI_MOD)
			return divided(g, op, depth);
		x = expr(g, depth);
		return ki_expr_binary(g->s, op, x, expr(g, depth));
	}
}

static struct ki_node *inner(struct grow *g, unsigned int depth)
{
	struct ki_node *x;
	struct ki_var v;

	if (g->c->site.user)
		return user_inner(g, depth);
	switch (below(23)) {
	case 22:
		return g->c->in_kernel ? leaf(g) : table_get(g, depth);
	case 20:
		return string_is(g, depth);
	case 21:
		if (g->c->in_kernel)
			return leaf(g);
		return below(3) ? ki_expr_stack(g->s, SNIP_STACKS, below(4), below(2))
				: ki_expr_depth(g->s, SNIP_STACKS, below(4));
	case 0:
	case 1:
		return ki_expr_cast(g->s, below(KI_TYPES), expr(g, depth));
	case 2:
	case 3:
		return ki_expr_unary(g->s, below(KI_UNARIES), expr(g, depth));
	case 4:
		x = expr(g, depth);
		return ki_expr_cond(g->s, x, expr(g, depth), expr(g, depth));
	case 5:
	case 6:
		v = counters(g, &vectors[below(2)]);
		return ki_expr_index(g->s, &v, index_of(g, depth));
	case 7:
		return ki_expr_load(g->s, below(KI_TYPES), address(g, depth, false));
	case 8:
		return g->c->in_kernel || below(2) ? helper(g, depth) : call(g, depth);
	case 9:
		return ki_expr_comm_is(g->s, below(2) ? "nginx" : "kworker/u8:123");
	default:
		x = expr(g, depth);
		return ki_expr_binary(g->s, below(KI_BINARIES), x, expr(g, depth));
	}
}

static struct ki_node *expr(struct grow *g, unsigned int depth)
{
	if (--g->left < 0 || !depth || below(4) == 0)
		return leaf(g);
	return inner(g, depth - 1);
}

static struct ki_node *update(struct grow *g, unsigned int depth)
{
	unsigned int op = below(KI_UPDATES), kind = below(KI_VAR_KINDS);
	struct ki_node *index;
	struct ki_var v;

	if (g->c->site.user && kind != KI_VAR_LOCAL && (op == KI_UPDATE_MIN || op == KI_UPDATE_MAX))
		op = KI_UPDATE_ADD;
	if (below(3) == 0) {
		index = g->c->site.user ? ki_expr_const(g->s, KI_U64, below(8))
					: index_of(g, depth / 2);
		op = g->c->site.user && op >= KI_UPDATE_MIN ? KI_SET : op;
		v = counters(g, &vectors[below(2)]);
		return ki_stmt_update(g->s, op, &v, index, expr(g, depth));
	}
	v = scalar(g, kind);
	return ki_stmt_update(g->s, op, &v, NULL, expr(g, depth));
}

static struct ki_node *linear(struct grow *g, unsigned int depth)
{
	struct ki_node *value = expr(g, depth);
	const struct ki_var v = {.name = "lin",
				 .kind = KI_VAR_CPU,
				 .type = KI_U64,
				 .first = g->c->counter + 81,
				 .count = 4 + below(12)};
	struct ki_linear l = {.low = (int64_t)below(50), .step = 1 + below(20)};

	if (below(2)) /* the value's sign may forbid it */
		value = ki_expr_cast(g->s, KI_I64, value);
	else
		value = ki_expr_cast(g->s, KI_U64, value);
	l.high = l.low + (int64_t)(l.step * (v.count - 2));
	return ki_stmt_linear(g->s, &v, &l, value);
}

/* A word, or a string of one and up to `room` more. */
static struct ki_node *value(struct grow *g, unsigned int depth, unsigned int room,
			     unsigned int *more)
{
	bool is_string = !below(4);

	*more = is_string ? below(room + 1) : 0;
	return is_string ? string(g, depth, *more + 1) : expr(g, depth);
}

/* A few values; and now and then as many as there can be. */
static struct ki_node *record(struct grow *g, unsigned int depth)
{
	unsigned int n = below(8) ? below(5) : below(KI_RECORD_WORDS + 1), words = n, more;
	struct ki_node *v[KI_RECORD_WORDS];

	for (unsigned int i = 0; i < n; i++) {
		v[i] = value(g, depth / 2, KI_RECORD_WORDS - words, &more);
		words += more;
	}
	return ki_stmt_record(g->s, SNIP_RING, below(3) ? (uint32_t)snip_number() : 0, v, n);
}

/* A few words of a key; and now and then as many as there can be. */
static struct ki_table_var some_table(struct grow *g, bool shared, struct ki_node **key,
				      unsigned int *nkeys, unsigned int depth)
{
	unsigned int n = 1 + (below(8) ? below(3) : below(KI_TABLE_KEYS)), words = n, more;

	*nkeys = n;
	for (unsigned int i = 0; i < n; i++) {
		key[i] = value(g, depth, KI_TABLE_KEYS - words, &more);
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
	struct ki_table_var t = some_table(g, true, key, &n, depth / 2);

	return ki_expr_table(g->s, &(struct ki_row_value){&t, below(SNIP_TABLE_VALUES), key, n});
}

static struct ki_node *table_op(struct grow *g, unsigned int depth)
{
	struct ki_linear l = {.low = (int64_t)below(50), .step = 1 + below(20)};
	unsigned int op = KI_TABLE_SET + below(KI_TABLE_OPS - KI_TABLE_SET);
	struct ki_node *key[KI_TABLE_KEYS];
	unsigned int n;
	struct ki_table_var t =
		some_table(g, op <= KI_TABLE_DELETE || below(2), key, &n, depth / 2);

	if (op == KI_TABLE_COUNT && below(2)) {
		l.high = l.low + (int64_t)l.step * (1 + below(60));
		return ki_stmt_table_linear(
			g->s, &(struct ki_row_value){&t, below(30), key, n}, &l,
			ki_expr_cast(g->s, below(2) ? KI_I64 : KI_U64, expr(g, depth)));
	}
	return ki_stmt_table(
		g->s, op, &(struct ki_row_value){&t, op == KI_TABLE_DELETE ? 0 : below(30), key, n},
		op == KI_TABLE_DELETE ? NULL : expr(g, depth));
}

static struct ki_node *branches(struct grow *g, unsigned int depth)
{
	struct ki_node *cond = expr(g, depth), *then = stmt(g, depth / 2);

	return ki_stmt_if(g->s, cond, then, below(2) ? stmt(g, depth / 2) : NULL);
}

/* Now and then it depends on a local of 64 bits. */
static struct ki_node *or_not(struct grow *g, struct ki_node *n)
{
	const uint8_t type = below(2) ? KI_I64 : KI_U64;
	const struct ki_var v = {.kind = KI_VAR_LOCAL, .type = type, .first = type};

	if (!n || below(4) ||
	    (n->kind == NODE_UPDATE && (n->op == KI_UPDATE_MIN || n->op == KI_UPDATE_MAX)))
		return n;
	return ki_stmt_unless(g->s, n, &v);
}

static struct ki_node *stmt(struct grow *g, unsigned int depth)
{
	struct ki_node *list = NULL;
	struct ki_var v;

	if (depth > 1 && g->left > 0) {
		switch (below(10)) {
		case 9:
			return or_not(g, g->c->in_kernel || g->c->site.user ? update(g, depth)
									    : table_op(g, depth));
		case 8:
			return or_not(g, g->c->in_kernel || g->c->site.user ? update(g, depth)
									    : record(g, depth));
		case 0:
		case 1:
			return branches(g, depth - 1);
		case 2:
			for (unsigned int i = 1 + below(3); i--;)
				list = ki_stmt_append(g->s, list, stmt(g, depth - 1));
			return list;
		case 3:
			v = counters(g, &histogram);
			return ki_stmt_log2(g->s, &v, expr(g, depth));
		case 4:
			return linear(g, depth);
		case 5:
			return ki_stmt_eval(g->s, expr(g, depth));
		default:
			break;
		}
	}
	return or_not(g, update(g, depth));
}

#define CROWD 9 /* all of them would not fit on the stack, beside what others want there */

/* Many locals are written before the others' statements, or read behind them: not all of them have
   a register then. */
static struct ki_node *crowd(struct grow *g, struct ki_node *list, bool reads)
{
	const struct ki_var sum = {
		.kind = KI_VAR_CPU, .type = KI_I64, .first = g->c->counter + KI_I64};

	for (unsigned int i = 0; i < CROWD; i++) {
		const struct ki_var v = {
			.kind = KI_VAR_LOCAL, .type = (uint8_t)(i % KI_TYPES), .first = i};

		list = ki_stmt_append(g->s, list,
				      reads ? ki_stmt_update(g->s, KI_UPDATE_ADD, &sum, NULL,
							     ki_expr_var(g->s, &v))
					    : ki_stmt_update(g->s, KI_SET, &v, NULL, leaf(g)));
	}
	return list;
}

struct ki_node *snip_random_list(struct ki_snippet *s, const struct snip_case *c,
				 unsigned int nodes)
{
	struct grow g = {.s = s, .c = c, .left = (int)nodes};
	struct ki_node *list = NULL;
	bool crowded = below(64) == 0;

	if (crowded)
		list = crowd(&g, list, false);
	do
		list = ki_stmt_append(g.s, list, stmt(&g, 2 + below(DEPTH - 2)));
	while (g.left > 0 && below(3));
	return crowded ? crowd(&g, list, true) : list;
}

struct ki_snippet *snip_random(const struct snip_case *c, unsigned int nodes)
{
	struct ki_snippet *s;

	if (ki_snippet_new(&s))
		abort();
	ki_snippet_body(s, snip_random_list(s, c, nodes));
	return s;
}
