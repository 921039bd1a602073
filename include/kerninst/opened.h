/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Processes whose points are asked for, by what stands before these: PID/, command/.
 */
#ifndef KERNINST_OPENED_H
#define KERNINST_OPENED_H

#include <sys/types.h>

#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_opened_process {
	pid_t asked, pid; /* asked: what stands for it with the caller; pid: its number */
	char prefix[16];  /* of names of its points: "1234/" */
	struct ki_target *t;
};

struct ki_opened_processes {
	struct ki_opened_process *v;
	size_t n, cap;
};

/* Open the process pid, if the one that is asked for is not open yet. 0, or -errno. */
int ki_opened_add(struct ki_opened_processes *p, pid_t asked, pid_t pid, struct ki_err *err);

/* NULL: it is not open. */
const struct ki_opened_process *ki_opened_find(const struct ki_opened_processes *p, pid_t asked);
void ki_opened_free(struct ki_opened_processes *p);

#ifdef __cplusplus
}
#endif

#endif
