/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the command does, and the processes it starts, told from all others: while they are
 * measured they are in a control group of their own, and a condition asks for that.
 */
#ifndef KERNINST_OWN_H
#define KERNINST_OWN_H

#include <stdint.h>
#include <sys/types.h>

/* Make the group; *id is what predicates call cgroup. 0, or -errno: -ENODEV where no cgroup2 is
   mounted. */
int own_make(uint64_t *id);

/* Put this process there, if the group was made: 0, or -errno. */
int own_take(pid_t pid);

/* Whoever still runs goes back to where we are, and the group goes. */
void own_end(void);

#endif
