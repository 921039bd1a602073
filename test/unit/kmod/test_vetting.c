// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver must not let run, byte by byte: instructions of other encodings that look like
 * one that may, prefixes in numbers and orders that decoders take differently, operands a little
 * beyond what a chunk owns. Beside each stands what is nearly it, and may run: so it is for its
 * difference that it is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "common_drv.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

struct chunk {
	const char *what;
	uint8_t len;
	uint8_t code[20];
	uint8_t kind, off, tail; /* of a fixup; kind 0: there is none */
	uint64_t target;
};

#define BYTES(...)                                                                                 \
	sizeof((const uint8_t[]){__VA_ARGS__}),                                                    \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static unsigned int vet(const struct chunk *c)
{
	const struct ki_fixup f = {
		.kind = c->kind, .off = c->off, .tail = c->tail, .target = c->target};

	return drv_vet_long(c->code, c->len, &f, c->kind != 0, 1, 1);
}

static void all(const struct chunk *c, size_t n, bool may)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		if (!vet(&c[i]) == may)
			continue;
		print_error("%s: %s\n", c[i].what, may ? "refused" : "accepted");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

#define EACH(list, may) all(list, sizeof(list) / sizeof(*(list)), may)

static void other_encodings(void **state)
{
	static const struct chunk may[] = {
		{"push; pop", BYTES(0x50, 0x58)},
		{"push %r8; pop %r8", BYTES(0x41, 0x50, 0x41, 0x58)},
		{"a helper", BYTES(0xe8, 0, 0, 0, 0), KI_FIX_HELPER, 1, 0, KI_HELPER_UID},
	};
	static const struct chunk must_not[] = {
		{"vmovmskps as a push", BYTES(0xc5, 0xf8, 0x50, 0xc0)},
		{"vaddps as a pop", BYTES(0xc5, 0xf8, 0x58, 0xc0)},
		{"vaddps as a pop behind a push", BYTES(0x50, 0xc5, 0xf8, 0x58, 0xc0)},
		{"vsqrtps as the push of a pop", BYTES(0xc5, 0xf8, 0x51, 0xc0, 0x59)},
		{"vaddps of memory as a pop", BYTES(0x50, 0xc5, 0xf8, 0x58, 0x07)},
		{"VEX of 3 bytes as a push", BYTES(0xc4, 0xe1, 0x78, 0x51, 0xc0, 0x59)},
		{"EVEX as a pop", BYTES(0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0)},
		{"EVEX as a pop behind a push", BYTES(0x50, 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0)},
		{"VEX as a call of a helper", BYTES(0xc5, 0xf9, 0xe8, 0xc0, 0x90), KI_FIX_HELPER, 1,
		 0, KI_HELPER_UID},
		{"VEX as an add", BYTES(0xc5, 0xf8, 0x01, 0xc0)},
		{"XOP", BYTES(0x8f, 0xe9, 0x78, 0x01, 0xc8)},
		{"XOP as a push", BYTES(0x8f, 0xe9, 0x78, 0x50, 0xc0)},
		{"REX2 of a push", BYTES(0xd5, 0x00, 0x50, 0x58)},
		{"REX2 of map 1, which is a write of %cr0", BYTES(0xd5, 0x80, 0x22, 0xd8)},
		{"REX2 of an add", BYTES(0xd5, 0x00, 0x01, 0xc0)},
		{"0f 38", BYTES(0x0f, 0x38, 0xf0, 0xc0)},
		{"3DNow!", BYTES(0x0f, 0x0f, 0xc0, 0x50)},
	};

	(void)state;
	EACH(may, true);
	EACH(must_not, false);
}

static void prefixes(void **state)
{
	static const struct chunk may[] = {
		{"nop", BYTES(0x90)},
		{"nop of 2 bytes", BYTES(0x66, 0x90)},
		{"lea", BYTES(0x48, 0x8d, 0x00)},
		{"bswap %eax", BYTES(0x0f, 0xc8)},
		{"bswap %r15", BYTES(0x49, 0x0f, 0xcf)},
		{"locked add", BYTES(0xf0, 0x48, 0xff, 0x05, 0, 0, 0, 0), KI_FIX_GLOBAL, 4},
		{"add of %gs", BYTES(0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0), KI_FIX_PERCPU, 5},
	};
	static const struct chunk must_not[] = {
		{"ud2 for Xen", BYTES(0x0f, 0x0b, 0x78, 0x65, 0x6e, 0x90)},
		{"ud2 for KVM", BYTES(0x0f, 0x0b, 0x6b, 0x76, 0x6d, 0x90)},
		{"5 prefixes", BYTES(0x66, 0x65, 0xf0, 0x66, 0x66, 0x90)},
		{"the same twice", BYTES(0x66, 0x66, 0x90)},
		{"15 prefixes", BYTES(0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
				      0x66, 0x66, 0x66, 0x66, 0x90)},
		{"nothing but prefixes", BYTES(0x66, 0x65, 0xf0)},
		{"nothing but REX", BYTES(0x48)},
		{"REX before a prefix", BYTES(0x48, 0x66, 0x01, 0xc0)},
		{"two REX", BYTES(0x48, 0x48, 0x01, 0xc0)},
		{"pause", BYTES(0xf3, 0x90)},
		{"bswap of 2 bytes", BYTES(0x66, 0x0f, 0xc8)},
		{"bswap with a bit of REX that means nothing", BYTES(0x44, 0x0f, 0xc8)},
		{"bswap %rsp", BYTES(0x48, 0x0f, 0xcc)},
		{"bswap %rbp", BYTES(0x48, 0x0f, 0xcd)},
		{"xchg %r8, %rax", BYTES(0x49, 0x90)},
		{"lea of a register", BYTES(0x48, 0x8d, 0xc0)},
		{"lea of %rip", BYTES(0x48, 0x8d, 0x05, 0, 0, 0, 0)},
		{"lea with %gs", BYTES(0x65, 0x48, 0x8d, 0x00)},
		{"tzcnt", BYTES(0xf3, 0x0f, 0xbc, 0xc0)},
		{"%fs", BYTES(0x64, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0), KI_FIX_PERCPU, 5},
		{"%eip-relative", BYTES(0x67, 0x48, 0xff, 0x05, 0, 0, 0, 0), KI_FIX_GLOBAL, 4},
		{"lock of a register", BYTES(0xf0, 0x48, 0xff, 0xc0)},
		{"lock of %gs", BYTES(0xf0, 0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0),
		 KI_FIX_PERCPU, 6},
		{"lock of a cmp", BYTES(0xf0, 0x48, 0x83, 0x3d, 0, 0, 0, 0, 1), KI_FIX_GLOBAL, 4,
		 1},
		{"call with an operand size", BYTES(0x66, 0xe8, 0, 0, 0, 0), KI_FIX_HELPER, 2, 0,
		 KI_HELPER_UID},
		{"branch with an operand size", BYTES(0x66, 0x74, 0x00)},
		{"push of 2 bytes", BYTES(0x66, 0x50, 0x66, 0x58)},
	};

	(void)state;
	EACH(may, true);
	EACH(must_not, false);
}

static void stack_words(void **state)
{
	static const struct chunk may[] = {
		{"its word", BYTES(0x50, 0x48, 0x89, 0x04, 0x24, 0x58)},
		{"its word, with a long displacement",
		 BYTES(0x50, 0x48, 0x89, 0x84, 0x24, 0, 0, 0, 0, 0x58)},
		{"its second word", BYTES(0x50, 0x50, 0x48, 0x89, 0x44, 0x24, 0x08, 0x58, 0x58)},
		{"its own, across two words",
		 BYTES(0x50, 0x50, 0x48, 0xff, 0x44, 0x24, 0x04, 0x58, 0x58)},
		{"locked", BYTES(0x50, 0x50, 0xf0, 0x48, 0xff, 0x44, 0x24, 0x08, 0x58, 0x58)},
		{"locked, 4 bytes", BYTES(0x50, 0x50, 0xf0, 0xff, 0x44, 0x24, 0x04, 0x58, 0x58)},
	};
	static const struct chunk must_not[] = {
		{"without one", BYTES(0x48, 0x89, 0x04, 0x24)},
		{"one below", BYTES(0x50, 0x48, 0x89, 0x44, 0x24, 0xf8, 0x58)},
		{"one above", BYTES(0x50, 0x48, 0x89, 0x44, 0x24, 0x08, 0x58)},
		{"a byte above", BYTES(0x50, 0x48, 0x89, 0x44, 0x24, 0x01, 0x58)},
		{"2 GiB above, 7ffffff8",
		 BYTES(0x50, 0x48, 0x89, 0x84, 0x24, 0xf8, 0xff, 0xff, 0x7f, 0x58)},
		{"2 GiB above, 7fffffff",
		 BYTES(0x50, 0x48, 0x89, 0x84, 0x24, 0xff, 0xff, 0xff, 0x7f, 0x58)},
		{"2 GiB below", BYTES(0x50, 0x48, 0x89, 0x84, 0x24, 0x00, 0x00, 0x00, 0x80, 0x58)},
		{"locked, across two words",
		 BYTES(0x50, 0x50, 0xf0, 0x48, 0xff, 0x44, 0x24, 0x04, 0x58, 0x58)},
		{"locked, 4 bytes at 2",
		 BYTES(0x50, 0x50, 0xf0, 0xff, 0x44, 0x24, 0x02, 0x58, 0x58)},
		{"locked, 2 bytes at 7",
		 BYTES(0x50, 0x50, 0xf0, 0x66, 0xff, 0x44, 0x24, 0x07, 0x58, 0x58)},
		{"by %r12", BYTES(0x50, 0x49, 0x89, 0x04, 0x24, 0x58)},
		{"with an index", BYTES(0x50, 0x48, 0x89, 0x04, 0x04, 0x58)},
		{"with the index %r12", BYTES(0x50, 0x4a, 0x89, 0x04, 0x24, 0x58)},
		{"pop %rsp", BYTES(0x50, 0x5c)},
		{"pop %rbp", BYTES(0x50, 0x5d)},
		{"push %rsp", BYTES(0x54, 0x58)},
	};

	(void)state;
	EACH(may, true);
	EACH(must_not, false);
}

/* Whatever one byte is, before and after which nothing stands: only these are whole. */
static void single_bytes(void **state)
{
	static const uint8_t whole[] = {0x90, 0x98, 0x9e, 0x9f};
	struct chunk c = {.len = 1};

	(void)state;
	for (unsigned int byte = 0; byte < 256; byte++) {
		c.code[0] = (uint8_t)byte;
		assert_int_equal(!vet(&c), memchr(whole, (int)byte, sizeof(whole)) != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_encodings),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(stack_words),
		cmocka_unit_test(single_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
