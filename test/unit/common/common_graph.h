/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that are nothing but blocks and edges, for tests of the control-flow graph.
 */
#ifndef COMMON_GRAPH_H
#define COMMON_GRAPH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kerninst/cfg.h"

#define OUT KI_NONE

struct arc {
	uint32_t from, to; /* to OUT: a return, unless kind says otherwise */
	uint8_t kind;	   /* 0: by how many there are: fall-through, taken, table */
};

struct graph {
	struct ki_function fn;
	struct ki_cfg *cfg;
};

/* Blocks 0 .. nblocks - 1 and their edges, which may be in any order; the graph is built. */
void graph_make(struct graph *g, uint32_t nblocks, const struct arc *arcs, uint32_t narcs);
void graph_free(struct graph *g);

/* Number of the first edge from one block to another, which must be there. */
uint32_t graph_edge(const struct graph *g, uint32_t from, uint32_t to);

/* A repeatable random number below n. */
uint32_t graph_random(uint64_t *state, uint32_t n);

#endif
