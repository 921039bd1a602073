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
};

/* What a name stands for, in ki_ast.meaning. */
enum ki_meaning {
	KI_MEANS_FACT, /* value: enum ki_fact */
	KI_MEANS_COMM,
	KI_MEANS_PARAM, /* value: its number */
	KI_MEANS_RETVAL,
};

/*
 * Look up all names, and what strings are compared with them: into meaning and value. Of inside()
 * value is the number of the function.
 */
int ki_predicate_check(struct ki_predicate *p, struct ki_parser *parser);

/* The number of a user; of a control group by its path in the unified hierarchy. 0; -ENOENT. */
int ki_host_user(const char *name, uint64_t *out);
int ki_host_cgroup(const char *path, uint64_t *out);

#endif
