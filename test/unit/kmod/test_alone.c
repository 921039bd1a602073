// SPDX-License-Identifier: GPL-2.0-only
/*
 * A window in a function's first bytes to which the rest does not matter (kmod/vet/alone.c,
 * compiled in here). In real code, whatever the library's decoder finds that leads into a window
 * is found; and most windows are said to be alone.
 *
 * promise: A window in a function's first bytes is judged by what may lead into it, wherever
 *   instructions begin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode/decode.h"
#include "common_image.h"
#include "kernel_types.h"

static unsigned long probed_at;

static bool ki_text_probed_at(unsigned long addr)
{
	return addr == probed_at;
}

#define KI_H
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "../../../kmod/vet/alone.c"

#ifdef __SANITIZE_ADDRESS__
#define APART 2560 /* functions begin so many bytes apart */
#else
#define APART 512
#endif
#define MOST  2000 /* bytes of what is taken for a function */
#define START 0x1000000ul

struct tried {
	unsigned int windows, alone, entered;
};

static struct ki_alone slice(const uint8_t *p, size_t len)
{
	const size_t some = 80 + (size_t)random() % MOST;

	return (struct ki_alone){
		.bytes = p, .size = some < len ? some : len, .start = START, .from = 0, .to = 8};
}

/* A place that the function leads to: no window around it is alone. */
static void check_target(struct ki_alone x, unsigned long to, struct tried *t)
{
	const unsigned long before = 1 + (unsigned long)random() % 15;

	if (to < before || to >= KI_ALONE_MOST)
		return;
	x.from = to - before;
	x.to = to + 1 + (unsigned long)random() % 8;
	assert_false(ki_window_is_alone(&x));
	t->entered++;
}

/* xbegin is none that the driver knows: the kernel's own code has no transactions. */
static bool is_branch(const struct ki_insn *in, const uint8_t *bytes)
{
	if (bytes[0] == 0xc7)
		return false;
	return in->kind == KI_INSN_JCC || in->kind == KI_INSN_LOOP || in->kind == KI_INSN_JMP ||
	       in->kind == KI_INSN_CALL;
}

static void check_function(const uint8_t *p, size_t len, struct tried *t)
{
	struct ki_alone x = slice(p, len);
	struct ki_decoded d;

	for (unsigned long at = 0; at < x.size; at += d.in.len ? d.in.len : 1) {
		ki_decode(p + at, x.size - at, START + at, &d);
		if (is_branch(&d.in, p + at) && d.in.target >= START &&
		    d.in.target < START + KI_ALONE_MOST)
			check_target(x, d.in.target - START, t);
	}
	x.from = 4 + (unsigned long)random() % 8;
	x.to = x.from + 5 + (unsigned long)random() % 4;
	t->windows++;
	t->alone += ki_window_is_alone(&x);
}

static void check_section(void *ctx, const uint8_t *p, size_t len)
{
	for (size_t at = 0; len > 4096 && at < len - 4096; at += APART)
		check_function(p + at, len - at, ctx);
}

static void real_code(void **state)
{
	struct tried t = {0};

	(void)state;
	assert_true(image_libraries(check_section, &t) > 0);
	image_kernel(check_section, &t);
	print_message("%u windows, %u of them alone; %u entered\n", t.windows, t.alone, t.entered);
	assert_true(t.entered > 1000);
	assert_true(t.alone > t.windows / 10 * 6);
}

static uint8_t quiet_bytes[512];

static bool is_alone_with(size_t at, const char *bytes, size_t len)
{
	const struct ki_alone x = {.bytes = quiet_bytes,
				   .size = sizeof(quiet_bytes),
				   .start = START,
				   .from = 9,
				   .to = 14};

	memset(quiet_bytes, 0x90, sizeof(quiet_bytes));
	memcpy(quiet_bytes + at, bytes, len);
	return ki_window_is_alone(&x);
}

static void what_matters(void **state)
{
	(void)state;
	probed_at = START + 300;
	assert_true(is_alone_with(20, "", 0));
	assert_false(is_alone_with(200, "\x8e\xe8", 2));	     /* mov %eax, %gs */
	assert_true(is_alone_with(200, "\x8e\xd8", 2));		     /* mov %eax, %ds */
	assert_false(is_alone_with(200, "\x0f\xa9", 2));	     /* pop %gs */
	assert_false(is_alone_with(200, "\xb9\x01\x01\x00\xc0", 5)); /* mov MSR_GS_BASE, %ecx */
	assert_false(is_alone_with(300, "\xcc", 1));		     /* a kprobe's */
	assert_true(is_alone_with(310, "\xcc", 1));
	assert_false(is_alone_with(300, "\xe9\x00\x00\x00\x00", 5));
	assert_false(is_alone_with(0, "\x74\x08", 2));		     /* je into the window */
	assert_true(is_alone_with(0, "\x74\x07", 2));		     /* to its beginning */
	assert_true(is_alone_with(0, "\x74\x0c", 2));		     /* to what stands after it */
	assert_false(is_alone_with(100, "\xeb\xa6", 2));	     /* back: 102 - 90 = 12 */
	assert_false(is_alone_with(400, "\xe8\x77\xfe\xff\xff", 5)); /* call: 405 - 393 = 12 */
	assert_false(is_alone_with(400, "\x0f\x84\x76\xfe\xff\xff", 6));
}

/* What ends with the function is no instruction; nothing is read after it. */
static void at_the_end(void **state)
{
	static const uint8_t last[] = {0x70, 0xe8, 0xe9, 0x0f, 0x8e, 0xb9};

	(void)state;
	probed_at = 0;
	for (size_t i = 0; i < sizeof(last); i++) {
		uint8_t *bytes = malloc(20);
		const struct ki_alone x = {bytes, 20, START, 4, 9};

		assert_non_null(bytes);
		memset(bytes, 0x90, 20);
		bytes[19] = last[i];
		assert_true(ki_window_is_alone(&x));
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(real_code),
					   cmocka_unit_test(what_matters),
					   cmocka_unit_test(at_the_end)};

	srandom(11);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
