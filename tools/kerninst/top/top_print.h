/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A view of kerninst top as a table, or as JSON.
 */
#ifndef KERNINST_TOP_PRINT_H
#define KERNINST_TOP_PRINT_H

#include "top/top_view.h"

/* So many rows of it, in their order; 0: all. json: an object in a line for each. 0, or -errno. */
int top_print(const struct top_view *v, unsigned int rows, bool json);

#endif
