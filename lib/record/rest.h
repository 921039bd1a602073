/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reading a chunk's payload piece by piece.
 */
#ifndef KI_RECORD_REST_H
#define KI_RECORD_REST_H

#include <stdint.h>
#include <string.h>

/* What is left of a chunk's payload. */
struct ki_rest {
	const char *at, *end;
};

/* The next n bytes; NULL: there are not so many. */
static inline const void *ki_rest_take(struct ki_rest *r, size_t n)
{
	const char *at = r->at;

	if ((size_t)(r->end - at) < n)
		return NULL;
	r->at += n;
	return at;
}

static inline const char *ki_rest_string(struct ki_rest *r)
{
	const char *zero = memchr(r->at, 0, (size_t)(r->end - r->at));

	return zero ? ki_rest_take(r, (size_t)(zero - r->at) + 1) : NULL;
}

/* Up to a multiple of 8; what is not there is not needed. */
static inline void ki_rest_align(struct ki_rest *r)
{
	ki_rest_take(r, -(uintptr_t)r->at & 7);
}

#endif
