/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Expressions to nodes of a snippet: what code.c, the statements, is made with.
 */
#ifndef KI_DLANG_CODE_H
#define KI_DLANG_CODE_H

#include "dlang/check.h"
#include "dlang/names.h"
#include "dlang/run.h"

struct ki_d_gen {
	struct ki_dlang *d;
	struct ki_snippet *s;
	const struct ki_d_site *site;
};

struct ki_node *ki_d_gen_expr(struct ki_d_gen *g, const struct ki_d_node *n);

/* code_memory.c: what stands in memory; of a struct or an array its value is where it is. */
struct ki_node *ki_d_gen_address(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_memory(struct ki_d_gen *g, const struct ki_d_node *n);

/* code_text.c: strings, as their numbers. */
struct ki_node *ki_d_gen_text(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_text_call(struct ki_d_gen *g, const struct ki_d_node *n);
struct ki_node *ki_d_gen_compare_texts(struct ki_d_gen *g, const struct ki_d_node *n);
/* What puts some of the program's strings into the table; a list. */
struct ki_node *ki_d_gen_constants(struct ki_d_gen *g, size_t from, size_t to);
/* The bytes of a string that is the same for all hits of the place. */
const char *ki_d_gen_known(struct ki_d_gen *g, const struct ki_d_node *n);

/* code.c: an assignment, ++ or --, as a statement. */
struct ki_node *ki_d_gen_assign(struct ki_d_gen *g, const struct ki_d_node *n);

/* The words of an associative array's key: of self-> with the thread's number. */
unsigned int ki_d_gen_array_keys(struct ki_d_gen *g, const struct ki_d_node *n,
				 struct ki_node **nodes);

/* A value as it travels: how many nodes. */
unsigned int ki_d_gen_value(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t form,
			    struct ki_node **nodes);

/* The nodes of a tuple, as the aggregation has them; a NULL: as arrays do. */
unsigned int ki_d_gen_keys(struct ki_d_gen *g, const struct ki_d_node *list,
			   const struct ki_d_agg *a, struct ki_node **nodes);

/* The word of a value that is the same for all hits of the place. */
uint64_t ki_d_gen_constant(struct ki_d_gen *g, const struct ki_d_node *n);

/* Argument i of the system call whose function begins here. */
struct ki_node *ki_d_gen_syscall_arg(struct ki_d_gen *g, unsigned int i);

#endif
