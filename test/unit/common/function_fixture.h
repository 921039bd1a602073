/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tests of one small function work on. A test fills `text` and analyses it.
 */
#ifndef TEST_UNIT_FUNCTION_FIXTURE_H
#define TEST_UNIT_FUNCTION_FIXTURE_H

#include "kerninst/splice.h"
#include "target/memory.h"

#define BASE UINT64_C(0xffffffff81000000)

/* A text with the functions f, g (at G) and f.cold (at COLD), and the first one analysed. */
#define G    64
#define COLD 96
static uint8_t text[128];
static struct ki_target *target;
static struct ki_function *fn;
static struct ki_spans spans;

static int unload(void **state)
{
	(void)state;
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
	fn = NULL;
	target = NULL;
	return 0;
}

#endif
