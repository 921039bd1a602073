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

/* The records that an instrument in these values writes. */
struct record_written {
	const char *name; /* the instrument; NULL: there is none */
	struct ki_record_field fields[KI_RECORD_WORDS];
	unsigned int n;
	char *text; /* the fields' names are in it */
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
	struct record_written written;
};

/* "[NAME[/UNIT]:]EXPRESSION,...": CLI_OK, or reported. Free it in any case. */
int record_values_parse(struct record_values *v, const struct verb *self, const char *text);
void record_values_free(struct record_values *v);

/* Where it is written to, when a point is planned. */
struct record_making {
	uint32_t ring, stacks, id;
	struct ki_hit written; /* by an instrument */
	struct record_values *values;
	struct ki_predicate *when; /* its instrument may write, too; NULL: there is none */
};

/*
 * In a snippet: *n nodes. to: the table of stacks, what an instrument writes; NULL: neither is
 * there. 0, or -errno. Fills in the types.
 */
int record_values_build(struct record_values *v, struct ki_snippet *s,
			const struct record_making *to, struct ki_node **nodes, unsigned int *n,
			struct ki_err *err);

/* The comma that ends the first value of a list, outside of parentheses and strings; or the end. */
char *record_value_end(char *text);

/* A unit may be how it is shown. */
void record_field_unit(struct ki_record_field *f, const char *unit);

/* record_written.c: the instrument of one of these values that writes records. CLI_OK, or reported:
   two write records, or what one says of them is wrong. */
int record_written_find(struct record_values *v, const struct verb *self);
/* The same of the condition for all points, when the values are known. */
int record_written_when(struct record_values *v, const struct verb *self,
			const struct ki_predicate *when);

#endif
