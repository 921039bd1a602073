/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A D program as it is written: clauses of statements of expressions; and what check.c finds out
 * of each node: its type, and what its name stands for.
 */
#ifndef KI_DLANG_AST_H
#define KI_DLANG_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "kerninst/snippet.h"
#include "util/vec.h"

#define KI_D_DEPTH 100 /* nodes from the root to a leaf; walking is recursive */

enum ki_d_type_base {
	KI_D_VOID,
	KI_D_INT, /* an enum too, which has a definition */
	KI_D_STRING,
	KI_D_STACK,
	KI_D_FLOAT,
	KI_D_STRUCT, /* a union, too */
	KI_D_ARRAY,
	KI_D_FUNCTION,
	KI_D_PLACE, /* an address that is printed as a name; num: enum ki_d_place */
};

/* As which name an address is printed; of processes from KI_D_USYM on. */
enum ki_d_place { KI_D_SYM, KI_D_MOD, KI_D_USYM, KI_D_UMOD, KI_D_UADDR };

/* A type. stars: how many pointers lead to the base; a number's base has a ki_type. */
struct ki_d_type {
	uint8_t base; /* enum ki_d_type_base */
	uint8_t num;  /* enum ki_type of KI_D_INT; bytes of KI_D_FLOAT; frames of KI_D_STACK, 0:
			 as options say */
	uint8_t stars;
	bool scratch;	    /* of a pointer: it leads into scratch memory, which can be written */
	uint16_t xlator;    /* of a struct or pointer: what its members are translated by, + 1 */
	bool user;	    /* of KI_D_STACK: a process's */
	uint32_t def;	    /* the number of its definition (types.h); 0: it has none */
	const char *called; /* the base, or that of an array's elements, where it is written, if
			       print() would say another name; it stays as long as types do */
};

enum ki_d_kind {
	KI_D_NUMBER, /* value */
	KI_D_TEXT,   /* text: a string's */
	KI_D_NAME,   /* text; sym: built-in variable or variable */
	KI_D_SELF,   /* self->text */
	KI_D_THIS,   /* this->text */
	KI_D_AGG, /* @text [kid 0, linked by next] = kid 1, a call; as an argument kid 1 is NULL */
	KI_D_INDEX,    /* kid 0 [kid 1, linked by next] */
	KI_D_CALL,     /* text (kid 0, linked by next) */
	KI_D_UNARY,    /* op: enum ki_unary */
	KI_D_BINARY,   /* op: enum ki_binary, or KI_D_XOR_LOGIC */
	KI_D_ASSIGN,   /* kid 0 = kid 1; op: enum ki_binary of `+=`, KI_BINARIES of `=` */
	KI_D_STEP,     /* ++ and -- of kid 0; op: KI_ADD, KI_SUB; value 1: behind it */
	KI_D_COND,     /* kids: condition, yes, no */
	KI_D_CAST,     /* (type) kid 0 */
	KI_D_DEREF,    /* * kid 0 */
	KI_D_MEMBER,   /* kid 0 . text; value: the bit at which it begins; op: bits of a bit-field;
			 of a stack: its depth, or, with kid 1, the stack with that depth */
	KI_D_ADDRESS,  /* & kid 0 */
	KI_D_SYMBOL,   /* `text, or MODULE`text: a variable of the kernel */
	KI_D_SIZEOF,   /* sizeof kid 0, or of the type; a number once it has been checked */
	KI_D_OFFSETOF, /* offsetof(type, text) */
	KI_D_COMMA,    /* kid 0, kid 1 */
	KI_D_XLATE,    /* xlate <about> (kid 0) */
	KI_D_ELEMENT,  /* kid 0 [kid 1] of an array that is in a variable */
	KI_D_LET,      /* kid 1, where KI_D_HELD of the same value is kid 0 */
	KI_D_HELD,     /* (let.c); value: which */
	KI_D_IF,       /* a statement: if (kid 0) kid 1, linked by next, else kid 2 */
};

#define KI_D_XOR_LOGIC KI_BINARIES /* ^^ */

struct ki_d_builtin;
struct ki_d_function;
struct ki_d_var;
struct ki_d_agg;

struct ki_d_node {
	uint8_t kind; /* enum ki_d_kind */
	uint8_t op;
	uint16_t depth;
	uint32_t at; /* in the source, in bytes */
	struct ki_d_type type;
	uint64_t value;
	struct ki_d_type about; /* of a cast, sizeof, offsetof */
	struct ki_d_node *kid[3], *next;
	union { /* found by check.c */
		const struct ki_d_builtin *builtin;
		const struct ki_d_function *function;
		struct ki_d_var *var;
		struct ki_d_agg *agg;
	} sym;
	bool is_builtin; /* of KI_D_NAME */
	bool is_turn;	 /* of KI_D_NUMBER: a loop's variable in one of its turns */
	bool is_choice;	 /* of KI_D_IF: it was written with ? and : */
	bool is_user;	 /* of KI_D_CAST: args[] of a program's own probe */
	struct ki_d_node *all;
	char text[];
};

/* All nodes of a program, to be freed together. */
struct ki_d_pool {
	struct ki_d_node *all;
};

/* A node with room for a text of len bytes and a 0, which is zero; NULL: out of memory. */
struct ki_d_node *ki_d_node_new(struct ki_d_pool *p, enum ki_d_kind kind, uint32_t at, size_t len);
void ki_d_pool_free(struct ki_d_pool *p);

/* ---- types ---- */

static inline struct ki_d_type ki_d_int(enum ki_type num)
{
	return (struct ki_d_type){.base = KI_D_INT, .num = (uint8_t)num};
}

static inline bool ki_d_is_string(struct ki_d_type t)
{
	return t.base == KI_D_STRING && !t.stars;
}

static inline bool ki_d_is_place(struct ki_d_type t)
{
	return t.base == KI_D_PLACE && !t.stars;
}

/* A number or a pointer: it has one word. */
static inline bool ki_d_is_scalar(struct ki_d_type t)
{
	return t.stars || t.base == KI_D_INT;
}

static inline bool ki_d_same_type(struct ki_d_type a, struct ki_d_type b)
{
	return a.base == b.base && a.stars == b.stars && a.def == b.def &&
	       (a.num == b.num || (a.base != KI_D_INT && a.base != KI_D_FLOAT));
}

/* A name for it: what has stars or elements keeps the one that it has. */
static inline void ki_d_call(struct ki_d_type *t, const char *name)
{
	if (!t->stars && t->base != KI_D_ARRAY && t->base != KI_D_FUNCTION)
		t->called = name;
}

/* How it is held: pointers as u64. */
enum ki_type ki_d_num(struct ki_d_type t);
unsigned int ki_d_size(struct ki_d_type t); /* bytes of a scalar; of what void * leads to: 1 */
/* C's usual conversions: to int at least, then to the larger, then to unsigned. */
struct ki_d_type ki_d_usual(struct ki_d_type a, struct ki_d_type b);
/* The larger of two numbers' types, of equal ones the unsigned: D makes no int of smaller ones. */
struct ki_d_type ki_d_larger(struct ki_d_type a, struct ki_d_type b);

/* "unsigned long *" */
#define KI_D_TYPE_NAME 64
const char *ki_d_type_name(struct ki_d_type t, char name[KI_D_TYPE_NAME]);

/* A type of one word or of more with a blank between them ("unsigned int"): 0, or -ENOENT. */
int ki_d_type_named(const char *name, struct ki_d_type *out);

#endif
