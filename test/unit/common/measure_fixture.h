/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A measurement on a kernel that is none: the driver is fake_driver.h, counters are a file in
 * memory, and threads are run through the snippets by the interpreter. A tick of the time stamp
 * counter is a nanosecond.
 */
#ifndef TEST_UNIT_MEASURE_FIXTURE_H
#define TEST_UNIT_MEASURE_FIXTURE_H

#include "fake_driver.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "metric/measure.h"
#include "target/priv.h"

#define BASE	 UINT64_C(0xffffffff81000000)
#define CPUS	 2
#define COUNTERS 1024
#define THREADS	 4
#define WORDS	 64
#define GLOBALS	 8

static struct {
	uint64_t tsc;
	uint64_t *counters; /* [CPUS][COUNTERS] */
	uint64_t globals[GLOBALS];
	uint32_t next_counter, next_word, next_global;
	struct {
		uint64_t words[WORDS];
		uint64_t clock, faults, switches;
		uint32_t pid;
	} threads[THREADS];
	uint64_t deciding;	    /* ticks that each start takes */
	unsigned int asked;	    /* times that KI_IOC_INSIDE was asked */
	void (*meanwhile)(void);    /* what happens just before it answers */
	unsigned int meanwhile_for; /* so many times */
} world;

/* f: ftrace site; push; mov; pop; ret. g: the same, but it ends in jmp *%rax. h: as f. k: ftrace
   site; test; jne to its cold part, which does mov and ret; ret. c: ftrace site; push; call f; pop;
   test; je to the ret; mov; ret. n: ftrace site; push; ud2. */
static const uint8_t text[] = {
	0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0xb8, 1,	2,    3,    4,	  0x5d, 0xc3, 0xcc, 0xcc,
	0xcc, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0xb8, 1,    2,    3,	  4,	0x5d, 0xff, 0xe0,
	0xcc, 0xcc, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0xb8, 1,    2,	  3,	4,    0x5d, 0xc3,
	0xcc, 0xcc, 0xcc, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x85, 0xff, 0x0f, 0x85, 3,    0,    0,
	0,    0xc3, 0xcc, 0xcc, 0xb8, 1,    2,	  3,	4,    0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0xe8, 0xa5, 0xff, 0xff,
	0xff, 0x5d, 0x85, 0xc0, 0x0f, 0x84, 5,	  0,	0,    0,    0xb8, 1,	2,    3,    4,
	0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x55, 0x0f, 0x0b,
};
static struct ki_symbol symbols[] = {
	{.addr = BASE, .name = "f"},	       {.addr = BASE + 16, .name = "g"},
	{.addr = BASE + 32, .name = "h"},      {.addr = BASE + 48, .name = "k"},
	{.addr = BASE + 64, .name = "k.cold"}, {.addr = BASE + 80, .name = "c"},
	{.addr = BASE + 112, .name = "n"}};
static const struct ki_reserved_row sites[] = {
	{.addr = BASE, .len = 5, .reason = KI_R_FTRACE_SITE},
	{.addr = BASE + 16, .len = 5, .reason = KI_R_FTRACE_SITE},
	{.addr = BASE + 32, .len = 5, .reason = KI_R_FTRACE_SITE},
	{.addr = BASE + 48, .len = 5, .reason = KI_R_FTRACE_SITE},
	{.addr = BASE + 80, .len = 5, .reason = KI_R_FTRACE_SITE},
	{.addr = BASE + 112, .len = 5, .reason = KI_R_FTRACE_SITE}};

enum { F, G, H, K, K_COLD, C, N, FUNCTIONS };

static struct ki_target *target;
static struct ki_function *fns[FUNCTIONS];
static struct ki_spans spans[FUNCTIONS];
static struct ki_measure *m;

static int answer_inside(struct ki_inside *q)
{
	struct ki_inside_row *rows = user(q->rows);

	world.asked++;
	if (world.meanwhile_for && world.meanwhile_for--)
		world.meanwhile();
	q->now = world.tsc;
	for (uint32_t i = 0; i < q->count; i++) {
		assert_true(q->first + i < world.next_word);
		rows[i] = (struct ki_inside_row){0};
		for (unsigned int t = 0; t < THREADS; t++) {
			uint64_t word = world.threads[t].words[q->first + i];
			uint64_t now =
				q->clock == KI_CLOCK_TSC ? world.tsc : world.threads[t].clock;

			if (!word)
				continue;
			rows[i].threads++;
			rows[i].ticks += now - (word & ((1ull << 56) - 1));
		}
	}
	return 0;
}

static int take(uint32_t *next, uint32_t limit, uint32_t count, uint32_t *first)
{
	if (*next + count > limit)
		return ENOSPC;
	*first = *next;
	*next += count;
	return 0;
}

static int other_requests(unsigned long request, void *arg)
{
	struct ki_counters *c = arg;
	struct ki_words *w = arg;
	struct ki_globals *g = arg;
	struct ki_global *set = arg;

	switch (request) {
	case KI_IOC_COUNTERS:
		return take(&world.next_counter, COUNTERS, c->count, &c->first);
	case KI_IOC_WORDS:
		return take(&world.next_word, WORDS, w->count, &w->first);
	case KI_IOC_GLOBALS:
		return take(&world.next_global, GLOBALS, g->count, &g->first);
	case KI_IOC_GLOBAL:
		world.globals[set->number] = set->value;
		return 0;
	case KI_IOC_INSIDE:
		return answer_inside(arg);
	default:
		return ENOTTY;
	}
}

static void close_measure(void)
{
	ki_measure_free(m);
	m = NULL;
}

static int unload(void **state)
{
	(void)state;
	close_measure();
	for (unsigned int i = 0; i < FUNCTIONS && target; i++) {
		ki_spans_free(&spans[i]);
		ki_function_free(fns[i]);
	}
	ki_target_free(target); /* and the descriptor */
	if (world.counters)
		munmap(world.counters, CPUS * COUNTERS * 8);
	target = NULL;
	memset(&world, 0, sizeof(world));
	return 0;
}

static void make_counters(void)
{
	int fd = memfd_create("counters", 0);

	assert_true(fd >= 0 && !ftruncate(fd, CPUS * COUNTERS * 8) && dup2(fd, FD) == FD);
	close(fd);
	world.counters = mmap(NULL, CPUS * COUNTERS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, FD, 0);
	assert_true(world.counters != MAP_FAILED);
}

static void load(void)
{
	const struct ki_memory mem = {.kind = KI_TARGET_LIVE,
				      .base = BASE,
				      .bytes = text,
				      .len = sizeof(text),
				      .symbols = symbols,
				      .nsymbols = FUNCTIONS,
				      .rows = sites,
				      .nrows = sizeof(sites) / sizeof(*sites)};
	struct ki_err err = {0};

	unload(NULL);
	memset(&drv, 0, sizeof(drv));
	drv.other = other_requests;
	world.tsc = 1000000;
	for (unsigned int t = 0; t < THREADS; t++) {
		world.threads[t].clock = 5000;
		world.threads[t].pid = 100 + t;
	}
	make_counters();
	assert_int_equal(ki_target_open_memory(&mem, &target, &err), 0);
	target->fd = FD;
	target->has_info = true;
	target->info = (struct ki_info){.cpus = CPUS,
					.counter_bytes = COUNTERS * 8,
					.counters = COUNTERS,
					.words = WORDS,
					.tsc_khz = 1000000};
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		if (ki_function_analyze(target, ki_target_symbol_at(target, symbols[i].addr),
					&fns[i], &err) ||
		    ki_spans_find(fns[i], &spans[i], &err))
			fail_msg("%s", err.msg);
	assert_int_equal(ki_measure_new(target, &m, &err), 0);
}

/* ---- measuring ---- */

static int try_add_at(const char *metric, unsigned int fn, const struct ki_point *at,
		      const char *when, uint32_t *curve, struct ki_err *err)
{
	const struct ki_metric *row = ki_metric_find(metric);
	struct ki_predicate *p = NULL;
	int ret = 0;

	assert_non_null(row);
	if (when)
		ret = ki_predicate_new(when, &p, err);
	if (!ret)
		ret = ki_measure_add(m, row,
				     &(struct ki_measured_at){fns[fn], &spans[fn], at, 0, p}, curve,
				     err);
	ki_predicate_free(p);
	return ret;
}

static int try_add(const char *metric, unsigned int fn, const char *when, uint32_t *curve,
		   struct ki_err *err)
{
	static const struct ki_point entry = {.kind = KI_POINT_ENTRY};

	return try_add_at(metric, fn, &entry, when, curve, err);
}

__attribute__((unused)) static uint32_t add(const char *metric, unsigned int fn, const char *when)
{
	struct ki_err err = {0};
	uint32_t curve;

	if (try_add(metric, fn, when, &curve, &err))
		fail_msg("%s: %s", metric, err.msg);
	return curve;
}

__attribute__((unused)) static void start(void)
{
	struct ki_err err = {0};

	if (ki_measure_start(m, &err))
		fail_msg("%s", err.msg);
}

static struct ki_reading *reading(void)
{
	struct ki_reading *r;
	struct ki_err err = {0};

	if (ki_measure_read(m, &r, &err))
		fail_msg("%s", err.msg);
	return r;
}

/* The value since the start. */
__attribute__((unused)) static double value(uint32_t curve)
{
	struct ki_reading *r = reading();
	double v = ki_reading_value(m, NULL, r, curve, KI_ALL_CPUS);

	ki_reading_free(r);
	return v;
}

/* ---- the kernel ---- */

/* Memory: 77 at one address. */
#define LOADED 0x7000

static uint64_t load_memory(void *arg, uint64_t addr, unsigned int size)
{
	(void)arg;
	(void)size;
	return addr == LOADED ? 77 : 0;
}

static void run_code(const struct ki_snippet *s, unsigned int thread, unsigned int cpu,
		     uint64_t arg)
{
	static const struct ki_site_regs site = {.at_entry = true, .at_exit = true};
	struct ki_machine k = {.counters = world.counters + cpu * COUNTERS,
			       .ncounters = COUNTERS,
			       .globals = world.globals,
			       .nglobals = GLOBALS,
			       .thread = world.threads[thread].words,
			       .nthread = WORDS,
			       .tsc = world.tsc,
			       .clock = world.threads[thread].clock,
			       .minflt = world.threads[thread].faults,
			       .nvcsw = world.threads[thread].switches,
			       .cpu = cpu,
			       .load = load_memory,
			       .pid = world.threads[thread].pid,
			       .tgid = world.threads[thread].pid};
	struct ki_err err = {0};

	k.regs[KI_RDI] = arg;
	if (ki_snippet_run(s, &site, &k, &err))
		fail_msg("%s", err.msg);
}

__attribute__((unused)) static void enter(unsigned int fn, unsigned int thread, unsigned int cpu,
					  uint64_t arg)
{
	for (size_t i = 0; i < m->insides.n; i++)
		if (m->insides.v[i].function == fns[fn]->start)
			run_code(m->insides.v[i].enter.snippet, thread, cpu, arg);
	for (size_t i = 0; i < m->earlies.n; i++)
		if (m->earlies.v[i].function == fns[fn]->start)
			run_code(m->earlies.v[i].code.snippet, thread, cpu, arg);
	for (size_t i = 0; i < m->pairs.n; i++) {
		if (m->pairs.v[i].function == fns[fn]->start)
			run_code(m->pairs.v[i].start.snippet, thread, cpu, arg);
		world.tsc += world.deciding;
	}
}

__attribute__((unused)) static void leave(unsigned int fn, unsigned int thread, unsigned int cpu)
{
	for (size_t i = 0; i < m->pairs.n; i++)
		if (m->pairs.v[i].function == fns[fn]->start)
			run_code(m->pairs.v[i].stop.snippet, thread, cpu, 0);
	for (size_t i = 0; i < m->insides.n; i++)
		if (m->insides.v[i].function == fns[fn]->start)
			run_code(m->insides.v[i].leave.snippet, thread, cpu, 0);
}

/* Time passes; the thread runs for a part of it. */
__attribute__((unused)) static void pass(uint64_t ticks, unsigned int thread, uint64_t ran)
{
	world.tsc += ticks;
	world.threads[thread].clock += ran;
}

#endif
