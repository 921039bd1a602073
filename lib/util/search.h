/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Binary search in what is in order. */
#ifndef KI_UTIL_SEARCH_H
#define KI_UTIL_SEARCH_H

#include <stddef.h>

/*
 * Number of the first of n things for which `cond` holds; n: it holds for none. `i` is the name by
 * which cond knows a thing's number, from 0. Where it holds for one, it holds for all after it.
 */
#define KI_FIRST(i, n, cond)                                                                       \
	({                                                                                         \
		size_t i##_from = 0, i##_to = (n);                                                 \
                                                                                                   \
		while (i##_from < i##_to) {                                                        \
			const size_t i = i##_from + (i##_to - i##_from) / 2;                       \
                                                                                                   \
			if (cond)                                                                  \
				i##_to = i;                                                        \
			else                                                                       \
				i##_from = i + 1;                                                  \
		}                                                                                  \
		i##_from;                                                                          \
	})

#endif
