/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A ring's inside: what is mapped, and reading it.
 */
#ifndef KI_RECORD_RING_H
#define KI_RECORD_RING_H

#include "kerninst/record.h"

#define RING_PAGE 4096u

/* The next record of one CPU: a copy. */
struct ring_cursor {
	unsigned int cpu;
	uint64_t pos, end; /* of the record; where reading ends this time */
	uint64_t size;	   /* of data */
	struct ki_record rec;
	uint64_t values[KI_RECORD_WORDS];
};

struct ki_ring_map {
	const uint8_t *base; /* of each CPU `stride` bytes: a page with the head, and the data */
	uint64_t *tails;
	uint64_t stride;
	uint32_t cpus, number;
	bool newest;
	int fd;			    /* to wait for */
	struct ring_cursor *cursor; /* `cpus` of them, for who reads */
	struct ring_cursor **heap;
	void (*between)(
		void *arg); /* a test's: called between copying a record and looking again */
	void *between_arg;
};

/* -ENOMEM. What is mapped has been filled in. */
int ki_ring_begin(struct ki_ring_map *r);
void ki_ring_end(struct ki_ring_map *r);

#endif
