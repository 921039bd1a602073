// SPDX-License-Identifier: GPL-2.0-only
/*
 * A million random snippets: each compiled for a random place, with random registers dead, and
 * executed in this process. Variables and calls must be what the interpreter makes of them; what is
 * live at the place must be as it was; every instruction must be on the list of what a long chunk
 * may contain (common_vet.c), and the driver's own check must let it pass (common_drv.c). Then code
 * is made wrong on purpose, to see that it is noticed.
 *
 * KI_SEED: another million. KI_SNIPPETS: how many instead. KI_SHOW: print that one.
 *
 * promise: A13 (in part): Random snippets become native code that does what an interpreter does
 *   and leaves live registers alone. [test_timer.c, test_minmax.c, test_snippet_nodes.c,
 *   test_snippet_stmts.c, test_snippet_build.c]
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

#include "common_drv.h"
#include "common_snippet.h"
#include "common_vet.h"
#include "vetted.h"

#ifdef __SANITIZE_ADDRESS__
#define SNIPPETS 15000
#else
#define SNIPPETS 1000000
#endif

#define NODES	 30
#define COMPLAIN 10
#define PER_LIE	 400
#define INSNS	 4000

static struct tally {
	uint64_t done, too_big, bytes, insns, longest, changed, calls, records, tables, kept, words,
		shared;
	unsigned int wrong;
} all;

static uint64_t seed;

static void show_bank(const char *name, const uint64_t *want, const uint64_t *got, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (want[i] != got[i])
			fprintf(stderr, "# %s %u: 0x%" PRIx64 ", not 0x%" PRIx64 "\n", name, i,
				got[i], want[i]);
}

static void show_difference(const struct snip_case *c)
{
	show_bank("counter", c->want.counters, c->got.counters, SNIP_COUNTERS);
	show_bank("global", c->want.globals, c->got.globals, SNIP_GLOBALS);
	show_bank("thread", c->want.thread, c->got.thread, SNIP_THREAD);
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
	show_difference(c);
	free(text);
}

static void note(const struct snip_case *c, const struct ki_long_code *code)
{
	unsigned int uses = 0, looks = 0;

	all.done++;
	all.bytes += code->len;
	all.insns += code->ninsns;
	if (all.longest < code->len)
		all.longest = code->len;
	all.changed += memcmp(&c->start, &c->want, sizeof(c->start)) != 0;
	all.calls += c->want.ncalls;
	all.records += c->want.nrecords;
	all.tables += c->want.ntables;
	all.kept += code->len && code->code[0] == 0x9f; /* lahf */
	for (uint32_t i = 0; i < code->nfix; i++) {
		uses += code->fix[i].kind == KI_FIX_WORD;
		looks += code->fix[i].kind == KI_FIX_SELF && code->fix[i].target == KI_SELF_WORDS;
	}
	all.words += uses != 0;
	all.shared += looks && uses > looks;
}

static void one(uint64_t number)
{
	static struct snip_case c;
	struct ki_long_code code;
	struct ki_err err = {0};
	struct ki_snippet *s;
	const char *why;
	int ret;

	exec_seed((seed * 0x9e3779b97f4a7c15 + number) * 2);
	snip_case_make(&c);
	s = snip_random(&c, 1 + number % NODES);
	ret = ki_snippet_compile(s, &c.site, &code, &err);
	if (ret == -E2BIG) {
		all.too_big++;
	} else if (ret || snip_interpret(&c, s)) {
		fail_msg("snippet %" PRIu64 ": %s", number, err.msg);
	} else {
		why = vetted(&code);
		if (!why)
			why = snip_run(&c, &code);
		if (why || getenv("KI_SHOW"))
			complain(s, &c, &code, why ? why : "as asked for", number);
		all.wrong -= !why && getenv("KI_SHOW");
		note(&c, &code);
	}
	ki_long_code_free(&code);
	ki_snippet_free(s);
}

static void a_million(void **state)
{
	const char *s = getenv("KI_SNIPPETS"), *show = getenv("KI_SHOW");
	uint64_t want = s ? strtoull(s, NULL, 0) : SNIPPETS;

	(void)state;
	if (show) {
		one(strtoull(show, NULL, 0));
		return;
	}
	for (uint64_t i = 0; i < want; i++)
		one(i);
	print_message("seed %" PRIu64 ": %" PRIu64 " snippets executed, %u differ; %.1f "
		      "instructions of %.2f bytes on average, at most %" PRIu64 " bytes\n"
		      "  %" PRIu64 " changed a variable, %" PRIu64 " calls of functions, %" PRIu64
		      " records, %" PRIu64 " operations on tables, %" PRIu64
		      " began by keeping the flags, %" PRIu64 " were too big\n"
		      "  %" PRIu64 " used words of the thread, %" PRIu64
		      " of them several behind one look\n",
		      seed, all.done, all.wrong, (double)all.insns / (double)all.done,
		      (double)all.bytes / (double)all.insns, all.longest, all.changed, all.calls,
		      all.records, all.tables, all.kept, all.too_big, all.words, all.shared);
	assert_int_equal(all.wrong, 0);
	assert_true(all.too_big * 1000 <= want);
	assert_true(all.changed > all.done / 2);
	assert_true(all.calls > all.done / 50);
	assert_true(all.records > all.done / 50);
	assert_true(all.tables > all.done / 50);
	assert_true(all.shared > all.done / 20);
}

/* ---- wrong on purpose ---- */

/* Each changes the instruction at the offset, if it is of its kind. */
static bool condition_inverted(struct ki_long_code *c, uint16_t off)
{
	uint8_t *p = c->code + off;

	if ((*p & 0xf0) == 0x70)
		*p ^= 1;
	else if (*p == 0x0f && (p[1] & 0xf0) == 0x80)
		p[1] ^= 1;
	else
		return false;
	return true;
}

static bool another_of(struct ki_long_code *c, uint32_t off, enum ki_fixup_kind kind)
{
	for (uint32_t i = 0; i < c->nfix; i++)
		if (c->fix[i].off >= off && c->fix[i].off < off + 8 && c->fix[i].kind == kind &&
		    c->fix[i].target < 7) {
			c->fix[i].target ^= 1;
			return true;
		}
	return false;
}

static bool another_variable(struct ki_long_code *c, uint16_t off)
{
	return another_of(c, off, KI_FIX_PERCPU);
}

static bool another_word(struct ki_long_code *c, uint16_t off)
{
	return another_of(c, off, KI_FIX_WORD);
}

static bool flags_forgotten(struct ki_long_code *c, uint16_t off)
{
	if (c->code[off] != 0x9e)
		return false;
	c->code[off] = 0x90;
	return true;
}

static bool wrong_register_popped(struct ki_long_code *c, uint16_t off)
{
	if ((c->code[off] & 0xf8) != 0x58 || c->code[off] == 0x5c)
		return false;
	c->code[off] ^= 1;
	return c->code[off] != 0x5c;
}

static bool another_operation(struct ki_long_code *c, uint16_t off)
{
	uint8_t *p = c->code + off;

	p += *p == 0x65;
	p += (*p & 0xf0) == 0x40;
	if (*p != 0x01 && *p != 0x03 && *p != 0x29 && *p != 0x2b)
		return false;
	*p ^= 0x28;
	return true;
}

static const struct lie {
	const char *what;
	bool (*tell)(struct ki_long_code *c, uint16_t off);
	unsigned int least; /* percent that are noticed */
} lies[] = {
	{"a condition inverted", condition_inverted, 30},
	{"the neighbouring variable", another_variable, 20},
	{"the neighbouring word", another_word, 12},
	{"flags that are not brought back", flags_forgotten, 70},
	{"another register popped", wrong_register_popped, 45},
	{"added for subtracted", another_operation, 12},
};

/* Wrong code may go anywhere but out of itself: only what the checker lets pass is run. */
static bool tell(const struct lie *lie, struct snip_case *c, struct ki_long_code *code,
		 bool *noticed)
{
	static uint16_t offs[INSNS];
	unsigned int n = vet_offsets(code, offs, INSNS);
	unsigned int first = n ? (unsigned int)(exec_random() >> 33) % n : 0;

	for (unsigned int i = 0; i < n; i++) {
		if (!lie->tell(code, offs[(first + i) % n]))
			continue;
		*noticed = vet_long(code, SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD) ||
			   snip_run(c, code);
		return true;
	}
	return false;
}

static unsigned int count_noticed(const struct lie *lie)
{
	static struct snip_case c;
	unsigned int told = 0, noticed = 0;

	for (unsigned int i = 0; told < PER_LIE && i < 100 * PER_LIE; i++) {
		struct ki_long_code code;
		struct ki_snippet *s;
		bool seen = false;

		snip_case_make(&c);
		s = snip_random(&c, 1 + i % NODES);
		if (!ki_snippet_compile(s, &c.site, &code, NULL) && !snip_interpret(&c, s) &&
		    tell(lie, &c, &code, &seen)) {
			told++;
			noticed += seen;
		}
		ki_long_code_free(&code);
		ki_snippet_free(s);
	}
	assert_int_equal(told, PER_LIE);
	return noticed;
}

static void mistakes_are_noticed(void **state)
{
	(void)state;
	exec_seed(seed);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		unsigned int noticed = count_noticed(&lies[i]);

		print_message("%s: %u of %u noticed\n", lies[i].what, noticed, PER_LIE);
		assert_true(noticed * 100 >= lies[i].least * PER_LIE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million),
		cmocka_unit_test(mistakes_are_noticed),
	};
	const char *s = getenv("KI_SEED");

	seed = s ? strtoull(s, NULL, 0) : 1;
	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
