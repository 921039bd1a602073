/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What springboards are chosen with: the bytes that bounces may take (springboard_free.c), and the
 * windows that need one (springboard_choice.c).
 */
#ifndef KI_SPLICE_SPRINGBOARD_BOARDS_H
#define KI_SPLICE_SPRINGBOARD_BOARDS_H

#include "code/function/function.h"
#include "splice/springboard_choice.h"

/* Bytes that a bounce may take. */
struct ki_free {
	uint64_t start, end;
	uint64_t own_end;   /* a window's tail: the window's end */
	uint64_t group_end; /* and the end of the last one that it can be joined with */
	uint32_t window;    /* whose tail; KI_NONE: filler */
	bool off;	    /* must not be used */
};

/* A window that needs a bounce. */
struct ki_seeker {
	uint64_t addr;
	uint64_t place; /* 0: none */
	uint64_t old;	/* the place before the attempt to improve */
	size_t from;	/* in the free bytes: those before are out of reach */
	size_t window;
	bool level; /* only places with the stack as it is here will do */
};

struct ki_boards {
	const struct ki_function *fn;
	int64_t *frame; /* of each instruction */
	struct ki_span *v;
	size_t n;
	struct ki_free *free;
	size_t nfree;
	struct ki_seeker *seekers;
	size_t nseekers;
};

/* All free bytes, with all windows joined that can be: the first tail of each group reaches to the
   group's end. */
void ki_boards_find_free(struct ki_boards *b);

#endif
