/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What nodes write themselves as text with. Operators bind as in C.
 */
#ifndef KI_SNIPPET_FORMAT_H
#define KI_SNIPPET_FORMAT_H

#include <stdio.h>

#include "snippet/tree.h"

#define BINDS_COND  1
#define BINDS_UNARY 12

/* outside: how strongly binds what is around it; it has parentheses if it binds no stronger. */
void ki_format_expr(FILE *f, const struct ki_node *n, unsigned int outside);
/* All children, with `before` in front of the first, and `)` at the end. */
void ki_format_kids(FILE *f, const struct ki_node *n, const char *before);
void ki_format_args(FILE *f, const struct ki_node *n); /* with both parentheses */
void ki_format_var(FILE *f, const struct ki_node *n, const struct ki_node *index);

/* A statement that contains no others; what stands after it. */
void ki_format_simple(FILE *f, const struct ki_node *n, const char *end);
void ki_format_stmt(FILE *f, const struct ki_node *n, unsigned int depth);
void ki_format_indent(FILE *f, unsigned int depth);

#endif
