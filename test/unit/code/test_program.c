/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program: calls and their callers, functions that do not return, parts and their parents,
 * tables into other functions, liveness, threads. On functions of a few instructions each, one
 * every 64 bytes.
 */
#include "common_world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void check_call(const struct world *w, uint32_t number, uint64_t from, unsigned int kind,
		       uint64_t to, uint32_t callee)
{
	struct ki_program_call c;

	assert_int_equal(ki_program_call(w->p, number, &c), 0);
	assert_int_equal(c.from, from);
	assert_int_equal(c.kind, kind);
	assert_int_equal(c.to, to);
	assert_int_equal(c.callee, callee);
	assert_int_equal(c.caller, ki_program_function_at(w->p, from));
}

static void calls_and_callers(void **state)
{
	struct world w = {0};
	const uint32_t *v;
	uint32_t n;

	(void)state;
	world_add(&w, "zero", "e8 @1  ff d0  e8 @99  e9 @2");
	world_add(&w, "one", "85 ff  74 05  e8 @1  c3");      /* itself */
	world_add(&w, "two", "85 ff  0f 84 @1  e8 @1+2  c3"); /* tail if; into the middle */
	world_add(&w, "three", "ff e0");
	world_build(&w, NULL);
	assert_int_equal(w.f[0].first_call, 0);
	assert_int_equal(w.f[0].ncalls, 4);
	check_call(&w, 0, AT(0, 0), KI_EDGE_CALL, AT(1, 0), 1);
	check_call(&w, 1, AT(0, 5), KI_EDGE_CALL_INDIRECT, 0, KI_NONE);
	check_call(&w, 2, AT(0, 7), KI_EDGE_CALL, AT(99, 0), KI_NONE);
	check_call(&w, 3, AT(0, 12), KI_EDGE_TAIL, AT(2, 0), 2);
	check_call(&w, 4, AT(1, 4), KI_EDGE_CALL, AT(1, 0), 1);
	check_call(&w, 5, AT(2, 2), KI_EDGE_TAIL, AT(1, 0), 1);
	check_call(&w, 6, AT(2, 8), KI_EDGE_CALL, AT(1, 2), KI_NONE);
	check_call(&w, 7, AT(3, 0), KI_EDGE_TAIL_INDIRECT, 0, KI_NONE);
	v = ki_program_callers(w.p, 1, &n);
	assert_int_equal(n, 3);
	assert_int_equal(v[0], 0);
	assert_int_equal(v[1], 4);
	assert_int_equal(v[2], 5);
	v = ki_program_callers(w.p, 2, &n);
	assert_int_equal(n, 1);
	assert_int_equal(v[0], 3);
	ki_program_callers(w.p, 0, &n);
	assert_int_equal(n, 0);
	assert_null(ki_program_callers(w.p, 4, &n));
	assert_int_equal(n, 0);
	assert_int_equal(ki_program_totals(w.p)->calls, 4);
	assert_int_equal(ki_program_totals(w.p)->tail_calls, 2);
	assert_int_equal(ki_program_totals(w.p)->indirect_calls, 1);
	assert_int_equal(ki_program_totals(w.p)->indirect_tail_calls, 1);
	assert_int_equal(ki_program_totals(w.p)->returns, 2);
	world_end(&w);
}

static void numbers_and_places(void **state)
{
	struct world w = {0};
	struct ki_program_block b;
	struct ki_program_edge e;
	struct ki_program_call c;

	(void)state;
	world_add(&w, "zero", "85 ff  74 01  90  c3");
	world_add(&w, "one", "48 89 f8  c3");
	world_build(&w, NULL);
	assert_int_equal(ki_program_totals(w.p)->functions, 2);
	assert_int_equal(ki_program_totals(w.p)->parsed, 2);
	assert_int_equal(ki_program_totals(w.p)->instructions, 6);
	assert_int_equal(ki_program_totals(w.p)->blocks, 4);
	assert_int_equal(w.f[1].first_block, 3);
	assert_int_equal(w.f[0].code_size, 6);
	assert_int_equal(ki_program_function_at(w.p, AT(0, 0)), 0);
	assert_int_equal(ki_program_function_at(w.p, AT(0, SLOT - 1)), 0);
	assert_int_equal(ki_program_function_at(w.p, AT(1, 0)), 1);
	assert_int_equal(ki_program_function_at(w.p, BASE - 1), KI_NONE);
	assert_int_equal(ki_program_function_at(w.p, AT(2, 0)), KI_NONE);
	assert_int_equal(ki_program_block_at(w.p, AT(0, 5)), 2);
	assert_int_equal(ki_program_block_at(w.p, AT(0, 6)), KI_NONE);
	assert_int_equal(ki_program_block_at(w.p, AT(1, 2)), 3);
	assert_true(ki_program_insn_at(w.p, AT(1, 3)));
	assert_false(ki_program_insn_at(w.p, AT(1, 2)));
	assert_false(ki_program_insn_at(w.p, AT(1, 4)));
	assert_int_equal(ki_program_block(w.p, 0, &b), 0);
	assert_int_equal(b.start, AT(0, 0));
	assert_int_equal(b.end, AT(0, 4));
	assert_int_equal(b.nedges, 2);
	assert_int_equal(ki_program_edge(w.p, b.first_edge, &e), 0);
	assert_int_equal(e.kind, KI_EDGE_TAKEN);
	assert_int_equal(e.from, AT(0, 2));
	assert_int_equal(e.to, AT(0, 5));
	assert_int_equal(e.to_block, 2);
	assert_int_equal(ki_program_block(w.p, 4, &b), -ENOENT);
	assert_int_equal(ki_program_edge(w.p, (uint32_t)ki_program_totals(w.p)->edges, &e),
			 -ENOENT);
	assert_int_equal(ki_program_edge(w.p, KI_NONE, &e), -ENOENT);
	assert_int_equal(ki_program_call(w.p, 0, &c), -ENOENT);
	world_end(&w);
}

static void functions_that_do_not_return(void **state)
{
	static const struct {
		const char *code;
		bool noreturn;
	} functions[] = {
		{"0f 0b", true},		    /* 0: a trap */
		{"eb fe", true},		    /* 1: around and around */
		{"55  e8 @0", true},		    /* 2: calls 0 */
		{"e9 @2", true},		    /* 3: and so on, by a tail call */
		{"85 ff  74 05  e8 @3  c3", false}, /* 4: but not always */
		{"55  e8 @5  c3", true},	    /* 5: itself, for ever */
		{"55  e8 @7  c3", true},	    /* 6: each other */
		{"55  e8 @6  c3", true},	    /* 7 */
		{"55  e8 @4  c3", false},	    /* 8 */
		{"ff e0", false},		    /* 9: nobody knows where */
		{"ff d0  c3", false},		    /* 10 */
		{"85 ff  0f 84 @3  e9 @1", true},   /* 11: a conditional tail call */
		{"85 ff  0f 84 @4  e9 @1", false},  /* 12 */
		{"e8 @99  c3", false},		    /* 13: not in the program */
		{"cc  90  c3", false},		    /* 14: a breakpoint: somebody goes on */
		{"0f 0b  48 89 f8  c3", false},	    /* 15: a WARN */
		{"0f 0b  66 90", true},		    /* 16: a BUG, and filler */
	};
	struct world w = {0};
	struct ki_program_block b;
	uint64_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		world_add(&w, "f", functions[i].code);
	world_build(&w, NULL);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		if (functions[i].noreturn != !!(w.f[i].flags & KI_FUNCTION_NORETURN))
			fail_msg("function %zu", i);
		n += functions[i].noreturn;
	}
	assert_int_equal(ki_program_totals(w.p)->noreturn, n);
	/* After the call nothing follows: its block has no edges. */
	assert_int_equal(ki_program_block(w.p, ki_program_block_at(w.p, AT(4, 4)), &b), 0);
	assert_int_equal(b.nedges, 0);
	world_end(&w);
}

static void parts_and_parents(void **state)
{
	static const struct {
		const char *name, *code;
		uint32_t parent;
		uint16_t flags;
	} functions[] = {
		{"g", "c3", 0, 0},
		{"g", "85 ff  0f 84 @2+1  c3", 1, 0}, /* the one that leads to it */
		{"g.cold", "90  e9 @1+8", 1, KI_FUNCTION_COLD},
		{"h", "c3", 3, 0}, /* the only one */
		{"h.part.0", "c3", 3, KI_FUNCTION_CLONE},
		{"h.part.0.cold", "90  c3", 4, KI_FUNCTION_COLD},
		{"x.isra.0", "c3", 6, KI_FUNCTION_CLONE},      /* all have been inlined */
		{"y.constprop.3", "c3", 7, KI_FUNCTION_CLONE}, /* nobody knows which */
		{"y", "c3", 8, 0},
		{"y", "c3", 9, 0},
		{"z.coldest", "c3", 10, 0},
		{".cold", "c3", 11, 0},
	};
	struct world w = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		world_add(&w, functions[i].name, functions[i].code);
	world_build(&w, NULL);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		unsigned int flags = w.f[i].flags & (KI_FUNCTION_COLD | KI_FUNCTION_CLONE);

		if (w.f[i].parent != functions[i].parent || flags != functions[i].flags)
			fail_msg("%s: parent %u, flags %x", functions[i].name, w.f[i].parent,
				 flags);
	}
	assert_int_equal(ki_program_totals(w.p)->parts, 3);
	world_end(&w);
}

/* cmp $2,%edi; ja 1f; mov %edi,%edi; jmp *table(,%rdi,8); 2: nop; 1: ret */
#define SWITCH "83 ff 02  77 0a  89 ff  ff 24 fd =2  90  c3"

/* One entry leads after the start of the cold part, where nothing else is known to lead. */
static void table_into_another_function(void **state)
{
	static const uint64_t table[] = {AT(0, 14), AT(1, 4), AT(0, 15)};
	struct world w = {0};
	struct ki_program_block b;
	struct ki_program_edge e;

	(void)state;
	world_add(&w, "f", SWITCH);
	world_add(&w, "f.cold", "89 f8 89 f1  48 89 c2  c3");
	world_add(&w, "data", "cc");
	memcpy(w.bytes + 2ul * SLOT, table, sizeof(table));
	world_build(&w, NULL);
	assert_true(w.f[0].flags & KI_FUNCTION_PARSED);
	assert_int_equal(ki_program_totals(w.p)->table_jumps, 1);
	assert_int_equal(ki_program_block(w.p, ki_program_block_at(w.p, AT(0, 7)), &b), 0);
	assert_int_equal(b.nedges, 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct ki_program_block to;

		assert_int_equal(ki_program_edge(w.p, b.first_edge + i, &e), 0);
		assert_int_equal(e.kind, KI_EDGE_TABLE);
		assert_int_equal(ki_program_block(w.p, e.to_block, &to), 0);
		assert_int_equal(to.start, e.to);
	}
	assert_int_equal(ki_program_block(w.p, ki_program_block_at(w.p, AT(1, 4)), &b), 0);
	assert_int_equal(b.start, AT(1, 4));
	world_end(&w);
}

static void tables_that_are_not_believed(void **state)
{
	static const struct {
		const char *code;
		uint64_t table[3];
		unsigned int reason;
		bool tail;
	} cases[] = {
		/* One entry is in the middle of an instruction. */
		{SWITCH, {AT(0, 14), AT(0, 8), AT(0, 15)}, KI_R_COMPUTED_GOTO, true},
		/* All are functions: no table. */
		{SWITCH, {AT(1, 0), AT(1, 0), AT(1, 0)}, KI_R_OK, true},
		/* The same, but the frame is there: push %rbx */
		{"53  83 ff 02  77 09  89 ff  ff 24 fd =2  5b c3",
		 {AT(1, 0), AT(1, 0), AT(1, 0)},
		 KI_R_COMPUTED_GOTO,
		 true},
		/* A pointer that is loaded, with a frame that has been taken away: pop %rbx */
		{"53  48 8b 07  5b  ff e0", {0}, KI_R_OK, true},
		{"53  48 8b 07  ff e0  5b c3", {0}, KI_R_COMPUTED_GOTO, true},
		/* Something is added to it. */
		{"48 8b 07  48 01 f0  ff e0", {0}, KI_R_COMPUTED_GOTO, true},
		{"48 8b 07  48 05 00 10 00 00  ff e0", {0}, KI_R_COMPUTED_GOTO, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w = {0};

		world_add(&w, "f", cases[i].code);
		world_add(&w, "g", "c3");
		world_add(&w, "data", "cc");
		memcpy(w.bytes + 2ul * SLOT, cases[i].table, sizeof(cases[i].table));
		world_build(&w, NULL);
		if (w.f[0].reason != cases[i].reason ||
		    ki_program_totals(w.p)->indirect_tail_calls != cases[i].tail)
			fail_msg("case %zu: %s", i, ki_reason_tag(w.f[0].reason));
		world_end(&w);
	}
}

/*
 * All instructions of random functions, by all accessors: the same with any number of threads.
 */
static void same_call(const struct world *a, const struct world *b)
{
	struct ki_program_call x, y;

	for (uint32_t i = 0; !ki_program_call(a->p, i, &x); i++) {
		assert_int_equal(ki_program_call(b->p, i, &y), 0);
		assert_true(x.from == y.from && x.to == y.to && x.caller == y.caller &&
			    x.callee == y.callee && x.kind == y.kind);
	}
}

static void same_edge(const struct world *a, const struct world *b)
{
	struct ki_program_edge x, y;

	for (uint32_t i = 0; !ki_program_edge(a->p, i, &x); i++) {
		assert_int_equal(ki_program_edge(b->p, i, &y), 0);
		assert_true(x.from == y.from && x.to == y.to && x.to_block == y.to_block &&
			    x.kind == y.kind);
	}
}

static void same(const struct world *a, const struct world *b)
{
	const struct ki_program_totals *x = ki_program_totals(a->p), *y = ki_program_totals(b->p);

	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		assert_int_equal(a->f[i].flags, b->f[i].flags);
		assert_int_equal(a->f[i].parent, b->f[i].parent);
		assert_int_equal(a->f[i].first_block, b->f[i].first_block);
		assert_int_equal(a->f[i].first_call, b->f[i].first_call);
		assert_int_equal(a->f[i].ninsns, b->f[i].ninsns);
		assert_int_equal(a->f[i].reason, b->f[i].reason);
	}
	same_call(a, b);
	same_edge(a, b);
	assert_int_equal(x->edges, y->edges);
	assert_int_equal(x->calls, y->calls);
	assert_int_equal(x->noreturn, y->noreturn);
	for (uint64_t addr = BASE; addr < BASE + sizeof(a->bytes); addr++) {
		ki_regset live_a = 0, live_b = 0;

		assert_int_equal(ki_live_at(a->p, addr, &live_a, NULL),
				 ki_live_at(b->p, addr, &live_b, NULL));
		assert_true(live_a == live_b);
	}
}

static void threads(void **state)
{
	static const struct ki_program_options one = {.size = sizeof(one), .threads = 1},
					       seven = {.size = sizeof(seven), .threads = 7};
	static const char *const codes[] = {"e8 @%u  c3",    "85 ff  0f 84 @%u  c3",
					    "e9 @%u",	     "53  e8 @%u  5b  c3",
					    "89 d1  e9 @%u", "ff d0  e9 @%u+2"};
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 20; round++) {
		static struct world a, b;

		a = (struct world){0};
		for (int i = 0; i < 32; i++) {
			char code[64];

			seed = seed * 1103515245 + 12345;
			snprintf(code, sizeof(code), codes[(seed >> 16) % 6], seed >> 20 & 31);
			world_add(&a, i & 1 ? "f" : "g", code);
		}
		b = a;
		world_build(&a, &one);
		world_build(&b, &seven);
		same(&a, &b);
		world_end(&a);
		world_end(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_callers),
		cmocka_unit_test(numbers_and_places),
		cmocka_unit_test(functions_that_do_not_return),
		cmocka_unit_test(parts_and_parents),
		cmocka_unit_test(table_into_another_function),
		cmocka_unit_test(tables_that_are_not_believed),
		cmocka_unit_test(threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
