/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a command does, and the processes it starts, told from all others: while they are
 * measured they are in a control group of their own, and a condition asks for that. One at a time.
 */
#ifndef KERNINST_OWN_H
#define KERNINST_OWN_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Make the group; *id is what predicates call cgroup. 0, or -errno: -ENODEV where no cgroup2 is
   mounted. */
int ki_own_new(uint64_t *id);

/* Put this process there, if the group was made: 0, or -errno. */
int ki_own_take(pid_t pid);

/* A process that still runs goes back to where we are, and the group goes. */
void ki_own_free(void);

#ifdef __cplusplus
}
#endif

#endif
