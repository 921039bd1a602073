/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is said to a listener, which may be none.
 */
#ifndef KI_UTIL_LISTEN_H
#define KI_UTIL_LISTEN_H

#include "kerninst/listener.h"

void ki_listener_warn(const struct ki_listener *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* False: it is to end. */
bool ki_listener_progress(const struct ki_listener *l, const char *what, size_t done, size_t total);
static inline void ki_listener_over(const struct ki_listener *l)
{
	ki_listener_progress(l, NULL, 0, 0);
}

#endif
