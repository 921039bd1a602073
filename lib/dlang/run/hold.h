/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Records that are not printed when they come: those of a clause that may still fault, and those
 * of a speculation.
 */
#ifndef KI_DLANG_HOLD_H
#define KI_DLANG_HOLD_H

#include "dlang/program.h"

struct ki_d_held {
	struct ki_record rec;
	uint64_t values[KI_RECORD_WORDS];
	unsigned int cpu;
	bool begins, ends; /* it is its clause's first that has a line, its last */
	bool open;	   /* its clause has not come to its end */
	bool gone;
};

struct ki_d_hold {
	ki_vec(struct ki_d_held) v; /* as they came */
	size_t live;
	uint64_t bytes[KI_D_SPECULATIONS + 1]; /* of a speculation */
	bool full[KI_D_SPECULATIONS + 1];      /* it had no room for the last clause's record */
	uint64_t lost;			       /* records for which a speculation had no room */
};

typedef int ki_d_held_each(void *arg, const struct ki_d_held *h);

void ki_d_hold_free(struct ki_d_hold *h);

/* -ENOMEM */
int ki_d_hold_add(struct ki_d_hold *h, const struct ki_d_held *r);

/* Those whose clause at this probe is open on the CPU, to `f`, or nowhere (NULL); they are gone. */
int ki_d_hold_close(struct ki_d_hold *h, const struct ki_dlang *d, const uint64_t *probe_and_clause,
		    unsigned int cpu, ki_d_held_each *f, void *arg);

/* Those of a speculation; f: NULL to discard them. */
int ki_d_hold_speculation(struct ki_d_hold *h, const struct ki_dlang *d, uint64_t number,
			  ki_d_held_each *f, void *arg);

/* A speculation's record: 0, -ENOMEM; one for which there is no room is counted. */
int ki_d_hold_speculate(struct ki_d_hold *h, struct ki_dlang *d, const struct ki_d_held *r);

#endif
