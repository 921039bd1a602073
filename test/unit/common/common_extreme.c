// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_types.h"

#include <stdbool.h>

#include <linux/types.h>

#include "common_extreme.h"

#include "../../../kmod/helpers/extreme.c"

struct ki_extreme_from ki_extreme_from;

void extreme_init(uint64_t *globals, int64_t counters, int64_t words)
{
	ki_extreme_from = (struct ki_extreme_from){globals, counters, words};
}
