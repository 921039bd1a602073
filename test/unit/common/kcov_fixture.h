/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code for KCOV, in a place where it can be run: the word of the trace, and what stands for the
 * helper, are the test's.
 */
#ifndef TEST_UNIT_KCOV_FIXTURE_H
#define TEST_UNIT_KCOV_FIXTURE_H

#include <string.h>

#include "common_exec.h"
#include "kerninst/snippet.h"

struct kcov_fixture {
	uint64_t self, helper; /* the only ones that it may name */
	uint32_t here;	       /* where self is, of %gs */
};

static void put_field(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void place_code(const struct kcov_fixture *x, const struct ki_long_code *c)
{
	uint8_t *at = exec_mem->code;

	memcpy(at, c->code, c->len);
	for (uint32_t i = 0; i < c->nfix; i++) {
		uint8_t *field = at + c->fix[i].off;

		if (c->fix[i].kind == KI_FIX_SELF) {
			assert_int_equal(c->fix[i].target, x->self);
			put_field(field, x->here);
		} else {
			assert_int_equal(c->fix[i].kind, KI_FIX_HELPER);
			assert_int_equal(c->fix[i].target, x->helper);
			put_field(field, (uint32_t)(exec_mem->patch - (field + 4)));
		}
	}
	exec_pad(at + c->len, 7);
}

#endif
