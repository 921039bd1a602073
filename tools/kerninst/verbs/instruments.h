/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruments as people see them.
 */
#ifndef KERNINST_INSTRUMENTS_H
#define KERNINST_INSTRUMENTS_H

#include "kerninst/callable.h"

#define INSTRUMENT_VALUE_LEN 4097 /* the kernel shows a page at most */

/* A table; loaded: also who uses them. CLI_OK, or reported. */
int instruments_print(const struct ki_callables *list, bool loaded);

#endif
