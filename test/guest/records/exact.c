// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing missing, nothing double, everything right: in a ring that is large enough, in one that is
 * too small, in one that keeps the newest, and with a reader beside the writers.
 */
#include "records.h"

#include <unistd.h>

static struct session s;
static struct seen seen;
static struct crowd crowd;

static bool all_good(void)
{
	return !seen.wrong && !seen.late && !seen.twice;
}

/* Each thread's counts are there from 0 to the last, in order: a thread's calls are ordered by the
 * clock, too, though it wanders. */
static void test_large(void)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 8 << 20};
	const uint64_t each = 16000;
	bool whole = true;

	session_open(&s, &o, NULL);
	crowd_begin(&crowd, 8, each, false);
	crowd_end(&crowd);
	seen_begin(&seen);
	seen_read(&seen, s.ring);
	for (unsigned int i = 0; i < 8; i++)
		whole &= seen.first[i] == 0 && seen.next[i] == each && seen.count[i] == each;
	report("8 threads that wander",
	       all_good() && whole && !seen.gaps && seen.n == 8 * each &&
		       ki_ring_records(s.ring) == seen.n && !ki_ring_lost(s.ring),
	       "%llu records of %llu, %llu wrong, %llu gaps, %llu late, %llu lost %s", (ull)seen.n,
	       (ull)(8 * each), (ull)seen.wrong, (ull)seen.gaps, (ull)seen.late,
	       (ull)ki_ring_lost(s.ring), seen.why);
	seen_begin(&seen);
	seen_read(&seen, s.ring);
	report("read once", !seen.n, "%llu records the second time", (ull)seen.n);
	session_close(&s);
}

/* Who comes first stays. */
static void test_small(void)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 4096};
	const unsigned int cpus = cpu_count();
	const uint64_t each = 5000, fit = 4096 / BYTES;
	bool first = true;

	session_open(&s, &o, NULL);
	crowd_begin(&crowd, cpus, each, true);
	crowd_end(&crowd);
	seen_begin(&seen);
	seen_read(&seen, s.ring);
	for (unsigned int i = 0; i < cpus; i++)
		first &= seen.first[i] == 0 && seen.next[i] == fit;
	report("too small",
	       all_good() && first && !seen.gaps && seen.n == cpus * fit &&
		       seen.n + ki_ring_lost(s.ring) == cpus * each &&
		       ki_ring_records(s.ring) == seen.n,
	       "%llu there and %llu lost of %llu; %llu wrong %s", (ull)seen.n,
	       (ull)ki_ring_lost(s.ring), (ull)(cpus * each), (ull)seen.wrong, seen.why);
	session_close(&s);
}

/* Who comes last is there: all that fit. */
static void test_newest(void)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 4096, .newest = true};
	const unsigned int cpus = cpu_count();
	const uint64_t each = 5000, fit = 4096 / BYTES;
	bool last = true;

	session_open(&s, &o, NULL);
	crowd_begin(&crowd, cpus, each, true);
	crowd_end(&crowd);
	for (int round = 0; round < 2; round++) { /* they stay there */
		seen_begin(&seen);
		seen_read(&seen, s.ring);
		for (unsigned int i = 0; i < cpus; i++)
			last &= seen.count[i] == fit && seen.next[i] == each;
	}
	report("the newest",
	       all_good() && last && !seen.gaps && seen.n == cpus * fit &&
		       seen.n + ki_ring_lost(s.ring) == cpus * each &&
		       ki_ring_records(s.ring) == cpus * each,
	       "%llu there and %llu gone of %llu; %llu wrong %s", (ull)seen.n,
	       (ull)ki_ring_lost(s.ring), (ull)(cpus * each), (ull)seen.wrong, seen.why);
	session_close(&s);
}

#define TRIES 10 /* until the reader has run beside the writers */

/* What has been read and what was lost is all there was. */
static bool beside(bool last)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 16384};
	const uint64_t all = 4 * 20000;
	unsigned int rounds = 0;
	bool good;

	session_open(&s, &o, NULL);
	seen_begin(&seen);
	crowd_begin(&crowd, 4, all / 4, true);
	for (; crowd.over < 4; rounds++)
		seen_read(&seen, s.ring);
	crowd_end(&crowd);
	seen_read(&seen, s.ring);
	good = all_good() && seen.n + ki_ring_lost(s.ring) == all &&
	       ki_ring_records(s.ring) == seen.n && seen.n > all / 200;
	if (good && rounds <= 3 && !last) {
		session_close(&s);
		return false;
	}
	report("a reader beside", good && rounds > 3,
	       "%llu read in %u rounds, %llu lost, of %llu; %llu wrong, %llu late %s", (ull)seen.n,
	       rounds, (ull)ki_ring_lost(s.ring), (ull)all, (ull)seen.wrong, (ull)seen.late,
	       seen.why);
	session_close(&s);
	return true;
}

/* Each round sees whole records, each CPU's without a gap. */
static bool beside_newest(bool last)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 4096, .newest = true};
	const unsigned int cpus = cpu_count();
	const uint64_t each = 20000;
	uint64_t read = 0, wrong = 0, gaps = 0;
	unsigned int rounds = 0;
	bool good;

	session_open(&s, &o, NULL);
	crowd_begin(&crowd, cpus, each, true);
	for (; crowd.over < cpus; rounds++) {
		seen_begin(&seen);
		seen_read(&seen, s.ring);
		read += seen.n;
		wrong += !all_good();
		gaps += seen.gaps;
	}
	crowd_end(&crowd);
	seen_begin(&seen);
	seen_read(&seen, s.ring);
	good = !wrong && seen.n + ki_ring_lost(s.ring) == cpus * each;
	if (good && (rounds <= 3 || !read) && !last) {
		session_close(&s);
		return false;
	}
	report("a reader beside, the newest", good && rounds > 3 && read,
	       "%llu read in %u rounds, %llu of them wrong; %llu there and %llu gone of %llu %s",
	       (ull)read, rounds, (ull)wrong, (ull)seen.n, (ull)ki_ring_lost(s.ring),
	       (ull)(cpus * each), seen.why);
	session_close(&s);
	return true;
}

static void until_beside(bool (*run)(bool last))
{
	for (int i = 1; !run(i == TRIES); i++)
		;
}

void test_exact(void)
{
	test_large();
	test_small();
	test_newest();
	until_beside(beside);
	until_beside(beside_newest);
}
