/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world to be analysed: text as large as is wanted, symbols, rows of reserved text; and how long
 * that takes.
 */
#ifndef SCALE_WORLD_H
#define SCALE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kerninst/program.h"
#include "target/memory.h"

#define BASE 0xffffffff81000000ull

/* How large, and how many CPU seconds: some 20 times what is needed on an idle machine. */
#ifdef __SANITIZE_ADDRESS__
#define SIZE	(128u << 10)
#define SECONDS 20
#else
#define SIZE	(1u << 20)
#define SECONDS 10
#endif
#define MOST_BYTES (1024ull << 20)

struct world {
	struct ki_memory m;
	uint8_t *text;
	struct ki_symbol *symbols;
	struct ki_reserved_row *rows;
	size_t at;
};

static void *grown(void *v, size_t n, size_t size)
{
	/* Room for a power of two of them. */
	if (n & (n - 1))
		return v;
	v = realloc(v, (n ? 2 * n : 1) * size);
	assert_non_null(v);
	return v;
}

static struct world *begin(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->m = (struct ki_memory){.kind = KI_TARGET_IMAGE, .base = BASE, .len = SIZE};
	w->text = malloc(SIZE);
	assert_non_null(w->text);
	memset(w->text, 0xcc, SIZE);
	return w;
}

static void symbol(struct world *w, size_t off, const char *name)
{
	w->symbols = grown(w->symbols, w->m.nsymbols, sizeof(*w->symbols));
	w->symbols[w->m.nsymbols++] = (struct ki_symbol){.addr = BASE + off, .name = name};
}

static void row(struct world *w, size_t off, uint32_t len, unsigned int reason, uint64_t target)
{
	w->rows = grown(w->rows, w->m.nrows, sizeof(*w->rows));
	w->rows[w->m.nrows++] = (struct ki_reserved_row){BASE + off, len, reason, target};
}

static void put(struct world *w, const char *bytes, size_t n)
{
	assert_true(w->at + n <= SIZE);
	memcpy(w->text + w->at, bytes, n);
	w->at += n;
}

#define PUT(w, bytes) put(w, bytes, sizeof(bytes) - 1)

/* A call or jump with 32 bits. */
static void branch(struct world *w, uint8_t opcode, size_t to)
{
	uint32_t rel = (uint32_t)(to - (w->at + 5));
	char bytes[5] = {(char)opcode};

	memcpy(bytes + 1, &rel, 4);
	put(w, bytes, 5);
}

#define CALL 0xe8
#define JMP  0xe9

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Build; ask for everything; a function or two alone. */
static void finish(struct world *w)
{
	struct ki_program_options o = {.size = sizeof(o), .threads = 1};
	const struct ki_program_totals *totals;
	double start = cpu_seconds(), built, took;
	struct ki_function *fn;
	struct ki_program *p;
	struct ki_target *t;
	struct rusage ru;

	w->m.bytes = w->text;
	w->m.symbols = w->symbols;
	w->m.rows = w->rows;
	assert_int_equal(ki_target_open_memory(&w->m, &t, NULL), 0);
	assert_int_equal(ki_program_new(t, &o, &p, NULL), 0);
	built = cpu_seconds() - start;
	totals = ki_program_totals(p);
	for (uint32_t b = 0; b < totals->blocks; b++) {
		struct ki_program_block block;

		assert_int_equal(ki_program_block(p, b, &block), 0);
	}
	assert_int_equal(ki_function_analyze(t, ki_target_symbol_at(t, BASE), &fn, NULL), 0);
	ki_function_free(fn);
	took = cpu_seconds() - start;
	getrusage(RUSAGE_SELF, &ru);
	print_message("%llu functions, %llu blocks, %llu instructions: %.3f s of CPU (parse %.3f, "
		      "liveness %.3f, asking %.3f); %ld MiB\n",
		      (unsigned long long)totals->functions, (unsigned long long)totals->blocks,
		      (unsigned long long)totals->instructions, took, totals->parse_seconds,
		      totals->liveness_seconds, took - built, ru.ru_maxrss >> 10);
	assert_true(took < SECONDS);
	assert_true((uint64_t)ru.ru_maxrss << 10 < MOST_BYTES);
	ki_program_free(p);
	ki_target_free(t);
	free(w->text);
	free(w->symbols);
	free(w->rows);
	free(w);
}

#endif
