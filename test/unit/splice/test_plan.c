// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans, against a driver that is played by this file: what is sent to it, what is made of its
 * refusals, and that everything or nothing is installed.
 */
#include "plan_fixture.h"

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

/* At the borders of batches too: check_request looks for each host, among all of a request. */
#ifdef __SANITIZE_ADDRESS__
#define HOSTED 6000
#else
#define HOSTED 9000
#endif
static void hosts_are_in_the_same_request(void **state)
{
	uint8_t *bytes = many_hosts(HOSTED);

	(void)state;
	for (uint32_t i = 0; i < HOSTED; i++)
		add(i * 14, i);
	assert_int_equal(ki_plan_hosts(plan), HOSTED);
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, NULL), 0);
	assert_int_equal(drv.installed, HOSTED);
	assert_true(drv.splices > 1);
	assert_int_equal(drv.hosted, drv.dry_runs ? 2 * HOSTED : HOSTED);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
