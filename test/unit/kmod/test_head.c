// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the driver reads the instructions of a function (kmod/vet/head.c, compiled in here, over the
 * kernel's decoder): what it reads by its table the kernel's decoder reads the same, for each
 * opcode and ModRM with each prefix that the table knows, and for random bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_types.h"

#define KI_SYMBOLS_H
#define ki_call(name)	   name
#define ARRAY_SIZE(a)	   (sizeof(a) / sizeof(*(a)))
#define unlikely(x)	   (x)
#define IS_ENABLED(option) 1
#define BUILD_BUG()	   abort()
#define le32_to_cpu(x)	   (x)
#define le16_to_cpu(x)	   (x)
#define fallthrough	   __attribute__((fallthrough))
#define get_unaligned(p)                                                                           \
	({                                                                                         \
		__typeof__(*(p)) got_;                                                             \
		memcpy(&got_, (p), sizeof(got_));                                                  \
		got_;                                                                              \
	})

/* the kernel is built without these */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wpointer-arith"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "insn.c"
#include "inat.c"

#include "../../../kmod/vet/head.c"

static void fill(uint8_t p[KI_INSN_LONGEST])
{
	for (unsigned int i = 0; i < KI_INSN_LONGEST; i++)
		p[i] = (uint8_t)(random() >> 8);
}

static const uint8_t prefixes[] = {0, 0x66, 0x65, 0x64, 0x2e, 0xf3, 0xf0, 0x67};
static const uint8_t rexes[] = {0, 0x40, 0x41, 0x44, 0x48, 0x4f};

static bool is_branch(const struct ki_head *h)
{
	return h->nopcodes == 2 ? (h->op[1] & 0xf0) == 0x80
				: (h->op[0] & 0xf0) == 0x70 || h->op[0] == 0xe8 ||
					  h->op[0] == 0xe9 || h->op[0] == 0xeb;
}

static bool same(const struct ki_head *a, const struct ki_head *b)
{
	return a->len == b->len && a->prefix == b->prefix && a->rex == b->rex && a->vex == b->vex &&
	       a->nopcodes == b->nopcodes && !memcmp(a->op, b->op, a->nopcodes) &&
	       a->modrm == b->modrm && (!is_branch(a) || a->imm == b->imm);
}

/* Is it read by the table? Then the decoder must say the same of it, and no byte may be missing. */
static bool compare(const uint8_t *p)
{
	struct ki_head ours, theirs;

	if (!ki_head_common(p, KI_INSN_LONGEST, &ours))
		return false;
	if (!ki_head_decode(p, KI_INSN_LONGEST, &theirs) || !same(&ours, &theirs)) {
		print_error("%02x %02x %02x %02x %02x: %u bytes, %u\n", p[0], p[1], p[2], p[3],
			    p[4], ours.len, theirs.len);
		fail();
	}
	assert_true(ki_head_common(p, ours.len, &ours));
	assert_false(ki_head_common(p, ours.len - 1u, &theirs));
	return true;
}

/* One opcode, with all that may stand before and after it: by the table? */
static unsigned int each_modrm(uint8_t prefix, uint8_t rex, unsigned int opcode)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 2 * 256; i++) {
		uint8_t p[KI_INSN_LONGEST];
		unsigned int at = 0;

		fill(p);
		if (prefix)
			p[at++] = prefix;
		if (rex)
			p[at++] = rex;
		if (opcode > 0xff)
			p[at++] = 0x0f;
		p[at++] = (uint8_t)opcode;
		p[at++] = (uint8_t)i;
		if (i > 0xff)
			p[at] = 0x25; /* no base */
		n += compare(p);
	}
	return n;
}

static void each_form(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(prefixes) * sizeof(rexes); i++)
		for (unsigned int opcode = 0; opcode < 0x200; opcode++) {
			const uint8_t prefix = prefixes[i / sizeof(rexes)],
				      rex = rexes[i % sizeof(rexes)];
			const unsigned int n = each_modrm(prefix, rex, opcode);

			if (!prefix && !rex && forms[opcode >> 8][opcode & 0xff])
				assert_true(n);
			else if (prefix && !is_prefix(prefix))
				assert_int_equal(n, 0);
		}
}

static void any_bytes(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (unsigned int i = 0; i < 2000000; i++) {
		uint8_t p[KI_INSN_LONGEST];

		fill(p);
		n += compare(p);
	}
	assert_true(n > 200000);
}

/* What compilers write of an entry, with what is beside the table. */
static void by_hand(void **state)
{
	static const uint8_t gs[KI_INSN_LONGEST] = {0x8e, 0xe8}, sti[KI_INSN_LONGEST] = {0xfb},
			     movabs[KI_INSN_LONGEST] = {0x48, 0xb8},
			     far_jump[KI_INSN_LONGEST] = {0xe9, 0xfb, 0xff, 0xff, 0xff},
			     test[KI_INSN_LONGEST] = {0xf6, 0xc1, 0x01},
			     none[KI_INSN_LONGEST] = {0x06};
	struct ki_head h;

	(void)state;
	assert_false(ki_head_common(gs, sizeof(gs), &h) || ki_head_common(sti, sizeof(sti), &h) ||
		     ki_head_common(movabs, sizeof(movabs), &h) ||
		     ki_head_common(test, sizeof(test), &h) ||
		     ki_head_common(none, sizeof(none), &h));
	assert_true(ki_head_decode(movabs, sizeof(movabs), &h));
	assert_int_equal(h.len, 10);
	assert_false(ki_head_decode(movabs, 9, &h));
	assert_true(ki_head_common(far_jump, sizeof(far_jump), &h));
	assert_int_equal(h.imm, -5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
