/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Paths that are being counted: put in (paths.c), and read (paths_read.c). */
#ifndef KI_COVER_PATHS_LIVE_H
#define KI_COVER_PATHS_LIVE_H

#include "cover/paths.h"
#include "kerninst/process.h"
#include "kerninst/table.h"

enum { BEGUN, LEFT, DEEP, OWN }; /* counters after those of the paths */

struct ki_paths {
	struct ki_target *t;
	const struct ki_predicate *when;
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_path_numbers *numbers;
	struct ki_plan *plan;
	bool installed;
	struct ki_counter_map *counters;   /* the kernel's; NULL of a process, */
	struct ki_splice_process *process; /* which has this */
	struct ki_table_map *table;	   /* NULL: counters */
	uint32_t first_count, first_own, first_word;
};

#endif
