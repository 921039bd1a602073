/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What becomes a chunk, piece by piece.
 */
#ifndef KI_RECORD_BUFFER_H
#define KI_RECORD_BUFFER_H

#include <errno.h>
#include <string.h>

#include "util/vec.h"

typedef ki_vec(char) ki_buffer;

static inline int ki_buffer_add(ki_buffer *b, const void *data, size_t n)
{
	if (ki_vec_reserve(b, n))
		return -ENOMEM;
	if (n)
		memcpy(b->v + b->n, data, n);
	b->n += n;
	return 0;
}

static inline int ki_buffer_string(ki_buffer *b, const char *s)
{
	return ki_buffer_add(b, s, strlen(s) + 1);
}

static inline int ki_buffer_pad(ki_buffer *b)
{
	static const char zeros[8];

	return ki_buffer_add(b, zeros, -b->n & 7);
}

#endif
