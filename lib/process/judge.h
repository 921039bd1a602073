/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_PROCESS_JUDGE_H
#define KI_PROCESS_JUDGE_H

#include "process/linked.h"
#include "splice/plan.h"

/*
 * Fill the lists of chunks and of windows; what is left out has its reason in the plan. 0, or
 * -ENOMEM.
 */
int ki_linked_judge(struct ki_linked *x, const struct ki_linking *how);

/* circle.c: refuse replacements of the plan that lead in a circle. 0, or -ENOMEM. */
int ki_circle_refuse(struct ki_plan *p, const struct ki_target *t);

#endif
