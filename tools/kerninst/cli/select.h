/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that a verb's arguments name: by name, glob, address.
 */
#ifndef KERNINST_CLI_SELECT_H
#define KERNINST_CLI_SELECT_H

#include "cli.h"
#include "kerninst/select.h"
#include "util/vec.h"

typedef struct ki_selection ki_selection;

/*
 * In order of address, each once. FUNCTION+OFFSET is accepted only with
 * `offsets`. An argument that names nothing is an error: an exit status.
 */
int select_functions(struct ki_target *t, const struct verb *self, char **args, int n, bool offsets,
		     ki_selection *out);

/* The same, or all functions of the target: --all. */
int select_chosen(struct ki_target *t, const struct verb *self, bool all, char **args, int n,
		  ki_selection *out);

/* Those of one argument, after the others, in the order that they are found in. */
int select_named(struct ki_target *t, const struct verb *self, const char *text, bool offsets,
		 ki_selection *out);

#endif
