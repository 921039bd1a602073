/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Keeping a measurement's cost below a share of the machine.
 */
#ifndef KERNINST_BUDGET_H
#define KERNINST_BUDGET_H

#include "kerninst/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A part between two looks. */
struct ki_budget_part {
	double spent, acted; /* at the last look */
	double rate,
		acting; /* instructions a second since the one before; those that sampling saves */
	unsigned int k, told; /* it is sampled to one of 2^k, and that has been said */
};

struct ki_budget {
	double share; /* of the machine; 0: there is no budget */
	struct ki_costs *cost;
	double last;	/* time of the last look */
	double changed; /* of the last change */
	double own;	/* CPU seconds of this process, at the last look */
	double level;	/* instructions that may still be spent */
	double own_rate;
	struct ki_budget_part *parts;
	uint32_t n;		/* of them */
	uint32_t shed, sampled; /* parts; the latter still are */
	unsigned int most;	/* the largest k there was */
};

/* "2%", "0.5%", at most 100: the share. */
bool ki_budget_parse(const char *text, double *share);

/* cost has begun; share 0: there is no budget. 0, or -errno. */
int ki_budget_new(struct ki_budget *b, struct ki_costs *cost, double share, struct ki_err *err);
/* cost has grown. */
int ki_budget_grow(struct ki_budget *b, struct ki_err *err);
void ki_budget_free(struct ki_budget *b);

/* When it is to be looked at again; negative: never. */
double ki_budget_next(const struct ki_budget *b);

/* What has been done about a part. */
struct ki_budget_change {
	uint32_t part; /* in cost->parts */
	bool out;      /* it has been shed; else it is sampled, to one of 2^k, or to more again */
	unsigned int k;
	double rate; /* instructions a second that it cost */
	double time;
};

/*
 * Look whether too much is spent, or less than need be, and do something about it. told is called
 * for each part that is shed or sampled otherwise than before: not 0 ends it. 0, or
 * reported.
 */
typedef int ki_budget_told(void *arg, const struct ki_budget_change *change);
int ki_budget_look(struct ki_budget *b, double now, ki_budget_told *told, void *arg,
		   struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
