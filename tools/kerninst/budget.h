/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeping a measurement's cost below a share of the machine.
 */
#ifndef KERNINST_BUDGET_H
#define KERNINST_BUDGET_H

#include "cost.h"

struct budget {
	double share; /* of the machine; 0: there is no budget */
	struct cost *cost;
	double last;  /* time of the last look */
	double spent; /* then, with what this process took */
	double own;   /* then, CPU seconds of this process */
	double level; /* instructions that may still be spent */
	double own_rate;
	double *rates;	/* of each part: instructions a second */
	double *before; /* of each part, at the last look */
};

/* "2%", "0.5%", at most 100: the share. */
bool budget_parse(const char *text, double *share);

/* cost has begun; share 0: there is no budget. CLI_OK, or reported. */
int budget_begin(struct budget *b, struct cost *cost, double share);
void budget_end(struct budget *b);

/* When it is to be looked at again; negative: never. */
double budget_next(const struct budget *b);

/*
 * Look whether too much is spent, and shed the most expensive parts if it is. told is called for
 * each that is shed. CLI_OK, or reported.
 */
typedef void budget_told(void *arg, uint32_t part, double rate, double now);
int budget_look(struct budget *b, double now, budget_told *told, void *arg);

#endif
