/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The mappings of a process: /proc/PID/maps. */
#ifndef KI_TARGET_PROCESS_MAPS_H
#define KI_TARGET_PROCESS_MAPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "kerninst/err.h"
#include "util/vec.h"

struct ki_mapping {
	uint64_t start, end;
	uint64_t off; /* in the file */
	uint64_t inode;
	uint32_t path; /* offset in the strings; "": anonymous */
	bool readable, executable;
};

struct ki_mappings {
	ki_vec(struct ki_mapping) m; /* in order of address */
	ki_vec(char) strings;
};

/* 0, -ESRCH: there is no such process, or another error. ki_mappings_free in any case. */
int ki_mappings_read(struct ki_mappings *out, pid_t pid);
void ki_mappings_free(struct ki_mappings *m);

static inline const char *ki_mapping_path(const struct ki_mappings *all, const struct ki_mapping *m)
{
	return all->strings.v + m->path;
}

/*
 * A line "Name:\tVALUE" of /proc/PID/status, without name and newline: 0, -ENOENT (no such line),
 * or why the file cannot be read.
 */
int ki_process_status(pid_t pid, const char *name, char *value, size_t len);

#endif
