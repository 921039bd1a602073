/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Who is told while something goes on: how far it is, and what a user should know of it. Functions
 * that take a listener allow NULL, and NULL in it.
 */
#ifndef KERNINST_LISTENER_H
#define KERNINST_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ki_listener {
	/* So much of something is done; total 0: of how much is not known. what NULL: it is over.
	   False: it is to end, with -ECANCELED. */
	bool (*progress)(void *arg, const char *what, size_t done, size_t total);
	/* A line without newline; valid until it returns. */
	void (*warn)(void *arg, const char *line);
	void *arg;
};

#ifdef __cplusplus
}
#endif

#endif
