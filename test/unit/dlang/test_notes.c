// SPDX-License-Identifier: GPL-2.0-only
/* Notes about probes that are written into programs; and such that are cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dlang/probe/notes.h"

#define MOST 8

__asm__("	.section .rodata.notes, \"a\"\n"
	"	.macro note owner, type\n"
	"	.balign 4\n"
	"	.4byte 2f-1f, 4f-3f, \\type\n"
	"1:	.asciz \"\\owner\"\n"
	"2:	.balign 4\n"
	"3:\n"
	"	.endm\n"
	"	.macro note_end\n"
	"4:	.balign 4\n"
	"	.endm\n"
	"	.global test_notes, test_notes_end\n"
	"	.hidden test_notes, test_notes_end\n"
	"	.balign 8\n"
	"test_notes:\n"
	"	note stapsdt, 3\n"
	"	.8byte 0x1000, 0x2000, 0x3000\n"
	"	.asciz \"old\", \"step\", \"-4@%eax 8@$5\"\n"
	"	note_end\n"
	"	note usdt, 1\n"
	"	.8byte 0x1001, 0x4000\n"
	"	.asciz \"new\", \"a__b\"\n"
	"	.byte 2\n"
	"	.asciz \"-4@$10 8@%rcx\"\n"
	"	note_end\n"
	"	note usdt, 2\n"
	"	.8byte 0x1002, 0x4008\n"
	"	.asciz \"new\", \"a__b\"\n"
	"	.byte 1\n"
	"	.asciz \"8@%rbx\"\n"
	"	note_end\n"
	"	note usdt, 3\n" /* of no kind that there is */
	"	.8byte 0x1003, 0x4000\n"
	"	.asciz \"new\", \"other\"\n"
	"	.byte 0, 0\n"
	"	note_end\n"
	"	note prov, 1\n"
	"	.asciz \"new\"\n"
	"	.balign 4\n"
	"	.4byte 1, 2, 3, 4, 5, 3\n"
	"	.asciz \"empty\"\n"
	"	.byte 0, 0\n"
	"	.balign 4\n"
	"	.asciz \"a-b\"\n"
	"	.byte 2\n"
	"	.asciz \"int\", \"char *\"\n"
	"	.byte 3\n"
	"	.asciz \"char *\"\n"
	"	.byte 1\n"
	"	.asciz \"int\"\n"
	"	.byte 0\n"
	"	.asciz \"int\"\n"
	"	.byte 0\n"
	"	.balign 4\n"
	"	.asciz \"hidden\"\n"
	"	.byte 1\n"
	"	.asciz \"int\"\n"
	"	.byte 0\n"
	"	note_end\n"
	"	note dver, 1\n"
	"	.asciz \"1.0\"\n"
	"	note_end\n"
	"test_notes_end:\n"
	"	.previous\n");

extern const uint8_t test_notes[], test_notes_end[];

struct told {
	unsigned int n;
	struct ki_d_note v[MOST];
};

static int keep(void *arg, const struct ki_d_note *n)
{
	struct told *t = arg;

	assert_true(t->n < MOST);
	t->v[t->n++] = *n;
	return 0;
}

static uint64_t size(void)
{
	return (uint64_t)(test_notes_end - test_notes);
}

static void is_note(const struct ki_d_note *n, const char *provider, const char *name,
		    const char *args)
{
	assert_string_equal(n->provider, provider);
	assert_string_equal(n->name, name);
	assert_string_equal(n->args, args);
}

static void test_each(void **state)
{
	struct told t = {0};

	(void)state;
	assert_int_equal(ki_d_notes_each(test_notes, size(), keep, &t), 0);
	assert_int_equal(t.n, 3);
	is_note(&t.v[0], "old", "step", "-4@%eax 8@$5");
	assert_true(t.v[0].pc == 0x1000 && t.v[0].base == 0x2000 && t.v[0].semaphore == 0x3000);
	assert_true(!t.v[0].function && !t.v[0].asks);
	is_note(&t.v[1], "new", "a__b", "-4@$10 8@%rcx");
	assert_true(t.v[1].pc == 0x1001 && t.v[1].function == 0x4000 && !t.v[1].asks);
	assert_true(!t.v[1].base && !t.v[1].semaphore);
	is_note(&t.v[2], "new", "a__b", "8@%rbx");
	assert_true(t.v[2].pc == 0x1002 && t.v[2].function == 0x4008 && t.v[2].asks);
}

static enum ki_d_notes_have types_of(const char *provider, const char *name, struct ki_d_noted *out)
{
	const struct ki_d_note n = {.provider = provider, .name = name};

	return ki_d_notes_types(test_notes, size(), &n, out);
}

static void test_types(void **state)
{
	static const char *const types[] = {"char *", "int", "int"};
	static const uint8_t from[] = {1, 0, 0};
	struct ki_d_noted noted;

	(void)state;
	assert_int_equal(types_of("new", "a__b", &noted), KI_D_NOTES_TYPES);
	assert_int_equal(noted.own, 2);
	assert_int_equal(noted.n, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_string_equal(noted.args[i].type, types[i]);
		assert_int_equal(noted.args[i].from, from[i]);
	}
	assert_int_equal(types_of("new", "hidden", &noted), KI_D_NOTES_TYPES);
	assert_true(noted.own == 1 && !noted.n);
	assert_int_equal(types_of("new", "empty", &noted), KI_D_NOTES_TYPES);
	assert_true(!noted.own && !noted.n);
	assert_int_equal(types_of("new", "a_b", &noted), KI_D_NOTES_OTHERS);
	assert_int_equal(types_of("new", "a__", &noted), KI_D_NOTES_OTHERS);
	assert_int_equal(types_of("old", "step", &noted), KI_D_NOTES_NOTHING);
}

/* Each beginning of the notes in memory of its own: nothing behind it is read. */
static void test_cut(void **state)
{
	const struct ki_d_note hidden = {.provider = "new", .name = "hidden"};
	uint64_t least = 0;

	(void)state;
	for (uint64_t len = 1; len < size(); len++) {
		uint8_t *part = malloc(len);
		struct ki_d_noted noted;
		struct told t = {0};

		assert_non_null(part);
		memcpy(part, test_notes, len);
		assert_int_equal(ki_d_notes_each(part, len, keep, &t), 0);
		assert_true(t.n <= 3);
		if (ki_d_notes_types(part, len, &hidden, &noted) == KI_D_NOTES_TYPES && !least)
			least = len;
		free(part);
	}
	assert_int_equal(least, size() - 24); /* the last note says nothing of it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
