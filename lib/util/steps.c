// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "util/steps.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

static const struct {
	const char *did, *things;
} names[KI_STEPS] = {
	[KI_STEP_SYMBOLS] = {"read", "symbols"},   [KI_STEP_PARSE] = {"parsed", "functions"},
	[KI_STEP_WINDOWS] = {"found", "windows"},  [KI_STEP_CHECK] = {"checked", "chunks"},
	[KI_STEP_WRITE] = {"installed", "chunks"}, [KI_STEP_REMOVE] = {"removed", "chunks"},
};

static atomic_bool counts;
static struct {
	atomic_uint_fast64_t times, count, ns;
} done[KI_STEPS];

static uint64_t now(void)
{
	struct timespec t;
	int kept = errno;

	clock_gettime(CLOCK_MONOTONIC, &t);
	errno = kept;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void ki_steps_start(void)
{
	atomic_store(&counts, true);
}

struct ki_step_told ki_steps_told(enum ki_step step)
{
	return (struct ki_step_told){.did = names[step].did,
				     .things = names[step].things,
				     .times = atomic_load(&done[step].times),
				     .count = atomic_load(&done[step].count),
				     .ns = atomic_load(&done[step].ns)};
}

uint64_t ki_step_begin(void)
{
	return atomic_load_explicit(&counts, memory_order_relaxed) ? now() : 0;
}

void ki_step_end(enum ki_step step, uint64_t begun, uint64_t count)
{
	if (!begun)
		return;
	atomic_fetch_add(&done[step].ns, now() - begun);
	atomic_fetch_add(&done[step].count, count);
	atomic_fetch_add(&done[step].times, 1);
}
