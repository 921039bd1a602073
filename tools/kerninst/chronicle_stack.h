/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KERNINST_CHRONICLE_STACK_H
#define KERNINST_CHRONICLE_STACK_H

#include "chronicle.h"

/* Its frames with ; between them. Returns text. */
char *chronicle_stack_text(const struct chronicle *c, const struct seen_record *e, unsigned int i,
			   char *text, size_t size);

/* An array of its frames. */
void chronicle_stack_json(const struct chronicle *c, const struct seen_record *e, unsigned int i,
			  const char *name, struct ki_json *j);

/* All stacks of a record as one, the outermost frame first, the process's before the kernel's.
   Returns how many frames. */
int chronicle_stack_fold(const struct chronicle *c, const struct seen_record *e, FILE *f);

#endif
