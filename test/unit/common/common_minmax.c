// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_types.h"

#include <stdbool.h>

#include <linux/types.h>

#include "common_minmax.h"

#include "../../../kmod/helpers/minmax.c"

struct ki_minmax_from ki_minmax_from;

void minmax_init(uint64_t *globals, int64_t counters, int64_t words)
{
	ki_minmax_from = (struct ki_minmax_from){globals, counters, words};
}
