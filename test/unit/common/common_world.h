/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of a few functions of a few instructions, one every 64 bytes. All of it is here, since a
 * test that is linked with a program of its own must not be linked with this.
 */
#ifndef COMMON_WORLD_H
#define COMMON_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "common_code.h"
#include "kerninst/program.h"

#define SLOT	   64
#define AT(n, off) (BASE + (n) * (uint64_t)SLOT + (off))

struct world {
	uint8_t bytes[32 * SLOT];
	struct ki_symbol symbols[32];
	struct ki_reserved_row rows[8];
	struct ki_memory m;
	struct ki_target *t;
	struct ki_program *p;
	const struct ki_program_function *f;
	uint32_t n;
};

/*
 * The next function. code: bytes in hex; "@3": 4 bytes, relative, to function 3; "@3+5": 5 bytes
 * after its start; "=3": 4 bytes, its address.
 */
static inline void world_add(struct world *w, const char *name, const char *code)
{
	size_t n = w->m.nsymbols++, at = n * SLOT;

	if (!n)
		memset(w->bytes, 0xcc, sizeof(w->bytes));
	w->symbols[n] = (struct ki_symbol){.addr = AT(n, 0), .name = name};
	while (*code) {
		char *end;

		if (*code == ' ') {
			code++;
		} else if (*code == '@' || *code == '=') { /* relative, or absolute */
			uint64_t to = AT(strtoul(code + 1, &end, 10), 0);
			uint64_t v;

			if (*end == '+')
				to += strtoul(end + 1, &end, 10);
			v = *code == '@' ? to - (BASE + at + 4) : to;
			memcpy(w->bytes + at, &v, 4);
			at += 4;
			code = end;
		} else {
			w->bytes[at++] = (uint8_t)strtoul(code, &end, 16);
			code = end;
		}
	}
	assert_true(at <= w->m.nsymbols * SLOT);
}

/* Make the target, as an image, and the program. o may be NULL. */
static inline void world_build(struct world *w, const struct ki_program_options *o)
{
	struct ki_err err = {0};

	w->m.kind = KI_TARGET_IMAGE;
	w->m.base = BASE;
	w->m.bytes = w->bytes;
	w->m.len = w->m.nsymbols * SLOT;
	w->m.symbols = w->symbols;
	w->m.rows = w->rows;
	if (ki_target_open_memory(&w->m, &w->t, &err) || ki_program_new(w->t, o, &w->p, &err))
		fail_msg("%s", err.msg);
	w->f = ki_program_functions(w->p, &w->n);
	assert_int_equal(w->n, w->m.nsymbols);
}

static inline void world_end(struct world *w)
{
	ki_program_free(w->p);
	ki_target_free(w->t);
}

#endif
