// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that are laid out do what they did. They are made at random, and so is the order of
 * their blocks; the patch is the driver's own linker's (common_linker.h). Each is executed by this
 * processor in the text and then laid out, without and with counters at all points: registers,
 * flags, memory and counts are the same, and calls are made from the patch.
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
#include "common_linker.h"
#include "common_run.h"
#include "splice/move.h"
#include "splice/plan.h"

#define ROUNDS	6
#define JMP_LEN 5
#ifdef __SANITIZE_ADDRESS__
#define FUNCTIONS 150
#else
#define FUNCTIONS 600
#endif

static struct ki_target *target;
static struct ki_function *fn;
static struct ki_spans spans;
static struct ki_plan *plan;
static struct linked linked;
static size_t executions, counted, asking, calling, asides, beside;

static void analyse(void)
{
	run_analyse(&target, &fn, &spans);
	assert_int_equal(ki_plan_new(&plan), 0);
}

/* ---- static branches and calls ---- */

static bool flags_are_free(uint32_t block)
{
	const struct ki_point pt = {.kind = KI_POINT_BLOCK, .block = block};
	struct ki_err err = {0};
	struct ki_place *v;
	size_t n;
	bool is_free;

	if (ki_point_places(fn, &spans, &pt, &v, &n, &err))
		fail_msg("%s", err.msg);
	is_free = n == 1 && !v[0].reason && !v[0].flags_live && v[0].where == KI_BEFORE &&
		  v[0].addr == fn->blocks[block].start;
	free(v);
	return is_free;
}

/* Of functions that leave the flags free at all static branches. */
static void add_written(void)
{
	for (uint32_t e = 0; e < fn->nedges; e++)
		if (fn->insns[fn->edges[e].insn].flags & KI_INSN_JUMP_LABEL &&
		    !flags_are_free(fn->edges[e].to_block))
			return;
	assert_int_equal(ki_spans_add_written(fn, &spans), 0);
	for (size_t i = 0; i < spans.n; i++) {
		asking += spans.v[i].written == KI_WINDOW_BRANCH;
		calling += spans.v[i].written == KI_WINDOW_STATIC_CALL;
	}
}

#define KEYS 512 /* more than a function has, where no random code reaches */

/* A key in the state that the text is in. */
static void make_key(unsigned long addr, unsigned long *key, bool *off)
{
	static const int32_t on[] = {1, -1, 5};
	static unsigned int made;
	int32_t *number = (int32_t *)(void *)(exec_mem->control + 1024) + made++ % KEYS;
	bool taken = *(uint8_t *)addr == 0xeb;

	*off = random_below(2);
	*number = taken != *off ? on[random_below(3)] : 0;
	*key = (uintptr_t)number;
}

static unsigned long find_trampoline(unsigned long addr)
{
	return (uintptr_t)random_trampoline((const uint8_t *)addr);
}

static void release(void)
{
	ki_plan_free(plan);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
}

/* So many blocks that come first stand aside. */
static void lay_out(const uint32_t *blocks, uint32_t n)
{
	struct ki_layout l = {.fn = fn, .spans = &spans, .blocks = blocks, .nhot = n, .aside = n};
	struct ki_err err = {0};

	if (ki_plan_lay_out(plan, &l, 1, &err))
		fail_msg("%s", err.msg);
}

static void write_board(const struct ki_window *w, const uint8_t *to)
{
	uint8_t *at = (uint8_t *)(uintptr_t)w->addr;

	if (w->flags & KI_WINDOW_UNBOARDED)
		return;
	if (w->board == KI_BOARD_JMP) {
		link_jump(at, (uintptr_t)to);
	} else if (w->board == KI_BOARD_BOUNCE) {
		at[0] = 0xeb;
		at[1] = (uint8_t)(w->bounce - (w->addr + 2));
		link_jump((uint8_t *)(uintptr_t)w->bounce, (uintptr_t)to);
	} else {
		at[0] = 0xcc;
		run_trap(w->addr, (uintptr_t)to);
	}
}

/* The plan, which is one group, in the order of the text. */
static void link_plan(void)
{
	const struct ki_chunk *chunks[2048];

	assert_true(plan->chunks.n <= 2048);
	for (size_t i = 0; i < plan->chunks.n; i++)
		chunks[i] = &plan->chunks.v[i].c;
	linked = linker_link(exec_mem->patch, plan->windows.v, (uint32_t)plan->windows.n,
			     plan->copies.v, chunks, (uint32_t)plan->chunks.n);
	assert_int_equal(linked.reason, KI_R_OK);
	assert_true(linked.len && linked.len < sizeof(exec_mem->patch));
}

static void install(void)
{
	run_no_traps();
	for (size_t i = 0; i < plan->windows.n; i++)
		write_board(&plan->windows.v[i], exec_mem->patch + linked.at[i]);
	free(linked.at);
}

/* ---- counters ---- */

static uint64_t want[4096];
static struct ki_point points[4096];
static uint32_t npoints;

static void add_point(struct ki_point pt)
{
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
		ki_snippet_count(&code, npoints, v[i].flags_live);
		if (ki_plan_add(plan, &(struct ki_insertion){fn, &spans, &v[i], 0}, &code, &id,
				&err))
			fail_msg("%s", err.msg);
	}
	free(v);
	points[npoints] = pt;
	npoints += !reason;
}

/* Each third time none, else some, or all; not all if that needs many pages. */
static void add_points(unsigned int number, bool aside)
{
	unsigned int part = number % 3 == 2 && aside ? 1 : number % 3;

	npoints = 0;
	for (uint32_t b = 0; part && b < fn->nblocks; b++)
		if (random_below(part == 1 ? 4 : 1) == 0)
			add_point((struct ki_point){.kind = KI_POINT_BLOCK, .block = b});
	for (uint32_t e = 0; part && e < fn->nedges; e++)
		if (random_below(part == 1 ? 4 : 1) == 0)
			add_point((struct ki_point){.kind = KI_POINT_EDGE, .edge = e});
	for (uint32_t i = 0; part == 2 && i < fn->ninsns; i++)
		if (fn->insns[i].kind != KI_INSN_PAD)
			add_point((struct ki_point){.kind = KI_POINT_INSN,
						    .addr = fn->insns[i].addr});
}

/* ---- */

/* A bounce may stand where an instruction began. */
static bool bounces_at(uint64_t addr)
{
	for (size_t i = 0; i < plan->windows.n; i++)
		if (plan->windows.v[i].bounce == addr)
			return true;
	return false;
}

static bool traps(void)
{
	for (size_t i = 0; i < plan->windows.n; i++)
		if (plan->windows.v[i].board == KI_BOARD_TRAP &&
		    !(plan->windows.v[i].flags & KI_WINDOW_UNBOARDED))
			return true;
	return false;
}

/* No instruction of a window is executed in the text but what its springboard covers. */
static void check_where(unsigned int number)
{
	for (size_t i = 0; i < plan->windows.n; i++) {
		const struct ki_window *w = &plan->windows.v[i];
		uint64_t addr = w->addr;

		for (uint32_t k = 0; k < w->ncopy; k++) {
			if ((k || w->flags & KI_WINDOW_UNBOARDED) && !bounces_at(addr) &&
			    run_steps_at(addr))
				fail_msg("function %u: +0x%llx is executed in the text", number,
					 (unsigned long long)(addr - fn->start));
			addr += plan->copies.v[w->first_copy + k].orig_len;
		}
	}
}

/* Where in a page each window begins. */
static void check_asides(const uint32_t *blocks, uint32_t n)
{
	for (size_t i = 0; i < plan->windows.n; i++) {
		const struct ki_window *w = &plan->windows.v[i];
		uint32_t b = (uint32_t)(ki_function_block_at(fn, w->addr) - fn->blocks);
		bool among = false;

		for (uint32_t k = 0; k < n; k++)
			among |= blocks[k] == b;
		assert_int_equal(!!(w->flags & KI_WINDOW_ASIDE), among);
		assert_int_equal(linked.at[i] % 4096 >= 4096 - KI_ASIDE, among);
		asides += among;
		beside += !among;
	}
}

static void try_function(unsigned int number, bool aside)
{
	struct run_outcome wanted[ROUNDS], got;
	struct exec_cpu states[ROUNDS];
	uint32_t blocks[64], n;

	random_code_make();
	analyse();
	if (number % 4)
		add_written();
	assert_true(fn->nblocks <= 64);
	random_order(blocks, fn->nblocks);
	n = aside ? random_below(fn->nblocks + 1) : 0;
	lay_out(blocks, n);
	add_points(number, aside);
	memset(want, 0, sizeof(want));
	for (int i = 0; i < ROUNDS; i++) {
		run_state(&states[i]);
		run_stepped(&wanted[i], &states[i]);
		for (uint32_t k = 0; k < npoints; k++)
			want[k] += run_truth(fn, &points[k]);
	}
	memset(run_counters, 0, sizeof(run_counters));
	link_plan();
	if (n)
		check_asides(blocks, n);
	install();
	for (int i = 0; i < ROUNDS; i++, executions++) {
		run_it(&got, &states[i]);
		if (!run_same(&wanted[i], &got))
			fail_msg("function %u: laid out it does something else", number);
	}
	for (uint32_t k = 0; k < npoints; k++, counted++)
		if (run_counters[k] != want[k])
			fail_msg("function %u, point %u: counted %llu, not %llu", number, k,
				 (unsigned long long)run_counters[k], (unsigned long long)want[k]);
	if (!traps()) { /* steps do not follow breakpoints */
		run_stepped(&got, &states[0]);
		check_where(number);
	}
	release();
}

static void they_do_what_they_did(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		try_function(i, false);
	print_message("%u functions, %zu executions, %zu points exact, %zu static branches, %zu "
		      "static calls\n",
		      FUNCTIONS, executions, counted, asking, calling);
	assert_true(asking > FUNCTIONS / 20 && calling > FUNCTIONS / 4);
	assert_true(executions >= FUNCTIONS * ROUNDS && counted > FUNCTIONS * 16);
}

/* The same, with some of their blocks in the last bytes of pages. */
static void so_they_do_aside(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FUNCTIONS / 5; i++)
		try_function(i, true);
	print_message("%zu windows aside, %zu beside them\n", asides, beside);
	assert_true(asides > FUNCTIONS && beside > FUNCTIONS);
}

/* ---- known forms ---- */

/* test; je after; nop; ret; after: inc; ret, with filler. */
static const uint8_t known[] = {0x85, 0xff, 0x74, 0x09, 0x31, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90,
				0x90, 0xc3, 0x89, 0xf8, 0x90, 0x90, 0x90, 0xc3, 0xcc, 0xcc};

static void forms(const uint32_t *blocks, const uint8_t *expected, size_t len)
{
	random_code_lay();
	random_code.nrows = 0;
	memcpy(CODE, known, sizeof(known));
	analyse();
	assert_int_equal(fn->nblocks, 3);
	lay_out(blocks, 0);
	link_plan();
	free(linked.at);
	assert_int_equal(linked.len, len);
	assert_memory_equal(exec_mem->patch, expected, len);
	assert_int_equal(linked.calls, 0);
	release();
}

static void branches_are_as_short_as_they_can_be(void **state)
{
	static const uint32_t as_it_was[] = {0, 1, 2}, turned[] = {0, 2, 1}, back[] = {1, 0, 2};
	static const uint8_t inverted[] = {0x85, 0xff, 0x75, 0x06, 0x89, 0xf8, 0x90,
					   0x90, 0x90, 0xc3, 0x31, 0xc0, 0x90, 0x90,
					   0x90, 0x90, 0x90, 0x90, 0xc3};
	static const uint8_t backward[] = {0x31, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90,
					   0x90, 0xc3, 0x85, 0xff, 0x75, 0xf3, 0x89,
					   0xf8, 0x90, 0x90, 0x90, 0xc3};

	(void)state;
	forms(as_it_was, known, 19);
	forms(turned, inverted, sizeof(inverted));
	forms(back, backward, sizeof(backward));
}

/* ---- what is no layout ---- */

static unsigned int asked(uint32_t window, uint16_t place, uint8_t flags)
{
	static const uint32_t blocks[] = {0, 1, 2};
	unsigned int reason;

	random_code_lay();
	random_code.nrows = 0;
	memcpy(CODE, known, sizeof(known));
	analyse();
	lay_out(blocks, 0);
	assert_true(plan->windows.n >= 2);
	plan->windows.v[window].place = place;
	plan->windows.v[window].flags = flags;
	linked = linker_link(exec_mem->patch, plan->windows.v, (uint32_t)plan->windows.n,
			     plan->copies.v, NULL, 0);
	reason = linked.reason;
	free(linked.at);
	release();
	return reason;
}

static void what_is_no_order_is_refused(void **state)
{
	(void)state;
	assert_int_equal(asked(0, 0, KI_WINDOW_LAID), KI_R_OK);
	assert_int_equal(asked(0, 1, KI_WINDOW_LAID), KI_R_BAD_LAYOUT);
	assert_int_equal(asked(1, 0, KI_WINDOW_LAID), KI_R_BAD_LAYOUT);
	assert_int_equal(asked(1, 3000, KI_WINDOW_LAID), KI_R_BAD_LAYOUT);
	assert_int_equal(asked(1, UINT16_MAX, KI_WINDOW_LAID), KI_R_BAD_LAYOUT);
	assert_int_equal(asked(1, 0, 0), KI_R_BAD_LAYOUT);
}

static void blocks_are_given_once_each(void **state)
{
	static const uint32_t wrong[][3] = {{0, 1, 1}, {0, 1, 3}, {1, 1, 2}, {0, 1, UINT32_MAX}};
	struct ki_err err = {0};

	(void)state;
	random_code_lay();
	random_code.nrows = 0;
	memcpy(CODE, known, sizeof(known));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct ki_layout l = {.fn = NULL};

		analyse();
		l = (struct ki_layout){.fn = fn, .spans = &spans, .blocks = wrong[i]};
		assert_int_equal(ki_plan_lay_out(plan, &l, 1, &err), -EINVAL);
		assert_int_equal(ki_plan_windows(plan), 0);
		release();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_do_what_they_did),
		cmocka_unit_test(so_they_do_aside),
		cmocka_unit_test(branches_are_as_short_as_they_can_be),
		cmocka_unit_test(what_is_no_order_is_refused),
		cmocka_unit_test(blocks_are_given_once_each),
	};

	run_init();
	linker_branch = make_key;
	linker_trampoline = find_trampoline;
	random_static_calls = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
