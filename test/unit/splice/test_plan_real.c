// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans that are installed for real, into code of this process: a loop's blocks and instructions
 * are counted.
 */
#include "plan_fixture.h"

/*
 * 0: xor %eax,%eax; test %edi,%edi; je out
 * 1: loop: add %edi,%eax; test $1,%dil; je even
 * 2: lea 3(%rax),%eax
 * 3: even: sub $1,%edi; jne loop
 * 4: out: ret
 */
static const uint8_t loop[] = {0x31, 0xc0, 0x85, 0xff, 0x74, 0x13, 0x01, 0xf8, 0x40, 0xf6,
			       0xc7, 0x01, 0x74, 0x06, 0x8d, 0x80, 0x03, 0x00, 0x00, 0x00,
			       0x83, 0xef, 0x01, 0x75, 0xed, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc};
static uint64_t gs_area[64];

typedef int loop_fn(int n);

static loop_fn *place_loop(void)
{
	uint8_t *at = exec_mem->code + 256;
	loop_fn *f;

	memcpy(at, loop, sizeof(loop));
	load((uintptr_t)at, at, sizeof(loop), KI_TARGET_IMAGE);
	drv.real = true;
	drv.heap = exec_mem->patch;
	memset(gs_area, 0, sizeof(gs_area));
	memcpy(&f, &at, sizeof(f));
	return f;
}

static void count_at(const struct ki_point *pt, uint32_t counter)
{
	struct ki_place *v;
	struct ki_code c;
	uint32_t id;
	size_t n;

	assert_int_equal(ki_point_places(fn, &spans, pt, &v, &n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(v[i].reason, KI_R_OK);
		ki_snippet_count(&c, counter, v[i].flags_live);
		assert_int_equal(ki_plan_add(plan, &(struct ki_insertion){fn, &spans, &v[i], 0}, &c,
					     &id, NULL),
				 0);
	}
	free(v);
}

static void blocks_of_a_loop(void **state)
{
	loop_fn *f = place_loop();
	int plain = f(10);

	(void)state;
	assert_int_equal(fn->nblocks, 5);
	assert_int_equal(plain, 55 + 5 * 3);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		count_at(&(struct ki_point){.kind = KI_POINT_BLOCK, .block = b}, b);
	count_at(&(struct ki_point){.kind = KI_POINT_ENTRY}, 5);
	count_at(&(struct ki_point){.kind = KI_POINT_EXIT}, 6);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(f(10), plain);
	assert_int_equal(f(0), 0);
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_memory_equal(exec_mem->code + 256, loop, sizeof(loop));
	assert_int_equal(f(10), plain);
	assert_int_equal(gs_area[0], 4);
	assert_int_equal(gs_area[1], 30);
	assert_int_equal(gs_area[2], 15);
	assert_int_equal(gs_area[3], 30);
	assert_int_equal(gs_area[4], 4);
	assert_int_equal(gs_area[5], 4);
	assert_int_equal(gs_area[6], 4);
}

static void every_instruction_of_a_loop(void **state)
{
	static const uint64_t want[] = {1, 1, 1, 10, 10, 10, 5, 10, 10, 1};
	loop_fn *f = place_loop();

	(void)state;
	for (uint32_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		count_at(&(struct ki_point){.kind = KI_POINT_INSN, .addr = fn->insns[i].addr}, i);
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, NULL), 0);
	assert_int_equal(f(10), 70);
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_memory_equal(gs_area, want, sizeof(want));
}

#define TEST(f) cmocka_unit_test_teardown(f, unload)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(blocks_of_a_loop),
		TEST(every_instruction_of_a_loop),
	};

	exec_init();
	exec_set_gs(gs_area);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
