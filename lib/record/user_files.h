/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files that processes have mapped, and what is said of places in them.
 */
#ifndef KI_RECORD_USER_FILES_H
#define KI_RECORD_USER_FILES_H

#include <sys/types.h>

#include "kerninst/record.h"
#include "util/vec.h"

struct ki_user_file;

struct ki_user_files {
	ki_vec(struct ki_user_file *) v;
};

/* A line of /proc/PID/maps. */
struct ki_user_map {
	uint32_t tgid;
	uint64_t start, end, off;
	dev_t dev;
	ino_t ino;
	const char *path;
};

/* What is mapped there, while the process lives: NULL without memory. It lives as long as f. */
struct ki_user_file *ki_user_file_of(struct ki_user_files *f, const struct ki_user_map *m);
void ki_user_files_free(struct ki_user_files *f);

const char *ki_user_file_path(const struct ki_user_file *file); /* as the process sees it */

/* What stands at an offset of it. */
void ki_user_file_find(struct ki_user_file *file, uint64_t off, struct ki_user_frame *out);

#endif
