// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's relocator (kmod/vet/copy.c, over the kernels' own decoders) and the library's are
 * two, so that one can check the other: of a million random instructions both make the same copy,
 * or refuse. (In a running kernel: test/guest/splice/copies.sh.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"
#include "common_case.h"
#include "common_drv.h"
#include "kerninst/err.h"

/* Of the driver: kmod/ki.h. */
#define KI_FLOW_LEAVES 1
#define KI_FLOW_ENDS   2
#define KI_FLOW_DIRECT 4
#define KI_FLOW_CALL   8

/* ---- prefixes in an order that only the kernel's decoder takes for an instruction ---- */

static bool is_prefix(uint8_t b)
{
	static const uint8_t all[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
				      0x66, 0x67, 0xf0, 0xf2, 0xf3};

	return memchr(all, b, sizeof(all)) != NULL;
}

static bool is_rex(uint8_t b)
{
	return (b & 0xf0) == 0x40;
}

/* More than four kinds of them, or one after a REX. */
static bool is_odd(const uint8_t *bytes)
{
	uint8_t kept[4] = {0};
	unsigned int n = 0;

	for (; is_prefix(*bytes); bytes++) {
		if (memchr(kept, *bytes, n))
			continue;
		if (n == 4)
			return true;
		kept[n++] = *bytes;
	}
	return is_rex(*bytes) && (is_prefix(bytes[1]) || is_rex(bytes[1]));
}

/* ---- both ---- */

#define CASES 1000000

/* Of kerninst/splice.h, whose other names are also the driver's. */
unsigned int ki_relocate(const struct ki_insn *in, const uint8_t *bytes, struct ki_copy *out);

static struct forms forms;
static uint64_t copies, refusals, wrong, odd, unknown;

static void complain(const struct insn_case *c, const char *what, unsigned int lib,
		     unsigned int drv)
{
	if (wrong++ >= 40)
		return;
	for (unsigned int k = 0; k < c->len; k++)
		print_error("%02x ", c->bytes[k]);
	print_error("at 0x%" PRIx64 ": %s: library %s, driver %s\n", c->addr, what,
		    ki_reason_tag(lib), ki_reason_tag(drv));
}

/* What the driver must know of control flow, by what the library knows. */
static uint8_t flow_of(const struct insn_case *c, const struct ki_copy *copy)
{
	switch (c->in.kind) {
	case KI_INSN_JCC:
	case KI_INSN_LOOP:
		return KI_FLOW_LEAVES | KI_FLOW_DIRECT;
	case KI_INSN_CALL:
		return KI_FLOW_LEAVES | KI_FLOW_DIRECT | KI_FLOW_CALL;
	case KI_INSN_CALL_INDIRECT:
		return KI_FLOW_LEAVES | KI_FLOW_CALL;
	case KI_INSN_JMP:
		return KI_FLOW_LEAVES | KI_FLOW_ENDS | KI_FLOW_DIRECT;
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_RET:
		return KI_FLOW_LEAVES | KI_FLOW_ENDS;
	default:
		return copy->nfix && !(c->in.flags & KI_INSN_RIP) ? KI_FLOW_DIRECT : 0;
	}
}

static void compare(unsigned int kernel, const struct insn_case *c)
{
	const struct drv_original of = {c->addr, c->bytes, c->len};
	struct ki_copy mine, driver;
	unsigned int lib = ki_relocate(&c->in, c->bytes, &mine);
	uint8_t flow = 0xff;
	unsigned int drv = drv_copy(kernel, &of, &driver, &flow);

	if (drv && is_odd(c->bytes)) {
		odd++;
		return;
	}
	/* Not known to the kernel's decoder, which refuses it, or takes it for a shorter one: then
	 * the driver does not take the sender's copy. */
	if (drv ? !lib && drv == KI_R_UNDECODABLE : driver.orig_len != c->len) {
		unknown++;
		return;
	}
	if (!lib && !drv) {
		copies++;
		if (memcmp(&mine, &driver, sizeof(mine)))
			complain(c, "another copy", lib, drv);
		else if (flow != flow_of(c, &mine))
			complain(c, "another flow", lib, drv);
	} else if (!lib && drv != KI_R_ENDBR) { /* common_case.c passes over that reason */
		complain(c, "only the driver refuses", lib, drv);
	} else if (!drv) {
		complain(c, "only the library refuses", lib, drv);
	} else {
		refusals++;
	}
}

/* An address as the kernel's text has them. */
static uint64_t text_address(void)
{
	return 0xffffffff80000000ull | (exec_random() & 0x3fffffff);
}

static void same_copies(void **state)
{
	const struct case_world w = {.data = 0xffffffff82000000,
				     .stack = 0xffffffff83000000,
				     .only_made = true,
				     .gs = 0x10000,
				     .fs = 1,
				     .far = {0xffffffff81000000, 0xffffffffa0000000,
					     0xffffffff80000010, 0xffffffffc0000000}};

	(void)state;
	forms_from_tables(&forms);
	for (unsigned int i = 0; i < CASES; i++) {
		struct insn_case c = {.addr = text_address()};
		const char *why;
		bool made = i & 3 ? case_from_form(&c, &forms.v[i % forms.n], &w, &why)
				  : case_branch(&c, &w, &why);

		for (unsigned int k = 0; made && k < DRV_KERNELS; k++)
			compare(k, &c);
	}
	print_message("%" PRIu64 " copies compared, %" PRIu64
		      " instructions refused by both; %" PRIu64
		      " with prefixes in an odd order and %" PRIu64
		      " that the kernel's decoder does not know left out\n",
		      copies, refusals, odd, unknown);
	forms_free(&forms);
	assert_int_equal(wrong, 0);
	assert_true(copies > DRV_KERNELS * CASES / 10 * 8);
	assert_true(refusals > DRV_KERNELS * CASES / 100);
	assert_true(odd < DRV_KERNELS * CASES / 25);
	assert_true(unknown < DRV_KERNELS * CASES / 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
