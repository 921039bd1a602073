// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that are laid out together do what they did. One is made at random, and calls another
 * that begins with an ftrace site. The patch is the driver's own linker's; this processor executes
 * the text, and then the patch: while nobody uses ftrace, when somebody has begun to, and when
 * somebody did before. The same if the callee alone is laid out, and the other's calls lead there
 * from where they stand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common_link.h"
#include "common_linker.h"
#include "common_run.h"
#include "splice/plan.h"

#define ROUNDS 4
#define OURS   0x12345678ul
#define SITE   5
#ifdef __SANITIZE_ADDRESS__
#define FUNCTIONS 120
#else
#define FUNCTIONS 300
#endif

enum users { NOBODY, SOMEBODY_NOW, SOMEBODY_BEFORE, USERS };

static struct ki_target *target;
static struct ki_function *fn[2];
static struct ki_spans spans[2];
static struct ki_plan *plan;
static size_t calls, past, led;

/* The callee: the site, which is off; add $1, %rax, so that flags are its own; a branch; ret. */
static void make(void)
{
	static const uint8_t callee[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0x48, 0x83, 0xc0, 0x01,
					 0x78, 0x03, 0x48, 0xff, 0xc0, 0x48, 0xff, 0xc0, 0xc3};

	random_code_make();
	memcpy(CALLEE, callee, sizeof(callee));
	random_code.rows[random_code.nrows++] = (struct ki_reserved_row){
		.addr = (uintptr_t)CALLEE, .len = SITE, .reason = KI_R_FTRACE_SITE};
	linker_starts[0] = (uintptr_t)CODE;
	linker_starts[1] = (uintptr_t)CALLEE;
	linker_users = (unsigned long *)(void *)(exec_mem->control + 256);
	linker_ours = OURS;
}

static const struct ki_symbol *symbol_at(const uint8_t *addr)
{
	size_t n;
	const struct ki_symbol *v = ki_target_symbols(target, &n);

	while (v->addr != (uintptr_t)addr)
		v++;
	return v;
}

static void analyse(void)
{
	struct ki_err err = {0};

	run_analyse(&target, &fn[0], &spans[0]);
	if (ki_function_analyze(target, symbol_at(CALLEE), &fn[1], &err) ||
	    ki_spans_find(fn[1], &spans[1], &err))
		fail_msg("%s", err.msg);
	assert_int_equal(ki_plan_new(&plan), 0);
}

static void release(void)
{
	ki_plan_free(plan);
	for (int i = 0; i < 2; i++) {
		ki_spans_free(&spans[i]);
		ki_function_free(fn[i]);
	}
	ki_target_free(target);
}

static void lay_out(void)
{
	uint32_t blocks[2][64];
	struct ki_layout l[2];
	struct ki_err err = {0};

	for (int i = 0; i < 2; i++) {
		assert_true(fn[i]->nblocks <= 64);
		random_order(blocks[i], fn[i]->nblocks);
		l[i] = (struct ki_layout){.fn = fn[i],
					  .spans = &spans[i],
					  .blocks = blocks[i],
					  .nhot = random_below(fn[i]->nblocks + 1)};
	}
	if (ki_plan_lay_out(plan, l, 2, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(plan->groups.n, 1);
	assert_int_equal(plan->windows.n, spans[0].n + spans[1].n);
}

/* The callee, and the calls of it that can lead elsewhere; false: there are none. */
static bool lay_out_callee(void)
{
	uint32_t order[64];
	struct ki_layout l[64];
	struct ki_err err = {0};
	size_t n = 0;

	random_order(order, fn[1]->nblocks);
	for (uint32_t e = 0; e < fn[0]->nedges && n < 63; e++) {
		uint64_t from = fn[0]->insns[fn[0]->edges[e].insn].addr;

		if (fn[0]->edges[e].to == (uintptr_t)CALLEE &&
		    ki_span_of_call(fn[0], &spans[0], from))
			l[n++] = (struct ki_layout){.fn = fn[0], .spans = &spans[0], .call = from};
	}
	led += n;
	l[n] = (struct ki_layout){.fn = fn[1],
				  .spans = &spans[1],
				  .blocks = order,
				  .nhot = random_below(fn[1]->nblocks + 1)};
	if (n && ki_plan_lay_out(plan, l, n + 1, &err))
		fail_msg("%s", err.msg);
	return n;
}

/* The call or jump there, to another place. */
static void lead_call(uint8_t *at, uint32_t to)
{
	uint8_t op = *at;

	assert_int_not_equal(to, 0);
	link_jump(at, to);
	*at = op;
}

/* Springboards that do not trap; false: one does. */
static bool install(void)
{
	struct linked linked = linker_link(exec_mem->patch, plan->windows.v,
					   (uint32_t)plan->windows.n, plan->copies.v, NULL, 0);
	bool traps = false;

	assert_int_equal(linked.reason, KI_R_OK);
	for (size_t i = 0; i < plan->windows.n; i++) {
		const struct ki_window *w = &plan->windows.v[i];
		uint8_t *at = (uint8_t *)(uintptr_t)w->addr;

		if (w->flags & KI_WINDOW_UNBOARDED)
			continue;
		if (w->flags & KI_WINDOW_CALL) {
			lead_call(at + w->len - SITE, linked.to[i]);
			continue;
		}
		traps |= w->board == KI_BOARD_TRAP;
		if (w->board == KI_BOARD_BOUNCE) {
			at[0] = 0xeb;
			at[1] = (uint8_t)(w->bounce - (w->addr + 2));
			at = (uint8_t *)(uintptr_t)w->bounce;
		}
		if (w->board != KI_BOARD_TRAP)
			link_jump(at, (uintptr_t)exec_mem->patch + linked.at[i]);
	}
	free(linked.at);
	free(linked.to);
	return !traps;
}

/* How often the last steps came to the callee's site, and past it to what is after. */
static void see_calls(enum users users, size_t called)
{
	if (users != NOBODY)
		assert_int_equal(run_called, called);
	else
		past += called - run_called; /* an indirect call comes by the text */
	calls += called;
}

static void try_function(enum users users, bool callers)
{
	struct run_outcome wanted[ROUNDS], got;
	struct exec_cpu states[ROUNDS];
	size_t called[ROUNDS];

	make();
	analyse();
	if (!callers)
		lay_out();
	else if (!lay_out_callee()) {
		release();
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		run_state(&states[i]);
		run_called = 0;
		run_stepped(&wanted[i], &states[i]);
		called[i] = run_called;
	}
	*linker_users = OURS;
	linker_alone = users != SOMEBODY_BEFORE;
	if (install()) {
		*linker_users = users == NOBODY ? OURS : OURS + 8;
		for (int i = 0; i < ROUNDS; i++) {
			run_it(&got, &states[i]);
			if (!run_same(&wanted[i], &got))
				fail_msg("users %d: together they do something else", users);
			run_called = 0;
			run_stepped(&got, &states[i]);
			see_calls(users, called[i]);
		}
	}
	release();
}

static void they_do_what_they_did(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		try_function(i % USERS, false);
	print_message("%u pairs of functions; %zu calls, %zu of them past the site\n", FUNCTIONS,
		      calls, past);
	assert_true(calls > FUNCTIONS && past > FUNCTIONS / 3);
}

static void callers_come_to_the_layout(void **state)
{
	(void)state;
	calls = past = 0;
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		try_function(i % USERS, true);
	print_message("%zu calls lead there; %zu calls, %zu of them past the site\n", led, calls,
		      past);
	assert_true(led > FUNCTIONS / 3 && calls > FUNCTIONS && past > FUNCTIONS / 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_do_what_they_did),
		cmocka_unit_test(callers_come_to_the_layout),
	};

	run_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
