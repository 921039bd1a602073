// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each kind of node comes to, as numbers written here, in all ways in which registers are
 * free.
 */
#include "snippet_fixture.h"

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
		why = vet_long(&code, SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD);
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

static const struct {
	uint8_t op;
	bool is_unsigned;
	int64_t l, r, want;
} operations[] = {
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

static void operators(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		enum ki_type t = operations[i].is_unsigned ? KI_U64 : KI_I64;
		uint64_t l = (uint64_t)operations[i].l, r = (uint64_t)operations[i].r;

		known();
		begin();
		/* of constants, of registers, and of either */
		is(B(operations[i].op, ki_expr_const(s, t, l), C(r)), (uint64_t)operations[i].want);
		c.m.regs[KI_RSI] = l;
		c.m.regs[KI_RCX] = r;
		is(B(operations[i].op, ki_expr_cast(s, t, REG(RSI)),
		     ki_expr_cast(s, KI_I64, REG(RCX))),
		   (uint64_t)operations[i].want);
		is(B(operations[i].op, ki_expr_const(s, t, l), ki_expr_cast(s, KI_I64, REG(RCX))),
		   (uint64_t)operations[i].want);
		is(B(operations[i].op, ki_expr_cast(s, t, REG(RSI)), C(r)),
		   (uint64_t)operations[i].want);
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
	c.m.minflt = 11;
	c.m.majflt = 1ull << 40;
	c.m.nvcsw = 13;
	c.m.nivcsw = UINT64_MAX;
	c.m.uid = 0xfffffffe;
	c.m.cgroup = 1ull << 33;
	is(ki_expr_fact(s, KI_FACT_MINFLT), 11);
	is(ki_expr_fact(s, KI_FACT_MAJFLT), 1ull << 40);
	is(ki_expr_fact(s, KI_FACT_NVCSW), 13);
	is(ki_expr_fact(s, KI_FACT_NIVCSW), UINT64_MAX);
	is(ki_expr_fact(s, KI_FACT_UID), 0xfffffffe);
	is(ki_expr_fact(s, KI_FACT_CGROUP), 1ull << 33);
	is(ki_expr_helper(s, KI_HELPER_UID, NULL, 0), 0xfffffffe);
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
	/* an argument that is in its register by itself, and is needed once more */
	is(B(KI_DIV, REG(RDI), B(KI_DIV, C(1000), REG(RDI))), 107 / (1000 / 107));
	is(B(KI_MOD, B(KI_DIV, REG(RDI), C(3)), REG(RDI)), 35);
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

/* An argument's register is busy when a string of one word is made for a key in a later one. */
static void a_short_string_in_a_key(void **state)
{
	const struct ki_table_var t = {.number = KI_TABLE_KEYS + 1,
				       .keys = 2,
				       .values = SNIP_TABLE_VALUES,
				       .shared = true};
	struct ki_node *args[3], *key[2];

	(void)state;
	known();
	begin();
	key[0] = C(7);
	key[1] = ki_expr_string(s, REG(RBX), 1, false);
	args[0] = C(1);
	args[1] = C(2);
	args[2] = ki_expr_table(s, &(struct ki_row_value){&t, 0, key, 2});
	run(ki_stmt_update(s, KI_SET, &out, NULL, ki_expr_call(s, KI_U64, 67, "f", args, 3)));
	assert_int_equal(c.got.ntables, 1);
	assert_int_equal(c.got.ncalls, 1);
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
	assert_int_equal(updated(KI_UPDATE_ADD, &thread, 32767, 1), 32768);
	assert_int_equal(updated(KI_UPDATE_MAX, &glob, 5, 6), 6);
	assert_int_equal(updated(KI_UPDATE_MAX, &glob, 5, 4), 5);
	assert_int_equal(updated(KI_UPDATE_MIN, &glob, 5, 4), 4);
	assert_int_equal(updated(KI_UPDATE_MIN, &glob, 5, 6), 5);
	assert_int_equal(updated(KI_UPDATE_MAX, &thread, 4, 9), 9);
	assert_int_equal(updated(KI_UPDATE_MIN, &thread, 4, 9), 4);
	assert_int_equal(updated(KI_SET, &thread, 4, 65537), 1);
}

/* ---- locals ---- */

#define SET(v, x)     ki_stmt_update(s, KI_SET, &(v), NULL, x)
#define UPD(op, v, x) ki_stmt_update(s, KI_UPDATE_##op, &(v), NULL, x)

static struct ki_node *list_of(size_t n, struct ki_node *const *v)
{
	struct ki_node *list = NULL;

	for (size_t i = 0; i < n; i++)
		list = ki_stmt_append(s, list, v[i]);
	return list;
}

#define LIST(...)                                                                                  \
	list_of(sizeof((struct ki_node *[]){__VA_ARGS__}) / sizeof(struct ki_node *),              \
		(struct ki_node *[]){__VA_ARGS__})

static void leaves(struct ki_node *body, uint64_t want)
{
	run(body);
	if (c.got.counters[7] != want) {
		char *text = NULL;

		ki_snippet_format(s, &text, NULL);
		print_error("%s", text);
		free(text);
	}
	assert_int_equal(c.got.counters[7], want);
	begin();
}

static const struct ki_var byte = {.name = "b", .kind = KI_VAR_LOCAL, .type = KI_I8, .first = 7};

static void locals(void **state)
{
	(void)state;
	known();
	begin();
	leaves(LIST(SET(local, REG(RBX)), UPD(ADD, local, C(5)), SET(out, V(local))), 108);
	leaves(SET(out, B(KI_ADD, V(local), C(1))), 1);
	leaves(LIST(UPD(SUB, local, C(2)), SET(out, V(local))), (uint64_t)-2);
	leaves(LIST(SET(local, B(KI_ADD, V(local), C(3))),
		    SET(local, B(KI_MUL, V(local), V(local))), SET(out, V(local))),
	       9);
	leaves(ki_stmt_if(s, B(KI_EQ, REG(RBX), C(103)), LIST(SET(local, C(1)), SET(out, V(local))),
			  LIST(UPD(OR, local, C(2)), SET(out, V(local)))),
	       1);
	leaves(ki_stmt_if(s, B(KI_NE, REG(RBX), C(103)), LIST(SET(local, C(1)), SET(out, V(local))),
			  LIST(UPD(OR, local, C(2)), SET(out, V(local)))),
	       2);
	leaves(LIST(SET(local, C(4)), ki_stmt_if(s, REG(RBX), SET(local, C(7)), NULL),
		    ki_stmt_if(s, B(KI_GT, V(local), C(6)), SET(out, V(local)), NULL)),
	       7);
	leaves(LIST(SET(byte, C(0x17f)), UPD(ADD, byte, C(1)), SET(out, V(byte))), (uint64_t)-128);
	leaves(LIST(UPD(MIN, byte, REG(RBX)), UPD(MIN, byte, C(0x1ff)), SET(out, V(byte))),
	       (uint64_t)-1);
	leaves(LIST(UPD(MAX, byte, C(0x1ff)), UPD(MAX, byte, REG(RBX)), SET(out, V(byte))), 103);
}

/* All of them at once, with values that want registers of their own. */
/* As many as the stack has words for, with what is calculated. */
#define AT_ONCE 24u

static void many_locals(void **state)
{
	struct ki_node *list = NULL, *sum;

	(void)state;
	known();
	begin();
	sum = C(0);
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		const struct ki_var v = {
			.kind = KI_VAR_LOCAL, .type = KI_U64, .first = KI_LOCALS - 1 - i};

		list = ki_stmt_append(
			s, list,
			SET(v, B(KI_DIV, B(KI_SHL, REG(RBX), C(i)), B(KI_SHL, C(1), C(i)))));
		list = ki_stmt_append(s, list, UPD(ADD, v, B(KI_DIV, REG(RBX), C(i + 1))));
	}
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		const struct ki_var v = {
			.kind = KI_VAR_LOCAL, .type = KI_U64, .first = KI_LOCALS - 1 - i};

		sum = B(KI_ADD, sum, B(KI_DIV, V(v), B(KI_SHR, REG(RBX), C(6))));
	}
	leaves(ki_stmt_append(s, list, SET(out, sum)),
	       24 * 103 + 103 + 51 + 34 + 25 + 20 + 17 + 14 + 12 + 11 + 10 + 9 + 8 + 7 + 7 + 6 + 6 +
		       6 + 5 + 5 + 5 + 4 + 4 + 4 + 4);
}

/* ---- words of the thread ---- */

static void words_here_and_not(void **state)
{
	(void)state;
	known();
	begin();
	c.start.thread[5] = 40;
	leaves(LIST(UPD(ADD, word, C(2)), SET(out, V(word))), 42);
	assert_int_equal(c.got.thread[5], 42);
	leaves(ki_stmt_if(s, B(KI_GT, V(word), C(39)), LIST(SET(word, C(0)), SET(out, C(1))),
			  SET(out, C(2))),
	       1);
	assert_int_equal(c.got.thread[5], 0);
	leaves(LIST(SET(word, U(0x123456789abcdef0)), SET(out, V(word))), 0x123456789abcdef0);
	leaves(LIST(UPD(MAX, word, C(41)), UPD(MIN, word, C(50)), SET(out, V(word))), 41);
	/* a function of the kernel between two uses */
	leaves(LIST(UPD(ADD, word, C(1)), ki_stmt_eval(s, ki_expr_call(s, KI_U64, 64, 0, NULL, 0)),
		    SET(out, V(word))),
	       41);
	c.m.nthread = 0;
	leaves(LIST(UPD(ADD, word, C(2)), SET(out, B(KI_ADD, V(word), C(3)))), 3);
	assert_int_equal(c.got.thread[5], 40);
	/* the rest of what is there is done all the same */
	leaves(LIST(SET(word, C(1)), UPD(ADD, out, C(1)), SET(word, C(2))), 1);
	leaves(ki_stmt_if(s, B(KI_LOR, V(word), REG(RBX)), LIST(SET(word, C(1)), SET(out, C(9))),
			  NULL),
	       9);
	leaves(ki_stmt_if(s, B(KI_LAND, REG(RBX), V(word)), SET(out, C(9)), SET(out, C(8))), 8);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators),
		cmocka_unit_test(casts),
		cmocka_unit_test(facts),
		cmocka_unit_test(parameters),
		cmocka_unit_test(the_others),
		cmocka_unit_test(calls),
		cmocka_unit_test(a_short_string_in_a_key),
		cmocka_unit_test(updates),
		cmocka_unit_test(locals),
		cmocka_unit_test(many_locals),
		cmocka_unit_test(words_here_and_not),
		cmocka_unit_test(vectors),
		cmocka_unit_test(branches),
		cmocka_unit_test(log2_histogram),
		cmocka_unit_test(linear_histogram),
	};

	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, end);
}
