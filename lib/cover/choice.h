/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which blocks of a function need a probe of their own, to know which have been executed.
 */
#ifndef KI_COVER_CHOICE_H
#define KI_COVER_CHOICE_H

#include "kerninst/cfg.h"
#include "kerninst/cover.h"
#include "kerninst/splice.h"

enum ki_cover_rule {
	KI_RULE_NONE,  /* nothing says it: there is no place for a probe */
	KI_RULE_PROBE, /* its own probe */
	KI_RULE_PREDS, /* executed if a block that leads to it was: all of these have probes */
	KI_RULE_SUCCS, /* executed if a block that it leads to was */
	KI_RULE_FLOW,  /* what flows around it tells how often (tree.h) */
};

enum ki_edge_rule {
	KI_EDGE_NONE,	/* nothing says it */
	KI_EDGE_PROBE,	/* its own probe */
	KI_EDGE_SOURCE, /* as often as the block that it leaves, which nothing else leaves */
	KI_EDGE_TARGET, /* as often as the block that it leads to, to which nothing else leads */
	KI_EDGE_FLOW,	/* what flows around it tells */
};

/*
 * rules[] and places[]: one for each block of the function. places[] tells why there is none. What
 * has no place is implied where it can be.
 */
enum {
	KI_CHOOSE_EVERY = 1,	/* a probe wherever one can be */
	KI_CHOOSE_NO_TRAPS = 2, /* where only a breakpoint fits is no place */
};
int ki_cover_choose(const struct ki_function *fn, const struct ki_spans *spans, unsigned int how,
		    uint8_t *rules, struct ki_place *places, struct ki_err *err);

/* rules[]: of each edge that is no call, in their order; PROBE, SOURCE or TARGET. -ENOMEM. */
int ki_cover_edge_rules(const struct ki_function *fn, uint8_t *rules);

static inline bool ki_cover_is_call(const struct ki_edge *e)
{
	return e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT;
}

/* Does whoever begins the block come to its end, at once? */
bool ki_cover_straight(const struct ki_function *fn, const struct ki_block *b);

/* The same, if the end is where control leaves the function, too. */
bool ki_cover_through(const struct ki_function *fn, const struct ki_block *b);

/* Are all ways inside the function edges of it? (Other code may jump to blocks that are `entered`.)
 */
bool ki_cover_plain(const struct ki_function *fn);
/* Is all of it code, and does no instruction take an address in its middle? */
bool ki_cover_contained(const struct ki_function *fn);

/* An edge inside the function: numbers of blocks. */
struct ki_way {
	uint32_t from, to;
};

/*
 * One function's blocks: those with probes have their counts; the others' are filled in, with how
 * they are known, and the reason if they are not.
 */
struct ki_inference {
	uint32_t nblocks, nedges;
	bool counting; /* counts, not hits: KI_RULE_SUCCS does not say how often */
	const uint8_t *rules;
	const struct ki_way *edges;
	struct ki_cover_block *blocks;
};

void ki_cover_infer(struct ki_inference *in);

#endif
