/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The windows and block entries of all functions, by the springboard that leads there; and their
 * edges.
 */
#ifndef KERNINST_SPRINGBOARDS_H
#define KERNINST_SPRINGBOARDS_H

#include <stdio.h>

#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_json;

struct ki_springboards {
	uint64_t functions;		  /* that can be instrumented */
	uint64_t windows[KI_BOARD_KINDS]; /* of these */
	uint64_t hosted;		  /* bounces in the tail of a window, not in filler */
	uint64_t hosts;			  /* windows in whose tail something bounces */
	uint64_t entries[KI_BOARD_KINDS]; /* blocks, by the window that their entry is in */
	uint64_t refused;		  /* blocks whose entry is in none */
	uint64_t refusals[KI_R_COUNT];	  /* these, by reason */
	uint64_t edges;			  /* calls are none */
	uint64_t edges_refused;		  /* that have no place where they can be told */
	uint64_t edge_refusals[KI_R_COUNT];
	double seconds;
};

/* Add the windows and blocks of a function. 0, or -errno. */
int ki_springboards_add(struct ki_springboards *c, const struct ki_function *fn,
			const struct ki_spans *spans, struct ki_err *err);

/* All functions of the target. 0, or -errno. */
int ki_springboards_take(struct ki_springboards *c, struct ki_target *t, unsigned int threads,
			 struct ki_err *err);

void ki_springboards_print(const struct ki_springboards *c, FILE *out);
void ki_springboards_json(const struct ki_springboards *c, struct ki_json *j);

/* "jump", "bounce", "trap" */
const char *ki_springboard_name(unsigned int board);

#ifdef __cplusplus
}
#endif

#endif
