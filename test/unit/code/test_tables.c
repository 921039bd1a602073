/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jump tables whose address the code in front of the jump does not tell, in programs; and such as
 * libraries' assembly has.
 * promise: K6: In programs jumps by tables kept in registers are followed, if all code is reached.
 */
#include "common_code.h"

#include <stdlib.h>
#include <string.h>

#define PROGRAM 0x400000ull
#define TABLE	64 /* where it stands */
#define FAR	0x7fffffff

struct jump {
	const char *what;
	uint64_t base;
	uint8_t code[TABLE];
	size_t scale;
	int64_t entries[4]; /* from the function's start, of 8 bytes; or as they stand */
	unsigned int reason, ways;
};

/* push; lea T, rbx; jmp 12; 10: pop; ret; 12: mov (rbx,rdi,8), rdx; jmp *rdx; 18: jmp 12 */
#define KEPT                                                                                       \
	{                                                                                          \
		0x53, 0x48, 0x8d, 0x1d, TABLE - 8, 0, 0, 0, 0xeb, 0x02, 0x5b, 0xc3, 0x48, 0x8b,    \
			0x14, 0xfb, 0xff, 0xe2, 0xeb, 0xf8                                         \
	}
/* push; lea T, rbx; lea 19, rcx; jmp 19; 17: pop; ret; 19: movslq (rbx,rdi,4), rax;
   add rcx, rax; jmp *rax; 28: jmp 19 */
#define APART                                                                                      \
	{                                                                                          \
		0x53, 0x48, 0x8d, 0x1d, TABLE - 8, 0, 0, 0, 0x48, 0x8d, 0x0d, 4, 0, 0, 0, 0xeb,    \
			0x02, 0x5b, 0xc3, 0x48, 0x63, 0x04, 0xbb, 0x48, 0x01, 0xc8, 0xff, 0xe0,    \
			0xeb, 0xf5                                                                 \
	}
/* push; lea 13, rax; inc edi; jmp *rax; nop; 13: pop; ret */
#define LABEL                                                                                      \
	{                                                                                          \
		0x53, 0x48, 0x8d, 0x05, 5, 0, 0, 0, 0xff, 0xc7, 0xff, 0xe0, 0x90, 0x5b, 0xc3       \
	}
/* lea T, r10; movslq (r10,rdi,4), r9; lea (r10,r9), r10; jmp *r10; 18: ret; 19: jmp 18 */
#define LIBRARY                                                                                    \
	{                                                                                          \
		0x4c, 0x8d, 0x15, TABLE - 7, 0, 0, 0, 0x4d, 0x63, 0x0c, 0xba, 0x4f, 0x8d, 0x14,    \
			0x0a, 0x41, 0xff, 0xe2, 0xc3, 0xeb, 0xfd                                   \
	}
/* jmp *(T); push; ud2 */
#define LINKAGE                                                                                    \
	{                                                                                          \
		0xff, 0x25, TABLE - 6, 0, 0, 0, 0x68, 1, 0, 0, 0, 0x0f, 0x0b, 0xcc, 0xcc, 0xcc     \
	}
/* and 1, edi; shl 3, edi; lea 24, rax; add rdi, rax; jmp *rax; ...; 24: mov edi, eax; ret; ...; 32:
   ret. What comes after the lea, and how long the mask's operand is, can be others. */
#define PIECES(size, mask, shift, skip, more)                                                      \
	{                                                                                          \
		size, 0x83, 0xe7, mask, 0xc1, 0xe7, shift, 0x48, 0x8d, 0x05, 10, 0, 0, 0, 0x48,    \
			0x01, 0xf8, 0xff, 0xe0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x89, 0xf8, skip,    \
			more, 0x90, 0x90, 0x90, 0x90, 0xc3                                         \
	}
/* push; shl rdi; lea T, rax; add rdi, rax; jmp *rax; pop; ret */
#define BY_SIZE                                                                                    \
	{                                                                                          \
		0x53, 0x48, 0xd1, 0xe7, 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0x48, 0xd1, 0xe0, 0xff,      \
			0xe0, 0x5b, 0xc3                                                           \
	}

static const struct jump jumps[] = {
	{"kept in a register", PROGRAM, KEPT, 8, {10, 12, 18, FAR}, KI_R_OK, 3},
	{"in a kernel", BASE, KEPT, 8, {10, 12, 18, FAR}, KI_R_COMPUTED_GOTO, 0},
	{"not all code is reached", PROGRAM, KEPT, 8, {10, 12, FAR}, KI_R_COMPUTED_GOTO, 0},
	{"into an instruction", PROGRAM, KEPT, 8, {13, 12, 18}, KI_R_COMPUTED_GOTO, 0},
	{"from a label", PROGRAM, APART, 4, {17 - 19, 0, 28 - 19, FAR}, KI_R_OK, 3},
	{"to a label", PROGRAM, LABEL, 8, {FAR}, KI_R_OK, 1},
	{"a sum by lea", BASE, LIBRARY, 4, {18 - TABLE, 19 - TABLE, FAR, FAR}, KI_R_OK, 2},
	{"linkage that is not bound", PROGRAM, LINKAGE, 8, {6}, KI_R_OK, 0},
	{"linkage that is bound", PROGRAM, LINKAGE, 8, {TABLE}, KI_R_OK, 0},
	{"pieces of code", PROGRAM, PIECES(0x3e, 1, 3, 0xc3, 0x90), 8, {FAR}, KI_R_OK, 2},
	{"of a kernel", BASE, PIECES(0x3e, 1, 3, 0xc3, 0x90), 8, {FAR}, KI_R_OK, 2},
	{"more than there are",
	 PROGRAM,
	 PIECES(0x3e, 3, 3, 0xc3, 0x90),
	 8,
	 {FAR},
	 KI_R_COMPUTED_GOTO,
	 0},
	{"into an instruction",
	 PROGRAM,
	 PIECES(0x3e, 3, 0, 0xc3, 0x90),
	 8,
	 {FAR},
	 KI_R_COMPUTED_GOTO,
	 0},
	{"half an index", PROGRAM, PIECES(0x66, 1, 3, 0xc3, 0x90), 8, {FAR}, KI_R_COMPUTED_GOTO, 0},
	/* 26: jmp 4, to the shift */
	{"without the mask",
	 PROGRAM,
	 PIECES(0x3e, 1, 3, 0xeb, 0xe8),
	 8,
	 {FAR},
	 KI_R_COMPUTED_GOTO,
	 0},
	{"no table", PROGRAM, BY_SIZE, 8, {FAR}, KI_R_COMPUTED_GOTO, 0},
};

static void put_table(const struct jump *j, uint8_t *to)
{
	for (size_t i = 0; i < 4; i++) {
		int64_t entry = j->entries[i];

		if (j->scale == 8)
			entry = entry == FAR ? 1 : (int64_t)j->base + entry;
		memcpy(to + i * j->scale, &entry, j->scale);
	}
}

static void jumps_by_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		const struct jump *j = &jumps[i];
		/* Without a name it could be a cold part. */
		const char *name = strstr(j->what, "linkage") ? "sub_400000" : "f";
		const struct ki_symbol s[] = {
			{.addr = j->base, .name = name},
			{.addr = j->base + (name[0] == 's' ? 16 : TABLE), .name = "data"}};
		uint8_t bytes[2 * TABLE];
		struct text x = {.m = {.kind = KI_TARGET_IMAGE,
				       .base = j->base,
				       .bytes = bytes,
				       .len = sizeof(bytes),
				       .symbols = s,
				       .nsymbols = 2}};
		unsigned int ways = 0;

		memset(bytes, 0xcc, sizeof(bytes));
		memcpy(bytes, j->code, TABLE);
		for (size_t k = TABLE; k && !bytes[k - 1]; k--)
			bytes[k - 1] = 0xcc;
		put_table(j, bytes + TABLE);
		open_text(&x);
		look_at(&x, name);
		for (uint32_t e = 0; e < x.fn->nedges; e++)
			ways += x.fn->edges[e].kind == KI_EDGE_TABLE;
		if (j->entries[0] == 6)
			assert_int_equal(at(&x, 6)->block_start, 1);
		if (x.fn->reason != j->reason || (!j->reason && ways != j->ways))
			fail_msg("%s: reason %u, %u ways", j->what, x.fn->reason, ways);
		close_text(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(jumps_by_tables)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
