/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LONG_SAMPLES_H
#define LONG_SAMPLES_H

#include <stdint.h>

#include "uapi/kerninst.h"

/* One of samples*.c. Numbers in its fixups are relative to the session's first counter or variable.
 */
struct long_sample {
	const char *name;
	const uint8_t *code, *code_end;
	const struct ki_fixup *fix, *fix_end;
	uint64_t reason; /* expected */
};

/* All of a program, which the linker has put together. */
extern const struct long_sample __start_long_samples[], __stop_long_samples[];

#endif
