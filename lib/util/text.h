/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_UTIL_TEXT_H
#define KI_UTIL_TEXT_H

#include <stdarg.h>
#include <stdio.h>

/* The text as C writes it, between two ": what cannot be printed, in octal. */
void ki_text_quote(FILE *f, const char *text);

/* What would do something to a terminal becomes '?': control characters, as bytes or in UTF-8. */
void ki_text_replace_controls(char *text);

/* As vfprintf and fprintf, but so that none of it does anything to a terminal, whatever the
   arguments are; newlines at the end of fmt are still there. */
void ki_text_vprint(FILE *f, const char *fmt, va_list ap);
void ki_text_print(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
