/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KERNINST_CHRONICLE_STACK_H
#define KERNINST_CHRONICLE_STACK_H

#include "chronicle.h"

/* The stack in a field; false: there is none. */
bool chronicle_stack(const struct chronicle *c, const struct seen_record *e, unsigned int i,
		     struct ki_stack *out);

/* The name of a frame, as FUNCTION or FUNCTION+OFFSET, or its address. Returns text. */
char *chronicle_frame(const struct chronicle *c, const struct ki_stack *s, uint32_t i, bool offset,
		      char *text, size_t size);

/* An array of its frames. */
void chronicle_stack_json(const struct chronicle *c, const struct seen_record *e, unsigned int i,
			  const char *name, struct ki_json *j);

/* All stacks of a record as one, the outermost frame first, the process's before the kernel's.
   Returns how many frames. */
int chronicle_stack_fold(const struct chronicle *c, const struct seen_record *e, FILE *f);

#endif
