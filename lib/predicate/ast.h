/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Expressions as they are written: the tree that the parser makes. What its names mean is not in
 * it until a language has looked them up (struct ki_ast.meaning, value).
 */
#ifndef KI_PREDICATE_AST_H
#define KI_PREDICATE_AST_H

#include <stdint.h>
#include <stdio.h>

#include "kerninst/snippet.h"

#define KI_STRING_USUAL 8   /* words of a string that does not say */
#define KI_AST_DEPTH	100 /* nodes from the root to a leaf; walking is recursive */

enum ki_ast_kind {
	KI_AST_NUMBER, /* type, base, value */
	KI_AST_STRING, /* text */
	KI_AST_NAME,   /* text */
	KI_AST_REGISTER,
	KI_AST_UNARY,  /* op: enum ki_unary */
	KI_AST_BINARY, /* op: enum ki_binary */
	KI_AST_COND,   /* kids: condition, yes, no */
	KI_AST_IN,     /* kids: what, the first of its members; they are linked by next */
	KI_AST_CAST,   /* type, kid 0 */
	KI_AST_LOAD,   /* type, kid 0: the address */
	KI_AST_STR,    /* str(kid 0, value), op 1: ustr; value 0: no size is said */
	KI_AST_STARTS, /* starts(kid 0, kid 1) */
	KI_AST_CALL,   /* NAME(anything): text is the name, kid 0 a NAME with what stands there */
};

struct ki_ast {
	uint8_t kind; /* enum ki_ast_kind */
	uint8_t op;
	uint8_t type; /* enum ki_type */
	uint8_t base; /* that a number was written in: 8, 10, 16 */
	uint16_t depth;
	uint16_t meaning; /* the language's */
	uint32_t at;	  /* in the source, in bytes */
	uint64_t value;
	struct ki_ast *kid[3], *next;
	struct ki_ast *all; /* of the pool */
	char text[];
};

/* All nodes, to be freed together. All zero: empty. */
struct ki_ast_pool {
	struct ki_ast *all;
};

/* A node with room for a text of len bytes and a 0, which is zero; NULL: out of memory. */
struct ki_ast *ki_ast_new(struct ki_ast_pool *p, enum ki_ast_kind kind, uint32_t at, size_t len);
void ki_ast_free(struct ki_ast_pool *p);

/* Words of KI_AST_STR: as it says, or otherwise so many. */
static inline unsigned int ki_ast_words(const struct ki_ast *e, unsigned int otherwise)
{
	return e->value ? (unsigned int)(e->value + 7) / 8 : otherwise;
}

/* Write it with parentheses only where they are needed. */
void ki_ast_print(FILE *f, const struct ki_ast *e);

/* ---- words and marks ---- */

#define KI_OP_IN    KI_BINARIES /* `a in (...)`, beside enum ki_binary */
#define KI_OP_BINDS 12		/* unary operators bind stronger than all others */

struct ki_op {
	const char *text;
	uint8_t op;    /* enum ki_binary, KI_OP_IN; enum ki_unary */
	uint8_t binds; /* more: stronger. As in C; `in` as a comparison */
};

/* Operators between operands, and before one; ended by text NULL. */
extern const struct ki_op ki_ops_binary[], ki_ops_unary[];

/* A type's name, of one word or of more with a blank between them: 0, or -ENOENT. */
int ki_type_named(const char *name, enum ki_type *out);
const char *ki_type_name(enum ki_type type); /* "u32" */

/* General registers by name, of 64 bits. */
int ki_reg_named(const char *name, enum ki_reg *out);
const char *ki_reg_name(enum ki_reg reg);

#endif
