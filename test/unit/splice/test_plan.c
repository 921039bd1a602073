// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans, against a driver that is played by this file: what is sent to it, what is made of its
 * refusals, and that everything or nothing is installed. The last tests let it install for real,
 * into code of this process, and count a loop's blocks.
 */
#include "fake_driver.h"

static struct ki_target *target;
static struct ki_function *fn;
static struct ki_spans spans;
static struct ki_plan *plan;
static struct ki_code code;

static int unload(void **state)
{
	(void)state;
	ki_plan_free(plan);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_close(target);
	plan = NULL;
	fn = NULL;
	target = NULL;
	return 0;
}

static void load(uint64_t base, const uint8_t *bytes, size_t len, enum ki_target_kind kind)
{
	const struct ki_symbol sym = {.addr = base, .name = "f"};
	const struct ki_memory m = {.kind = kind,
				    .base = base,
				    .bytes = bytes,
				    .len = len,
				    .symbols = &sym,
				    .nsymbols = 1};
	struct ki_err err = {0};
	size_t n;

	unload(NULL);
	memset(&drv, 0, sizeof(drv));
	ki_snippet_count(&code, 1, true);
	if (ki_target_open_memory(&m, &target, &err) ||
	    ki_function_analyze(target, ki_target_symbols(target, &n), &fn, &err) ||
	    ki_spans_find(fn, &spans, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(ki_plan_new(&plan), 0);
}

#define BASE UINT64_C(0xffffffff81000000)

/* mov $,%eax over and over: a window each. */
static uint8_t *many_windows(size_t n)
{
	uint8_t *bytes = malloc(n * 5 + 1);

	for (size_t i = 0; i < n; i++)
		memcpy(bytes + i * 5, "\xb8\x01\x02\x03\x04", 5);
	bytes[n * 5] = 0xc3;
	load(BASE, bytes, n * 5 + 1, KI_TARGET_LIVE);
	return bytes;
}

static void add(uint64_t off, uint32_t want_id)
{
	struct ki_err err = {0};
	uint32_t id = 77;

	if (ki_plan_add(
		    plan,
		    &(struct ki_insertion){fn, &spans, &(struct ki_place){.addr = BASE + off}, 0},
		    &code, &id, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(id, want_id);
}

static void a_window_is_in_it_once(void **state)
{
	static const uint8_t bytes[] = {0x48, 0x89, 0xc7, 0x48, 0x89, 0xc6, /* mov; mov */
					0xb8, 1,    2,	  3,	4,	    /* mov $ */
					0x48, 0xb9, 1,	  2,	3,    4,    5, 6, 7, 8, 0xc3};

	(void)state;
	load(BASE, bytes, sizeof(bytes), KI_TARGET_LIVE);
	add(3, 0);
	add(0, 1);
	add(0, 2);
	assert_int_equal(ki_plan_windows(plan), 1);
	assert_int_equal(ki_plan_chunks(plan), 3);
	assert_int_equal(ki_plan_waits(plan), 1);
	add(6, 3);
	assert_int_equal(ki_plan_waits(plan), 1); /* one instruction */
	add(11, 4);
	assert_int_equal(ki_plan_waits(plan), 1); /* two, but the jump lies in the first */
	assert_int_equal(ki_plan_windows(plan), 3);
}

static void what_is_refused_leaves_no_trace(void **state)
{
	static const uint8_t bytes[] = {0x0f, 0x1f, 0x44, 0x00, 0x00, 0x75, 0x00, 0x90,
					0x48, 0x89, 0xc7, 0x48, 0x89, 0xc6, 0xc3};
	static const struct {
		uint64_t off;
		unsigned int reason;
	} bad[] = {{0, KI_R_FTRACE_SITE}, {9, KI_R_NOT_BOUNDARY}, {99, KI_R_NOT_BOUNDARY}};
	const struct ki_code empty = {0};
	struct ki_err err = {0};
	uint32_t id;

	(void)state;
	load(BASE, bytes, sizeof(bytes), KI_TARGET_LIVE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ki_err_clear(&err);
		assert_true(ki_plan_add(plan,
					&(struct ki_insertion){
						fn, &spans,
						&(struct ki_place){.addr = BASE + bad[i].off}, 0},
					&code, &id, &err) < 0);
		assert_int_equal(err.reason, bad[i].reason);
	}
	ki_err_clear(&err);
	assert_true(ki_plan_add(plan,
				&(struct ki_insertion){fn, &spans,
						       &(struct ki_place){.addr = BASE + 8}, 0},
				&empty, &id, &err) < 0);
	assert_int_equal(err.reason, KI_R_BAD_CHUNK);
	assert_int_equal(ki_plan_windows(plan), 0);
	assert_int_equal(ki_plan_chunks(plan), 0);
}

static void in_and_out_again(void **state)
{
	uint8_t *bytes = many_windows(8);

	(void)state;
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0); /* nothing to do */
	assert_int_equal(drv.splices, 0);
	add(30, 0);
	add(5, 1);
	add(10, 2);
	add(5, 3);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(ki_plan_apply_fd(plan, FD, round, NULL), 0);
		assert_int_equal(drv.installed, 4);
		drv.unsplice_eintr = 2;
		assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
		assert_int_equal(drv.installed, 0);
	}
	assert_int_equal(drv.dry_runs, 0); /* it is one request */
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_int_equal(drv.unsplices, 2);
	/* what is in stays in, what is new goes in too */
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	add(20, 4);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.installed, 5);
	free(bytes);
}

static void refused_places_can_be_dropped(void **state)
{
	uint8_t *bytes = many_windows(8);
	struct ki_err err = {0};

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		add(i * 5, i);
	add(10, 6);
	drv.bad_window = BASE + 10;
	drv.bad_chunk_in = BASE + 20;
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, &err), -EBUSY);
	assert_int_equal(err.reason, KI_R_WINDOW_ENTERED);
	assert_int_equal(err.addr, BASE + 10);
	assert_int_equal(drv.installed, 0);
	assert_int_equal(ki_plan_refusal(plan, 2), KI_R_WINDOW_ENTERED);
	ki_err_clear(&err);
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(drv.installed, 4);
	assert_int_equal(ki_plan_refusal(plan, 0), KI_R_OK);
	assert_int_equal(ki_plan_refusal(plan, 2), KI_R_WINDOW_ENTERED);
	assert_int_equal(ki_plan_refusal(plan, 6), KI_R_WINDOW_ENTERED);
	assert_int_equal(ki_plan_refusal(plan, 4), KI_R_BAD_CHUNK);
	assert_int_equal(ki_plan_refusal(plan, 99), KI_R_OK);
	/* another day it is not refused */
	drv.bad_window = drv.bad_chunk_in = 0;
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, &err), 0);
	assert_int_equal(drv.installed, 7);
	assert_int_equal(ki_plan_refusal(plan, 2), KI_R_OK);
	free(bytes);
}

/* What would be refused is said, and nothing is done. */
static void asking_changes_nothing(void **state)
{
	uint8_t *bytes = many_windows(8);
	struct ki_err err = {0};

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		add(i * 5, i);
	drv.bad_window = BASE + 10;
	assert_int_equal(ki_plan_check_fd(plan, FD, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(drv.splices, 0);
	assert_int_equal(drv.installed, 0);
	assert_int_equal(drv.dry_runs, 2); /* once more without what is refused */
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(ki_plan_refusal(plan, i), i == 2 ? KI_R_WINDOW_ENTERED : KI_R_OK);
	drv.bad_window = 0;
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, &err), 0);
	assert_int_equal(drv.installed, 6);
	free(bytes);
}

static void everything_can_be_refused(void **state)
{
	uint8_t *bytes = many_windows(2);

	(void)state;
	add(0, 0);
	drv.bad_window = BASE;
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, NULL), 0);
	assert_int_equal(drv.installed, 0);
	assert_int_equal(drv.splices, 1);
	assert_int_equal(ki_plan_refusal(plan, 0), KI_R_WINDOW_ENTERED);
	free(bytes);
}

static void a_lack_of_resources_is_an_error(void **state)
{
	uint8_t *bytes = many_windows(2);
	struct ki_err err = {0};

	(void)state;
	add(0, 0);
	drv.splice_fails = 1;
	drv.error = ENOSPC;
	drv.error_reason = KI_R_HEAP_FULL;
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, &err), -ENOSPC);
	assert_int_equal(err.reason, KI_R_HEAP_FULL);
	ki_err_clear(&err);
	drv.splices = 0;
	drv.error = EPROTO;
	drv.error_reason = 0;
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, &err), -EPROTO);
	assert_int_equal(err.reason, KI_R_ABI_MISMATCH);
	free(bytes);
}

#define MANY 70000

static void many_batches_go_in_together(void **state)
{
	uint8_t *bytes = many_windows(MANY);
	struct ki_err err = {0};

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		add((MANY - 1 - i) * 5, i);
	assert_int_equal(ki_plan_windows(plan), MANY);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.dry_runs, drv.splices);
	assert_true(drv.splices > MANY / 5000 && drv.splices < MANY / 1000);
	assert_int_equal(drv.installed, MANY);
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_int_equal(drv.installed, 0);
	/* the second batch fails: the first is taken out again */
	drv.splices = 0;
	drv.splice_fails = 2;
	drv.error = ENOSPC;
	drv.error_reason = KI_R_HEAP_FULL;
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, &err), -ENOSPC);
	assert_int_equal(err.reason, KI_R_HEAP_FULL);
	assert_int_equal(drv.installed, 0);
	assert_int_equal(drv.splices, 2);
	free(bytes);
}

static void many_chunks_in_one_window(void **state)
{
	uint8_t *bytes = many_windows(3);
	struct ki_err err = {0};

	(void)state;
	add(10, 0);
	for (uint32_t i = 1; i <= KI_BATCH_CHUNKS; i++)
		add(5, i);
	add(0, KI_BATCH_CHUNKS + 1);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.splices, 3);
	assert_int_equal(drv.installed, KI_BATCH_CHUNKS + 2);
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_int_equal(drv.installed, 0);
	add(5, KI_BATCH_CHUNKS + 2);
	assert_true(ki_plan_apply_fd(plan, FD, false, &err) < 0);
	assert_int_equal(err.reason, KI_R_TOO_MANY);
	assert_int_equal(drv.installed, 0);
	free(bytes);
}

/* ---- hosts, progress ---- */

/* jne to what follows; movabs, jne: the former bounces in the tail of the latter two. */
static uint8_t *many_hosts(size_t n)
{
	static const uint8_t pair[] = {0x75, 0, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0x75, 0};
	uint8_t *bytes = malloc(n * sizeof(pair) + 1);

	for (size_t i = 0; i < n; i++)
		memcpy(bytes + i * sizeof(pair), pair, sizeof(pair));
	bytes[n * sizeof(pair)] = 0xc3;
	load(BASE, bytes, n * sizeof(pair) + 1, KI_TARGET_LIVE);
	return bytes;
}

static void hosts_come_with_their_windows(void **state)
{
	uint8_t *bytes = many_hosts(4);
	struct ki_err err = {0};

	(void)state;
	add(14, 0);
	assert_int_equal(ki_plan_windows(plan), 2);
	assert_int_equal(ki_plan_hosts(plan), 1);
	assert_int_equal(ki_plan_waits(plan), 1); /* for the bounce */
	add(16, 1);
	assert_int_equal(ki_plan_windows(plan), 2);
	assert_int_equal(ki_plan_hosts(plan), 0);
	add(30, 2);
	add(28, 3);
	assert_int_equal(ki_plan_windows(plan), 4);
	assert_int_equal(ki_plan_hosts(plan), 0);
	add(0, 4);
	assert_int_equal(ki_plan_hosts(plan), 1);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, &err), 0);
	assert_int_equal(drv.installed, 5);
	assert_int_equal(ki_plan_remove_fd(plan, FD, &err), 0);
	free(bytes);
}

static void a_refused_host_is_the_reason(void **state)
{
	uint8_t *bytes = many_hosts(4);

	(void)state;
	add(0, 0);
	add(14, 1);
	add(28, 2);
	drv.bad_window = BASE + 16;
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, NULL), 0);
	assert_int_equal(drv.installed, 2);
	assert_int_equal(ki_plan_refusal(plan, 0), KI_R_OK);
	assert_int_equal(ki_plan_refusal(plan, 1), KI_R_WINDOW_ENTERED);
	assert_int_equal(ki_plan_refusal(plan, 2), KI_R_OK);
	free(bytes);
}

/* At the borders of batches too: check_request looks for each host. */
static void hosts_are_in_the_same_request(void **state)
{
	uint8_t *bytes = many_hosts(9000);

	(void)state;
	for (uint32_t i = 0; i < 9000; i++)
		add(i * 14, i);
	assert_int_equal(ki_plan_hosts(plan), 9000);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.installed, 9000);
	assert_true(drv.splices > 1);
	assert_int_equal(drv.hosted, drv.dry_runs ? 18000 : 9000);
	free(bytes);
}

struct listener {
	size_t calls, done, all, stop_at;
};

static bool listen(void *arg, size_t done, size_t all)
{
	struct listener *l = arg;

	assert_true(done >= l->done && done <= all);
	l->calls++;
	l->done = done;
	l->all = all;
	return !l->stop_at || done < l->stop_at;
}

static void progress_is_told_and_can_stop(void **state)
{
	uint8_t *bytes = many_windows(20000);
	struct listener l = {0};
	struct ki_err err = {0};

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		add(i * 5, i);
	ki_plan_on_progress(plan, listen, &l);
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, &err), 0);
	assert_true(l.calls >= 4 && l.done == 20000 && l.all == 20000);
	l = (struct listener){.stop_at = 1}; /* which removing does not care for */
	assert_int_equal(ki_plan_remove_fd(plan, FD, &err), 0);
	assert_true(l.calls >= 2 && l.done == 20000);
	assert_int_equal(drv.installed, 0);
	l = (struct listener){.stop_at = 5000};
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, &err), -ECANCELED);
	assert_int_equal(err.code, -ECANCELED);
	assert_true(l.done >= 5000 && l.done < 20000);
	assert_int_equal(drv.installed, 0);
	l = (struct listener){0};
	ki_plan_batch(plan, 20000);
	assert_true(!ki_plan_apply_fd(plan, FD, true, NULL) && l.calls == 1);
	free(bytes);
}

/* ---- for real ---- */

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
		TEST(a_window_is_in_it_once),
		TEST(what_is_refused_leaves_no_trace),
		TEST(in_and_out_again),
		TEST(refused_places_can_be_dropped),
		TEST(asking_changes_nothing),
		TEST(everything_can_be_refused),
		TEST(a_lack_of_resources_is_an_error),
		TEST(many_batches_go_in_together),
		TEST(many_chunks_in_one_window),
		TEST(hosts_come_with_their_windows),
		TEST(a_refused_host_is_the_reason),
		TEST(hosts_are_in_the_same_request),
		TEST(progress_is_told_and_can_stop),
		TEST(blocks_of_a_loop),
		TEST(every_instruction_of_a_loop),
	};

	exec_init();
	exec_set_gs(gs_area);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
