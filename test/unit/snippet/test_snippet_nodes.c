// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each kind of expression comes to, as numbers written here, in all ways in which registers
 * are free. Statements: test_snippet_stmts.c.
 */
#include "snippet_ways.h"

static void is(struct ki_node *e, uint64_t want)
{
	leaves(ki_stmt_update(s, KI_SET, &out, NULL, e), want);
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

static void swapped_bytes(void **state)
{
	static const struct {
		enum ki_type type;
		uint64_t want;
	} rows[] = {
		{KI_U16, 0x88f7},
		{KI_I16, 0xffffffffffff88f7},
		{KI_U32, 0x88f7c6a5},
		{KI_I32, 0xffffffff88f7c6a5},
		{KI_U64, 0x88f7c6a544332211},
		{KI_I64, 0x88f7c6a544332211},
	};

	(void)state;
	known();
	c.m.regs[KI_RBX] = c.m.regs[KI_R9] = 0x11223344a5c6f788;
	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const enum ki_type t = rows[i].type;

		is(ki_expr_swap(s, t, REG(RBX)), rows[i].want);
		is(ki_expr_swap(s, t, REG(R9)), rows[i].want);
		is(ki_expr_swap(s, t, U(0x11223344a5c6f788)), rows[i].want);
		is(ki_expr_swap(s, t, ki_expr_cast(s, t, REG(R9))), rows[i].want);
		is(B(KI_EQ, ki_expr_swap(s, t, ki_expr_swap(s, t, REG(RBX))),
		     ki_expr_cast(s, t, REG(RBX))),
		   1);
		is(B(KI_EQ, ki_expr_swap(s, t, REG(RBX)), ki_expr_const(s, t, rows[i].want)), 1);
		is(B(KI_SHL, C(1), B(KI_AND, ki_expr_swap(s, t, REG(R9)), C(7))),
		   1ull << (rows[i].want & 7));
	}
	assert_null(ki_expr_swap(s, KI_U8, REG(RBX)));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators),	 cmocka_unit_test(casts),
		cmocka_unit_test(swapped_bytes), cmocka_unit_test(facts),
		cmocka_unit_test(parameters),	 cmocka_unit_test(the_others),
		cmocka_unit_test(calls),	 cmocka_unit_test(a_short_string_in_a_key),
	};

	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, end);
}
