/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of hand-assembled bytes, for tests of lib/code.
 */
#ifndef COMMON_CODE_H
#define COMMON_CODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kerninst/code.h"
#include "target/memory.h"

#define BASE 0xffffffff81000000ull

struct text {
	struct ki_memory m;
	struct ki_target *t;
	struct ki_function *fn; /* that was looked at last */
};

/* Make the target of x->m; without symbols of its own it has a function "f" at BASE. */
void open_text(struct text *x);
void look_at(struct text *x, const char *name);
void close_text(struct text *x);

#define BYTES(...) .bytes = (const uint8_t[]){__VA_ARGS__}, .len = sizeof((uint8_t[]){__VA_ARGS__})

/* A variable with function "f" of live text, looked at. */
#define TEXT(var, ...)                                                                             \
	struct text var = {.m = {.kind = KI_TARGET_LIVE, BYTES(__VA_ARGS__)}};                     \
	open_text(&var);                                                                           \
	look_at(&var, "f")

/* Of the function that was looked at: the instruction at an offset, which must be there. */
const struct ki_insn *at(const struct text *x, uint64_t off);
int live(const struct text *x, uint64_t off);
void check_block(const struct text *x, uint32_t n, uint64_t start, uint64_t end);
void check_text(const struct text *x, uint64_t off, const char *text);

/* What holds for every function. */
void check_function(const struct ki_function *fn);

#endif
