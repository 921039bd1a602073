/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "util/vec.h"

#include <stdint.h>

void *ki_vec_grow(void *v, size_t n, size_t *cap, size_t more, size_t size)
{
	size_t need, want, bytes;
	void *p;

	if (__builtin_add_overflow(n, more, &need))
		return NULL;
	if (v && need <= *cap)
		return v;
	want = *cap + *cap / 2;
	if (want < need)
		want = need;
	if (want < 16)
		want = 16;
	if (__builtin_mul_overflow(want, size, &bytes))
		return NULL;
	p = realloc(v, bytes);
	if (p)
		*cap = want;
	return p;
}
