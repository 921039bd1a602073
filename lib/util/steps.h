/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Where steps begin and end (kerninst/steps.h). */
#ifndef KI_UTIL_STEPS_H
#define KI_UTIL_STEPS_H

#include "kerninst/steps.h"

/* When it begins, for ki_step_end; 0: steps are not counted. */
uint64_t ki_step_begin(void);

/* It has been done to so many things. errno stays as it is. */
void ki_step_end(enum ki_step step, uint64_t begun, uint64_t count);

#endif
