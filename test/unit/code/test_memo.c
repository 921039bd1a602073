// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder with memory tells the same as the one without, of all bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "code/decode/memo.h"
#include "common_exec.h"
#include "common_image.h"

#ifdef __SANITIZE_ADDRESS__
#define RANDOM_STRINGS 150000
#else
#define RANDOM_STRINGS 6000000
#endif

static void show(const char *who, const struct ki_decoded *d)
{
	print_error("%s: len %u kind %u flags %x reason %u field %u tail %u traits %x target %llx "
		    "use %llx def %llx\n",
		    who, d->in.len, d->in.kind, d->in.flags, d->in.reason, d->in.field, d->in.tail,
		    d->traits, (unsigned long long)d->in.target, (unsigned long long)d->use,
		    (unsigned long long)d->def);
}

static void same(struct ki_memo *m, const uint8_t *p, size_t avail, uint64_t addr,
		 struct ki_decoded *slow)
{
	struct ki_decoded fast;

	/* Padding is compared, too. */
	memset(slow, 0, sizeof(*slow));
	memset(&fast, 0xff, sizeof(fast));
	ki_decode(p, avail, addr, slow);
	ki_memo_decode(m, p, avail, addr, &fast);
	if (fast.in.addr == slow->in.addr && fast.in.target == slow->in.target &&
	    fast.in.len == slow->in.len && fast.in.kind == slow->in.kind &&
	    fast.in.flags == slow->in.flags && fast.in.block_start == slow->in.block_start &&
	    fast.in.reason == slow->in.reason && fast.in.field == slow->in.field &&
	    fast.in.tail == slow->in.tail && fast.use == slow->use && fast.def == slow->def &&
	    fast.traits == slow->traits)
		return;
	for (size_t i = 0; i < avail && i < 15; i++)
		print_error("%02x ", p[i]);
	print_error("(%zu bytes)\n", avail);
	show("ki_decode", slow);
	show("ki_memo_decode", &fast);
	fail();
}

struct run {
	struct ki_memo *m;
	size_t insns, bytes;
	double slow_ns, fast_ns;
	uint64_t sum;
};

static void compare_section(void *ctx, const uint8_t *p, size_t len)
{
	struct run *r = ctx;
	struct ki_decoded d;

	for (size_t i = 0; i < len; i += d.in.len) {
		same(r->m, p + i, len - i, 0xffffffff81000000 + i, &d);
		r->insns++;
	}
	r->bytes += len;
}

static void real_code(void **state)
{
	struct run r = {0};

	(void)state;
	assert_int_equal(ki_memo_new(&r.m), 0);
	assert_true(image_libraries(compare_section, &r) > 1000000);
	print_message("libraries: %zu instructions\n", r.insns);
	ki_memo_free(r.m);
}

static void kernel_code(void **state)
{
	struct run r = {0};

	(void)state;
	assert_int_equal(ki_memo_new(&r.m), 0);
	if (!image_kernel(compare_section, &r)) {
		print_message("no kernel in the cache: not compared\n");
		ki_memo_free(r.m);
		skip();
	}
	image_modules(200, compare_section, &r);
	print_message("kernel and modules: %zu instructions\n", r.insns);
	assert_true(r.insns > 2000000);
	ki_memo_free(r.m);
}

#ifndef __SANITIZE_ADDRESS__ /* of sanitized code, time says nothing */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Sums keep the compiler from leaving the loops out, and have to be equal. */
static void time_section(void *ctx, const uint8_t *p, size_t len)
{
	struct run *r = ctx;
	struct ki_decoded d;
	double start = now();

	for (size_t i = 0; i < len; i += d.in.len, r->insns++) {
		ki_decode(p + i, len - i, i, &d);
		r->sum += d.use ^ d.def;
	}
	r->slow_ns += now() - start;
	start = now();
	for (size_t i = 0; i < len; i += d.in.len) {
		ki_memo_decode(r->m, p + i, len - i, i, &d);
		r->sum -= d.use ^ d.def;
	}
	r->fast_ns += now() - start;
}

static void time_kernel(void **state)
{
	struct run r = {0};

	(void)state;
	assert_int_equal(ki_memo_new(&r.m), 0);
	if (!image_kernel(time_section, &r))
		image_libraries(time_section, &r);
	print_message("%zu instructions: ki_decode %.1f ns each (%.3f s), ki_memo_decode, from "
		      "an empty memory on, %.1f ns each (%.3f s)\n",
		      r.insns, r.slow_ns / (double)r.insns, r.slow_ns / 1e9,
		      r.fast_ns / (double)r.insns, r.fast_ns / 1e9);
	assert_true(r.insns > 300000);
	assert_int_equal(r.sum, 0);
	ki_memo_free(r.m);
}
#endif

static uint8_t pick(const char *set, size_t n)
{
	return (uint8_t)set[exec_random() % n];
}

#define PICK(s) pick(s, sizeof(s) - 1)

/* Biases: none; many prefixes; VEX; EVEX; 0F, 0F38, 0F3A; few different bytes; shifts, calls. */
static void randomize(uint8_t *p, unsigned int bias)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 24; i++)
		p[i] = (uint8_t)(exec_random() >> 32);
	switch (bias) {
	case 1:
		for (unsigned int k = exec_random() % 8; k; k--)
			p[n++] = PICK("\x66\x67\xf2\xf3\xf0\x2e\x3e\x64\x65\x40\x41\x48\x4c\x4f");
		if (exec_random() & 1)
			p[n] = 0x0f;
		break;
	case 2:
		if (!(exec_random() % 8))
			p[n++] = PICK("\x66\x67\xf3\x48");
		p[n++] = PICK("\xc4\xc5");
		if (p[n - 1] == 0xc4)
			p[n] = (uint8_t)((p[n] & 0xe0) | (1 + exec_random() % 3));
		break;
	case 3:
		p[n++] = 0x62;
		p[n] = (uint8_t)((p[n] & 0xf0) | (1 + exec_random() % 3));
		p[n + 1] |= 4;
		break;
	case 4:
		if (exec_random() & 1)
			p[n++] = PICK("\x66\xf2\xf3\x48\x41");
		p[n++] = 0x0f;
		if (exec_random() & 1)
			p[n++] = PICK("\x38\x3a\x0f\x01\xa4\xac\xb8\x1e\xae\xc7");
		break;
	case 5:
		for (; n < 15; n++)
			p[n] = PICK("\x00\x01\x05\x04\x0f\x48\x66\xff\xc0\x24");
		break;
	case 6:
		p[n++] = PICK("\xc0\xc1\x0f\xe8\xeb\x48\x8f\xf3");
		for (n = 3; n < 15; n++)
			p[n] = PICK("\x00\x00\x00\x01\x20\x40\xff\xe0");
		break;
	}
}

static void random_bytes(void **state)
{
	struct ki_memo *m;
	struct ki_decoded d;
	size_t good = 0;

	(void)state;
	assert_int_equal(ki_memo_new(&m), 0);
	for (size_t i = 0; i < RANDOM_STRINGS; i++) {
		/* What is not to be read is not there. */
		uint8_t raw[24], *p = raw;
		size_t avail = i % 4 ? 24 : 1 + exec_random() % 16;

		randomize(raw, (unsigned int)(i % 7));
#ifdef __SANITIZE_ADDRESS__
		p = malloc(avail);
		memcpy(p, raw, avail);
#endif
		same(m, p, avail, exec_random(), &d);
		good += d.in.kind != KI_INSN_BAD;
		if (p != raw)
			free(p);
	}
	print_message("%d random strings, %zu of them instructions\n", RANDOM_STRINGS, good);
	assert_true(good > RANDOM_STRINGS / 4);
	ki_memo_free(m);
}

/* One head, all counts: what is remembered of one must not be told of another. */
static void counts(void **state)
{
	static const uint8_t heads[][4] = {{2, 0xc1, 0xe0},	  {2, 0xc0, 0xe8},
					   {2, 0xc1, 0xd0},	  {3, 0x48, 0xc1, 0xf8},
					   {3, 0x66, 0xc1, 0xc8}, {3, 0x0f, 0xa4, 0xd0},
					   {3, 0x0f, 0xba, 0xe0}};
	struct ki_memo *m;

	(void)state;
	assert_int_equal(ki_memo_new(&m), 0);
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		for (unsigned int k = 0; k < 1024; k++) {
			uint8_t p[16] = {0};
			struct ki_decoded d;

			memcpy(p, heads[i] + 1, heads[i][0]);
			p[heads[i][0]] = (uint8_t)(exec_random() >> 40);
			same(m, p, 16, 0, &d);
		}
	}
	ki_memo_free(m);
}

static void call_of_next(void **state)
{
	uint8_t p[16] = {0xe8, 0, 0, 0, 0};
	struct ki_memo *m;
	struct ki_decoded d;

	(void)state;
	assert_int_equal(ki_memo_new(&m), 0);
	for (unsigned int i = 0; i < 6; i++) {
		p[1] = i & 1;
		same(m, p, 16, 0x1000, &d);
		assert_int_equal(d.in.reason, i & 1 ? KI_R_OK : KI_R_STACK_CALL);
	}
	ki_memo_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),	cmocka_unit_test(call_of_next),
		cmocka_unit_test(real_code),	cmocka_unit_test(kernel_code),
		cmocka_unit_test(random_bytes),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(time_kernel),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
