/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that a verb's arguments name: by name, glob, address.
 */
#ifndef KERNINST_SELECT_H
#define KERNINST_SELECT_H

#include "cli.h"
#include "util/vec.h"

struct selected {
	const struct ki_symbol *sym;
	uint64_t from; /* the address that was named; that of the function if it was a name */
};

typedef ki_vec(struct selected) ki_selection;

/*
 * In order of address, each once. FUNCTION+OFFSET is accepted only with
 * `offsets`. An argument that names nothing is an error: an exit status.
 */
int select_functions(struct ki_target *t, const struct verb *self, char **args, int n, bool offsets,
		     ki_selection *out);

#endif
