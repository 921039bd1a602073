/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A replacement, as people write it: FUNCTION=FUNCTION, CALLER->FUNCTION=FUNCTION,
 * CALLER+OFFSET=FUNCTION, with MODULE: in front and @0xADDRESS last where names are not enough.
 */
#ifndef KERNINST_REPLACEMENT_TEXT_H
#define KERNINST_REPLACEMENT_TEXT_H

#include "kerninst/match.h"
#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fills in what the text says of a replacement; the text lives as long. Returns 0, or:
 *    -EINVAL without a reason  the text is none
 *    -ENOENT    a name names nothing, and `why` says all that is near
 *    -ENOTUNIQ  a name names several
 *    -ELOOP     a function cannot replace itself
 */
int ki_replacement_parse(struct ki_target *t, const char *text, struct ki_replacement *w,
			 char why[KI_MATCH_WHY], struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
