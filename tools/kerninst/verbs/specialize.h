/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst specialize: its options.
 */
#ifndef KERNINST_SPECIALIZE_VERB_H
#define KERNINST_SPECIALIZE_VERB_H

#include "cli.h"

struct specialize_options {
	size_t argument, share, windows;
	long long value;
	double seconds, window;
	bool given, callers, alone, dry_run, explain, trial, keep;
	const char *metric, *judge;
	char *function, **command; /* command NULL: none */
};

extern const char specialize_usage[];

/* False: an exit status. */
bool specialize_parse(const struct verb *self, int argc, char **argv, struct specialize_options *o,
		      int *status);

#endif
