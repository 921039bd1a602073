/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Libraries that a process loads while a program runs: its thread waits for their probes, where
 * the driver can have it wait (ki_process_new_loads).
 */
#ifndef KI_DLANG_LOADS_H
#define KI_DLANG_LOADS_H

#include "dlang/probe/watch.h"
#include "dlang/program.h"

struct pollfd;
struct ki_d_run;

/* Of all processes that the program names; of one of them, which is another program now. */
void ki_d_loads_begin(struct ki_dlang *d);
void ki_d_loads_again(struct ki_dlang *d, pid_t pid);
void ki_d_loads_drop(struct ki_dlang *d, pid_t pid);
void ki_d_loads_end(struct ki_d_run *r);

/* What to wait for: at most `most`; how many that are. */
size_t ki_d_loads_poll(const struct ki_dlang *d, struct pollfd *to, size_t most);

/* Threads wait: these processes are to be looked at. Then they go on; one that has not been waited
   for is said. -ENOMEM. */
int ki_d_loads_stir(struct ki_dlang *d, struct ki_d_stirs *out);
void ki_d_loads_go(struct ki_dlang *d, const struct ki_dlang_output *out);

#endif
