/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From text to nodes.
 *
 *	program: {declaration | clause}
 *	declaration: [self | this] TYPE NAME [ '[' TYPE {, TYPE} ']' ] ;
 *	clause: pattern {, pattern} [/ expression /] [ '{' {statement ;} '}' ]
 *	statement: expression | @[NAME] [ '[' list ']' ] = NAME ( [list] )
 *
 * Expressions are C's, with ^^; binary operators bind as those of predicates do.
 */
#ifndef KI_DLANG_PARSE_H
#define KI_DLANG_PARSE_H

#include "dlang/program.h"
#include "predicate/lex.h"

struct ki_d_parser {
	struct ki_lexer lex;
	struct ki_dlang *d;
	unsigned int level; /* of nesting now */
	bool in_predicate;  /* a / may end it */
};

/* An expression, with or without assignment; behind it, whatever could not be part of it. */
int ki_d_parse_expr(struct ki_d_parser *p, struct ki_d_node **out);

/* Up to the closing mark: expressions with commas between them, linked by next. */
int ki_d_parse_list(struct ki_d_parser *p, const char *close, struct ki_d_node **out);

/* A type's words and stars, if they stand here; *is_type false: nothing was taken. */
int ki_d_parse_type(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type);

/* The value of $NAME, as text; NULL: there is none. */
const char *ki_d_macro(const struct ki_dlang *d, const char *name, char buf[24]);

#endif
