/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is recorded at a point: the list of values after it.
 */
#ifndef KERNINST_RECORD_VALUES_H
#define KERNINST_RECORD_VALUES_H

#include "kerninst/predicate.h"
#include "kerninst/record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ki_record_value_kind {
	KI_RECORD_EXPR,
	KI_RECORD_COMM0,
	KI_RECORD_COMM1,
	KI_RECORD_MORE, /* what the value before has more than a word */
	KI_RECORD_STACK,
	KI_RECORD_USTACK
};

/* The records that an instrument in these values writes. */
struct ki_record_written {
	const char *name; /* the instrument; NULL: there is none */
	struct ki_record_field fields[KI_RECORD_WORDS];
	unsigned int n;
	char *text; /* the fields' names are in it */
};

struct ki_record_values {
	struct ki_record_field fields[KI_RECORD_WORDS]; /* types are known once they are built */
	struct ki_record_value {
		uint8_t kind;		   /* enum ki_record_value_kind */
		uint8_t skip;		   /* of a stack */
		struct ki_predicate *expr; /* or NULL */
	} values[KI_RECORD_WORDS];
	unsigned int n;
	bool stacks; /* some are stacks */
	char *text;  /* the names are in it */
	struct ki_record_written written;
};

/* "[NAME[/UNIT]:]EXPRESSION,...": 0, or -errno. Free it in any case. */
int ki_record_values_new(struct ki_record_values *v, const char *text, struct ki_err *err);
void ki_record_values_free(struct ki_record_values *v);

/* Where it is written to, when a point is planned. */
struct ki_record_making {
	uint32_t ring, stacks, id;
	struct ki_hit written; /* by an instrument */
	struct ki_record_values *values;
	struct ki_predicate *when; /* its instrument may write, too; NULL: there is none */
};

/*
 * In a snippet: *n nodes. to: the table of stacks, what an instrument writes; NULL: neither is
 * there. 0, or -errno. Fills in the types.
 */
int ki_record_values_build(struct ki_record_values *v, struct ki_snippet *s,
			   const struct ki_record_making *to, struct ki_node **nodes,
			   unsigned int *n, struct ki_err *err);

/* The comma that ends the first value of a list, outside of parentheses and strings; or the end. */
char *ki_record_value_end(char *text);

/* A unit may be how it is shown. */
void ki_record_field_unit(struct ki_record_field *f, const char *unit);

/* record_written.c: the instrument of one of these values that writes records. 0, or -errno:
   two write records, or what one says of them is wrong. */
int ki_record_written_find(struct ki_record_values *v, struct ki_err *err);
/* The same of the condition for all points, when the values are known. */
int ki_record_written_when(struct ki_record_values *v, const struct ki_predicate *when,
			   struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
