/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_REPORT_STACK_H
#define KI_REPORT_STACK_H

#include "report/inside.h"

/* The stack in a field; false: there is none. */
bool ki_report_stack(const struct ki_report *c, const struct ki_report_record *e, unsigned int i,
		     struct ki_stack *out);

/* The name of a frame, as FUNCTION or FUNCTION+OFFSET, or its address. Returns text. */
char *ki_report_frame(const struct ki_report *c, const struct ki_stack *s, uint32_t i, bool offset,
		      char *text, size_t size);

/* An array of its frames. */
void ki_report_stack_json(const struct ki_report *c, const struct ki_report_record *e,
			  unsigned int i, const char *name, struct ki_json *j);

/* All stacks of a record as one, the outermost frame first, the process's before the kernel's.
   Returns how many frames. */
int ki_report_stack_fold(const struct ki_report *c, const struct ki_report_record *e, FILE *f);

/* The process of which the instrument's point is, and what is there, as far as it is known; 0: it
   is of the kernel. */
uint32_t ki_report_process(const struct ki_report *c, const struct ki_instrument *in,
			   struct ki_user_frame *out);

#endif
