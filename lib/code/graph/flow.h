/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Flow through a network: what enters a vertex leaves it, but for a known amount that stays or
 * comes from it. Vertex 0 is the world: nothing is known of it.
 */
#ifndef KI_CODE_FLOW_H
#define KI_CODE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct ki_flow_edge {
	uint32_t tail, head; /* equal: it tells nothing, and is never found */
	uint64_t value;
	bool known;
};

struct ki_flow_vertex {
	__int128 left;	  /* in minus out, of the edges that are not known */
	uint32_t in, out; /* how many are not known */
	uint32_t mix;	  /* their numbers, by exclusive or: the last one's number */
};

struct ki_flow {
	struct ki_flow_edge *edges;
	struct ki_flow_vertex *vertices;
	uint32_t nedges, nvertices;
	bool inconsistent; /* no flow is like that */
};

/* Vertices with `left`, edges with tail and head; then edges may be set, then solve. */
int ki_flow_new(struct ki_flow *f, uint32_t nvertices, uint32_t nedges);
void ki_flow_free(struct ki_flow *f);
void ki_flow_connect(struct ki_flow *f, uint32_t edge, uint32_t tail, uint32_t head);
void ki_flow_set(struct ki_flow *f, uint32_t edge, uint64_t value);

/* Find every edge that the equations determine: 0, or -ENOMEM. */
int ki_flow_solve(struct ki_flow *f);

/*
 * The most that the edges which are not known can take out of a vertex, or into it; UINT64_MAX:
 * there is no bound.
 */
uint64_t ki_flow_out_left(const struct ki_flow *f, uint32_t vertex);
uint64_t ki_flow_in_left(const struct ki_flow *f, uint32_t vertex);

#endif
