// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points count what they say. Functions are made at random: blocks of a few instructions with
 * branches, loops, calls, tail jumps, static branches and exception rows between them. Each is
 * executed by this processor one instruction at a time, which tells how often every instruction,
 * side and edge is passed; then again at full speed with counters at all points at once, linked as
 * the driver does. Everything that was not refused must have counted the same, and the code must
 * have done the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common_link.h"
#include "common_run.h"
#include "splice/plan.h"

#define ROUNDS 6
#ifdef __SANITIZE_ADDRESS__
#define FUNCTIONS 120
#else
#define FUNCTIONS 400
#endif

static struct ki_target *target;
static struct ki_function *fn;
static struct ki_spans spans;

/* ---- counters at all points ---- */

struct counted {
	struct ki_point pt;
	uint32_t counter;
	uint64_t want;
};

static struct counted points[2000];
static size_t npoints;
static struct ki_plan *plan;
static size_t exact, refused[KI_R_COUNT];
static uint64_t executions, total;

static void add_point(struct ki_point pt)
{
	struct counted *c = &points[npoints];
	struct ki_place *v;
	struct ki_err err = {0};
	struct ki_code code;
	unsigned int reason = KI_R_OK;
	uint32_t id;
	size_t n;

	if (ki_point_places(fn, &spans, &pt, &v, &n, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n && !reason; i++)
		reason = v[i].reason;
	for (size_t i = 0; i < n && !reason; i++) {
		ki_snippet_count(&code, (uint32_t)npoints, v[i].flags_live);
		if (ki_plan_add(
			    plan,
			    &(struct ki_insertion){fn, &spans, &v[i], (uint16_t)random_below(4)},
			    &code, &id, &err))
			fail_msg("%s", err.msg);
	}
	free(v);
	refused[reason]++;
	*c = (struct counted){.pt = pt, .counter = (uint32_t)npoints};
	npoints += !reason;
}

static void add_points(void)
{
	static const enum ki_point_kind whole[] = {KI_POINT_ENTRY, KI_POINT_EXIT, KI_POINT_CALLS,
						   KI_POINT_RETURNS, KI_POINT_START};

	npoints = 0;
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		add_point((struct ki_point){.kind = whole[i]});
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		add_point((struct ki_point){.kind = KI_POINT_BLOCK, .block = b});
		add_point((struct ki_point){.kind = KI_POINT_BLOCK_END, .block = b});
	}
	for (uint32_t e = 0; e < fn->nedges; e++)
		add_point((struct ki_point){.kind = KI_POINT_EDGE, .edge = e});
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		if (fn->insns[i].kind == KI_INSN_PAD)
			continue;
		add_point((struct ki_point){.kind = KI_POINT_INSN, .addr = fn->insns[i].addr});
		add_point((struct ki_point){.kind = KI_POINT_AFTER, .addr = fn->insns[i].addr});
	}
}

static void write_board(const struct ki_window *w, const uint8_t *patch)
{
	uint8_t *at = (uint8_t *)(uintptr_t)w->addr;

	if (w->board == KI_BOARD_JMP) {
		link_jump(at, (uintptr_t)patch);
	} else if (w->board == KI_BOARD_BOUNCE) {
		at[0] = 0xeb;
		at[1] = (uint8_t)(w->bounce - (w->addr + 2));
		link_jump((uint8_t *)(uintptr_t)w->bounce, (uintptr_t)patch);
	} else {
		at[0] = 0xcc;
		run_trap(w->addr, (uintptr_t)patch);
	}
}

static void install(void)
{
	uint8_t *heap = exec_mem->patch;

	run_no_traps();
	for (size_t i = 0; i < plan->windows.n; i++) {
		const struct ki_window *w = &plan->windows.v[i];
		const struct ki_chunk *list[512];
		size_t n = 0, len;

		for (size_t k = 0; k < plan->chunks.n; k++)
			if (plan->chunks.v[k].c.window == i && n < 512)
				list[n++] = &plan->chunks.v[k].c;
		len = link_patch(heap, w, &plan->copies.v[w->first_copy], list, n);
		assert_true(len > 0);
		write_board(w, heap);
		heap += len;
		assert_true(heap <= exec_mem->patch + sizeof(exec_mem->patch));
	}
}

static void analyse(void)
{
	run_analyse(&target, &fn, &spans);
	assert_int_equal(ki_plan_new(&plan), 0);
}

static void release(void)
{
	ki_plan_free(plan);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
}

static void compare(const struct run_outcome *a, const struct run_outcome *b, unsigned int number)
{
	if (!run_same(a, b))
		fail_msg("function %u: with counters it does something else", number);
}

static void note_truth(void)
{
	for (size_t i = 0; i < npoints; i++)
		points[i].want += run_truth(fn, &points[i].pt);
}

static void check_counts(unsigned int number)
{
	for (size_t i = 0; i < npoints; i++) {
		char name[KI_POINT_NAME_LEN] = "start";

		ki_point_format(&points[i].pt, fn->start, 0, name);
		if (run_counters[i] != points[i].want)
			fail_msg("function %u, f%s: counted %llu, not %llu", number, name,
				 (unsigned long long)run_counters[i],
				 (unsigned long long)points[i].want);
		exact++;
		total += points[i].want;
	}
}

static void try_function(unsigned int number)
{
	struct run_outcome want[ROUNDS], got;
	struct exec_cpu states[ROUNDS];

	random_code_make();
	analyse();
	if (fn->reason)
		fail_msg("function %u is refused: %s", number, ki_reason_tag(fn->reason));
	add_points();
	for (int i = 0; i < ROUNDS; i++) {
		run_state(&states[i]);
		run_it(&want[i], &states[i]);
		run_stepped(&got, &states[i]);
		compare(&want[i], &got, number);
		note_truth();
	}
	memset(run_counters, 0, sizeof(run_counters));
	install();
	for (int i = 0; i < ROUNDS; i++, executions++) {
		run_it(&got, &states[i]);
		compare(&want[i], &got, number);
	}
	check_counts(number);
	release();
}

static bool may_be_refused(unsigned int reason)
{
	switch (reason) {
	case KI_R_OK:
	case KI_R_JUMP_LABEL:	  /* side by side with another way to the same block */
	case KI_R_LOCK_PREFIX:	  /* at the beginning of a block */
	case KI_R_INDIRECT_EDGE:  /* tables */
	case KI_R_NO_SUCH_SIDE:	  /* after jumps */
	case KI_R_RETURN_ENTERED: /* calls that a jump leads after */
	case KI_R_ENTRY_REPEATED: /* loops over all of the function */
		return true;
	default:
		return false;
	}
}

static void points_count_what_they_say(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		try_function(i);
	print_message("%u functions, %llu executions, %zu points exact, %llu counted\n", FUNCTIONS,
		      (unsigned long long)executions, exact, (unsigned long long)total);
	for (unsigned int r = 1; r < KI_R_COUNT; r++) {
		if (refused[r])
			print_message("%zu refused: %s\n", refused[r], ki_reason_tag(r));
		if (refused[r] && !may_be_refused(r))
			fail_msg("refused for an unexpected reason");
	}
	assert_true(exact > FUNCTIONS * 25 && total > FUNCTIONS * 250);
}

/* ---- order ---- */

/* r14 = r14 * 10 + digit, flags kept: what has run, in the order in which it ran. */
static void append_digit(const struct ki_place *place, uint16_t order, uint8_t digit)
{
	struct ki_code code = {.len = 9,
			       .code = {0x4f, 0x8d, 0x34, 0xb6, 0x4f, 0x8d, 0x74, 0x36, digit}};
	struct ki_err err = {0};
	uint32_t id;

	if (ki_plan_add(plan, &(struct ki_insertion){fn, &spans, place, order}, &code, &id, &err))
		fail_msg("%s", err.msg);
}

static void the_lowest_order_runs_first(void **state)
{
	static const uint8_t bytes[] = {0x89, 0xf8, 0x85, 0xc0, 0x74, 0x03, /* mov; test; je */
					0x90, 0x90, 0xc3, 0x90, 0xc3};
	struct exec_cpu in = {.rsp = (uintptr_t)RUN_STACK, .flags = 2};
	struct run_outcome out;

	(void)state;
	for (uint64_t zero = 0; zero < 2; zero++) {
		random_code_lay();
		memcpy(CODE, bytes, sizeof(bytes));
		analyse();
		for (uint8_t where = 0; where <= KI_TAKEN; where++) {
			const struct ki_place je = {.addr = fn->insns[2].addr, .where = where};

			append_digit(&je, 7, 3);
			append_digit(&je, 0, 1);
			append_digit(&je, 7, 4);
			append_digit(&je, 2, 2);
			append_digit(&je, 65535, where + 5);
		}
		append_digit(&(struct ki_place){.addr = fn->insns[1].addr}, 9, 9);
		install();
		in.r[RDI] = zero ? 0 : (uintptr_t)RUN_DATA;
		run_it(&out, &in);
		assert_int_equal(out.cpu.r[R14], zero ? 91234512347 : 91234512346);
		release();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_count_what_they_say),
		cmocka_unit_test(the_lowest_order_runs_first),
	};

	run_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
