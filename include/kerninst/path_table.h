/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How often each way through a function was taken, as a table or one JSON object: kerninst paths.
 */
#ifndef KERNINST_PATH_TABLE_H
#define KERNINST_PATH_TABLE_H

#include "kerninst/listener.h"
#include "kerninst/page.h"
#include "kerninst/path.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most frequent paths, so many; 0: all. 0, or -errno. */
int ki_paths_show(const struct ki_paths *p, const struct ki_path_counts *c, uint32_t top,
		  const struct ki_page *page, struct ki_err *err);

/* What they are together: a line for the listener. */
void ki_paths_tell(const struct ki_paths *p, const struct ki_path_counts *c,
		   const struct ki_listener *l);

#ifdef __cplusplus
}
#endif

#endif
