/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_MODULE_SLEEPERS_H
#define KI_MODULE_SLEEPERS_H

#include <stdbool.h>
#include <sys/types.h>

struct ki_module_sleeper {
	pid_t pid; /* of the process that has the thread */
	char comm[32];
};

/* 1: out sleeps in the module's code, or in what was called there; 0: nobody does; -errno. */
int ki_module_sleeper(const char *module, struct ki_module_sleeper *out);

/* Is the module named in a stack, in the form of /proc/PID/stack? */
bool ki_module_on_stack(const char *stack, const char *module);

#endif
