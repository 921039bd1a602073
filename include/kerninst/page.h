/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where and how something is shown: what the functions that take a page write is for people, or
 * JSON, an object per line, for programs. They return 0 or -errno; what a stream of the caller's
 * could not take is found when it is flushed, too.
 */
#ifndef KERNINST_PAGE_H
#define KERNINST_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ki_page {
	FILE *out;    /* the caller's */
	bool json;    /* else a table, or text */
	bool bold;    /* titles in bold, for a terminal */
	bool verbose; /* all there is to say */
};

#ifdef __cplusplus
}
#endif

#endif
