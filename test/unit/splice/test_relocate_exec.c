// SPDX-License-Identifier: GPL-2.0-only
/*
 * A million random instructions through the relocator: each is executed where it stands, and as
 * its relocated copy elsewhere, from the same state, and must leave the same (common_both.h).
 * Every opcode form that the decoder knows and that real code uses takes part, and every kind of
 * branch in all its widths; what cannot be executed by an ordinary process is counted, by reason,
 * and may not be much. Then relocation is made wrong on purpose, to see that it is noticed.
 *
 * KI_SEED: another million. KI_RELOCATIONS: how many instead.
 *
 * promise: K12: A million random instructions do the same in the text and as relocated copies.
 *   [test_execute.c, test_relocate.c, test_copy.c, copies.sh]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common_both.h"
#include "common_image.h"
#include "kerninst/splice.h"

#ifdef __SANITIZE_ADDRESS__
#define RELOCATIONS 50000
#else
#define RELOCATIONS 1000000
#endif

#define BATCH	  64
#define GIVE_UP	  3	/* times that a form is not of this CPU, and we believe it */
#define STRIDE	  99991 /* from form to form; a prime, so that each has its turn */
#define PER_LIE	  400	/* cases in which relocation is made wrong in one way */
#define KINDS	  (KI_INSN_BAD + 1)
#define SIGNALS	  32
#define WHY_KINDS 24

struct count {
	const char *why;
	uint64_t n;
};

static struct tally {
	uint64_t executed, rip, segment, wrong;
	uint64_t kind[KINDS], way[KINDS][2], signal[SIGNALS];
	uint64_t refused[KI_R_COUNT];
	struct count left_out[WHY_KINDS];
} all;

static struct forms forms;
static uint8_t *missing; /* for each form: how often this CPU did not know it */
static size_t next_form;
static struct case_world world;
static uint64_t seed;

static void leave_out(struct tally *t, const char *why)
{
	size_t i = 0;

	while (t->left_out[i].why && strcmp(t->left_out[i].why, why) != 0)
		i++;
	assert_true(i < WHY_KINDS - 1);
	t->left_out[i].why = why;
	t->left_out[i].n++;
}

/* A random instruction at the next place, and the number of its form, or SIZE_MAX. */
static bool make(struct insn_case *c, size_t *form, struct tally *t)
{
	const char *why = NULL;

	*form = SIZE_MAX;
	c->addr = both_next();
	if (!(exec_random() >> 40 & 3)) {
		if (!case_branch(c, &world, &why))
			leave_out(t, why);
		return !why;
	}
	next_form += STRIDE;
	*form = next_form % forms.n;
	if (missing[*form] >= GIVE_UP)
		why = "not of this CPU";
	else
		case_from_form(c, &forms.v[*form], &world, &why);
	if (why)
		leave_out(t, why);
	return !why;
}

static void note(struct tally *t, const struct insn_case *c, const struct both *b)
{
	t->executed++;
	t->kind[c->in.kind]++;
	t->way[c->in.kind][b->pad == PAD_TAKEN]++;
	t->rip += (c->in.flags & KI_INSN_RIP) != 0;
	t->segment += (c->info.z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS) != 0;
	t->signal[b->signal % SIGNALS]++;
}

static void complain(struct tally *t, const struct insn_case *c, const struct both *b)
{
	ZydisFormatter fmt;
	char text[128];

	if (t->wrong++ >= 40)
		return;
	ZydisFormatterInit(&fmt, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterFormatInstruction(&fmt, &c->info.z, c->info.ops,
					c->info.z.operand_count_visible, text, sizeof(text),
					c->addr, NULL);
	for (unsigned int k = 0; k < c->len; k++)
		print_error("%02x ", c->bytes[k]);
	print_error("at 0x%" PRIx64 ": %s: %s (signal %d)\n", c->addr, text, b->what, b->signal);
}

/* Is what a refusal says true, where that can be seen? */
static bool is_justified(const struct insn_case *c, unsigned int reason)
{
	uint64_t attributes = c->info.z.attributes;
	const ZydisDecodedOperand *o = c->info.ops;

	switch (reason) {
	case KI_R_TOO_FAR:
		return c->in.flags & KI_INSN_RIP && c->info.z.address_width == 32;
	case KI_R_UNDECODABLE:
		return c->taken && memchr(c->bytes, 0x66, c->len);
	case KI_R_LOOP_INSN:
		return c->in.kind == KI_INSN_LOOP &&
		       (memchr(c->bytes, 0xf2, c->len) || memchr(c->bytes, 0xf3, c->len));
	case KI_R_STACK_CALL:
		return (c->in.kind == KI_INSN_CALL && c->taken == c->addr + c->len) ||
		       (c->in.kind == KI_INSN_CALL_INDIRECT &&
			(o->mem.base == ZYDIS_REGISTER_RSP || o->mem.base == ZYDIS_REGISTER_ESP ||
			 o->reg.value == ZYDIS_REGISTER_RSP ||
			 attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE));
	default:
		return c->in.kind == KI_INSN_PLAIN;
	}
}

static void try_one(struct tally *t)
{
	struct insn_case c;
	struct ki_copy copy;
	struct both b;
	unsigned int reason;
	size_t form;

	if (!make(&c, &form, t))
		return;
	reason = ki_relocate(&c.in, c.bytes, &copy);
	if (reason) {
		t->refused[reason]++;
		if (!is_justified(&c, reason)) {
			b = (struct both){.what = ki_reason_tag(reason)};
			complain(t, &c, &b);
		}
		return;
	}
	if (!both_run(&c, &copy, &b)) {
		leave_out(t, "its operand is out of the copy's reach");
		return;
	}
	if (form != SIZE_MAX && b.signal == SIGILL)
		missing[form]++;
	if (b.what && both_unstable(&c)) {
		leave_out(t, "different each time");
		return;
	}
	note(t, &c, &b);
	if (b.what)
		complain(t, &c, &b);
}

static void report(const struct tally *t, uint64_t tried)
{
	static const char *const names[KINDS] = {
		"falls through", "jcc",	  "jmp",  "jmp indirect", "call", "call indirect",
		"return",	 "loops", "trap", "padding",	  "bad"};

	print_message("seed %" PRIu64 ": %" PRIu64 " instructions executed both ways, of %" PRIu64
		      " made up from %zu forms; %" PRIu64 " differ\n",
		      seed, t->executed, tried, forms.n, t->wrong);
	for (int i = 0; i < KINDS; i++)
		if (t->kind[i])
			print_message("  %9" PRIu64 " %s, %" PRIu64
				      " of them went to their target\n",
				      t->kind[i], names[i], t->way[i][1]);
	print_message("  %9" PRIu64 " with an operand relative to rip, %" PRIu64 " in gs\n", t->rip,
		      t->segment);
	for (int i = 1; i < SIGNALS; i++)
		if (t->signal[i])
			print_message("  %9" PRIu64 " faulted alike: %s\n", t->signal[i],
				      strsignal(i));
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (t->refused[r])
			print_message("  %9" PRIu64 " refused: %s\n", t->refused[r],
				      ki_reason_tag(r));
	for (size_t i = 0; t->left_out[i].why; i++)
		print_message("  %9" PRIu64 " left out: %s\n", t->left_out[i].n,
			      t->left_out[i].why);
}

static void collect_forms(void **state)
{
	const char *s = getenv("KI_SEED");

	(void)state;
	seed = s ? strtoull(s, NULL, 0) : 1;
	exec_seed(seed);
	forms_from_tables(&forms);
#ifndef __SANITIZE_ADDRESS__
	image_libraries(forms_from_code, &forms);
	image_kernel(forms_from_code, &forms);
#endif
	missing = calloc(forms.n, 1);
	assert_non_null(missing);
	next_form = exec_random() % forms.n;
}

/* ---- what may be left out ---- */

/* Of 100,000 that were made up, at most so many; for any other reason, none. */
static const struct {
	unsigned int reason; /* of the relocator's refusal, or */
	const char *why;
	unsigned int most;
} bounds[] = {
	{KI_R_UNDECODABLE, NULL, 2500}, /* branches with 66 */
	{KI_R_LOOP_INSN, NULL, 800},	/* with f2, f3 */
	{KI_R_PRIVILEGED_INSN, NULL, 2500},
	{KI_R_TOO_FAR, NULL, 2000}, /* eip */
	{KI_R_STACK_CALL, NULL, 400},
	{KI_R_STI, NULL, 300},
	{0, "not of this CPU", 50000},
	{0, "loads a segment", 1000},
	{0, "fs, where it cannot be reached", 400},
	{0, "a bit far away", 200},
	{0, "clock or random", 200},
	{0, "loads all state", 200},
	{0, "segments", 100},
	{0, "protection keys", 10},
	{0, "its operand is out of the copy's reach", 20},
	{0, "different each time", 3},
};

static unsigned int most_of(unsigned int reason, const char *why)
{
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++)
		if (why ? bounds[i].why && !strcmp(bounds[i].why, why) : bounds[i].reason == reason)
			return bounds[i].most;
	return 0;
}

static void check_bounds(const struct tally *t, uint64_t tried)
{
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (t->refused[r] * 100000 > tried * most_of(r, NULL))
			fail_msg("too many refused: %s", ki_reason_tag(r));
	for (size_t i = 0; t->left_out[i].why; i++)
		if (t->left_out[i].n * 100000 > tried * most_of(0, t->left_out[i].why))
			fail_msg("too many left out: %s", t->left_out[i].why);
}

/* Enough of each kind, with either outcome. */
static void check_kinds(const struct tally *t)
{
	static const uint8_t branches[] = {
		KI_INSN_JCC,	       KI_INSN_JMP, KI_INSN_JMP_INDIRECT, KI_INSN_CALL,
		KI_INSN_CALL_INDIRECT, KI_INSN_RET, KI_INSN_LOOP,	  KI_INSN_TRAP};
	static const uint8_t either[] = {KI_INSN_JCC, KI_INSN_LOOP};
	uint64_t faults = t->executed - t->signal[0];

	for (size_t i = 0; i < sizeof(branches); i++)
		if (t->kind[branches[i]] < t->executed / 200)
			fail_msg("too few of kind %u", branches[i]);
	for (size_t i = 0; i < sizeof(either); i++)
		for (int taken = 0; taken < 2; taken++)
			assert_true(t->way[either[i]][taken] > t->kind[either[i]] / 5);
	assert_true(t->rip > t->executed / 10);
	assert_true(t->segment > t->executed / 500);
	assert_true(faults < t->executed / 10);
}

static void a_million(void **state)
{
	const char *s = getenv("KI_RELOCATIONS");
	uint64_t want = s ? strtoull(s, NULL, 0) : RELOCATIONS, tried = 0;

	(void)state;
	both_init(&world);
	for (; all.executed < want && tried < 3 * want + 1000; tried++) {
		if (tried % BATCH == 0)
			both_refill();
		try_one(&all);
	}
	report(&all, tried);
	assert_int_equal(all.wrong, 0);
	assert_true(all.executed >= want);
	check_bounds(&all, tried);
	check_kinds(&all);
}

/* ---- wrong on purpose ---- */

static bool past_the_data(const struct insn_case *c, struct ki_copy *copy)
{
	copy->fix[copy->nfix - 1].target++;
	return c->in.flags & KI_INSN_RIP;
}

static bool as_it_was(const struct insn_case *c, struct ki_copy *copy)
{
	memcpy(copy->code, c->bytes, c->len);
	copy->nfix = 0;
	return c->in.flags & KI_INSN_RIP && c->in.kind == KI_INSN_PLAIN;
}

static bool tail_forgotten(const struct insn_case *c, struct ki_copy *copy)
{
	copy->fix[0].tail = 0;
	return c->in.tail;
}

static bool before_the_target(const struct insn_case *c, struct ki_copy *copy)
{
	copy->fix[copy->nfix - 1].target--;
	return c->in.kind != KI_INSN_PLAIN && !(c->in.flags & KI_INSN_RIP) &&
	       copy->fix[copy->nfix - 1].kind == KI_FIX_REL32;
}

static bool condition_inverted(const struct insn_case *c, struct ki_copy *copy)
{
	copy->code[1] ^= 1;
	return c->in.kind == KI_INSN_JCC;
}

static bool loop_never_taken(const struct insn_case *c, struct ki_copy *copy)
{
	copy->code[copy->len - 8] = 0;
	return c->in.kind == KI_INSN_LOOP;
}

static bool loop_by_all_of_rcx(const struct insn_case *c, struct ki_copy *copy)
{
	bool is = c->in.kind == KI_INSN_LOOP && copy->code[0] == 0x67;

	copy->code[0] = 0x2e;
	return is;
}

static bool is_call(const struct insn_case *c)
{
	return c->in.kind == KI_INSN_CALL || c->in.kind == KI_INSN_CALL_INDIRECT;
}

static bool another_return(const struct insn_case *c, struct ki_copy *copy)
{
	copy->fix[0].target++;
	return is_call(c);
}

static bool return_into_the_patch(const struct insn_case *c, struct ki_copy *copy)
{
	if (c->in.kind != KI_INSN_CALL)
		return false;
	*copy = (struct ki_copy){.len = 5, .nfix = 1, .code = {0xe8}, .fix = {copy->fix[1]}};
	copy->fix[0].off = 1;
	return true;
}

static bool call_twice(const struct insn_case *c, struct ki_copy *copy)
{
	copy->code[5 + c->info.z.raw.modrm.offset] ^= 6 << 3; /* jmp becomes call */
	return c->in.kind == KI_INSN_CALL_INDIRECT;
}

static bool another_number(const struct insn_case *c, struct ki_copy *copy)
{
	if (c->in.kind != KI_INSN_PLAIN || !c->info.z.raw.imm[0].size)
		return false;
	copy->code[c->info.z.raw.imm[0].offset] ^= 1;
	return true;
}

static const struct lie {
	const char *what;
	bool (*tell)(const struct insn_case *c, struct ki_copy *copy);
	unsigned int least; /* percent that are noticed */
} lies[] = {
	{"an operand relative to rip, one byte on", past_the_data, 70},
	{"a displacement as it was", as_it_was, 80},
	{"an immediate behind a displacement forgotten", tail_forgotten, 70},
	{"a branch to one byte before its target", before_the_target, 40},
	{"a condition inverted", condition_inverted, 70},
	{"a loop that is never taken", loop_never_taken, 20},
	{"jecxz for jrcxz", loop_by_all_of_rcx, 20},
	{"another return address", another_return, 99},
	{"a return address in the patch", return_into_the_patch, 99},
	{"a call that pushes twice", call_twice, 99},
	{"another immediate", another_number, 50},
};

/* Told PER_LIE times: in how many is it noticed? */
static unsigned int count_noticed(const struct lie *lie)
{
	struct tally t = {0};
	unsigned int told = 0, noticed = 0;

	for (unsigned int i = 0; told < PER_LIE && i < 1000 * PER_LIE; i++) {
		struct insn_case c;
		struct ki_copy copy;
		struct both b;
		size_t form;

		if (i % BATCH == 0)
			both_refill();
		if (!make(&c, &form, &t) || ki_relocate(&c.in, c.bytes, &copy) || !copy.len ||
		    (!copy.nfix && lie->tell != another_number && lie->tell != loop_never_taken))
			continue;
		if (!lie->tell(&c, &copy) || !both_run(&c, &copy, &b) || b.signal)
			continue;
		told++;
		noticed += b.what != NULL;
	}
	assert_int_equal(told, PER_LIE);
	return noticed;
}

static void mistakes_are_noticed(void **state)
{
	(void)state;
	both_init(&world);
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		unsigned int noticed = count_noticed(&lies[i]);

		print_message("%s: %u of %u noticed\n", lies[i].what, noticed, PER_LIE);
		assert_true(noticed * 100 >= lies[i].least * PER_LIE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collect_forms),
		cmocka_unit_test(mistakes_are_noticed),
		cmocka_unit_test(a_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
