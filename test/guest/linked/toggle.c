// SPDX-License-Identifier: GPL-2.0-only
/*
 * toggle: install and remove windows, again and again, while something else runs over them.
 *
 *	toggle [-w|-f] [-p] [-s SEED] CYCLES FUNCTION...
 *
 * Takes up to WINDOWS windows of the functions: those that need no wait, with -w those that do,
 * with -f those whose springboard the driver can fill, so that it waits for nobody.
 * With -p it brings its own load, a thread that reads /dev/zero, and lets it run for
 * 100,000 + random(0..4095) ns before each change, so that the change meets it at every phase.
 * The load stops by itself soon after: the wait then passes in idle time, which costs nothing
 * under -icount. At the end the counters must have gone up.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/splice.h"

#define WINDOWS 4

struct toggle {
	struct ki_target *target;
	struct ki_plan *plan;
	uint32_t first; /* counter */
	uint32_t count; /* windows */
	int kind;
};

enum { NO_WAIT, FILLED, WAIT };
static const char *const kinds[] = {"no wait needed", "filled", "with the wait"};

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "toggle: %s: %s\n", what, err->msg);
	exit(1);
}

/* The last instruction boundary inside the springboard: none, any, before its fourth byte. */
static int kind_of(const struct ki_function *fn, const struct ki_span *s)
{
	int kind = NO_WAIT;

	for (uint32_t i = 0, at = 0; i < s->count; i++) {
		at += fn->insns[s->first + i].len;
		if (i + 1 < s->count && at < 5)
			kind = at < 4 ? FILLED : WAIT;
	}
	return kind;
}

static void add_function(struct toggle *t, const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t->target, NULL, name, NULL);
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_err err = {0};

	if (!sym || ki_function_analyze(t->target, sym, &fn, &err) ||
	    ki_spans_find(fn, &spans, &err))
		die(name, &err);
	for (size_t i = 0; i < spans.n && t->count < WINDOWS; i++) {
		const struct ki_span *s = &spans.v[i];
		const struct ki_insn *in = &fn->insns[s->first];
		struct ki_code code;
		uint32_t id;

		if (s->board != KI_BOARD_JMP || kind_of(fn, s) != t->kind)
			continue;
		ki_snippet_count(&code, t->first + t->count, in->flags & KI_INSN_FLAGS_LIVE);
		ki_err_clear(&err);
		if (ki_plan_add(t->plan,
				&(struct ki_insertion){fn, &spans,
						       &(struct ki_place){.addr = s->addr}, 0},
				&code, &id, &err))
			continue;
		t->count++;
	}
	ki_spans_free(&spans);
	ki_function_free(fn);
}

static atomic_int load_left; /* calls that the load may still make */

static void sleep_ns(long ns)
{
	struct timespec ts = {0, ns};

	nanosleep(&ts, NULL);
}

static void *load(void *unused)
{
	int fd = open("/dev/zero", O_RDONLY);
	char byte;

	for (;;) {
		while (atomic_load(&load_left) <= 0)
			sleep_ns(20000);
		if (read(fd, &byte, 1) != 1)
			abort();
		atomic_fetch_sub(&load_left, 1);
	}
	return unused;
}

static void pause_at_random(void)
{
	atomic_store(&load_left, 1000);
	sleep_ns(100000 + rand() % 4096);
}

/* With all installed: has the driver filled them? Other sessions may have some too. */
static void check_filled(const struct toggle *t)
{
	struct ki_info info = {.size = sizeof(info)};

	if (t->kind != FILLED)
		return;
	if (ioctl(ki_target_fd(t->target), KI_IOC_INFO, &info) || info.filled < t->count) {
		fprintf(stderr, "toggle: of %u windows %llu are filled\n", t->count,
			(unsigned long long)info.filled);
		exit(1);
	}
}

static void run(struct toggle *t, long cycles, bool phase)
{
	struct ki_err err = {0};

	for (long i = 0; i < cycles; i++) {
		if (ki_plan_apply(t->plan, t->target, true, &err))
			die("apply", &err);
		check_filled(t);
		if (phase)
			pause_at_random();
		if (ki_plan_remove(t->plan, t->target, &err))
			die("remove", &err);
		if (phase)
			pause_at_random();
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static int report(struct toggle *t, long cycles, double seconds)
{
	struct ki_counter_map *map;
	struct ki_err err = {0};
	uint64_t total = 0;

	if (ki_counter_map_new(t->target, &map, &err))
		die("map", &err);
	for (uint32_t i = 0; i < t->count; i++)
		total += ki_counter_read(map, t->first + i);
	ki_counter_map_free(map);
	printf("toggle: %ld cycles of %u windows (%s), %llu hits, %.1f ms a cycle\n", cycles,
	       t->count, kinds[t->kind], (unsigned long long)total, seconds * 1e3 / cycles);
	return total ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct toggle t = {0};
	struct ki_err err = {0};
	bool phase = false;
	double start;
	pthread_t thread;
	long cycles;
	int c;

	while ((c = getopt(argc, argv, "wfps:")) != -1) {
		t.kind = c == 'w' ? WAIT : c == 'f' ? FILLED : t.kind;
		phase |= c == 'p';
		if (c == 's')
			srand(atoi(optarg));
		if (c == '?')
			return 2;
	}
	if (argc - optind < 2 || (phase && pthread_create(&thread, NULL, load, NULL)))
		return 2;
	cycles = atol(argv[optind++]);
	if (ki_target_new_live(&t.target, &err) ||
	    ki_counters_take(t.target, WINDOWS, &t.first, &err))
		die("open", &err);
	if (ki_plan_new(&t.plan))
		return 1;
	while (optind < argc)
		add_function(&t, argv[optind++]);
	if (!t.count)
		die("no window of this kind", &err);
	start = now();
	run(&t, cycles, phase);
	c = report(&t, cycles, now() - start);
	ki_plan_free(t.plan);
	ki_target_free(t.target);
	return c;
}
