// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "budget/source.h"

static uint32_t parts(const void *of)
{
	return ki_measure_parts(of);
}

static double spent(const void *of, uint32_t part)
{
	return ki_measure_spent(of, part);
}

static double acted(const void *of, uint32_t part)
{
	return ki_measure_acted(of, part);
}

static uint32_t needed(const void *of)
{
	return ki_measure_parts_needed(of);
}

static bool needs(const void *of, uint32_t part, uint32_t other)
{
	return ki_measure_part_needs(of, part, other);
}

static int sample(void *of, uint32_t part, unsigned int k, struct ki_err *err)
{
	return ki_measure_sample_to(of, part, k, err);
}

static void shed(void *of, uint32_t part)
{
	ki_measure_pause(of, part, true, true);
}

static int update(void *of, struct ki_err *err)
{
	return ki_measure_update(of, err);
}

const struct ki_cost_source ki_measure_source = {
	.parts = parts,
	.spent = spent,
	.acted = acted,
	.needed = needed,
	.needs = needs,
	.sample = sample,
	.shed = shed,
	.update = update,
};
