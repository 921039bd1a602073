/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Entries and exits of functions, brought together: for each thread a stack of the functions that
 * it is in.
 */
#ifndef KI_REPORT_PAIRS_H
#define KI_REPORT_PAIRS_H

#include "report/inside.h"
#include "util/vec.h"

struct frame {
	const struct ki_instrument *in; /* of the entry */
	uint64_t function;
	double start, inner; /* seconds; of them in frames above */
	uint64_t values[KI_RECORD_WORDS];
	unsigned int cpu;
};

struct thread {
	uint64_t tid; /* of an idle thread: one for each CPU */
	ki_vec(struct frame) stack;
	struct thread *next;
};

struct pairs;

/* What becomes of records; 0, or -errno. */
struct pairs_to {
	/* A function returns: the top of the stack, still there; e is of the exit. */
	int (*pair)(struct ki_report *c, const struct thread *t, const struct ki_report_record *e);
	/* An entry without exit, or something else than an entry or exit. */
	int (*single)(struct ki_report *c, const struct ki_report_record *e);
};

int ki_pairs_new(struct ki_report *c, const struct pairs_to *to, struct pairs **out);
bool ki_pairs_any(const struct pairs *p); /* are there entries and exits that can make some? */
void ki_pairs_free(struct pairs *p);	  /* NULL is allowed */
int ki_pairs_record(struct pairs *p, const struct ki_report_record *e);
int ki_pairs_end(struct pairs *p); /* what is still on the stacks */

/* "vfs_read" of "vfs_read:entry" */
int ki_pairs_name_len(const char *name);

#endif
