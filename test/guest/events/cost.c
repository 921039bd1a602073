// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a switch between threads costs more for each event that is counted for threads, and nothing
 * for others: two processes hand a byte to and fro. With -icount a tick of the time stamp counter
 * is an instruction.
 */
#include "events.h"

#include <linux/perf_event.h>
#include <unistd.h>

static double measure_with(unsigned int events, uint32_t flags)
{
	struct ki_target *t;
	struct ki_err err = {0};
	uint32_t number, reason, first;
	double cost;

	if (ki_target_new_live(&t, &err) || ki_words_take(t, 1, &first, &err))
		die("words", err.msg);
	while (events--)
		if (ask(ki_target_fd(t), PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, flags,
			&number, &reason))
			die("event", ki_reason_tag(reason));
	ticks_switch();
	cost = ticks_switch();
	ki_target_free(t);
	usleep(1000000);
	return cost;
}

void test_cost(void)
{
	double none, others, one, four;

	switches_begin();
	none = measure_with(0, 0);
	others = measure_with(4, 0);
	one = measure_with(1, KI_EVENT_OWN);
	four = measure_with(4, KI_EVENT_OWN);
	switches_end();
	report("a switch pays for what is counted for threads, and for nothing else",
	       others < none + 1 && none < others + 1 && one > none && one < none + 200 &&
		       four - none > 2 * (one - none) && four - none < 4 * (one - none) + 40,
	       "%.1f ticks with words, %.1f more with 4 events that are not, %.1f with 1 that is, %.1f with 4",
	       none, others - none, one - none, four - none);
}
