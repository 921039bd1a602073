/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From text to nodes.
 *
 *	program: {declaration | clause}
 *	declaration: [self | this] TYPE NAME [ '[' TYPE {, TYPE} ']' ] ;
 *	clause: pattern {, pattern} [/ expression /] [ '{' {statement ;} '}' ]
 *	statement: expression | @[NAME] [ '[' list ']' ] = NAME ( [list] ) |
 *		if ( expression ) block [else block] |
 *		for ( assignment ; expression ; expression ) block
 *	block: statement ; | '{' {statement ;} '}'
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
	unsigned int level;	       /* of nesting now */
	bool in_predicate;	       /* a / may end it */
	bool known;		       /* the text is not the program's */
	bool elsewhere;		       /* a declaration that is extern */
	const struct ki_d_node *keyed; /* the first aggregation here with two lists of keys */
};

/* Begin with a text. */
int ki_d_lex(struct ki_d_parser *p, const char *text, struct ki_err *err);

/* An expression, with or without assignment; behind it, whatever could not be part of it. */
int ki_d_parse_expr(struct ki_d_parser *p, struct ki_d_node **out);

/* Up to the closing mark: expressions with commas between them, linked by next. */
int ki_d_parse_list(struct ki_d_parser *p, const char *close, struct ki_d_node **out);

/* Assignments with commas between them. */
int ki_d_parse_comma(struct ki_d_parser *p, struct ki_d_node **out);

/* A number that is known now. */
int ki_d_parse_constant(struct ki_d_parser *p, struct ki_d_node **out);

/* ---- parse_type.c ---- */

#define KI_D_NAME_MAX 128

/* A type as in a cast, if one stands here; *is_type false: nothing was taken. */
int ki_d_parse_type(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type);

/* What began at that name has failed: if only stars and a ) stand after it, a type was meant. */
void ki_d_unknown_type(struct ki_d_parser *p, const struct ki_lexer *name);

/* Its first part, and what it declares if it is a struct, union or enum. */
int ki_d_parse_specifiers(struct ki_d_parser *p, struct ki_d_type *out, bool *is_type);

/* parse_struct.c: struct, union, enum with a tag, or what they declare. */
int ki_d_parse_tagged(struct ki_d_parser *p, struct ki_d_type *out);
int ki_d_parse_name(struct ki_d_parser *p, char name[KI_D_NAME_MAX]);
/* A constant; tag: the error's if it is none. */
int ki_d_parse_number(struct ki_d_parser *p, int64_t *value, const char *tag);

/* Behind it: stars, a name, dimensions. */
struct ki_d_declarator {
	struct ki_d_type type; /* in: of the specifiers */
	char *name;	       /* to be freed; NULL: there is none */
	uint32_t at;	       /* of the name */
	bool keys;	       /* in: a [ behind the name is the caller's */
};
/* ( ... ) of a function: what it takes is not looked at. */
int ki_d_skip_parameters(struct ki_d_parser *p);
/* [N] ...: of an array. */
int ki_d_parse_dimensions(struct ki_d_parser *p, struct ki_d_type *type);
/* ( ... ) of a function: what it takes is not looked at. */
int ki_d_skip_parameters(struct ki_d_parser *p);
int ki_d_parse_declarator(struct ki_d_parser *p, struct ki_d_declarator *d);

/* parse.c: what if, else and for stand before. */
int ki_d_parse_block(struct ki_d_parser *p, struct ki_d_node **out);
/* parse_for.c: its turns, to the end of a list */
int ki_d_parse_for(struct ki_d_parser *p, struct ki_d_node ***end);

int ki_d_parse_inline(struct ki_d_parser *p);	/* inline.c */
int ki_d_parse_provider(struct ki_d_parser *p); /* provide.c */
/* translate.c */
int ki_d_parse_translator(struct ki_d_parser *p);
int ki_d_parse_xlate(struct ki_d_parser *p, struct ki_d_node **out);

/* declare.c: a declaration; *is_one false: here is none, and nothing was taken. */
int ki_d_parse_declaration(struct ki_d_parser *p, bool *is_one);

/* Is the name one of the language's, which has another type? NULL: any. Or an inline's? */
bool ki_d_is_taken(struct ki_dlang *d, const char *name, const struct ki_d_type *type);

/* parse_names.c: `NAME, behind module's name if there is one; $NAME; is it a word of C? */
int ki_d_parse_symbol(struct ki_d_parser *p, struct ki_d_node **module);
int ki_d_parse_integer(struct ki_d_parser *p, struct ki_d_node **out);
bool ki_d_ends_predicate(const struct ki_d_parser *p); /* does a / that stands here? */
int ki_d_parse_macro(struct ki_d_parser *p, struct ki_d_node **out);
int ki_d_parse_offset_of(struct ki_d_parser *p, struct ki_d_node **out);
bool ki_d_is_reserved(const struct ki_d_parser *p);

/* The value of $NAME, as text; NULL: there is none. */
const char *ki_d_macro(struct ki_dlang *d, const char *name, char buf[24]);

#endif
