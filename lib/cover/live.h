/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A measurement's inside, shared by the part that puts probes in and takes them out (session.c)
 * and the part that reads them (read.c).
 */
#ifndef KI_COVER_LIVE_H
#define KI_COVER_LIVE_H

#include <pthread.h>

#include "cover/tree.h"
#include "kerninst/cover.h"
#include "splice/point.h"
#include "util/vec.h"

/* A probe in the kernel, or one that has been there. */
struct cover_probe {
	uint32_t of;   /* index in the measurement's blocks, or edges */
	uint32_t slot; /* where it says so: SLOT_* */
	uint32_t id;   /* the driver's */
	bool edge;
	bool still; /* read while nobody is in the middle of anything (still.c) */
	bool in;    /* it is there now */
};

/*
 * KI_COVER_HIT without a condition: byte slot % 8 of global variable slot / 8. Else a counter, or a
 * global variable.
 */
#define SLOT_GLOBAL (1u << 31)

/* KI_COVER_EDGES: any but calls. */
struct cover_edge {
	uint32_t from, to; /* blocks of the function; KI_NONE: out of it */
	uint16_t reason;   /* KI_EDGE_NONE: why its probe was refused */
	uint8_t kind, rule;
};

/* A function whose flows tell each other (minimal.c). All zero: they do not. */
struct cover_tree {
	uint32_t first_arc, narcs; /* of each block, then of each edge if these are counted */
	uint32_t nvertices;
	uint32_t first_slot, nslots; /* counters of its probes */
};

struct cover_function {
	const struct ki_symbol *sym;
	uint32_t size;
	uint16_t reason;
	uint32_t first_block, nblocks;
	uint32_t first_way, nways;   /* edges inside the function, calls not included */
	uint32_t first_edge, nedges; /* KI_COVER_EDGES */
	struct cover_tree tree;
};

struct ki_cover {
	struct ki_target *t;
	struct ki_cover_options o;
	struct ki_counter_map *counters;
	struct ki_global_map *globals;
	struct ki_splice_process *process; /* a process's probes are in */
	char *program;			   /* of a process */
	ki_vec(struct cover_function) functions;
	ki_vec(struct ki_cover_block) blocks; /* count: not used */
	ki_vec(uint8_t) rules;		      /* of each block: enum ki_cover_rule */
	ki_vec(struct ki_way) ways;
	ki_vec(struct cover_edge) edges;
	ki_vec(struct cover_probe) probes;
	ki_vec(struct ki_arc) arcs;
	uint64_t *begun,
		*now;	/* of each counter, when counting began and when they were read last */
	uint64_t *read; /* of one function, on one CPU */
	uint32_t nslots;
	bool minimal; /* flows that others tell need no probe */
	bool ended;   /* they are not read any more */
	size_t all;   /* functions asked for */
	struct ki_cover_totals totals;
	/* while probes are put in */
	struct ki_plan *plan; /* what is gathered: of the probes from `fresh` on */
	struct ki_plan *sent; /* what is being put in: of `nsent` probes from `first_sent` on */
	size_t fresh, first_sent, nsent;
	pthread_t sender;
	int sent_ret;
	struct ki_err sent_err;
	uint32_t next_slot, end_slot, slots; /* slots: so many were taken last */
	ki_vec(struct ki_place) places;
	struct cover_tree tree; /* of the function that is being added */
	struct ki_tree chosen;
};

/* in_process.c: the same of a process; reading goes on when it has ended */
bool ki_cover_is_process(const struct ki_cover *c);
int ki_cover_process_begin(struct ki_cover *c, struct ki_err *err);
int ki_cover_process_install(struct ki_cover *c, struct ki_err *err);
uint64_t ki_cover_process_read(const struct ki_cover *c, const struct cover_probe *p);
int ki_cover_process_remove(struct ki_cover *c, struct ki_err *err);

/* read.c: what it has counted; 0 or 1 with KI_COVER_HIT. */
uint64_t ki_cover_probe_read(const struct ki_cover *c, const struct cover_probe *p);

/* put.c: a probe at a place. Where there is no room for one, or no place, nothing is known. */
int ki_cover_put(struct ki_cover *c, const struct ki_ground *g, const struct ki_place *place,
		 struct cover_probe probe, struct ki_err *err);
/* Are there counters of each CPU for so many more? */
bool ki_cover_has_counters(struct ki_cover *c, uint32_t n);
void ki_cover_leave_out(struct ki_cover *c, const struct cover_probe *p, unsigned int reason);

/* request.c: put in what has been gathered, and begin anew; wait for what has been sent. */
uint64_t ki_cover_heap_free(struct ki_cover *c);
int ki_cover_send(struct ki_cover *c, struct ki_err *err);
int ki_cover_await(struct ki_cover *c, struct ki_err *err);

/* moving.c: are probes cheaper if the whole function is moved? To be asked before one is put. */
int ki_cover_moves(const struct ki_ground *g, const uint8_t *rules, const struct ki_place *places,
		   bool *moves);

/* minimal.c: probes only where flows are that others do not tell. rules: of the function's blocks,
 * as they are without; changed if it needs no more probes so. What they tell, when they are read.
 */
int ki_cover_minimize(struct ki_cover *c, const struct ki_ground *g, uint8_t *rules,
		      struct ki_err *err);
int ki_cover_follow(const struct ki_cover *c, const struct cover_function *f,
		    struct ki_cover_block *blocks, struct ki_cover_edge *edges);

/* still.c: can counters be read that fit together? From when on is counted; up to when. */
bool ki_cover_can_be_still(const struct ki_cover *c);
int ki_cover_begin(struct ki_cover *c, struct ki_err *err);
void ki_cover_collect(struct ki_cover *c);

/* edges.c: the edges of a function whose blocks are the last ones. */
int ki_cover_add_edges(struct ki_cover *c, const struct ki_ground *g, struct ki_err *err);

#endif
