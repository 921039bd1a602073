/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates that are read, compared as trees, and evaluated on a model machine.
 */
#ifndef COMMON_PREDICATE_H
#define COMMON_PREDICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "predicate/predicate.h"

/* It must be one. */
struct ki_predicate *pred_parse(const char *text);

/* Its text; free() it. */
char *pred_format(const struct ki_predicate *p);

bool pred_is_same(const struct ki_ast *a, const struct ki_ast *b);

/*
 * Its value as an expression, which must agree with what it does as a guard; where it can be a
 * guard only: whether it holds. Words 0, 1, ... of the machine's thread are those of its inside().
 */
uint64_t pred_value(const struct ki_predicate *p, struct ki_machine *m);

#endif
