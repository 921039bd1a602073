/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is said of versions of functions and of replacements: lines for people.
 */
#ifndef KERNINST_SPECIAL_TEXT_H
#define KERNINST_SPECIAL_TEXT_H

#include "kerninst/listener.h"
#include "kerninst/special.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which value the argument mostly has, of n > 0; in so many of 100 calls, which is returned. */
double ki_special_values_print(const struct ki_special_watch *w, const struct ki_special_value *v,
			       size_t n, uint64_t calls, FILE *out);

/* A version that has been made of what was asked for. */
void ki_special_print(const struct ki_special *s, const struct ki_special_request *request,
		      FILE *out);

/* How many calls lead to a version that is in, past its guard. */
void ki_special_calls_print(const struct ki_special *s, FILE *out);

/* A place of a replacement that is planned. */
void ki_replacement_print(const struct ki_replacement *r, const struct ki_place *place, FILE *out);

/* As ki_plan_gave_way says it. */
void ki_replacement_warn_way(const struct ki_symbol *of, size_t calls, bool away,
			     const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
