/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Formats of printf and printa.
 */
#ifndef KI_DLANG_FORMAT_H
#define KI_DLANG_FORMAT_H

#include <stdio.h>

#include "dlang/words/ast.h"

/* A piece of a format: text, or one conversion. */
struct ki_d_spec {
	const char *text; /* of a text; of a conversion, where it begins */
	size_t len;	  /* of the text */
	char conversion;  /* 0: it is text */
	char flags[8];
	int width, precision; /* -1: none */
	bool width_arg;	      /* *: the width is an argument of its own */
	bool precision_arg;   /* the precision is one, behind the width */
	bool at;	      /* %@d: the value of an aggregation */
};

/*
 * The next piece from *p on; *p moves behind it. 1: there is one, 0: the end; -EINVAL: *why says
 * what is wrong.
 */
int ki_d_format_next(const char **p, struct ki_d_spec *out, const char **why);

/* Can a value of that type be printed by it? */
bool ki_d_format_takes(const struct ki_d_spec *s, struct ki_d_type t);

void ki_d_format_number(FILE *f, const struct ki_d_spec *s, int width, struct ki_d_type t,
			uint64_t value);
void ki_d_format_string(FILE *f, const struct ki_d_spec *s, int width, const char *text);

/* A character as it is written in a string: \n, \", \033. */
void ki_d_format_escaped(FILE *f, unsigned char c);

#endif
