/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What holds for every program and every function, whatever bytes they were made of. What does
 * not hold ends the process.
 */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "kerninst/program.h"

#define check(holds) check_that(holds, #holds, __FILE__, __LINE__)
void check_that(bool holds, const char *what, const char *file, int line);

/* Programs of the target, built by one thread and by three, are equal; all of one is looked at. */
void check_target(struct ki_target *t);

void check_function(const struct ki_function *fn);

#endif
