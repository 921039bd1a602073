/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The language of predicates on top of expressions: the inside of predicate.c.
 */
#ifndef KI_PREDICATE_PREDICATE_H
#define KI_PREDICATE_PREDICATE_H

#include "kerninst/predicate.h"
#include "predicate/parse.h"
#include "util/vec.h"

struct ki_predicate {
	struct ki_ast_pool pool;
	struct ki_ast *root;
	bool value;		     /* it may be a string */
	ki_vec(const char *) inside; /* names of functions, in the tree */
	char *recording;	     /* the instrument that writes records; NULL: none does */
	char *records;		     /* which */
	const struct ki_hit *hit;    /* where to; NULL: nowhere */
};

/* What a name stands for, in ki_ast.meaning. */
enum ki_meaning {
	KI_MEANS_FACT, /* value: enum ki_fact */
	KI_MEANS_COMM,
	KI_MEANS_PARAM, /* value: its number */
	KI_MEANS_RETVAL,
	KI_MEANS_INSIDE,     /* value: number of the function */
	KI_MEANS_SWAP,	     /* type: of how many bytes */
	KI_MEANS_INSTRUMENT, /* value: address; op: KI_TAKES_ID, KI_RECORDS, KI_TAKES_HERE */
};

#define KI_TAKES_ID   1
#define KI_RECORDS    2
#define KI_TAKES_HERE 4

/*
 * Look up all names, and what strings are compared with them: into meaning and value.
 */
int ki_predicate_check(struct ki_predicate *p, struct ki_parser *parser);

/* instrument.c: of a call of an instrument: is it there, with so many parameters, and where? */
struct ki_callables;
int ki_predicate_find_instrument(struct ki_predicate *p, struct ki_parser *parser,
				 struct ki_callables **loaded, struct ki_ast *e);

/* The number of a user; of a control group by its path in the unified hierarchy. 0; -ENOENT. */
int ki_host_user(const char *name, uint64_t *out);
int ki_host_cgroup(const char *path, uint64_t *out);

#endif
