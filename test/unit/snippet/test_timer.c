// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers: what they make of calls one after the other, inside each other and not seen to begin,
 * compared with a count written here; what they cost, instruction by instruction; and the thread's
 * clock when another thread has its turn in the middle of reading it.
 */
#include "snippet/timer.h"
#include "snippet_fixture.h"

static const struct ki_var ticks = {
	.name = "elapsed", .kind = KI_VAR_LOCAL, .type = KI_U64, .first = 2};

static const struct ki_var too_deep = {
	.name = "deep", .kind = KI_VAR_CPU, .type = KI_U64, .first = 6};

#define WORD  c.got.thread[5]
#define TOTAL c.got.counters[7]
#define DEEP  c.got.counters[6]

/* ---- what they measure ---- */

/* A number of the thread's as the clock, so that it is what the test says. */
static struct ki_node *faults(void)
{
	return B(KI_ADD, ki_expr_fact(s, KI_FACT_MINFLT), C(1));
}

static struct ki_node *add_to_total(void)
{
	return ki_stmt_update(s, KI_UPDATE_ADD, &out, NULL, V(ticks));
}

static struct ki_node *note_deep(void)
{
	return ki_stmt_update(s, KI_UPDATE_ADD, &too_deep, NULL, C(1));
}

static struct ki_long_code start_code, stop_code;
static struct ki_snippet *start_tree, *stop_tree;
static bool narrow;

static struct ki_snippet *take(struct ki_node *body, struct ki_long_code *code)
{
	struct ki_snippet *mine = s;
	struct ki_err err = {0};

	ki_snippet_body(s, body);
	ki_long_code_free(code);
	if (ki_snippet_compile(s, &c.site, code, &err))
		fail_msg("%s", err.msg);
	assert_null(vet_long(code, SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD));
	s = NULL;
	return mine;
}

static void prepare(ki_regset dead)
{
	known();
	c.site.dead = dead;
	ki_snippet_free(start_tree);
	ki_snippet_free(stop_tree);
	begin();
	start_tree = take(ki_timer_start(s, &word, faults(), note_deep(), NULL, NULL), &start_code);
	begin();
	stop_tree = take(ki_timer_stop(s, &(struct ki_timer_end){.word = &word,
								 .clock = faults(),
								 .narrow = narrow,
								 .elapsed = &ticks,
								 .then = add_to_total()}),
			 &stop_code);
}

/* Run one of them, by the interpreter and by itself, from what the last one has left. */
static void hit(bool stop, uint64_t clock)
{
	const char *why;

	c.m.minflt = clock - 1;
	assert_int_equal(snip_interpret(&c, stop ? stop_tree : start_tree), 0);
	why = snip_run(&c, stop ? &stop_code : &start_code);
	if (why)
		fail_msg("%s: %s", stop ? "stop" : "start", why);
	c.start = c.got;
}

static const ki_regset places[] = {0, KI_REGSET_ALL, KI_REGSET_REG(KI_RAX) | KI_REGSET_FLAGS};

#define EACH_PLACE(i) for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)

static void pairs(void **state)
{
	(void)state;
	EACH_PLACE(i)
	{
		prepare(places[i]);
		hit(true, 5); /* begun before anybody looked */
		assert_int_equal(WORD, 0);
		hit(false, 10);
		assert_int_equal(WORD, 10);
		hit(true, 25);
		assert_int_equal(TOTAL, 15);
		assert_int_equal(WORD, 0);
		hit(true, 30);
		assert_int_equal(TOTAL, 15);
	}
}

static void calls_inside(void **state)
{
	(void)state;
	EACH_PLACE(i)
	{
		prepare(places[i]);
		hit(false, 10);
		hit(false, 12);
		assert_int_equal(WORD, 0x810000000000000a);
		hit(false, 13);
		assert_int_equal(WORD, 0x820000000000000a);
		hit(true, 20);
		hit(true, 22);
		assert_int_equal(WORD, 10);
		assert_int_equal(TOTAL, 0);
		hit(true, 30);
		assert_int_equal(TOTAL, 20);
		assert_int_equal(WORD, 0);
	}
}

/* More than 56 bits, and the moment at which they are. */
static void late_clocks(void **state)
{
	static const uint64_t begins[] = {(5ull << 56) + 7, (1ull << 56) - 10, (9ull << 56) - 10,
					  (0x7full << 56) + 1};

	(void)state;
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		prepare(0);
		hit(false, begins[i]);
		hit(false, begins[i] + 2);
		hit(true, begins[i] + 15);
		assert_int_equal(WORD, begins[i]);
		hit(true, begins[i] + 40);
		assert_int_equal(TOTAL, 40);
	}
}

static void threads_without_words(void **state)
{
	(void)state;
	prepare(0);
	c.m.nthread = 0;
	hit(false, 10);
	hit(true, 20);
	assert_int_equal(TOTAL, 0);
	assert_int_equal(WORD, 0);
}

/* Too deep is too short, and noted. */
static void deep(void **state)
{
	(void)state;
	prepare(0);
	for (unsigned int i = 0; i < 300; i++)
		hit(false, 100 + i);
	for (unsigned int i = 0; i < 300; i++)
		hit(true, 1000 + i);
	assert_int_equal(WORD, 0);
	assert_int_equal(TOTAL, 1000 + 127 - 100);
	assert_int_equal(DEEP, 300 - 128);
}

static void narrow_clocks(void **state)
{
	narrow = true;
	pairs(state);
	calls_inside(state);
	deep(state);
	prepare(0);
	hit(false, 10);
	hit(false, 1); /* it cannot be read inside */
	hit(true, 1);
	assert_int_equal(WORD, 10);
	hit(true, 30);
	assert_int_equal(TOTAL, 20);
	narrow = false;
}

#define CLOCK ((UINT64_C(1) << 56) - 1) /* what a word has of it */

static void any_order(void **state)
{
	uint64_t clock = 1, began = 0, total = 0;
	unsigned int depth = 0;

	(void)state;
	exec_seed(7);
	prepare(KI_REGSET_REG(KI_R10));
	for (unsigned int i = 0; i < 20000; i++) {
		bool stop = exec_random() >> 63 || depth > 100;

		clock += 1 + (exec_random() >> 10) % (1ull << 44); /* beyond 56 bits in the end */
		hit(stop, clock);
		if (!stop && !depth)
			began = clock;
		if (stop && depth == 1)
			total += (clock - began) & CLOCK; /* a longer call looks shorter */
		if (!stop)
			depth++;
		else if (depth)
			depth--;
		assert_int_equal(TOTAL, total);
		assert_int_equal(WORD == 0, depth == 0);
	}
	assert_true(clock >> 56 > 0 && total > 1ull << 40);
}

static void misuse(void **state)
{
	static const struct ki_var short_one = {.kind = KI_VAR_THREAD, .type = KI_U32};

	(void)state;
	begin();
	assert_null(ki_timer_start(s, &glob, ki_expr_fact(s, KI_FACT_TSC), NULL, NULL, NULL));
	assert_int_equal(ki_snippet_check(s, NULL, NULL), -EINVAL);
	begin();
	assert_null(ki_timer_start(s, &short_one, ki_expr_fact(s, KI_FACT_TSC), NULL, NULL, NULL));
	begin();
	assert_null(ki_timer_stop(s, &(struct ki_timer_end){.word = &word,
							    .clock = ki_expr_load(s, KI_U64, C(0)),
							    .elapsed = &ticks,
							    .then = add_to_total()}));
	assert_int_equal(ki_snippet_check(s, NULL, NULL), -EINVAL);
	begin();
	assert_null(ki_timer_stop(s, &(struct ki_timer_end){.word = &word,
							    .clock = ki_expr_fact(s, KI_FACT_TSC),
							    .elapsed = &out,
							    .then = add_to_total()}));
	assert_int_equal(ki_snippet_check(s, NULL, NULL), -EINVAL);
	begin();
	assert_null(ki_timer_stop(
		s, &(struct ki_timer_end){.word = NULL, .clock = NULL, .elapsed = NULL}));
	assert_int_equal(ki_snippet_check(s, NULL, NULL), -EINVAL);
}

/* ---- what they cost ---- */

#define R(r) KI_REGSET_REG(KI_##r)

/* As at a function's beginning, all its arguments needed; and as where it returns. */
static const ki_regset at_entry = KI_REGSET_FLAGS | R(RAX) | R(R10) | R(R11);
static const ki_regset at_exit =
	KI_REGSET_FLAGS | R(RCX) | R(RSI) | R(RDI) | R(R8) | R(R9) | R(R10) | R(R11);

#define JUMPS 2 /* to the patch and back */

/* Instructions that are executed on the way that the case takes. */
static unsigned int cost(struct ki_node *body, ki_regset dead)
{
	struct ki_long_code code;
	struct step step = {0};
	struct ki_err err = {0};
	const char *why;

	c.site.dead = dead;
	ki_snippet_body(s, body);
	if (ki_snippet_compile(s, &c.site, &code, &err))
		fail_msg("%s", err.msg);
	assert_null(vet_long(&code, SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD));
	why = snip_run_stepped(&c, &code, &step);
	/* variables depend on the clock: the interpreter is not asked */
	if (why && strcmp(why, "a thread's variable") != 0 &&
	    strcmp(why, "a per-CPU variable") != 0)
		fail_msg("%s", why);
	ki_long_code_free(&code);
	begin();
	return step.n + JUMPS;
}

static struct ki_node *in_nanoseconds(void)
{
	return ki_stmt_log2(s, &hist, B(KI_SHR, B(KI_MUL, V(ticks), U(21845)), U(16)));
}

static struct ki_node *only(uint64_t tgid, struct ki_node *then)
{
	return ki_stmt_if(s, B(KI_EQ, ki_expr_fact(s, KI_FACT_TGID), C(tgid)), then, NULL);
}

static struct ki_node *begins(enum ki_fact clock)
{
	return ki_timer_start(s, &word, ki_expr_fact(s, clock), NULL, NULL, NULL);
}

static struct ki_node *ends(enum ki_fact clock, bool histogram)
{
	return ki_timer_stop(
		s, &(struct ki_timer_end){.word = &word,
					  .clock = ki_expr_fact(s, clock),
					  .elapsed = &ticks,
					  .then = histogram ? in_nanoseconds() : add_to_total()});
}

static void prices(void **state)
{
	unsigned int start, stop, bare;

	(void)state;
	known();
	begin();
	start = cost(begins(KI_FACT_TSC), at_entry);
	c.start.thread[5] = 1;
	stop = cost(ends(KI_FACT_TSC, false), at_exit);
	print_message("walltime: %u + %u instructions\n", start, stop);
	assert_true(start + stop <= 30);
	print_message("  into a histogram: %u + %u\n", start,
		      cost(ends(KI_FACT_TSC, true), at_exit));
	assert_true(start + cost(ends(KI_FACT_TSC, true), at_exit) <= 60);
	c.start.thread[5] = 0;
	start = cost(begins(KI_FACT_CLOCK), at_entry);
	c.start.thread[5] = 1;
	stop = cost(ends(KI_FACT_CLOCK, false), at_exit);
	print_message("virtual time: %u + %u\n", start, stop);
	assert_true(start + stop <= 40);
	/* refused by a predicate, which is all that is paid then; and let pass */
	assert_true(cost(only(1234, begins(KI_FACT_TSC)), at_entry) <= 6);
	assert_true(cost(only(1234, ends(KI_FACT_TSC, false)), at_exit) <= 6);
	bare = cost(ends(KI_FACT_TSC, false), at_exit);
	assert_true(cost(only(4000, ends(KI_FACT_TSC, false)), at_exit) <= bare + 4);
	/* not inside; no words */
	c.start.thread[5] = 0;
	assert_true(cost(ends(KI_FACT_TSC, false), at_exit) <= 10);
	c.m.nthread = 0;
	assert_int_equal(cost(begins(KI_FACT_CLOCK), at_entry), 3 + JUMPS);
	assert_int_equal(cost(ends(KI_FACT_CLOCK, false), at_exit), 3 + JUMPS);
}

/* ---- the thread's clock ---- */

#define AWAY (1ull << 50) /* for how long others run */

struct turn {
	uint32_t at;	/* before which instruction this thread loses the CPU */
	bool after_tsc; /* the instruction before was rdtsc */
	bool has_been;
};

/* Time goes on while others run: what rdtsc says, and what is subtracted from it. */
static void lose_turn(struct step *step, gregset_t regs)
{
	const uint8_t *rip = (const uint8_t *)(uintptr_t)regs[REG_RIP];
	struct turn *t = step->arg;

	if (t->after_tsc && t->has_been)
		regs[REG_RDX] += AWAY >> 32;
	if (step->n == t->at) {
		snip_gs[SNIP_CLOCK_SLOT] += AWAY;
		t->has_been = true;
	}
	t->after_tsc = rip[0] == 0x0f && rip[1] == 0x31;
}

/* At how many moments a lost turn makes it wrong. */
static unsigned int wrong_moments(struct ki_long_code *code, uint32_t insns)
{
	unsigned int wrong = 0;

	for (uint32_t at = 1; at <= insns; at++) {
		struct turn turn = {.at = at};
		struct step step = {.before = lose_turn, .arg = &turn};

		snip_run_stepped(&c, code, &step);
		assert_true(turn.has_been);
		wrong +=
			c.got.counters[7] < SNIP_CLOCK || c.got.counters[7] > SNIP_CLOCK + AWAY / 2;
	}
	return wrong;
}

static void turns_are_noticed(void **state)
{
	static const ki_regset dead[] = {0, KI_REGSET_ALL, KI_REGSET_FLAGS | R(RDX) | R(R9)};
	struct step step = {0};
	struct ki_long_code code;
	uint8_t *je;

	(void)state;
	for (size_t i = 0; i < sizeof(dead) / sizeof(*dead); i++) {
		known();
		begin();
		c.site.dead = dead[i];
		ki_snippet_body(
			s, ki_stmt_update(s, KI_SET, &out, NULL, ki_expr_fact(s, KI_FACT_CLOCK)));
		assert_int_equal(ki_snippet_compile(s, &c.site, &code, NULL), 0);
		snip_run_stepped(&c, &code, &step);
		assert_int_equal(wrong_moments(&code, step.n), 0);
		/* without the second reading it would be wrong */
		je = memchr(code.code, 0x74, code.len);
		assert_non_null(je);
		*je = 0xeb;
		assert_true(wrong_moments(&code, step.n) > 0);
		ki_long_code_free(&code);
	}
}

static int end_all(void **state)
{
	ki_snippet_free(start_tree);
	ki_snippet_free(stop_tree);
	ki_long_code_free(&start_code);
	ki_long_code_free(&stop_code);
	return end(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),       cmocka_unit_test(calls_inside),
		cmocka_unit_test(late_clocks), cmocka_unit_test(threads_without_words),
		cmocka_unit_test(deep),	       cmocka_unit_test(narrow_clocks),
		cmocka_unit_test(any_order),   cmocka_unit_test(misuse),
		cmocka_unit_test(prices),      cmocka_unit_test(turns_are_noticed),
	};

	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, end_all);
}
