// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of kerninst disas: what stands in the text while it is changed.
 */
#include "common_code.h"

#include <string.h>

#include "../../../lib/render/listing.c"

/* A function "f" of `orig`, of which ki_listing_new sees `now`. */
struct changed {
	struct text x;
	uint8_t bytes[64];
	struct ki_listing v;
};

static void look(struct changed *c, const uint8_t *orig, const uint8_t *now, size_t len)
{
	struct ki_err err = {0};

	memcpy(c->bytes, orig, len);
	c->x.m = (struct ki_memory){.kind = KI_TARGET_LIVE, .bytes = c->bytes, .len = len};
	open_text(&c->x);
	look_at(&c->x, "f");
	memcpy(c->bytes, now, len);
	assert_int_equal(
		ki_listing_new(&c->v, c->x.fn, c->x.fn->start, true, KI_SYNTAX_INTEL, &err), 0);
}

static void end(struct changed *c)
{
	ki_listing_free(&c->v);
	close_text(&c->x);
}

static void check_line(const struct changed *c, size_t i, uint64_t off, enum ki_listing_kind kind,
		       const char *text, const char *displaced)
{
	const struct ki_listing_line *l = &c->v.lines.v[i];
	char got[KI_LISTING_TEXT];

	assert_true(i < c->v.lines.n);
	assert_int_equal(l->addr - c->x.fn->start, off);
	assert_int_equal(l->kind, kind);
	ki_listing_text(&c->v, l, got);
	assert_string_equal(got, text);
	ki_listing_displaced(&c->v, l, got);
	assert_string_equal(got, displaced);
}

#define LOOK(c, orig, now) look(c, orig, now, sizeof(orig))

static void springboard_over_three(void **state)
{
	static const uint8_t orig[] = {0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0x5b, 0xc3};
	static const uint8_t now[] = {0xe9, 0xfb, 0x0f, 0, 0, 0x55, 0x5b, 0xc3};
	struct changed c = {0};

	(void)state;
	LOOK(&c, orig, now);
	assert_int_equal(c.v.lines.n, 4);
	check_line(&c, 0, 0, KI_LISTING_CHANGED, "jmp 0xffffffff81001000",
		   "push r15; push r14; push r13");
	check_line(&c, 1, 5, KI_LISTING_REST, "(1 byte of what is displaced)", "");
	check_line(&c, 2, 6, KI_LISTING_SAME, "pop rbx", "");
	check_line(&c, 3, 7, KI_LISTING_SAME, "ret", "");
	assert_int_equal(c.v.lines.v[0].block, 0);
	assert_int_equal(c.v.lines.v[2].block, KI_NONE);
	end(&c);
}

static void breakpoint(void **state)
{
	static const uint8_t orig[] = {0x48, 0x89, 0xf8, 0xc3};
	static const uint8_t now[] = {0xcc, 0x89, 0xf8, 0xc3};
	struct changed c = {0};

	(void)state;
	LOOK(&c, orig, now);
	assert_int_equal(c.v.lines.n, 3);
	check_line(&c, 0, 0, KI_LISTING_CHANGED, "int3", "mov rax, rdi");
	check_line(&c, 1, 1, KI_LISTING_REST, "(2 bytes of what is displaced)", "");
	check_line(&c, 2, 3, KI_LISTING_SAME, "ret", "");
	end(&c);
}

/* The window has taken the filler after the return. */
static void springboard_over_filler(void **state)
{
	static const uint8_t orig[] = {0x31, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc};
	static const uint8_t now[] = {0xe9, 0xfb, 0x0f, 0, 0, 0xcc};
	struct changed c = {0};

	(void)state;
	LOOK(&c, orig, now);
	assert_int_equal(c.v.lines.n, 2);
	check_line(&c, 0, 0, KI_LISTING_CHANGED, "jmp 0xffffffff81001000", "xor eax, eax; ret");
	check_line(&c, 1, 5, KI_LISTING_SAME, "int3", "");
	assert_true(ki_listing_is_padding(&c.v, &c.v.lines.v[1]));
	assert_int_equal(ki_listing_reason(&c.v, &c.v.lines.v[1]), KI_R_NO_CODE);
	end(&c);
}

/* A change that reaches to the very end, in the middle of the last instruction. */
static void to_the_end(void **state)
{
	static const uint8_t orig[] = {0x90, 0xe9, 0xfa, 0x0f, 0, 0};
	static const uint8_t now[] = {0x90, 0xcc, 0xfa, 0x0f, 0, 0};
	struct changed c = {0};

	(void)state;
	LOOK(&c, orig, now);
	assert_int_equal(c.v.lines.n, 3);
	check_line(&c, 1, 1, KI_LISTING_CHANGED, "int3", "jmp 0xffffffff81001000");
	check_line(&c, 2, 2, KI_LISTING_REST, "(4 bytes of what is displaced)", "");
	end(&c);
}

static void jumps_inside_are_offsets(void **state)
{
	static const uint8_t orig[] = {0x48, 0x85, 0xff, 0x74, 0x02, 0xeb, 0xf9, 0xc3};
	static const uint8_t now[] = {0x48, 0x85, 0xff, 0x74, 0x02, 0xeb, 0x00, 0xc3};
	struct changed c = {0};
	char text[KI_LISTING_TEXT];

	(void)state;
	LOOK(&c, orig, now);
	check_line(&c, 1, 3, KI_LISTING_SAME, "je +0x7", "");
	check_line(&c, 2, 5, KI_LISTING_CHANGED, "jmp +0x7", "jmp +0x0");
	ki_listing_free(&c.v);
	memcpy(c.bytes, orig, sizeof(orig));
	assert_int_equal(ki_listing_new(&c.v, c.x.fn, BASE + 3, true, KI_SYNTAX_ATT, NULL), 0);
	assert_int_equal(c.v.lines.n, 3);
	ki_listing_text(&c.v, &c.v.lines.v[1], text);
	assert_string_equal(text, "jmp +0x0");
	end(&c);
}

static void not_a_boundary_is_refused(void **state)
{
	static const uint8_t orig[] = {0x48, 0x85, 0xff, 0xc3};
	struct ki_err err = {0};
	struct changed c = {0};
	struct ki_listing v;

	(void)state;
	LOOK(&c, orig, orig);
	assert_int_equal(ki_listing_new(&v, c.x.fn, BASE + 1, false, KI_SYNTAX_INTEL, &err),
			 -EINVAL);
	assert_int_equal(err.reason, KI_R_NOT_BOUNDARY);
	assert_non_null(strstr(err.msg, "f+0x1"));
	end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(springboard_over_three),
		cmocka_unit_test(breakpoint),
		cmocka_unit_test(springboard_over_filler),
		cmocka_unit_test(to_the_end),
		cmocka_unit_test(jumps_inside_are_offsets),
		cmocka_unit_test(not_a_boundary_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
