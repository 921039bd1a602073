/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeping a measurement's cost below a share of the machine.
 */
#ifndef KERNINST_BUDGET_H
#define KERNINST_BUDGET_H

#include "cost.h"

/* A part between two looks. */
struct budget_part {
	double spent, acted; /* at the last look */
	double rate,
		acting; /* instructions a second since the one before; those that thinning saves */
	unsigned int k, told; /* it is thinned to one of 2^k, and that has been said */
};

struct budget {
	double share; /* of the machine; 0: there is no budget */
	struct cost *cost;
	double last;	/* time of the last look */
	double changed; /* of the last change */
	double own;	/* CPU seconds of this process, at the last look */
	double level;	/* instructions that may still be spent */
	double own_rate;
	struct budget_part *parts;
	uint32_t shed, thinned; /* parts; the latter still are */
	unsigned int most;	/* the largest k there was */
};

/* "2%", "0.5%", at most 100: the share. */
bool budget_parse(const char *text, double *share);

/* cost has begun; share 0: there is no budget. CLI_OK, or reported. */
int budget_begin(struct budget *b, struct cost *cost, double share);
void budget_end(struct budget *b);

/* When it is to be looked at again; negative: never. */
double budget_next(const struct budget *b);

/* What has been done about a part. */
struct budget_change {
	uint32_t part; /* in cost->parts */
	bool out;      /* it has been shed; else it is thinned, to one of 2^k, or to more again */
	unsigned int k;
	double rate; /* instructions a second that it cost */
	double time;
};

/*
 * Look whether too much is spent, or less than need be, and do something about it. told is called
 * for each part that is shed or thinned otherwise than before: not CLI_OK ends it. CLI_OK, or
 * reported.
 */
typedef int budget_told(void *arg, const struct budget_change *change);
int budget_look(struct budget *b, double now, budget_told *told, void *arg);

#endif
