/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Reasons of refusal whose tags are written nearly as something that is none.
 */
#ifndef KERNINST_NEAR_REASON_H
#define KERNINST_NEAR_REASON_H

#include <stddef.h>

#include "kerninst/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "; near: TAG, TAG"; "": there are none. len: of list. */
void ki_reasons_near(const char *text, char *list, size_t len);

#ifdef __cplusplus
}
#endif

#endif
