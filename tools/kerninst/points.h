/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points to be counted: from what people wrote to counters and a plan.
 */
#ifndef KERNINST_POINTS_H
#define KERNINST_POINTS_H

#include "kerninst/predicate.h"
#include "kerninst/splice.h"
#include "pointspec.h"
#include "util/vec.h"

struct verb;

/* What a function alone means. */
enum metric { METRIC_CALLS, METRIC_BLOCKS, METRIC_EDGES, METRICS };

struct point {
	char *name;
	const struct ki_symbol *sym;
	struct ki_point at;
	struct ki_edge edge; /* KI_POINT_EDGE */
	uint16_t order;
	uint64_t addr;		 /* what it is about: function, block or instruction */
	uint64_t size;		 /* of that; 0: an instruction */
	unsigned int reason;	 /* KI_R_OK, or why it cannot be counted */
	uint32_t counter;	 /* valid if it can */
	uint32_t chunk, nchunks; /* its chunks in the plan */
	size_t entry;		 /* 1 + index of the point of its function's block 0; 0: none */
	char *code;		 /* what is put there, as text; NULL: it is not to be kept */
	uint64_t last;		 /* the counter when it was last read */
	uint64_t value;		 /* result */
	uint64_t *last_of, *value_of; /* the same of each CPU; NULL: it is not wanted */
};

struct points {
	ki_vec(struct point) v;
	struct ki_plan *plan;
	unsigned int cpus; /* of last_of and value_of */
};

/* What was asked for: texts, and what they say. */
struct asked {
	char **texts;
	struct pointspec *specs;
	size_t n;
};

/* Take the texts apart: CLI_OK, or reported. Free specs in any case. */
int points_parse(struct asked *a, const struct verb *self, char **texts, int n);

/* Functions that are moved as a whole: those of which nearly all blocks are wanted, all, none. */
enum moving { MOVING_AUTO, MOVING_ALWAYS, MOVING_NEVER };

/* How they are counted. */
struct points_how {
	enum metric metric; /* a function alone means its entry, all its blocks, all its edges */
	enum moving moving;
	const struct ki_predicate *when; /* only if it holds; NULL: always. Without inside() */
	bool keep_code;			 /* as text */
	bool per_cpu;
	bool quiet;
};

/*
 * Find out what is meant, take counters and put everything into the plan. Nothing is installed.
 * CLI_OK, or reported.
 */
int points_resolve(struct points *p, struct ki_target *t, const struct asked *a,
		   const struct points_how *how);

/* What has been counted since the last time. */
void points_read(struct points *p, const struct ki_counter_map *map);

/* Note what the driver refused when the plan was applied. */
void points_note_refusals(struct points *p);

size_t points_refused(const struct points *p);

/* Say which points are refused, in groups if they are many. */
void points_warn_refused(const struct points *p);

void points_free(struct points *p);

#endif
