/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_UTIL_TEXT_H
#define KI_UTIL_TEXT_H

#include <stdio.h>

/* The text as C writes it, between two ": what cannot be printed, in octal. */
void ki_text_quote(FILE *f, const char *text);

#endif
