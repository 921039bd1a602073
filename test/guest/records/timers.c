// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts and tasks write into the same buffers at once, many thousand times a second: each is
 * counted by itself, and none of either is missing.
 */
#include "records.h"

#define FEW 300

/* false: there were so few timers that it says little. */
static bool mix(const char *name, const struct ki_ring_options *o, bool lossless, bool last)
{
	const unsigned int cpus = cpu_count();
	const uint64_t each = 100000;
	static struct crowd crowd;
	static struct session s;
	static struct seen seen;
	uint64_t timers = 0, all;
	bool whole = true, good;

	session_open(&s, o, "hrtimer_interrupt");
	timers_begin();
	crowd_begin(&crowd, cpus, each, true);
	crowd_end(&crowd);
	timers_end();
	ki_plan_remove(s.plan, s.t, NULL);
	seen_begin(&seen);
	seen_read(&seen, s.ring);
	for (unsigned int i = 0; i < cpus; i++) {
		timers += seen.timers[i];
		whole &= seen.next[i] == each && seen.count[i] == each;
	}
	/* In the other ring timers are known by the last of each CPU only. */
	all = timers + cpus * each;
	whole &= !seen.timer_gaps && !seen.gaps && !ki_ring_lost(s.ring) && seen.n == all;
	good = !seen.wrong && !seen.late && !seen.twice &&
	       (lossless ? whole : seen.n + ki_ring_lost(s.ring) == all);
	if (good && timers <= FEW && !last) {
		session_close(&s);
		return false;
	}
	report(name, good && timers > FEW,
	       "%llu timers and %llu calls: %llu there, %llu lost; %llu wrong, %llu late %s",
	       (ull)timers, (ull)(cpus * each), (ull)seen.n, (ull)ki_ring_lost(s.ring),
	       (ull)seen.wrong, (ull)seen.late, seen.why);
	session_close(&s);
	return true;
}

static void mixed(const char *name, const struct ki_ring_options *o, bool lossless)
{
	for (int i = 9; !mix(name, o, lossless, !i); i--)
		;
}

void test_timers(void)
{
	mixed("timers and calls",
	      &(struct ki_ring_options){.size = sizeof(struct ki_ring_options), .bytes = 16 << 20},
	      true);
	mixed("timers and calls, the newest",
	      &(struct ki_ring_options){
		      .size = sizeof(struct ki_ring_options), .bytes = 16384, .newest = true},
	      false);
}
