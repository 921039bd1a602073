/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snippet that is being built, some variables, and a case to run it in.
 */
#ifndef TEST_UNIT_SNIPPET_FIXTURE_H
#define TEST_UNIT_SNIPPET_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common_snippet.h"
#include "common_vet.h"

#define C(x)	    ki_expr_const(s, KI_I64, (uint64_t)(x))
#define U(x)	    ki_expr_const(s, KI_U64, (uint64_t)(x))
#define B(op, l, r) ki_expr_binary(s, op, l, r)
#define REG(r)	    ki_expr_reg(s, KI_##r)
#define V(v)	    ki_expr_var(s, &(v))

__attribute__((unused)) static const struct ki_var out = {
	.name = "out", .kind = KI_VAR_CPU, .type = KI_U64, .first = 7};
__attribute__((unused)) static const struct ki_var vec = {
	.name = "vec", .kind = KI_VAR_CPU, .type = KI_U64, .first = 8, .count = 5};
__attribute__((unused)) static const struct ki_var hist = {
	.name = "hist", .kind = KI_VAR_CPU, .type = KI_U64, .first = 16, .count = 65};
__attribute__((unused)) static const struct ki_var min32 = {
	.name = "m", .kind = KI_VAR_CPU, .type = KI_I32, .first = 2};
__attribute__((unused)) static const struct ki_var glob = {
	.name = "g", .kind = KI_VAR_GLOBAL, .type = KI_U64, .first = 3};
__attribute__((unused)) static const struct ki_var thread = {
	.name = "t", .kind = KI_VAR_THREAD, .type = KI_I16, .first = 6};
__attribute__((unused)) static const struct ki_var word = {
	.name = "w", .kind = KI_VAR_THREAD, .type = KI_I64, .first = 5};
__attribute__((unused)) static const struct ki_var local = {
	.name = "x", .kind = KI_VAR_LOCAL, .type = KI_I64};

static struct ki_snippet *s;
static struct snip_case c;

static inline void begin(void)
{
	ki_snippet_free(s);
	assert_int_equal(ki_snippet_new(&s), 0);
}

static inline int end(void **state)
{
	(void)state;
	ki_snippet_free(s);
	s = NULL;
	return 0;
}

/* A case with known numbers. */
static inline void known(void)
{
	snip_case_make(&c);
	memset(&c.start, 0, sizeof(c.start));
	c.site = (struct ki_site_regs){.at_entry = true, .at_exit = true};
	for (unsigned int r = 0; r < 16; r++)
		if (r != KI_RSP)
			c.m.regs[r] = 100 + r;
	c.m.pid = 4321;
	c.m.tgid = 4000;
	c.m.cpu = 3;
	c.m.may_call = true;
	c.m.nthread = SNIP_THREAD;
	memcpy(c.m.comm, "nginx\0\0\0\0\0\0\0\0\0\0", 16);
	for (unsigned int i = 0; i < 5; i++)
		c.start.counters[8 + i] = 10 * i;
}

#endif
