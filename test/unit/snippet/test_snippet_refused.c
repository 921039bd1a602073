// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a long chunk may not contain is refused, by our list (common_vet.c) and by the driver's
 * check (common_drv.c): calls whose words, numbers, strings and stacks are not made sure of.
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

/* Both checks can say no. */
static void what_may_not_be_is_refused(void **state)
{
	static uint8_t hlt[] = {0x90, 0xf4}, inc[] = {0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0};
	static uint8_t pop_rbp[] = {0x55, 0x5d}, back[] = {0x90, 0x74, 0xfd};
	static struct ki_fixup fix = {.kind = KI_FIX_PERCPU, .off = 5, .target = SNIP_COUNTERS};
	const struct ki_long_code bad[] = {
		{.code = hlt, .len = 2},     {.code = pop_rbp, .len = 2},
		{.code = pop_rbp, .len = 1}, {.code = back, .len = 3},
		{.code = inc, .len = 9},     {.code = inc, .len = 9, .fix = &fix, .nfix = 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_non_null(vet_long(&bad[i], SNIP_COUNTERS, SNIP_GLOBALS, SNIP_THREAD));
		assert_int_not_equal(drv_vet_long(bad[i].code, bad[i].len, bad[i].fix, bad[i].nfix,
						  SNIP_COUNTERS, SNIP_GLOBALS),
				     KI_R_OK);
	}
	fix.target--;
	assert_null(vetted(&bad[5]));
}

/* A word of the thread is reached, and then each of the things that make sure of it is missing. */
static const uint8_t reaching[] = {
	0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0,	  0, /* mov %gs:words, %rax */
	0x48, 0x85, 0xc0,			     /* test %rax, %rax */
	0x74, 0x0b,				     /* je after it all */
	0x90, 0x90, 0x90,			     /* nop */
	0x48, 0x83, 0x80, 0,	0,    0, 0, 0x05,    /* addq $5, word(%rax) */
};

static const struct {
	const char *what;
	uint8_t at, len, bytes[5];
	uint32_t fix, target; /* or: this fixup's target is another */
} spoilt[] = {
	{"half of it tested", 9, 1, {0x90}, 0, 0},
	{"another register tested", 11, 1, {0xc9}, 0, 0},
	{"two registers tested", 11, 1, {0xc8}, 0, 0},
	{"compared, not tested", 10, 1, {0x39}, 0, 0},
	{"jne for je", 12, 1, {0x75}, 0, 0},
	{"js for je", 12, 1, {0x78}, 0, 0},
	{"je does not stand behind test", 12, 5, {0x90, 0x74, 0x0a, 0x90, 0x90}, 0, 0},
	{"the other way comes here too", 13, 1, {0x03}, 0, 0},
	{"the other way comes to the first nop", 13, 1, {0x00}, 0, 0},
	{"the register is changed", 14, 3, {0x48, 0xff, 0xc0}, 0, 0},
	{"half of the register is changed", 14, 2, {0x31, 0xc0}, 0, 0},
	{"the clock is in the register", 14, 2, {0x0f, 0x31}, 0, 0},
	{"another word on the stack comes there", 14, 2, {0x51, 0x58}, 0, 0},
	{"another register", 19, 1, {0x81}, 0, 0},
	{"no displacement of 32 bits", 19, 1, {0x40}, 0, 0},
	{"a lock", 16, 1, {0xf0}, 0, 0},
	{"the current task", 0, 0, {0}, 0, KI_SELF_TASK},
	{"the thread's clock", 0, 0, {0}, 0, KI_SELF_CLOCK},
	{"nobody's word", 0, 0, {0}, 1, DRV_WORDS},
};

static unsigned int refusals(uint8_t *bytes, struct ki_fixup *fix)
{
	const struct ki_long_code code = {
		.code = bytes, .len = sizeof(reaching), .fix = fix, .nfix = 2};

	return (vet_long(&code, 1, 1, DRV_WORDS) != NULL) +
	       (drv_vet_long(bytes, sizeof(reaching), fix, 2, 1, 1) != KI_R_OK);
}

static void words_are_made_sure_of(void **state)
{
	const struct ki_fixup own[] = {
		{.kind = KI_FIX_SELF, .off = 5, .target = KI_SELF_WORDS},
		{.kind = KI_FIX_WORD, .off = 20, .target = DRV_WORDS - 1},
	};
	struct ki_fixup fix[2];
	uint8_t bytes[sizeof(reaching)];

	(void)state;
	memcpy(bytes, reaching, sizeof(bytes));
	memcpy(fix, own, sizeof(fix));
	assert_int_equal(refusals(bytes, fix), 0);
	for (size_t i = 0; i < sizeof(spoilt) / sizeof(*spoilt); i++) {
		memcpy(bytes, reaching, sizeof(bytes));
		memcpy(fix, own, sizeof(fix));
		memcpy(bytes + spoilt[i].at, spoilt[i].bytes, spoilt[i].len);
		if (!spoilt[i].len)
			fix[spoilt[i].fix].target = spoilt[i].target;
		if (refusals(bytes, fix) != 2)
			fail_msg("%s: refused by %u of two", spoilt[i].what, refusals(bytes, fix));
	}
}

/* A record of two words, and what may be wrong with its number. */
static const uint8_t recording[] = {
	0x50, 0x51,	     /* push %rax, push %rcx */
	0xbe, 7,    0, 0, 0, /* mov $7, %esi */
	0xbf, 2,    1, 0, 0, /* mov $KI_RECORD(1, 2), %edi */
	0xe8, 0,    0, 0, 0, /* call */
	0x58, 0x58,	     /* pop %rax, pop %rax */
};

static const struct {
	const char *what;
	uint8_t at, len, bytes[5];
} misrecorded[] = {
	{"more words than there are", 8, 1, {3}},
	{"nobody's ring", 9, 1, {3}},
	{"a ring far off", 11, 1, {0x80}},
	{"another register", 7, 1, {0xb9}},
	{"16 bits of it", 6, 5, {0, 0x66, 0xbf, 2, 1}},
	{"something between", 2, 5, {0xbf, 2, 1, 0, 0}},
	{"another register's extension", 6, 5, {0, 0x41, 0xbf, 2, 1}},
};

static unsigned int record_refusals(uint8_t *bytes, size_t len)
{
	struct ki_fixup fix = {.kind = KI_FIX_HELPER, .off = 13, .target = KI_HELPER_RECORD};
	const struct ki_long_code code = {
		.code = bytes, .len = (uint32_t)len, .fix = &fix, .nfix = 1};

	return (vet_long(&code, 1, 1, 1) != NULL) +
	       (drv_vet_long(bytes, (uint32_t)len, &fix, 1, 1, 1) != KI_R_OK);
}

static void records_have_their_number(void **state)
{
	uint8_t bytes[sizeof(recording)];

	(void)state;
	memcpy(bytes, recording, sizeof(bytes));
	assert_int_equal(record_refusals(bytes, sizeof(bytes)), 0);
	for (size_t i = 0; i < sizeof(misrecorded) / sizeof(*misrecorded); i++) {
		memcpy(bytes, recording, sizeof(bytes));
		if (i == 5) /* the two moves change places */
			memcpy(bytes + 7, recording + 2, 5);
		memcpy(bytes + misrecorded[i].at, misrecorded[i].bytes, misrecorded[i].len);
		if (record_refusals(bytes, sizeof(bytes)) != 2)
			fail_msg("%s: refused by %u of two", misrecorded[i].what,
				 record_refusals(bytes, sizeof(bytes)));
	}
	/* a jump leads between the two: je over %esi's and %edi's numbers */
	memmove(bytes + 2, "\x74\x05\xbf\x02\x01\0\0", 7);
	memset(bytes + 9, 0x90, 3);
	assert_int_equal(record_refusals(bytes, sizeof(bytes)), 2);
}

/* A string of two words, and the number of a stack; and what may be wrong with them. */
static const uint8_t calling[] = {
	0x50, 0x51,	     /* push %rax, push %rcx */
	0xbe, 2,    0, 0, 0, /* mov $2, %esi */
	0xe8, 0,    0, 0, 0, /* call */
	0xbf, 3,    2, 0, 0, /* mov $KI_STACK(2, 3), %edi */
	0xe8, 0,    0, 0, 0, /* call */
	0x58, 0x58,	     /* pop %rax, pop %rax */
};

static const struct {
	const char *what;
	uint8_t at, len, bytes[5];
} miscalled[] = {
	{"more words than there are", 3, 1, {3}},
	{"no words", 3, 1, {0}},
	{"words below the stack", 6, 1, {0x80}},
	{"another register", 2, 1, {0xbf}},
	{"16 bits of it", 1, 5, {0, 0x66, 0xbe, 2, 0}},
	{"nobody's table", 14, 1, {3}},
	{"a table far off", 16, 1, {0x80}},
	{"the stack's number in another register", 12, 1, {0xbe}},
	{"the stack's number as 16 bits", 11, 5, {0x90, 0x66, 0xbf, 3, 2}},
};

static unsigned int call_refusals(uint8_t *bytes, unsigned int string, unsigned int stack)
{
	struct ki_fixup fix[] = {{.kind = KI_FIX_HELPER, .off = 8, .target = string},
				 {.kind = KI_FIX_HELPER, .off = 18, .target = stack}};
	const struct ki_long_code code = {
		.code = bytes, .len = sizeof(calling), .fix = fix, .nfix = 2};

	return (vet_long(&code, 1, 1, 1) != NULL) +
	       (drv_vet_long(bytes, sizeof(calling), fix, 2, 1, 1) != KI_R_OK);
}

static void strings_and_stacks_have_theirs(void **state)
{
	uint8_t bytes[sizeof(calling)];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int string = KI_HELPER_STRING + i % 2,
			     stack = i < 2 ? KI_HELPER_STACK + i : (unsigned int)KI_HELPER_DEPTH;

		memcpy(bytes, calling, sizeof(bytes));
		assert_int_equal(call_refusals(bytes, string, stack), 0);
		for (size_t k = 0; k < sizeof(miscalled) / sizeof(*miscalled); k++) {
			memcpy(bytes, calling, sizeof(bytes));
			memcpy(bytes + miscalled[k].at, miscalled[k].bytes, miscalled[k].len);
			if (call_refusals(bytes, string, stack) != 2)
				fail_msg("%s: refused by %u of two", miscalled[k].what,
					 call_refusals(bytes, string, stack));
		}
		/* each one's number does not do for the other */
		memcpy(bytes, calling, sizeof(bytes));
		assert_int_equal(call_refusals(bytes, stack, stack), 2);
		assert_int_equal(call_refusals(bytes, string, string), 2);
	}
	/* a jump leads between the number and the call: je over two pushes */
	memcpy(bytes, calling, sizeof(bytes));
	memcpy(bytes, "\x74\x05\xbe\x02\0\0\0", 7);
	assert_int_equal(call_refusals(bytes, KI_HELPER_STRING, KI_HELPER_STACK), 2);
}

/* A maximum of one of three counters, and what may be wrong with it. */
#define MINMAX_OF_CPU KI_MINMAX(2, KI_MINMAX_CPU, 3, KI_MINMAX_MAX | KI_MINMAX_INDEXED)
static const uint8_t maximizing[] = {
	0x48, 0x83, 0xfa, 2,	/* cmp $2, %rdx */
	0x77, 10,		/* ja */
	0xbf, 0x1d, 1,	  0, 0, /* mov $MINMAX_OF_CPU, %edi */
	0xe8, 0,    0,	  0, 0, /* call */
};
_Static_assert(MINMAX_OF_CPU == 0x11d, "as above");

static const struct {
	const char *what;
	uint8_t at, len, bytes[11];
} misminmax[] = {
	{"an index too far", 3, 1, {3}},
	{"another index", 2, 1, {0xf9}},
	{"half an index", 0, 4, {0x90, 0x83, 0xfa, 2}},
	{"a negative bound", 3, 1, {0x80}},
	{"another condition", 4, 1, {0x73}},
	{"no bounds", 0, 4, {0x90, 0x90, 0x90, 0x90}},
	{"something between", 4, 7, {0x90, 0x77, 9, 0xbf, 0x1d, 1, 0}},
	{"another register", 6, 1, {0xbe}},
	{"a counter far off", 9, 1, {1}},
	{"a global, of which there is one", 7, 1, {0x3d}},
	{"a word with an index", 7, 2, {0x5d, 0}},
	{"nothing there is", 7, 2, {0x79, 0}},
	{"the index's register for the number",
	 0,
	 11,
	 {0x48, 0x83, 0xff, 2, 0x77, 10, 0xbf, 0x1d, 1, 0, 0}},
};

static unsigned int minmax_refusals(uint8_t *bytes)
{
	struct ki_fixup fix = {.kind = KI_FIX_HELPER, .off = 12, .target = KI_HELPER_MINMAX};
	const struct ki_long_code code = {
		.code = bytes, .len = sizeof(maximizing), .fix = &fix, .nfix = 1};

	return (vet_long(&code, 5, 1, 1) != NULL) +
	       (drv_vet_long(bytes, sizeof(maximizing), &fix, 1, 5, 1) != KI_R_OK);
}

static void minmax_have_theirs(void **state)
{
	uint8_t bytes[sizeof(maximizing)];

	(void)state;
	memcpy(bytes, maximizing, sizeof(bytes));
	assert_int_equal(minmax_refusals(bytes), 0);
	for (size_t i = 0; i < sizeof(misminmax) / sizeof(*misminmax); i++) {
		memcpy(bytes, maximizing, sizeof(bytes));
		memcpy(bytes + misminmax[i].at, misminmax[i].bytes, misminmax[i].len);
		if (minmax_refusals(bytes) != 2)
			fail_msg("%s: refused by %u of two", misminmax[i].what,
				 minmax_refusals(bytes));
	}
	/* a global needs no index */
	memcpy(bytes, "\x90\x90\x90\x90\x90\x90\xbf\x39\0\0", 10);
	assert_int_equal(minmax_refusals(bytes), 0);
	bytes[7] = 0xb9; /* the next one is nobody's */
	assert_int_equal(minmax_refusals(bytes), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_may_not_be_is_refused),
		cmocka_unit_test(words_are_made_sure_of),
		cmocka_unit_test(records_have_their_number),
		cmocka_unit_test(strings_and_stacks_have_theirs),
		cmocka_unit_test(minmax_have_theirs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
