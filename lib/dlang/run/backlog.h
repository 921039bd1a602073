/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Records that are not printed before the program ends, as bufpolicy says: of each CPU the newest
 * that bufsize has room for (ring), or the first (fill). The program ends when one has no room.
 */
#ifndef KI_DLANG_BACKLOG_H
#define KI_DLANG_BACKLOG_H

#include "dlang/run/hold.h"

struct ki_d_backlog_record;

struct ki_d_backlog_cpu {
	struct ki_d_backlog_record *first, *last;
	uint64_t bytes;
};

struct ki_d_backlog {
	struct ki_d_backlog_cpu *cpus; /* NULL: nothing has come */
	unsigned int n;
	uint64_t next; /* the number of the next record */
	bool full;     /* of fill: one had no room */
	bool over;     /* the program has ended: what comes now is printed */
};

void ki_d_backlog_free(struct ki_d_backlog *b);

/* Is a record to be kept, rather than printed? */
bool ki_d_backlog_keeps(const struct ki_dlang *d);

/* It is printed at the end, if it stays. That it ends the program is known at once. -ENOMEM */
int ki_d_backlog_add(struct ki_dlang *d, const struct ki_d_held *h);

/* All of them to `f`, in the order in which they came; what comes from now on is not kept. */
int ki_d_backlog_end(struct ki_dlang *d, ki_d_held_each *f, void *arg);

#endif
