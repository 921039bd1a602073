/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_AGGREGATE_INSIDE_H
#define KI_AGGREGATE_INSIDE_H

#include "kerninst/aggregate.h"
#include "record/field_text.h"

/* The names of enum ki_aggregate_fn. */
extern const char *const ki_aggregate_fns[KI_AGGREGATE_FNS];

/* The tables of stacks and processes, if a key is a stack. */
int ki_aggregate_stacks_open(struct ki_aggregate *b, struct ki_target *t, struct ki_err *err);
void ki_aggregate_stacks_close(struct ki_aggregate *b);

/* Find out which stacks are the same. 0, or -ENOMEM. */
int ki_aggregate_join_stacks(struct ki_aggregate *b, struct ki_err *err);

static inline bool ki_aggregate_is_stack(const struct ki_aggregate *b, unsigned int i)
{
	return b->key.fields[i].show == KI_SHOW_STACK;
}

/* What came between the two readings, stacks that are the same as one; its words are the caller's
   to free. 0, or -ENOMEM. */
int ki_aggregate_delta(const struct ki_aggregate *b, struct ki_table_reading *out);

/* A field of a key, as text; all frames of a stack, which is the caller's to free, NULL: out of
   memory. */
const char *ki_aggregate_key_text(struct ki_aggregate *b, const uint64_t *key, unsigned int i,
				  char buf[KI_FIELD_TEXT]);
char *ki_aggregate_frames(struct ki_aggregate *b, const struct ki_stack *s);

#endif
