/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions of a coverage in groups (modules, directories, files), and what is known of each.
 */
#ifndef KERNINST_COVER_SUMS_H
#define KERNINST_COVER_SUMS_H

#include "kerninst/coverage.h"

struct ki_cover_sum {
	const char *name;
	uint32_t *members; /* numbers of functions, in order of address; in ki_cover_sums' result */
	uint64_t functions, functions_hit;
	uint64_t blocks, known, hit;
	uint64_t entries; /* counts of first blocks, all together */
	uint64_t most;	  /* the highest count of a block */
};

/* Add a function; members stays as it is. */
void ki_cover_sum_add(struct ki_cover_sum *s, const struct ki_coverage *c,
		      const struct ki_cover_function *f);

/*
 * Functions by the name of their group, which must live as long as the result: the groups of the
 * most blocks hit first. of: only its members; NULL: all functions. 0, or -ENOMEM.
 */
typedef const char *ki_cover_group_name(const void *arg, size_t function);
int ki_cover_sums(const struct ki_coverage *c, const struct ki_cover_sum *of,
		  ki_cover_group_name *name, const void *arg, struct ki_cover_sum **out, size_t *n);
void ki_cover_sums_free(struct ki_cover_sum *v, size_t n);

#endif
