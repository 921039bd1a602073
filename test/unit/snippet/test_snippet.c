// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counter: its bytes, which the driver knows by heart, and what it leaves after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common_exec.h"
#include "common_link.h"
#include "kerninst/snippet.h"

static uint64_t gs_area[64];

static void bytes_of_the_short_form(void **state)
{
	static const uint8_t want[] = {0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0};
	struct ki_code c;

	(void)state;
	memset(&c, 0xee, sizeof(c));
	ki_snippet_count(&c, 7, false);
	assert_int_equal(c.len, sizeof(want));
	assert_memory_equal(c.code, want, sizeof(want));
	assert_int_equal(c.nfix, 1);
	assert_int_equal(c.fix[0].kind, KI_FIX_PERCPU);
	assert_int_equal(c.fix[0].off, 5);
	assert_int_equal(c.fix[0].tail, 0);
	assert_int_equal(c.fix[0].target, 7);
	assert_int_equal(c.code[c.len], 0);
}

static void bytes_of_the_form_that_keeps_flags(void **state)
{
	static const uint8_t want[] = {0x50, 0x9f, 0x0f, 0x90, 0xc0, 0x65, 0x48, 0xff, 0x04,
				       0x25, 0,	   0,	 0,    0,    0x04, 0x7f, 0x9e, 0x58};
	struct ki_code c;

	(void)state;
	ki_snippet_count(&c, 0xffffffff, true);
	assert_int_equal(c.len, sizeof(want));
	assert_memory_equal(c.code, want, sizeof(want));
	assert_int_equal(c.nfix, 1);
	assert_int_equal(c.fix[0].off, 10);
	assert_int_equal(c.fix[0].target, 0xffffffff);
}

/* Run the counter from a random state with these flags. */
static void count(uint32_t counter, bool keep, uint64_t flags)
{
	struct ki_window w = {.addr = (uintptr_t)exec_mem->code + 64, .ncopy = 1};
	const struct ki_copy nothing = {0};
	struct ki_chunk ch = {0};
	const struct ki_chunk *list[] = {&ch};
	struct ki_code c;

	ki_snippet_count(&c, counter, keep);
	ch.len = c.len;
	ch.nfix = c.nfix;
	memcpy(ch.fix, c.fix, sizeof(ch.fix));
	memcpy(ch.code, c.code, sizeof(ch.code));
	assert_true(link_patch(exec_mem->patch, &w, &nothing, list, 1) > 0);
	exec_pad(exec_mem->code + 64, 1);
	for (int i = 0; i < EXEC_REGS; i++)
		exec_in.r[i] = exec_random();
	exec_in.rsp = (uintptr_t)exec_mem->stack + 2048;
	exec_in.flags = flags;
	assert_int_equal(exec_at(exec_mem->patch), 1);
	assert_memory_equal(exec_in.r, exec_out.r, sizeof(exec_in.r));
	assert_int_equal(exec_in.rsp, exec_out.rsp);
}

static const uint64_t flag_bits[] = {0x1, 0x4, 0x10, 0x40, 0x80, 0x800};

static void every_flag_is_kept(void **state)
{
	(void)state;
	for (unsigned int round = 0; round < 64 * 16; round++) {
		uint64_t flags = 2;

		for (unsigned int i = 0; i < 6; i++)
			if (round >> i & 1)
				flags |= flag_bits[i];
		/* the value decides which flags the inc would have left */
		gs_area[5] = round & 64 ? exec_random() : round & 128 ? UINT64_MAX : INT64_MAX;
		uint64_t before = gs_area[5];

		count(5, true, flags);
		assert_int_equal(exec_out.flags & EXEC_FLAGS, flags & EXEC_FLAGS);
		assert_int_equal(gs_area[5], before + 1);
	}
}

static void short_form_counts(void **state)
{
	(void)state;
	memset(gs_area, 0, sizeof(gs_area));
	for (unsigned int round = 0; round < 1000; round++)
		count(9, false, 2 | (round & 1));
	assert_int_equal(gs_area[9], 1000);
	assert_int_equal(gs_area[8], 0);
	assert_int_equal(gs_area[10], 0);
	/* the carry flag is the one that inc leaves alone */
	count(9, false, 3);
	assert_int_equal(exec_out.flags & 1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_the_short_form),
		cmocka_unit_test(bytes_of_the_form_that_keeps_flags),
		cmocka_unit_test(every_flag_is_kept),
		cmocka_unit_test(short_form_counts),
	};

	exec_init();
	exec_set_gs(gs_area);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
