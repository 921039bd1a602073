// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snippets: what each kind of node comes to, as numbers written here; what each mistake in building
 * is called; text, listing, buckets, and what the code of common ones costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common_snippet.h"
#include "common_vet.h"

#define C(x)	    ki_expr_const(s, KI_I64, (uint64_t)(x))
#define U(x)	    ki_expr_const(s, KI_U64, (uint64_t)(x))
#define B(op, l, r) ki_expr_binary(s, op, l, r)
#define REG(r)	    ki_expr_reg(s, KI_##r)
#define V(v)	    ki_expr_var(s, &(v))

static const struct ki_var out = {.name = "out", .kind = KI_VAR_CPU, .type = KI_U64, .first = 7};
static const struct ki_var vec = {
	.name = "vec", .kind = KI_VAR_CPU, .type = KI_U64, .first = 8, .count = 5};
static const struct ki_var hist = {
	.name = "hist", .kind = KI_VAR_CPU, .type = KI_U64, .first = 16, .count = 65};
static const struct ki_var min32 = {.name = "m", .kind = KI_VAR_CPU, .type = KI_I32, .first = 2};
static const struct ki_var glob = {.name = "g", .kind = KI_VAR_GLOBAL, .type = KI_U64, .first = 3};
static const struct ki_var thread = {
	.name = "t", .kind = KI_VAR_THREAD, .type = KI_I16, .first = 6};

static struct ki_snippet *s;
static struct snip_case c;

static void begin(void)
{
	ki_snippet_free(s);
	assert_int_equal(ki_snippet_new(&s), 0);
}

static int end(void **state)
{
	(void)state;
	ki_snippet_free(s);
	s = NULL;
	return 0;
}

/* A case with known numbers. */
static void known(void)
{
	snip_case_make(&c);
	memset(&c.start, 0, sizeof(c.start));
	c.site = (struct ki_site_regs){.at_entry = true, .at_exit = true};
	for (unsigned int r = 0; r < 16; r++)
		if (r != KI_RSP)
			c.m.regs[r] = 100 + r;
	c.m.pid = 4321;
	c.m.tgid = 4000;
	c.m.cpu = 3;
	c.m.may_call = true;
	memcpy(c.m.comm, "nginx\0\0\0\0\0\0\0\0\0\0", 16);
	for (unsigned int i = 0; i < 5; i++)
		c.start.counters[8 + i] = 10 * i;
}

/* Run the body in all ways in which registers can be free: the same must come out. */
static void run(struct ki_node *body)
{
	static const ki_regset dead[] = {0, KI_REGSET_ALL, KI_REGSET_REG(KI_RAX) | KI_REGSET_FLAGS,
					 KI_REGSET_REG(KI_R10) | KI_REGSET_REG(KI_R15)};
	struct ki_err err = {0};
	struct ki_long_code code;
	const char *why;

	ki_snippet_body(s, body);
	for (size_t i = 0; i < sizeof(dead) / sizeof(*dead); i++) {
		c.site.dead = dead[i];
		if (ki_snippet_compile(s, &c.site, &code, &err) || snip_interpret(&c, s))
			fail_msg("%s", err.msg);
		why = vet_long(&code, SNIP_COUNTERS, SNIP_GLOBALS);
		if (!why)
			why = snip_run(&c, &code);
		if (why)
			fail_msg("%s", why);
		ki_long_code_free(&code);
	}
}

static void is(struct ki_node *e, uint64_t want)
{
	run(ki_stmt_update(s, KI_SET, &out, NULL, e));
	if (c.got.counters[7] != want) {
		char *text = NULL;

		ki_snippet_format(s, &text, NULL);
		print_error("%s", text);
		free(text);
	}
	assert_int_equal(c.got.counters[7], want);
	begin();
}

#define MIN INT64_MIN

static void operators(void **state)
{
	static const struct {
		uint8_t op;
		bool is_unsigned;
		int64_t l, r, want;
	} rows[] = {
		{KI_ADD, 0, INT64_MAX, 1, MIN},
		{KI_SUB, 0, 3, 5, -2},
		{KI_MUL, 0, -7, 6, -42},
		{KI_MUL, 1, 1ll << 40, 1ll << 30, 0},
		{KI_DIV, 0, -7, 2, -3},
		{KI_DIV, 1, -7, 2, 0x7ffffffffffffffc},
		{KI_DIV, 0, 5, 0, 0},
		{KI_DIV, 0, MIN, -1, MIN},
		{KI_MOD, 0, -7, 2, -1},
		{KI_MOD, 0, 5, 0, 5},
		{KI_MOD, 0, MIN, -1, 0},
		{KI_MOD, 1, -1, 10, 5},
		{KI_AND, 0, 12, 10, 8},
		{KI_OR, 0, 12, 10, 14},
		{KI_XOR, 0, 12, 10, 6},
		{KI_SHL, 0, 3, 62, MIN + (1ll << 62)},
		{KI_SHL, 0, 3, 65, 6},
		{KI_SHR, 0, -8, 1, -4},
		{KI_SHR, 1, -8, 1, 0x7ffffffffffffffc},
		{KI_SHR, 0, 8, 67, 1},
		{KI_EQ, 0, 4, 4, 1},
		{KI_NE, 0, 4, 4, 0},
		{KI_LT, 0, -1, 1, 1},
		{KI_LT, 1, -1, 1, 0},
		{KI_LE, 0, 4, 4, 1},
		{KI_GT, 0, MIN, INT64_MAX, 0},
		{KI_GT, 1, MIN, INT64_MAX, 1},
		{KI_GE, 0, -1, 0, 0},
		{KI_LAND, 0, 2, 4, 1},
		{KI_LAND, 0, 0, 4, 0},
		{KI_LOR, 0, 0, 0, 0},
		{KI_LOR, 0, 0, 1ll << 40, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum ki_type t = rows[i].is_unsigned ? KI_U64 : KI_I64;
		uint64_t l = (uint64_t)rows[i].l, r = (uint64_t)rows[i].r;

		known();
		begin();
		/* of constants, of registers, and of either */
		is(B(rows[i].op, ki_expr_const(s, t, l), C(r)), (uint64_t)rows[i].want);
		c.m.regs[KI_RSI] = l;
		c.m.regs[KI_RCX] = r;
		is(B(rows[i].op, ki_expr_cast(s, t, REG(RSI)), ki_expr_cast(s, KI_I64, REG(RCX))),
		   (uint64_t)rows[i].want);
		is(B(rows[i].op, ki_expr_const(s, t, l), ki_expr_cast(s, KI_I64, REG(RCX))),
		   (uint64_t)rows[i].want);
		is(B(rows[i].op, ki_expr_cast(s, t, REG(RSI)), C(r)), (uint64_t)rows[i].want);
	}
}

static void casts(void **state)
{
	static const uint64_t want[KI_TYPES] = {
		[KI_I8] = (uint64_t)-128,
		[KI_I16] = (uint64_t)-128,
		[KI_I32] = 0xffffffffffffff80,
		[KI_I64] = 0x12345678ffffff80,
		[KI_U8] = 0x80,
		[KI_U16] = 0xff80,
		[KI_U32] = 0xffffff80,
		[KI_U64] = 0x12345678ffffff80,
	};

	(void)state;
	known();
	c.m.regs[KI_RBX] = 0x12345678ffffff80;
	begin();
	for (unsigned int t = 0; t < KI_TYPES; t++) {
		is(ki_expr_cast(s, t, REG(RBX)), want[t]);
		is(ki_expr_cast(s, t, U(0x12345678ffffff80)), want[t]);
		is(B(KI_LT, ki_expr_cast(s, t, REG(RBX)), C(0)),
		   t == KI_I8 || t == KI_I16 || t == KI_I32);
	}
}

static void facts(void **state)
{
	static const struct {
		unsigned int fact;
		uint64_t want;
	} rows[] = {{KI_FACT_RETVAL, 100}, {KI_FACT_PID, 4321},		  {KI_FACT_TGID, 4000},
		    {KI_FACT_CPU, 3},	   {KI_FACT_COMM0, 0x786e69676e}, {KI_FACT_COMM1, 0}};

	(void)state;
	known();
	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		is(ki_expr_fact(s, rows[i].fact), rows[i].want);
	is(ki_expr_fact(s, KI_FACT_TASK), c.m.task);
	is(ki_expr_fact(s, KI_FACT_NANOTIME), c.m.nanotime);
	is(ki_expr_comm_is(s, "nginx"), 1);
	is(ki_expr_comm_is(s, "ngin"), 0);
	is(ki_expr_comm_is(s, "nginx-longer"), 0);
	memcpy(c.m.comm, "kworker/u8:123\0", 16);
	is(ki_expr_comm_is(s, "kworker/u8:123"), 1);
	is(ki_expr_comm_is(s, "kworker/u8:124"), 0);
}

static void parameters(void **state)
{
	static const uint8_t regs[] = {KI_RDI, KI_RSI, KI_RDX, KI_RCX, KI_R8, KI_R9};
	const uint64_t *stack;

	(void)state;
	known();
	begin();
	for (unsigned int i = 0; i < 6; i++)
		is(ki_expr_param(s, i), 100 + regs[i]);
	stack = (const uint64_t *)(uintptr_t)c.m.regs[KI_RSP];
	is(ki_expr_param(s, 6), stack[1]);
	is(ki_expr_param(s, 9), stack[4]);
	c.site.pushed = 2;
	is(ki_expr_param(s, 6), stack[3]);
	is(REG(RSP), c.m.regs[KI_RSP]);
}

/* What the other nodes make; memory is what common_snippet.c says it is. */
static void the_others(void **state)
{
	struct ki_node *args[2];

	(void)state;
	known();
	begin();
	is(ki_expr_unary(s, KI_NEG, REG(RBX)), (uint64_t)-103);
	is(ki_expr_unary(s, KI_NOT, REG(RBX)), ~103ull);
	is(ki_expr_unary(s, KI_LNOT, REG(RBX)), 0);
	is(ki_expr_cond(s, B(KI_GT, REG(RBX), C(102)), C(5), C(6)), 5);
	is(ki_expr_index(s, &vec, B(KI_SUB, REG(RBX), C(100))), 30);
	is(ki_expr_index(s, &vec, B(KI_SUB, REG(RBX), C(98))), 0);
	is(ki_expr_index(s, &vec, B(KI_SUB, REG(RBX), C(104))), 0);
	is(ki_expr_index(s, &vec, C(4)), 40);
	is(ki_expr_index(s, &vec, C(5)), 0);
	args[0] = REG(RBX);
	args[1] = C(10);
	is(ki_expr_helper(s, KI_HELPER_UDIV, args, 2), 10);
	*(uint64_t *)(uintptr_t)(c.m.regs[KI_RSP] + 16) = 0x8877665544332211;
	is(ki_expr_load(s, KI_I32, B(KI_ADD, REG(RSP), C(20))), 0xffffffff88776655);
	is(ki_expr_load(s, KI_U16, B(KI_ADD, REG(RSP), C(16))), 0x2211);
}

static void calls(void **state)
{
	struct ki_node *args[6];

	(void)state;
	known();
	begin();
	for (unsigned int i = 0; i < 6; i++)
		args[i] = C(i);
	run(ki_stmt_update(s, KI_SET, &out, NULL, ki_expr_call(s, KI_U64, 70, "f", args, 6)));
	assert_int_equal(c.got.ncalls, 1);
	assert_true(c.got.counters[7] != 0 && c.got.counters[7] == c.got.calls);
	c.m.may_call = false;
	begin();
	is(ki_expr_call(s, KI_I32, 64, NULL, NULL, 0), 0);
	assert_int_equal(c.got.ncalls, 0);
}

/* ---- statements ---- */

static uint64_t updated(enum ki_update op, const struct ki_var *v, uint64_t start, int64_t by)
{
	uint64_t *bank[KI_VAR_KINDS] = {c.start.counters, c.start.globals, c.start.thread};
	uint64_t *got[KI_VAR_KINDS] = {c.got.counters, c.got.globals, c.got.thread};

	known();
	begin();
	bank[v->kind][v->first] = start;
	c.m.regs[KI_RBX] = (uint64_t)by;
	run(ki_stmt_update(s, op, v, NULL, REG(RBX)));
	return got[v->kind][v->first];
}

static void updates(void **state)
{
	(void)state;
	assert_int_equal(updated(KI_SET, &min32, 0xffffffff, 7), 7);
	assert_int_equal(updated(KI_SET, &min32, 0, -1), 0xffffffff);
	assert_int_equal(updated(KI_UPDATE_MIN, &min32, 5, -1), 0xffffffff);
	assert_int_equal(updated(KI_UPDATE_MIN, &min32, 5, 6), 5);
	assert_int_equal(updated(KI_UPDATE_MAX, &min32, 5, 6), 6);
	assert_int_equal(updated(KI_UPDATE_MAX, &min32, 5, 0x100000001), 5);
	assert_int_equal(updated(KI_UPDATE_ADD, &min32, 0xffffffff, 2), 1);
	assert_int_equal(updated(KI_UPDATE_SUB, &glob, 5, 6), UINT64_MAX);
	assert_int_equal(updated(KI_UPDATE_OR, &glob, 5, 6), 7);
	assert_int_equal(updated(KI_UPDATE_AND, &glob, 5, 6), 4);
	assert_int_equal(updated(KI_UPDATE_ADD, &glob, 5, 6), 11);
	assert_int_equal(updated(KI_UPDATE_ADD, &thread, 32767, 1), (uint64_t)-32768);
	assert_int_equal(updated(KI_UPDATE_MAX, &thread, 4, 9), 9);
	assert_int_equal(updated(KI_UPDATE_MIN, &thread, 4, 9), 4);
	assert_int_equal(updated(KI_SET, &thread, 4, 65535), UINT64_MAX);
}

static void vectors(void **state)
{
	(void)state;
	known();
	begin();
	run(ki_stmt_append(s,
			   ki_stmt_append(s, NULL,
					  ki_stmt_update(s, KI_UPDATE_ADD, &vec,
							 B(KI_SUB, REG(RBX), C(101)), C(1000))),
			   ki_stmt_update(s, KI_UPDATE_ADD, &vec, REG(RBX), C(1000))));
	assert_int_equal(c.got.counters[10], 1020);
	for (unsigned int i = 0; i < SNIP_COUNTERS; i++)
		if (i != 10)
			assert_int_equal(c.got.counters[i], c.start.counters[i]);
}

static void branches(void **state)
{
	(void)state;
	known();
	for (int64_t want = 0; want < 2; want++) {
		begin();
		run(ki_stmt_if(s, B(KI_EQ, REG(RBX), C(103 + want)),
			       ki_stmt_update(s, KI_SET, &out, NULL, C(1)),
			       ki_stmt_update(s, KI_SET, &out, NULL, C(2))));
		assert_int_equal(c.got.counters[7], 1 + want);
	}
}

static void log2_histogram(void **state)
{
	static const struct {
		uint64_t value;
		unsigned int bucket;
	} rows[] = {{0, 0},	      {1, 1},		{2, 2},
		    {3, 2},	      {4, 3},		{255, 8},
		    {256, 9},	      {1ull << 62, 63}, {(1ull << 63) - 1, 63},
		    {1ull << 63, 64}, {UINT64_MAX, 64}};
	uint64_t low, high;

	(void)state;
	known();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int konst = 0; konst < 2; konst++) {
			begin();
			c.m.regs[KI_RBX] = rows[i].value;
			run(ki_stmt_log2(s, &hist, konst ? U(rows[i].value) : REG(RBX)));
			assert_int_equal(c.got.counters[16 + rows[i].bucket], 1);
			assert_int_equal(ki_log2_bounds(rows[i].bucket, &low, &high), 0);
			assert_true(low <= rows[i].value && rows[i].value <= high);
		}
	assert_int_equal(ki_log2_bounds(65, &low, &high), -EINVAL);
}

static void linear_histogram(void **state)
{
	static const struct ki_linear l = {.low = -10, .high = 15, .step = 10};
	static const struct ki_var v = {
		.name = "lin", .kind = KI_VAR_CPU, .type = KI_U64, .first = 20, .count = 5};
	static const struct {
		int64_t value;
		unsigned int bucket;
	} rows[] = {{MIN, 0}, {-11, 0}, {-10, 1}, {-1, 1}, {0, 2},
		    {9, 2},   {10, 3},	{14, 3},  {15, 4}, {INT64_MAX, 4}};
	int64_t low, high;

	(void)state;
	known();
	assert_int_equal(ki_linear_buckets(&l), 5);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin();
		c.m.regs[KI_RBX] = (uint64_t)rows[i].value;
		run(ki_stmt_linear(s, &v, &l, ki_expr_cast(s, KI_I64, REG(RBX))));
		assert_int_equal(c.got.counters[20 + rows[i].bucket], 1);
		assert_int_equal(ki_linear_bounds(&l, rows[i].bucket, &low, &high), 0);
		assert_true(low <= rows[i].value && rows[i].value <= high);
	}
	assert_int_equal(ki_linear_bounds(&l, 5, &low, &high), -EINVAL);
}

/* ---- mistakes ---- */

static struct ki_node *body(struct ki_node *e)
{
	struct ki_node *n = ki_stmt_eval(s, e);

	ki_snippet_body(s, n);
	return n;
}

static const struct ki_var wide = {.name = "w", .kind = KI_VAR_GLOBAL, .type = KI_U64, .count = 4};
static const struct ki_var narrow = {.name = "n", .type = KI_U8, .count = 4};
static const struct ki_var odd = {.name = "o", .kind = 9};
static const struct ki_linear empty = {.low = 5, .high = 5, .step = 1};
static const struct ki_linear negative = {.low = -5, .high = 5, .step = 5};

#define MISTAKES(X)                                                                                \
	X(body(ki_expr_const(s, 77, 0)), "no such type")                                           \
	X(body(ki_expr_cast(s, 77, C(1))), "no such type")                                         \
	X(body(ki_expr_load(s, 77, C(1))), "no such type")                                         \
	X(body(ki_expr_call(s, 77, 1, NULL, NULL, 0)), "no such type")                             \
	X(body(ki_expr_fact(s, 77)), "no such fact")                                               \
	X(body(ki_expr_reg(s, 16)), "no such register")                                            \
	X(body(ki_expr_param(s, 32)), "no parameter 32")                                           \
	X(body(ki_expr_unary(s, 77, C(1))), "no such operator")                                    \
	X(body(ki_expr_binary(s, 77, C(1), C(2))), "no such operator")                             \
	X(body(ki_expr_binary(s, KI_ADD, C(1), NULL)), "a child is missing")                       \
	X(body(ki_expr_comm_is(s, "sixteen-letters!")), "more than 15 bytes")                      \
	X(body(ki_expr_comm_is(s, NULL)), "more than 15 bytes")                                    \
	X(body(ki_expr_helper(s, 77, NULL, 0)), "no such helper")                                  \
	X(body(ki_expr_helper(s, KI_HELPER_ENTER, NULL, 0)), "for calls only")                     \
	X(body(ki_expr_helper(s, KI_HELPER_THREAD_GET, NULL, 1)), "of threads only")               \
	X(body(ki_expr_helper(s, KI_HELPER_DIV, NULL, 1)), "takes 2 arguments, not 1")             \
	X(body(ki_expr_call(s, KI_U64, 1, NULL, NULL, 7)), "with 7 arguments")                     \
	X(body(ki_expr_var(s, &vec)), "vec: a vector needs an index")                              \
	X(body(ki_expr_var(s, &odd)), "no such kind")                                              \
	X(body(ki_expr_var(s, NULL)), "no such kind")                                              \
	X(body(ki_expr_index(s, &out, C(0))), "a scalar has no index")                             \
	X(body(ki_expr_index(s, &wide, C(0))), "vectors are per CPU")                              \
	X(body(ki_expr_index(s, &narrow, C(0))), "of u64 or i64")                                  \
	X(ki_stmt_update(s, 77, &out, NULL, C(0)), "no such update")                               \
	X(ki_stmt_update(s, KI_UPDATE_MIN, &glob, NULL, C(0)), "merge when reading")               \
	X(ki_stmt_update(s, KI_SET, &vec, NULL, C(0)), "needs an index")                           \
	X(ki_stmt_log2(s, &vec, C(0)), "5 buckets, not 65")                                        \
	X(ki_stmt_linear(s, &vec, &empty, C(0)), "bounds or step")                                 \
	X(ki_stmt_linear(s, &vec, &negative, U(0)), "bounds or step")                              \
	X(ki_stmt_linear(s, &vec, &negative, C(0)), "5 buckets, not 4")                            \
	X(ki_stmt_if(s, C(1), C(2), NULL), "where a statement must be")                            \
	X(ki_stmt_eval(s, ki_stmt_eval(s, C(1))), "where an expression must be")                   \
	X(ki_stmt_append(s, NULL, NULL), "a child is missing")                                     \
	X(ki_stmt_append(s, C(1), ki_stmt_eval(s, C(1))), "no list")                               \
	X(twice(), "used twice")                                                                   \
	X(foreign(), "of another snippet")                                                         \
	X(deep(), "nested too deep")                                                               \
	X(many(), "more than 65536 nodes")                                                         \
	X(two_bodies(), "one body")                                                                \
	X(NULL, "it has no body")

static struct ki_node *twice(void)
{
	struct ki_node *n = C(1);

	return B(KI_ADD, n, n);
}

static struct ki_node *foreign(void)
{
	static struct ki_snippet *other;

	if (!other)
		assert_int_equal(ki_snippet_new(&other), 0);
	body(B(KI_ADD, C(1), ki_expr_const(other, KI_I64, 1)));
	ki_snippet_free(other);
	other = NULL;
	return NULL;
}

static struct ki_node *deep(void)
{
	struct ki_node *n = REG(RAX);

	for (int i = 0; i < 300; i++)
		n = ki_expr_unary(s, KI_NOT, n);
	return n;
}

static struct ki_node *many(void)
{
	for (int i = 0; i < 70000; i++)
		C(i);
	return NULL;
}

static struct ki_node *two_bodies(void)
{
	body(C(1));
	return body(C(2));
}

static void is_refused(const char *what, const char *part, const struct ki_site_regs *site)
{
	struct ki_long_code code = {.len = 1};
	struct ki_err err = {0};
	char *text;

	assert_true(ki_snippet_check(s, site, &err) < 0);
	if (!strstr(err.msg, part))
		fail_msg("%s: '%s', not '%s'", what, err.msg, part);
	assert_true(ki_snippet_compile(s, site, &code, NULL) < 0);
	assert_int_equal(code.len, 0);
	assert_true(ki_snippet_run(s, site, &c.m, NULL) < 0);
	if (!site)
		assert_true(ki_snippet_format(s, &text, NULL) < 0);
}

static void mistakes_stick(void **state)
{
	(void)state;
	known();
#define ONE(what, part)                                                                            \
	begin();                                                                                   \
	(void)(what);                                                                              \
	is_refused(#what, part, NULL);
	MISTAKES(ONE)
#undef ONE
	/* and nothing can be built behind one */
	begin();
	ki_expr_reg(s, 99);
	assert_null(C(1));
	assert_null(ki_expr_comm_is(s, "a"));
	assert_null(ki_stmt_append(s, NULL, ki_stmt_eval(s, C(1))));
}

static void places_that_do_not_fit(void **state)
{
	static const struct ki_site_regs nowhere;

	(void)state;
	begin();
	body(B(KI_ADD, C(1), ki_expr_param(s, 2)));
	is_refused("parameter", "parameter 2: the place is not at the function's entry", &nowhere);
	begin();
	body(ki_expr_fact(s, KI_FACT_RETVAL));
	is_refused("retval", "not at the function's exit", &nowhere);
}

/* Calls in calls, evaluated from left to right, hold more than there is room for. */
static void too_complex(void **state)
{
	struct ki_err err = {0};
	struct ki_long_code code;
	struct ki_node *n, *list = NULL;

	(void)state;
	begin();
	n = ki_expr_call(s, KI_U64, 64, NULL, NULL, 0);
	for (int i = 0; i < 60; i++)
		n = B(KI_ADD, ki_expr_call(s, KI_U64, 64, NULL, NULL, 0), n);
	ki_snippet_body(s, ki_stmt_update(s, KI_SET, &out, NULL, n));
	assert_int_equal(ki_snippet_compile(s, NULL, &code, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "too many"));
	ki_err_clear(&err);
	begin();
	for (int i = 0; i < 1500; i++)
		list = ki_stmt_append(s, list, ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)));
	ki_snippet_body(s, list);
	assert_int_equal(ki_snippet_compile(s, NULL, &code, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "too long"));
}

/* ---- text and cost ---- */

static void text(void **state)
{
	static const char want[] = "if (pid == 1234 && (arg2 > 4096 || !comm1)) {\n"
				   "\tout += (u32)arg2 * 3 - -1;\n"
				   "\thist[log2(*(i32 *)(arg0 + 16))] += 1;\n"
				   "} else {\n"
				   "\tvec[cpu] max= f(1, g) ? t : 7u;\n"
				   "}\n"
				   "m = %rax >> 2;\n";
	struct ki_node *args[2], *yes, *no, *when, *all;
	struct ki_long_code code;
	char *got;

	(void)state;
	begin();
	when = B(KI_LAND, B(KI_EQ, ki_expr_fact(s, KI_FACT_PID), C(1234)),
		 B(KI_LOR, B(KI_GT, ki_expr_param(s, 2), C(4096)),
		   ki_expr_unary(s, KI_LNOT, ki_expr_fact(s, KI_FACT_COMM1))));
	yes = ki_stmt_update(
		s, KI_UPDATE_ADD, &out, NULL,
		B(KI_SUB, B(KI_MUL, ki_expr_cast(s, KI_U32, ki_expr_param(s, 2)), C(3)), C(-1)));
	yes = ki_stmt_append(s, NULL, yes);
	yes = ki_stmt_append(
		s, yes,
		ki_stmt_log2(s, &hist,
			     ki_expr_load(s, KI_I32, B(KI_ADD, ki_expr_param(s, 0), C(16)))));
	args[0] = C(1);
	args[1] = V(glob);
	no = ki_stmt_update(
		s, KI_UPDATE_MAX, &vec, ki_expr_fact(s, KI_FACT_CPU),
		ki_expr_cond(s, ki_expr_call(s, KI_U64, 64, "f", args, 2), V(thread), U(7)));
	all = ki_stmt_append(s, NULL, ki_stmt_if(s, when, yes, no));
	all = ki_stmt_append(s, all,
			     ki_stmt_update(s, KI_SET, &min32, NULL, B(KI_SHR, REG(RAX), C(2))));
	ki_snippet_body(s, all);
	assert_int_equal(ki_snippet_format(s, &got, NULL), 0);
	assert_string_equal(got, want);
	free(got);

	/* each line of the source is in the listing, with code below it */
	c.site = (struct ki_site_regs){.at_entry = true};
	assert_int_equal(ki_snippet_compile(s, &c.site, &code, NULL), 0);
	assert_int_equal(ki_snippet_listing(s, &code, &got, NULL), 0);
	assert_non_null(strstr(got, "}\nm = %rax >> 2;\n  "));
	assert_non_null(strstr(got, "; LOAD32\n"));
	assert_non_null(strstr(got, "; current task\n"));
	assert_non_null(strstr(got, "\tvec[cpu] max= f(1, g) ? t : 7u;\n  "));
	free(got);
	ki_long_code_free(&code);
}

static void costs(struct ki_node *stmt, ki_regset dead, uint32_t most)
{
	const struct ki_site_regs site = {.dead = dead, .at_entry = true};
	struct ki_long_code code;

	ki_snippet_body(s, stmt);
	assert_int_equal(ki_snippet_compile(s, &site, &code, NULL), 0);
	assert_true(code.ninsns <= most);
	ki_long_code_free(&code);
	begin();
}

static void prices(void **state)
{
	const ki_regset rax = KI_REGSET_FLAGS | KI_REGSET_REG(KI_RAX);
	const ki_regset both = rax | KI_REGSET_REG(KI_RDX);

	(void)state;
	begin();
	costs(ki_stmt_update(s, KI_UPDATE_SUB, &out, NULL, ki_expr_fact(s, KI_FACT_TSC)), both, 4);
	costs(ki_stmt_if(s, B(KI_EQ, ki_expr_fact(s, KI_FACT_PID), C(1234)),
			 ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)), NULL),
	      rax, 5);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, ki_expr_param(s, 2)), KI_REGSET_FLAGS,
	      1);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)), KI_REGSET_FLAGS, 1);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, C(1)), 0, 7);
	costs(ki_stmt_update(s, KI_SET, &out, NULL, C(1)), 0, 1);
	costs(ki_stmt_log2(s, &hist, ki_expr_param(s, 2)), rax, 6);
	costs(ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL,
			     ki_expr_load(s, KI_U64, ki_expr_param(s, 0))),
	      rax, 2);
}

/* What a predicate refuses pays for no pushes but its own. */
static void pushes_are_where_they_are_needed(void **state)
{
	static const struct ki_site_regs site = {.dead = KI_REGSET_FLAGS | KI_REGSET_REG(KI_RAX)};
	struct ki_long_code code;

	(void)state;
	begin();
	ki_snippet_body(s, ki_stmt_if(s, B(KI_EQ, ki_expr_fact(s, KI_FACT_PID), C(1)),
				      ki_stmt_update(s, KI_UPDATE_SUB, &out, NULL,
						     ki_expr_fact(s, KI_FACT_TSC)),
				      NULL));
	assert_int_equal(ki_snippet_compile(s, &site, &code, NULL), 0);
	assert_int_equal(code.code[0], 0x65); /* the task first */
	assert_int_equal(code.ninsns, 4 + 1 + 4 + 1);
	ki_long_code_free(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators),
		cmocka_unit_test(casts),
		cmocka_unit_test(facts),
		cmocka_unit_test(parameters),
		cmocka_unit_test(the_others),
		cmocka_unit_test(calls),
		cmocka_unit_test(updates),
		cmocka_unit_test(vectors),
		cmocka_unit_test(branches),
		cmocka_unit_test(log2_histogram),
		cmocka_unit_test(linear_histogram),
		cmocka_unit_test(mistakes_stick),
		cmocka_unit_test(places_that_do_not_fit),
		cmocka_unit_test(too_complex),
		cmocka_unit_test(text),
		cmocka_unit_test(prices),
		cmocka_unit_test(pushes_are_where_they_are_needed),
	};

	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, end);
}
