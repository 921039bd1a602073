/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is recorded at a point: the list of values behind it.
 */
#ifndef KERNINST_RECORD_VALUES_H
#define KERNINST_RECORD_VALUES_H

#include "kerninst/predicate.h"
#include "kerninst/record.h"

struct verb;

enum record_value_kind {
	RECORD_EXPR,
	RECORD_COMM0,
	RECORD_COMM1,
	RECORD_MORE, /* what the value before has more than a word */
	RECORD_STACK,
	RECORD_USTACK
};

struct record_values {
	struct ki_record_field fields[KI_RECORD_WORDS]; /* types are known once they are built */
	struct record_value {
		uint8_t kind;		   /* enum record_value_kind */
		uint8_t skip;		   /* of a stack */
		struct ki_predicate *expr; /* or NULL */
	} values[KI_RECORD_WORDS];
	unsigned int n;
	bool stacks; /* some are stacks */
	char *text;  /* the names are in it */
};

/* "[NAME[/UNIT]:]EXPRESSION,...": CLI_OK, or reported. Free it in any case. */
int record_values_parse(struct record_values *v, const struct verb *self, const char *text);
void record_values_free(struct record_values *v);

/* In a snippet: *n nodes. stacks: the number of their table. 0, or -errno. Fills in the types. */
int record_values_build(struct record_values *v, struct ki_snippet *s, uint32_t stacks,
			struct ki_node **nodes, unsigned int *n, struct ki_err *err);

#endif
