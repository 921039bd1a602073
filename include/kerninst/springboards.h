/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The windows and block entries of all functions, by the springboard that leads there; and their
 * edges.
 */
#ifndef KERNINST_CENSUS_H
#define KERNINST_CENSUS_H

#include "kerninst/splice.h"
#include "out/json.h"

struct census {
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
int census_add(struct census *c, const struct ki_function *fn, const struct ki_spans *spans,
	       struct ki_err *err);

/* All functions of the target. 0, or -errno. */
int census_take(struct census *c, struct ki_target *t, unsigned int threads, struct ki_err *err);

void census_print(const struct census *c);
void census_json(const struct census *c, struct ki_json *j);

/* "jump", "bounce", "trap" */
const char *census_board(unsigned int board);

#endif
