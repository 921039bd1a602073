/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Types: those of the language, those that a program declares, and the kernel's, from its BTF.
 *
 * A type that has parts (a struct, an array, an enum ...) has a definition, which all uses of it
 * name by number. BTF is read when a name is asked for that nobody else knows, and a struct's
 * members when one of them is.
 */
#ifndef KI_DLANG_TYPES_H
#define KI_DLANG_TYPES_H

#include "dlang/words/ast.h"
#include "kerninst/err.h"

struct ki_dlang;
struct btf;

enum ki_d_def_kind {
	KI_D_DEF_STRUCT,
	KI_D_DEF_UNION,
	KI_D_DEF_ENUM,
	KI_D_DEF_ARRAY,
	KI_D_DEF_TYPEDEF,
	KI_D_DEF_FUNCTION,
};

/* Of a struct or union; a constant of an enum (value); a parameter of a function. */
struct ki_d_member {
	char *name; /* "": an anonymous one */
	struct ki_d_type type;
	uint64_t bit;	    /* where it begins */
	unsigned int width; /* bits of a bit-field; 0: it is none */
	int64_t value;
};

struct ki_d_def {
	uint8_t kind; /* enum ki_d_def_kind */
	bool complete;
	bool loaded; /* members */
	char *name;  /* "": anonymous */
	uint64_t size;
	struct ki_d_type of; /* of an array its elements, of a function what it returns */
	uint64_t n;	     /* elements */
	ki_vec(struct ki_d_member) members;
	uint32_t number; /* of this definition, from 1 */
	/* where in BTF it is; btf: an index, + 1, or 0 */
	uint32_t btf, id;
};

/* The BTF of the kernel, or of a module. */
struct ki_d_btf {
	char *module;
	struct btf *btf;
	uint32_t *defs; /* by id: number of the definition; 0: none yet */
	uint32_t nids;
};

struct ki_d_types {
	ki_vec(struct ki_d_def *) defs;
	ki_vec(struct ki_d_btf) btfs; /* the first is the kernel's */
	bool sought;
	char *path; /* of the kernel's; NULL: the running one's */
};

void ki_d_types_free(struct ki_d_types *t);

/* A new definition with no members; NULL: out of memory. */
struct ki_d_def *ki_d_def_new(struct ki_d_types *t, enum ki_d_def_kind kind, const char *name);

/* The definition of a type, with its members if they are known; NULL: it has none. */
const struct ki_d_def *ki_d_def_of(struct ki_d_types *t, struct ki_d_type type);

/* Bytes of a value; 0: it is not complete, or has none. */
uint64_t ki_d_sizeof(struct ki_d_types *t, struct ki_d_type type);

/* What a pointer or an array leads to. */
struct ki_d_type ki_d_pointed(struct ki_d_types *t, struct ki_d_type type);
struct ki_d_type ki_d_array_of(struct ki_d_types *t, struct ki_d_type of, uint64_t n);

/* A type by the name that a typedef has given to it: 0, or -ENOENT. */
int ki_d_typedef(struct ki_d_types *t, const char *name, struct ki_d_type *out);
int ki_d_typedef_in(struct ki_d_types *t, const char *module, const char *name,
		    struct ki_d_type *out);

/* A struct, union or enum by its tag: 0, or -ENOENT. */
int ki_d_tagged(struct ki_d_types *t, enum ki_d_def_kind kind, const char *module, const char *tag,
		struct ki_d_type *out);

/* A member, also of anonymous ones in it; *bit: where it begins. NULL: there is none. */
const struct ki_d_member *ki_d_member_find(struct ki_d_types *t, struct ki_d_type type,
					   const char *name, uint64_t *bit);

/* The constant of an enum: 0, or -ENOENT. */
int ki_d_enumerator(struct ki_d_types *t, const char *name, struct ki_d_type *type, int64_t *value);

/* A type as C writes it ("struct task_struct *"): 0, or -ENOENT. For tables of providers. */
int ki_d_type_written(struct ki_dlang *d, const char *text, struct ki_d_type *out);

/* The prototype of a function of the kernel ("": built in) or a module: a KI_D_DEF_FUNCTION, whose
 * members are its parameters; NULL: it is not known. */
const struct ki_d_def *ki_d_function_type(struct ki_d_types *t, const char *module,
					  const char *name);

/* The type of a variable of the kernel: 0, or -ENOENT. */
int ki_d_variable_type(struct ki_d_types *t, const char *module, const char *name,
		       struct ki_d_type *out);

/* btf.c: what types.c asks BTF for. */
int ki_d_btf_find_anywhere(struct ki_d_types *t, const char *name, unsigned int kind,
			   struct ki_d_type *out); /* in any module's */
int ki_d_btf_find(struct ki_d_types *t, const char *module, const char *name, unsigned int kind,
		  struct ki_d_type *out);
void ki_d_btf_load(struct ki_d_types *t, struct ki_d_def *def);
int ki_d_btf_enumerator(struct ki_d_types *t, const char *name, struct ki_d_type *type,
			int64_t *value);
void ki_d_btf_close(struct ki_d_types *t);
bool ki_d_btf_known(struct ki_d_types *t); /* is there any? */

static inline bool ki_d_is_struct(struct ki_d_type t)
{
	return t.base == KI_D_STRUCT && !t.stars;
}

static inline bool ki_d_is_array(struct ki_d_type t)
{
	return t.base == KI_D_ARRAY && !t.stars;
}

/* char[N]: it can stand for a string. */
bool ki_d_is_text(struct ki_d_types *t, struct ki_d_type type);

#endif
