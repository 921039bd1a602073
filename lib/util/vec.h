/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A growable array of any type:
 *
 *	ki_vec(struct foo) foos = {0};
 *	if (ki_vec_push(&foos, foo))
 *		return -ENOMEM;
 *	for (size_t i = 0; i < foos.n; i++)
 *		use(&foos.v[i]);
 *	ki_vec_free(&foos);
 *
 * Growing moves the elements: no pointers to them across a push. All zero is an empty array.
 */
#ifndef KI_UTIL_VEC_H
#define KI_UTIL_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define ki_vec(type)                                                                               \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

/* Room for `more` elements after the last one: 0, or -ENOMEM and nothing has changed. */
#define ki_vec_reserve(x, more)                                                                    \
	({                                                                                         \
		__typeof__(x) x_ = (x);                                                            \
		void *p_ = ki_vec_grow(x_->v, x_->n, &x_->cap, (more), sizeof(*x_->v));            \
		if (p_)                                                                            \
			x_->v = p_;                                                                \
		p_ ? 0 : -ENOMEM;                                                                  \
	})

/* Append one element: 0, or -ENOMEM. */
#define ki_vec_push(x, ...)                                                                        \
	({                                                                                         \
		int r_ = (x)->n < (x)->cap ? 0 : ki_vec_reserve((x), 1);                           \
		if (!r_)                                                                           \
			(x)->v[(x)->n++] = (__VA_ARGS__);                                          \
		r_;                                                                                \
	})

#define ki_vec_free(x)                                                                             \
	do {                                                                                       \
		free((x)->v);                                                                      \
		(x)->v = NULL;                                                                     \
		(x)->n = (x)->cap = 0;                                                             \
	} while (0)

/* The elements' memory with room for n + more of `size` bytes; NULL without memory. */
void *ki_vec_grow(void *v, size_t n, size_t *cap, size_t more, size_t size);

#endif
