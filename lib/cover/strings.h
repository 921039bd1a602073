/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Strings, each kept once: those that are equal have one address. All zero is an empty set.
 */
#ifndef KI_COVER_STRINGS_H
#define KI_COVER_STRINGS_H

#include "util/vec.h"

struct ki_strings {
	ki_vec(char *) chunks;
	char *at;
	size_t left;
	const char **table; /* open addressing; NULL: free */
	size_t slots, used;
};

/* The set's copy of a text; NULL: out of memory. It lives as long as the set. */
const char *ki_strings_keep(struct ki_strings *s, const char *text);
void ki_strings_free(struct ki_strings *s);

#endif
