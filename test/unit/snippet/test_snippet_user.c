// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random snippets for places in processes, executed: what test_snippet_exec.c does for the kernel.
 * Variables must be what the interpreter makes of them, what is live as it was, and so the 128
 * bytes below the stack pointer. Then code is made wrong on purpose; and what code in a process
 * cannot have is refused, by name.
 *
 * KI_SEED: others. KI_SNIPPETS: how many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_snippet.h"

#ifdef __SANITIZE_ADDRESS__
#define SNIPPETS 40000
#else
#define SNIPPETS 500000
#endif

#define NODES	 30
#define COMPLAIN 5
#define LIES	 2000

static struct tally {
	uint64_t done, too_big, changed, words, below, locked;
	unsigned int wrong;
} all;

static uint64_t seed;

static struct ki_snippet *make(struct snip_case *c, unsigned int nodes)
{
	snip_case_make(c);
	c->site.user = true;
	c->m.nglobals = SNIP_COUNTERS;
	return snip_random(c, nodes);
}

static bool uses(const struct ki_long_code *code, enum ki_fixup_kind kind)
{
	for (uint32_t i = 0; i < code->nfix; i++)
		if (code->fix[i].kind == kind)
			return true;
	return false;
}

/* Nothing of the kernel's. */
static const char *foreign(const struct ki_long_code *code)
{
	for (uint32_t i = 0; i < code->nfix; i++)
		if (code->fix[i].kind != KI_FIX_GLOBAL && code->fix[i].kind != KI_FIX_WORD &&
		    (code->fix[i].kind != KI_FIX_SELF || code->fix[i].target != KI_SELF_WORDS))
			return "a fixup that a process does not know";
	return NULL;
}

static void note(const struct snip_case *c, const struct ki_long_code *code)
{
	all.done++;
	all.changed += memcmp(&c->start, &c->want, sizeof(c->start)) != 0;
	all.words += uses(code, KI_FIX_WORD);
	all.below += code->len > 5 && !memcmp(code->code, "\x48\x8d\x64\x24\x80", 5);
	all.locked += code->len && memchr(code->code, 0xf0, code->len) != NULL;
}

static void complain(const struct ki_snippet *s, const struct snip_case *c,
		     const struct ki_long_code *code, const char *why, uint64_t number)
{
	char *text = NULL;

	if (all.wrong++ >= COMPLAIN)
		return;
	if (ki_snippet_listing(s, code, &text, NULL))
		text = NULL;
	fprintf(stderr, "# snippet %" PRIu64 " of seed %" PRIu64 ": %s (dead %" PRIx64 ")\n%s\n",
		number, seed, why, c->site.dead, text ? text : "");
	free(text);
}

static void one(uint64_t number)
{
	static struct snip_case c;
	struct ki_long_code code;
	struct ki_err err = {0};
	struct ki_snippet *s;
	const char *why;
	int ret;

	exec_seed((seed * 0x9e3779b97f4a7c15 + number) * 2 + 77);
	s = make(&c, 1 + number % NODES);
	ret = ki_snippet_compile(s, &c.site, &code, &err);
	if (ret == -E2BIG || ret == -EOPNOTSUPP) {
		all.too_big += ret == -E2BIG;
	} else if (ret || snip_interpret(&c, s)) {
		fail_msg("snippet %" PRIu64 ": %s", number, err.msg);
	} else {
		why = foreign(&code);
		if (!why)
			why = snip_run(&c, &code);
		if (why)
			complain(s, &c, &code, why, number);
		note(&c, &code);
	}
	ki_long_code_free(&code);
	ki_snippet_free(s);
}

static void many(void **state)
{
	const char *s = getenv("KI_SNIPPETS");
	uint64_t want = s ? strtoull(s, NULL, 0) : SNIPPETS;

	(void)state;
	for (uint64_t i = 0; i < want; i++)
		one(i);
	print_message("seed %" PRIu64 ": %" PRIu64 " of %" PRIu64
		      " snippets executed, %u differ; %" PRIu64 " changed a variable, %" PRIu64
		      " used words, %" PRIu64 " went below the red zone, %" PRIu64
		      " had a lock; %" PRIu64 " were too big\n",
		      seed, all.done, want, all.wrong, all.changed, all.words, all.below,
		      all.locked, all.too_big);
	assert_int_equal(all.wrong, 0);
	assert_true(all.done * 3 > want);
	assert_true(all.changed > all.done / 2);
	assert_true(all.words > all.done / 10);
	assert_true(all.below > all.done / 5);
	assert_true(all.too_big * 1000 <= want);
}

/* ---- wrong on purpose ---- */

/* The code without its way below the red zone and back. */
static bool zone_forgotten(struct ki_long_code *c)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0, 0};
	static const uint8_t nop8[] = {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};

	if (c->len < 13 || memcmp(c->code, "\x48\x8d\x64\x24\x80", 5) != 0)
		return false;
	memcpy(c->code, nop5, sizeof(nop5));
	memcpy(c->code + c->len - 8, nop8, sizeof(nop8));
	return true;
}

static void a_red_zone_that_is_used_is_noticed(void **state)
{
	static struct snip_case c;
	unsigned int told = 0, noticed = 0;

	(void)state;
	exec_seed(seed);
	for (unsigned int i = 0; told < LIES && i < 50 * LIES; i++) {
		struct ki_snippet *s = make(&c, 1 + i % NODES);
		struct ki_long_code code;

		if (!ki_snippet_compile(s, &c.site, &code, NULL) && !snip_interpret(&c, s) &&
		    zone_forgotten(&code)) {
			told++;
			noticed += snip_run(&c, &code) != NULL;
		}
		ki_long_code_free(&code);
		ki_snippet_free(s);
	}
	print_message("a red zone that is used: %u of %u noticed\n", noticed, told);
	assert_int_equal(told, LIES);
	assert_true(noticed * 10 > told * 9);
}

/* ---- what cannot be ---- */

static void refuse(struct ki_snippet *s, struct ki_node *x, const char *what)
{
	const struct ki_site_regs site = {.user = true, .at_entry = true, .at_exit = true};
	struct ki_long_code code;
	struct ki_err err = {0};

	assert_non_null(x);
	ki_snippet_body(s, ki_stmt_eval(s, x));
	assert_int_equal(ki_snippet_compile(s, &site, &code, &err), -EOPNOTSUPP);
	if (!strstr(err.msg, what))
		fail_msg("'%s' does not say '%s'", err.msg, what);
	ki_long_code_free(&code);
	ki_snippet_free(s);
}

static struct ki_snippet *empty(void)
{
	struct ki_snippet *s;

	assert_int_equal(ki_snippet_new(&s), 0);
	return s;
}

static void what_only_the_kernel_knows_is_refused(void **state)
{
	struct ki_snippet *s = empty();
	struct ki_node *x;

	(void)state;
	refuse(s, ki_expr_comm_is(s, "bash"), "comm");
	s = empty();
	refuse(s, ki_expr_fact(s, KI_FACT_UID), "uid");
	s = empty();
	refuse(s, ki_expr_fact(s, KI_FACT_CLOCK), "clock");
	s = empty();
	refuse(s, ki_expr_load(s, KI_U64, ki_expr_reg(s, KI_RDI)), "memory by its address");
	s = empty();
	x = ki_expr_const(s, KI_I64, 3);
	refuse(s, ki_expr_binary(s, KI_MOD, ki_expr_reg(s, KI_RDI), x), "division");
	s = empty();
	refuse(s, ki_expr_call(s, KI_U64, 0x1000, "f", NULL, 0), "call");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many),
		cmocka_unit_test(a_red_zone_that_is_used_is_noticed),
		cmocka_unit_test(what_only_the_kernel_knows_is_refused),
	};
	const char *s = getenv("KI_SEED");

	seed = s ? strtoull(s, NULL, 0) : 1;
	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
