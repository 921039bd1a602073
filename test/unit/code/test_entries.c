/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries into the middle of functions, from the code of others.
 */
#include "common_code.h"

#include <string.h>

/* f at 0, g at 64, h at 256, up to 512: nops, but for what is put in. */
struct big {
	uint8_t code[512];
	struct text x;
};

static const struct ki_symbol fgh[] = {{.addr = BASE, .name = "f"},
				       {.addr = BASE + 64, .name = "g"},
				       {.addr = BASE + 256, .name = "h"}};

static void big_open(struct big *b)
{
	b->x.m = (struct ki_memory){.kind = KI_TARGET_LIVE,
				    .bytes = b->code,
				    .len = sizeof(b->code),
				    .symbols = fgh,
				    .nsymbols = 3};
	open_text(&b->x);
}

static void put(struct big *b, size_t at_off, const char *hex_bytes, size_t n)
{
	memcpy(b->code + at_off, hex_bytes, n);
}

static void entries_from_other_functions(void **state)
{
	struct big b = {0};

	(void)state;
	memset(b.code, 0x97, sizeof(b.code)); /* xchg edi,eax */
	put(&b, 63, "\xc3", 1);
	put(&b, 255, "\xc3", 1);
	put(&b, 511, "\xc3", 1);
	put(&b, 300, "\xe9\x1f\xff\xff\xff", 5);     /* jmp g+16 */
	put(&b, 310, "\x0f\x84\x24\xff\xff\xff", 6); /* je g+32 */
	put(&b, 320, "\xe8\x2b\xff\xff\xff", 5);     /* call g+48 */
	put(&b, 330, "\x2e\xe9\x40\xff\xff\xff", 6); /* cs jmp g+80 */
	put(&b, 340, "\xb8\xe9\xff\xff\xff", 5);     /* mov eax, 0xffffffe9 */
	put(&b, 350, "\xb8\xe9\x24\xff\xff\xff", 6); /* mov eax, ..24e9; then ff ff: bad */
	put(&b, 356, "\x90", 1);
	put(&b, 400, "\xb8\x97\xe9\xcc\xfe", 5); /* e9 inside a mov: "jmp" g+.. */
	put(&b, 405, "\xff\xc0", 2);
	put(&b, 10, "\xeb\x54", 2);		 /* jmp g+32 again */
	put(&b, 20, "\x74\x50", 2);		 /* je g+38 */
	put(&b, 30, "\xb8\x75\x43\x97\x97", 5);	 /* 75 43 inside a mov: not to g+34 */
	put(&b, 260, "\xe2\xf0", 2);		 /* loop g+182 */
	put(&b, 268, "\xe8\x97\x97\xeb\x90", 5); /* call; its last bytes are not a jmp g+97 */
	big_open(&b);
	look_at(&b.x, "g");
	for (uint64_t off = 0; off < 192; off++) {
		const struct ki_insn *in = at(&b.x, off);
		bool want = off == 0 || off == 16 || off == 32 || off == 38 || off == 48 ||
			    off == 80 || off == 182;

		if (in->block_start != want)
			fail_msg("g+%d: leader %d", (int)off, in->block_start);
	}
	assert_int_equal(b.x.fn->nblocks, 7);
	look_at(&b.x, "h");
	assert_int_equal(at(&b.x, 0)->block_start, 1);
	close_text(&b.x);
}

static void entries_into_instructions(void **state)
{
	struct big b = {0};

	(void)state;
	memset(b.code, 0x97, sizeof(b.code));
	put(&b, 64 + 16, "\xf0\x48\xff\x07", 4); /* lock incq [rdi] */
	put(&b, 300, "\xe9\x20\xff\xff\xff", 5); /* jmp g+17, past the lock */
	big_open(&b);
	look_at(&b.x, "g");
	assert_int_equal(at(&b.x, 16)->reason, KI_R_WINDOW_ENTERED);
	assert_int_equal(at(&b.x, 15)->reason, KI_R_OK);
	close_text(&b.x);
}

static void entries_of_rows(void **state)
{
	static const struct ki_reserved_row r[] = {{BASE + 4, 5, KI_R_JUMP_LABEL, BASE + 70},
						   {BASE + 12, 5, KI_R_EXTABLE, BASE + 80},
						   {BASE + 90, 5, KI_R_EXTABLE, BASE + 100}};
	struct big b = {0};

	(void)state;
	memset(b.code, 0x97, sizeof(b.code));
	b.x.m = (struct ki_memory){.bytes = b.code,
				   .len = sizeof(b.code),
				   .symbols = fgh,
				   .nsymbols = 3,
				   .rows = r,
				   .nrows = 3};
	open_text(&b.x);
	look_at(&b.x, "g");
	assert_int_equal(b.x.fn->nblocks, 4);
	assert_int_equal(at(&b.x, 6)->block_start, 1);
	assert_int_equal(at(&b.x, 16)->block_start, 1);
	assert_int_equal(at(&b.x, 36)->block_start, 1);
	close_text(&b.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_from_other_functions),
		cmocka_unit_test(entries_into_instructions),
		cmocka_unit_test(entries_of_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
