/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the library spends its time with: how often each step was done, to how many things, for how
 * long. Of the whole process, all of its threads together: where several work at once, their times
 * are added. A step's time contains no other step's.
 */
#ifndef KERNINST_STEPS_H
#define KERNINST_STEPS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ki_step {
	KI_STEP_SYMBOLS, /* the kernel's symbols are read */
	KI_STEP_PARSE,	 /* functions are decoded, and cut into blocks */
	KI_STEP_WINDOWS, /* windows are found in functions */
	KI_STEP_CHECK,	 /* the driver judges chunks, and changes nothing */
	KI_STEP_WRITE,	 /* the driver judges chunks and installs them, its waits included */
	KI_STEP_REMOVE,	 /* the driver takes chunks out, its waits included */
	KI_STEPS
};

struct ki_step_told {
	const char *did;    /* "parsed" */
	const char *things; /* "functions" */
	uint64_t times;	    /* how often the step was done */
	uint64_t count;	    /* things in all of them */
	uint64_t ns;	    /* time, by the monotonic clock */
};

/* From now on steps are counted. Before that, nothing is, and a step costs a comparison. */
void ki_steps_start(void);

/* What has been counted of a step until now; it may be asked by any thread. */
struct ki_step_told ki_steps_told(enum ki_step step);

#ifdef __cplusplus
}
#endif

#endif
