/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_SYSMAP_H
#define KI_TARGET_SYSMAP_H

#include "target/marks.h"
#include "target/priv.h"

/*
 * Read a System.map: its t, T, w and W symbols are added to the list (their module is the
 * string 0), and marks are noted. 0, or a negative errno and *err says which line is bad.
 */
int ki_sysmap_read(const char *path, struct ki_symbol_list *list, struct ki_marks *marks,
		   struct ki_err *err);

#endif
