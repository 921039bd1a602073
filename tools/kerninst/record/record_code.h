/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst record: what the file says of the code that is recorded: the graphs of its functions and
 * the build ids of their modules.
 */
#ifndef KERNINST_RECORD_CODE_H
#define KERNINST_RECORD_CODE_H

#include "record/record_group.h"

struct record_code {
	struct ki_record_function *functions;
	struct ki_record_module *modules;
	char (*builds)[72]; /* of the modules */
	size_t nfunctions, nmodules;
};

/* Of all points that are not refused. CLI_OK, or reported. Free it in any case. */
int record_code_find(struct record_code *c, struct ki_target *t, const struct record_group *groups,
		     size_t n);
void record_code_free(struct record_code *c);

/* 0, or -errno. */
int record_code_write(const struct record_code *c, struct ki_record_file *f);

#endif
