/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_PROCESS_LAUNCH_MAIN_H
#define KI_PROCESS_LAUNCH_MAIN_H

#include <stdint.h>
#include <sys/types.h>

/* Of a process that stands at its entry: where its main() begins; 0: its file does not say. */
uint64_t ki_launch_main(pid_t pid, uint64_t entry);

#endif
