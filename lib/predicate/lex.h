/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From text to tokens: the words that languages with C's expressions have in common. It knows no
 * language: what a name or a keyword means is for its parser to say.
 *
 *	struct ki_lexer l;
 *	ret = ki_lex_start(&l, &rules, text, err);
 *	while (!ret && l.now.kind != KI_TOKEN_END)
 *		ret = ki_lex_next(&l);
 *
 * White space separates; a newline is white space, except in a string. What marks there are, and
 * whether there are comments, is for the language to say (struct ki_lex_rules).
 */
#ifndef KI_PREDICATE_LEX_H
#define KI_PREDICATE_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kerninst/err.h"

enum ki_token_kind {
	KI_TOKEN_END,
	KI_TOKEN_NUMBER,
	KI_TOKEN_NAME,	   /* a letter or _, then digits too */
	KI_TOKEN_REGISTER, /* $ and a name; text is without the $ */
	KI_TOKEN_STRING,   /* text is what stands between the quotes */
	KI_TOKEN_MARK,	   /* an operator, a parenthesis, ... */
};

struct ki_token {
	const char *text; /* in the source */
	size_t len;
	uint32_t at; /* where it begins in the source, in bytes */
	uint8_t kind;
	uint8_t base;		   /* KI_TOKEN_NUMBER: 8, 10, 16; a character has 10 */
	bool is_unsigned, is_long; /* KI_TOKEN_NUMBER: u, l after it */
	uint64_t value;
};

/* What a language's source is made of. */
struct ki_lex_rules {
	const char *language;	  /* its name, for errors */
	const char *const *marks; /* ended by NULL; of those that begin alike the longest first */
	bool comments;		  /* those of C, and // to the end of the line */
	bool macros;		  /* $$NAME, too; a register's text then begins with the second $ */
	bool long_chars;	  /* 'ab': up to 8 characters, the first one highest; \' is two */
};

/* What is wrong with a token. */
enum ki_lex_wrong {
	KI_LEX_SYNTAX,
	KI_LEX_NUMBER_LARGE,
	KI_LEX_NUMBER_DIGIT,
	KI_LEX_STRING_END,
	KI_LEX_CHAR_END,
	KI_LEX_CHAR_EMPTY,
	KI_LEX_CHAR_LONG,
};

struct ki_lexer {
	const struct ki_lex_rules *rules;
	const char *text, *next;
	struct ki_token now;
	struct ki_err *err;
	enum ki_lex_wrong wrong; /* after an error */
};

/* Begin, with the first token. The text must live as long. 0, or -EINVAL. */
int ki_lex_start(struct ki_lexer *l, const struct ki_lex_rules *rules, const char *text,
		 struct ki_err *err);

/* The next token. After the end there is the end. */
int ki_lex_next(struct ki_lexer *l);

/* Is the token this mark, or this name? */
bool ki_lex_is(const struct ki_lexer *l, const char *text);

/* Past this mark, or the error that it is expected. */
int ki_lex_take(struct ki_lexer *l, const char *mark);

/* All after the token up to this mark, without white space around it, becomes the next one: a
   KI_TOKEN_NAME. */
void ki_lex_until(struct ki_lexer *l, char mark);

/* The token becomes all from its beginning up to one of these characters, white space or the end: a
   KI_TOKEN_NAME. */
void ki_lex_widen(struct ki_lexer *l, const char *stops);

/* "LANGUAGE: column N: ...", or "line M, column N" after the first line; -EINVAL. */
int ki_lex_error(const struct ki_lexer *l, uint32_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The error that something else than the token is expected. */
int ki_lex_expected(const struct ki_lexer *l, const char *what);

/* What the token, a string, means, without escapes; at most its len bytes and a 0. */
void ki_lex_string(const struct ki_lexer *l, char *to);

#endif
