/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The numbering of a function's paths, as its parts see it: made and read back (paths_number.c),
 * spread over places (paths_spread.c), put into the kernel (paths.c).
 */
#ifndef KI_COVER_PATHS_H
#define KI_COVER_PATHS_H

#include "kerninst/cfg.h"
#include "kerninst/path.h"
#include "splice/point.h"

enum path_edge_kind {
	PATH_ENTRY, /* the function is called */
	PATH_BEGIN, /* a path begins after an edge back */
	PATH_INNER,
	PATH_LEAVE, /* out of the function */
	PATH_BACK,  /* back to a block that this one may have come from */
	PATH_STOP,  /* of a block out of which nothing leads */
};

/* An edge of the graph without cycles. What is outside has the number nblocks. */
struct path_edge {
	uint32_t from, to;
	uint32_t edge; /* of the function; KI_NONE */
	uint64_t value;
	uint64_t step; /* what is added where it is taken, modulo 2^64 */
	uint8_t kind;
	struct ki_place place; /* of INNER, LEAVE, BACK, STOP */
};

struct ki_path_numbers {
	uint32_t nblocks;
	uint64_t count;
	struct path_edge *edges; /* in order of `from` */
	uint32_t nedges;
	uint32_t *first;    /* of each block, and the outside: its edges begin there; nblocks + 2 */
	uint32_t *order;    /* blocks that can be reached: each before those that it leads to */
	uint32_t *position; /* of each block in it; KI_NONE */
	uint32_t *ways;	    /* of each edge of the function: where it leads; KI_NONE: a call */
	uint32_t nreached;
};

/*
 * Spread the values: steps only where edges are taken rarely, and none where nothing can stand.
 * -EOPNOTSUPP if that cannot be had: err says which edge.
 */
int ki_paths_spread(struct ki_path_numbers *p, const struct ki_function *fn,
		    const struct ki_spans *spans, struct ki_err *err);

#endif
