/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Fields of records, and keys of tables, as people read them: what stat --by shows is what report
 * shows.
 */
#ifndef KI_RECORD_FIELD_TEXT_H
#define KI_RECORD_FIELD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "kerninst/record.h"

#define KI_FIELD_TEXT 8192 /* a stack may be long */

/* What words stand for. */
struct ki_field_names {
	void *arg;
	double khz; /* ticks in a millisecond */
	/* The function an address is in; NULL: none is known. */
	const char *(*symbol)(void *arg, uint64_t addr, uint64_t *offset);
	/* The stack with that number; false: there is none. */
	bool (*stack)(void *arg, uint64_t number, struct ki_stack *out);
	/* Frame k of it. Returns text. */
	char *(*frame)(void *arg, const struct ki_stack *s, uint32_t k, char *text, size_t size);
};

/* Does it go on with the text of the one before? */
static inline bool ki_field_goes_on(const struct ki_record_field *fields, unsigned int i)
{
	return i && !*fields[i].name && fields[i].show == KI_SHOW_TEXT;
}

/* Words of field i of n: it, and what goes on with it. */
unsigned int ki_field_words(const struct ki_record_field *fields, unsigned int n, unsigned int i);

/* A number may be negative. */
bool ki_field_is_negative(const struct ki_record_field *f, uint64_t v);
double ki_field_number(const struct ki_record_field *f, uint64_t v);

/* Without its unit; of nwords. No byte of it does anything to a terminal. Returns text. */
char *ki_field_text(const struct ki_field_names *names, const struct ki_record_field *f,
		    const uint64_t *words, unsigned int nwords, char text[KI_FIELD_TEXT]);

/* FUNCTION, FUNCTION+OFFSET, or the address if there is no name. Returns text. */
char *ki_field_code(const char *name, uint64_t offset, uint64_t addr, char *text, size_t size);

#endif
