/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_DEBUG_H
#define KDTRACE_DEBUG_H

/* From now on debug() prints. */
void debug_begin(void);

/* "kdtrace DEBUG SECONDS: ..." to the standard error, with -x debug; SECONDS since 1970. */
void debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As -x core wants in the end: a core of this program. Does not return. */
void debug_core(void) __attribute__((noreturn));

#endif
