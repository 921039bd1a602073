// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code of random snippets, spoilt: a byte, an instruction, a fixup is another. What the driver's
 * check lets run all the same must be what the second opinion (common_vet.c: another decoder, a
 * list of its own) lets run: whole chunks, with their branches, the stack where these join, fixups
 * of all kinds, calls and threads' words.
 *
 * KI_SEED: others. KI_SNIPPETS: how many snippets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_drv.h"
#include "common_snippet.h"
#include "common_vet.h"

#ifdef __SANITIZE_ADDRESS__
#define SNIPPETS 2000
#else
#define SNIPPETS 100000
#endif

#define NODES	 30
#define SPOILT	 20 /* times that each snippet's code is */
#define MOST	 (2 * KI_LONG_MAX)
#define MOST_FIX (KI_LONG_FIXUPS + 1)
#define COMPLAIN 10

/* The code that is spoilt. */
static uint8_t bytes[MOST];
static struct ki_fixup fix[MOST_FIX];
static struct ki_long_code code = {.code = bytes, .fix = fix};
static uint64_t accepted, refused, single, of_kind[KI_FIX_KINDS], wrong;

static uint32_t any(uint32_t below)
{
	return below ? (uint32_t)(exec_random() % below) : 0;
}

static void put_code(const struct ki_long_code *from)
{
	code.len = from->len;
	code.nfix = from->nfix;
	memcpy(bytes, from->code, from->len);
	memcpy(fix, from->fix, from->nfix * sizeof(*fix));
}

static void spoil_byte(void)
{
	uint8_t *b = &bytes[any(code.len)];

	*b = any(2) ? (uint8_t)any(256) : (uint8_t)(*b ^ 1u << any(8));
}

/* One instruction is put over, or before, another. */
static void spoil_instruction(void)
{
	static uint16_t offs[KI_LONG_MAX + 1];
	unsigned int n = vet_offsets(&code, offs, KI_LONG_MAX + 1);
	unsigned int from = any(n), to = any(n);
	uint32_t len = n ? offs[from + 1] - offs[from] : 0, at = n ? offs[to] : 0;
	uint8_t insn[16];

	if (!n || len > sizeof(insn) || code.len + len > KI_LONG_MAX)
		return;
	memcpy(insn, bytes + offs[from], len);
	if (any(2)) {
		memmove(bytes + at + len, bytes + at, code.len - at);
		code.len += len;
		for (uint32_t i = 0; i < code.nfix; i++)
			fix[i].off = fix[i].off + (fix[i].off >= at ? len : 0);
	}
	memcpy(bytes + at, insn, len);
}

static void spoil_fixup(void)
{
	struct ki_fixup *f = &fix[any(code.nfix)];

	if (!code.nfix)
		return;
	switch (any(5)) {
	case 0:
		f->kind = (uint8_t)any(KI_FIX_KINDS);
		break;
	case 1:
		f->off = f->off + (uint32_t)any(9) - 4;
		break;
	case 2:
		f->target = any(2) ? any(600) : f->target + any(3) - 1;
		break;
	case 3:
		f->tail = (uint8_t)any(9);
		break;
	default:
		memmove(f, f + 1, (size_t)(fix + code.nfix - f - 1) * sizeof(*f));
		code.nfix--;
	}
}

/* An instruction is gone, with the fixup that it had. */
static void spoil_by_leaving_out(void)
{
	static uint16_t offs[KI_LONG_MAX + 1];
	unsigned int n = vet_offsets(&code, offs, KI_LONG_MAX + 1), which = any(n);
	uint32_t from = n ? offs[which] : 0, len = n ? offs[which + 1] - from : 0, kept = 0;

	memmove(bytes + from, bytes + from + len, code.len - from - len);
	code.len -= len;
	for (uint32_t i = 0; i < code.nfix; i++) {
		struct ki_fixup f = fix[i];

		if (f.off >= from && f.off < from + len)
			continue;
		f.off = (uint16_t)(f.off - (f.off >= from ? len : 0));
		fix[kept++] = f;
	}
	code.nfix = kept;
}

static void complain(const char *why, uint64_t number)
{
	if (wrong++ >= COMPLAIN)
		return;
	fprintf(stderr, "# of snippet %" PRIu64 ": the driver lets it run: %s\n# ", number, why);
	for (uint32_t i = 0; i < code.len; i++)
		fprintf(stderr, " %02x", bytes[i]);
	for (uint32_t i = 0; i < code.nfix; i++)
		fprintf(stderr, "\n# fixup at %u: kind %u, target %" PRIu64 ", tail %u", fix[i].off,
			fix[i].kind, (uint64_t)fix[i].target, fix[i].tail);
	fprintf(stderr, "\n");
}

static void judge(uint64_t number)
{
	const char *why;

	if (!code.len ||
	    drv_vet_long(bytes, code.len, fix, code.nfix, SNIP_COUNTERS, SNIP_GLOBALS)) {
		refused++;
		return;
	}
	accepted++;
	for (uint32_t i = 0; i < code.nfix; i++) {
		of_kind[fix[i].kind]++;
		memset(bytes + fix[i].off, 0, 4); /* it is written over */
	}
	why = vet_long(&code, SNIP_COUNTERS, SNIP_GLOBALS, DRV_WORDS);
	if (why && !strncmp(why, "an instruction that", 19))
		single++;
	else if (why)
		complain(why, number);
}

static void spoil(const struct ki_long_code *whole, uint64_t number)
{
	static void (*const ways[])(void) = {spoil_byte, spoil_instruction, spoil_fixup,
					     spoil_by_leaving_out};

	for (unsigned int i = 0; i < SPOILT; i++) {
		put_code(whole);
		for (unsigned int n = 1 + any(2); n && code.len; n--)
			ways[any(sizeof(ways) / sizeof(*ways))]();
		judge(number);
	}
}

static void one(uint64_t seed, uint64_t number)
{
	static struct snip_case c;
	struct ki_long_code whole;
	struct ki_err err = {0};
	struct ki_snippet *s;

	exec_seed((seed * 0x9e3779b97f4a7c15 + number) * 2);
	snip_case_make(&c);
	s = snip_random(&c, 1 + number % NODES);
	if (!ki_snippet_compile(s, &c.site, &whole, &err) && whole.len)
		spoil(&whole, number);
	ki_long_code_free(&whole);
	ki_snippet_free(s);
}

static void test_spoilt(void **state)
{
	const char *seed = getenv("KI_SEED"), *n = getenv("KI_SNIPPETS");
	uint64_t snippets = n ? strtoull(n, NULL, 0) : SNIPPETS;

	(void)state;
	for (uint64_t i = 0; i < snippets; i++)
		one(seed ? strtoull(seed, NULL, 0) : 1, i);
	print_message("%" PRIu64 " spoilt: %" PRIu64 " may run all the same, %" PRIu64
		      " may not; %" PRIu64 " have an instruction that the compiler never uses\n",
		      accepted + refused, accepted, refused, single);
	assert_int_equal(wrong, 0);
	assert_true(accepted > snippets && refused > snippets && single < accepted / 100);
	for (unsigned int kind = KI_FIX_PERCPU; kind < KI_FIX_KINDS; kind++)
		assert_true(of_kind[kind]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_spoilt)};

	exec_init();
	snip_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
