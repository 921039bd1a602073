/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording says of the code that it is about, and whether code is still that.
 */
#ifndef KERNINST_CHRONICLE_CODE_H
#define KERNINST_CHRONICLE_CODE_H

#include "chronicle.h"
#include "open.h"

/* Lines of a header: the builds of the kernel and of modules, the graphs of functions. */
void chronicle_code_print(const struct chronicle *c);

/* A JSON object each. 0, or -EIO. */
int chronicle_code_json(const struct chronicle *c);

/* Say in one line which functions are no longer what they were. CLI_OK, or reported. */
int chronicle_code_check(const struct chronicle *c, const char *file, const struct open_options *o);

#endif
