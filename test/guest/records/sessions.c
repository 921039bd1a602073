// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings belong to sessions: two at once, one that is killed while it records, one whose descriptor
 * is closed while its ring is mapped; waking; a CPU that goes and comes.
 */
#include "records.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct session a, b;
static struct seen seen;

static uint64_t read_calls(struct session *s)
{
	seen_begin(&seen);
	seen_read(&seen, s->ring);
	return seen.wrong ? UINT64_MAX : seen.n;
}

static void test_two(void)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 65536},
				     kept = {.size = sizeof(kept), .bytes = 8192, .newest = true};
	uint32_t left;
	uint64_t n[4];

	on_cpu(0);
	session_open(&a, &o, NULL);
	calls(1, 0, 100);
	session_open(&b, &kept, NULL);
	calls(1, 100, 100);
	n[0] = read_calls(&a);
	n[1] = read_calls(&b);
	session_close(&a);
	calls(1, 200, 100);
	on_cpu(-1);
	n[2] = read_calls(&b);
	n[3] = ki_ring_records(b.ring);
	report("two sessions",
	       n[0] == 200 && n[1] == 100 && n[2] == 8192 / BYTES && n[3] == 200 &&
		       seen.next[1] == 300,
	       "%llu and %llu; %llu of %llu", (ull)n[0], (ull)n[1], (ull)n[2], (ull)n[3]);
	left = soon_rings(b.t, 1);
	report("a ring goes with its session", left == 1, "%u are left", left);
}

static void *record_for_ever(void *cpu)
{
	on_cpu((int)(intptr_t)cpu);
	for (;;)
		calls(3, 0, 1000);
	return NULL;
}

static void be_killed(void)
{
	pthread_t thread;

	session_open(&a,
		     &(struct ki_ring_options){
			     .size = sizeof(struct ki_ring_options), .bytes = 8192, .newest = true},
		     "hrtimer_interrupt");
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&thread, NULL, record_for_ever, (void *)i);
	while (!ki_ring_records(a.ring))
		usleep(1000);
	child_ready();
}

static void test_killed(void)
{
	uint32_t with = 0, least = UINT32_MAX, left;
	int killed = 0;

	for (int i = 0; i < 3; i++) {
		pid_t pid = child_begin(be_killed);

		with = rings(b.t);
		least = with < least ? with : least;
		killed += child_kill(pid);
	}
	on_cpu(0);
	calls(1, 300, 100);
	on_cpu(-1);
	left = soon_rings(b.t, 1);
	report("killed while it records",
	       killed == 3 && least == 2 && left == 1 && read_calls(&b) && seen.next[1] == 400,
	       "%u rings with it, %u without", least, left);
	session_close(&b);
}

/* The mapping is the last that holds the session: it records until that is gone, too. */
static void test_mapped(void)
{
	struct ki_err err = {0};
	struct ki_target *other;
	uint64_t before, after;
	uint32_t with, left;

	if (ki_target_new_live(&other, &err))
		die("open", err.msg);
	session_open(
		&a,
		&(struct ki_ring_options){.size = sizeof(struct ki_ring_options), .bytes = 65536},
		NULL);
	ki_plan_free(a.plan);
	ki_target_free(a.t);
	before = ki_ring_records(a.ring);
	calls(5, 0, 100);
	after = read_calls(&a);
	with = soon_rings(other, 1); /* others go, this one stays */
	ki_ring_map_free(a.ring);
	left = soon_rings(other, 0);
	report("closed while it is mapped", !before && after == 100 && with == 1 && !left,
	       "%llu records; %u rings with the mapping, %u without", (ull)after, with, left);
	ki_target_free(other);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define WAIT_MS 120000

static void *wait_long(void *woken)
{
	*(int *)woken = ki_ring_wait(a.ring, WAIT_MS);
	return NULL;
}

/* Until ten records of one CPU are there nobody wakes; with the tenth, who sleeps does. */
static void test_wait(void)
{
	const struct ki_ring_options o = {.size = sizeof(o), .bytes = 65536, .wake = 10 * BYTES};
	int early, woken = -1, again, good = 0;
	double took = 0;
	pthread_t thread;

	on_cpu(0);
	for (int newest = 0; newest < 2; newest++) {
		struct ki_ring_options with = o;

		with.newest = newest;
		session_open(&a, &with, NULL);
		for (int i = 0; i < 20; i++) {
			calls(1, 0, 9);
			early = ki_ring_wait(a.ring, 1);
			pthread_create(&thread, NULL, wait_long, &woken);
			usleep(i % 2 ? 5000 : 0);
			took -= now();
			calls(1, 0, 1);
			pthread_join(thread, NULL);
			took += now();
			read_calls(&a);
			again = ki_ring_wait(a.ring, 0);
			good += !early && woken == 1 && !again;
		}
		session_close(&a);
	}
	on_cpu(-1);
	report("waking", good == 40 && took < WAIT_MS / 1000 - 20, "%d of 40 times, %.1f ms each",
	       good, took / 40 * 1000);
}

static bool put_cpu(const char *online)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool good = fd >= 0 && write(fd, online, 1) == 1;

	close(fd);
	return good;
}

/* The last that it does is recorded, when it has run its interrupts' work for the last time. */
static void record_and_go(void)
{
	session_open(&a,
		     &(struct ki_ring_options){
			     .size = sizeof(struct ki_ring_options), .bytes = 65536, .wake = 16},
		     "cpuhp_report_idle_dead");
	if (!put_cpu("0") || !ki_ring_records(a.ring))
		_exit(1);
	session_close(&a);
	_exit(0);
}

static void test_gone(void)
{
	pid_t pid = fork(), ended = 0;
	int status = -1, woken;
	bool back;

	if (!pid)
		record_and_go();
	for (int i = 0; i < 12000 && !ended; i++) {
		usleep(10000);
		ended = waitpid(pid, &status, WNOHANG);
	}
	report("a CPU that goes while it records", ended == pid && !status,
	       "its ring is %s, status %x", ended ? "gone" : "still waited for", status);
	back = put_cpu("1");
	session_open(&a,
		     &(struct ki_ring_options){
			     .size = sizeof(struct ki_ring_options), .bytes = 65536, .wake = BYTES},
		     NULL);
	on_cpu(1);
	calls(1, 0, 1);
	woken = ki_ring_wait(a.ring, WAIT_MS);
	on_cpu(-1);
	report("it wakes when it is back", back && woken == 1 && read_calls(&a) == 1, "%d", woken);
	session_close(&a);
}

void test_sessions(void)
{
	test_two();
	test_killed();
	test_mapped();
	test_wait();
	test_gone();
}
