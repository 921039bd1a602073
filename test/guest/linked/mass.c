// SPDX-License-Identifier: GPL-2.0-only
/*
 * mass COUNT STRIDE [TIMES]: count the entries of COUNT blocks at once, of every STRIDE-th function
 * of the kernel (0: of those with instructions that may fault), and say how long each step took,
 * and how long the machine was kept from other work.
 *
 * On each CPU a thread of the highest priority sleeps a millisecond at a time: how much later than
 * that it runs is how long the CPU was held up, by whatever does not let itself be preempted.
 * Prints lines "NAME VALUE": seconds, or milliseconds where the name says so; cpu_...: seconds for
 * which this thread ran (where QEMU counts instructions, a second is 10^9 of them).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/splice.h"

#define MS	 1000000L
#define CPUS_MAX 64

enum phase { REST, INSTALL, REMOVE, GIVE_BACK, PHASES };

static const char *const phases[PHASES] = {"rest", "install", "remove", "give_back"};
static int phase; /* enum phase */
static long worst[PHASES][CPUS_MAX];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double ran(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "mass: %s: %s\n", what, err && err->code ? err->msg : strerror(errno));
	exit(1);
}

/* ---- who is held up ---- */

static void *sleeper(void *arg)
{
	long cpu = (long)arg, late;
	struct timespec t, woke;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((int)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (;;) {
		int at = __atomic_load_n(&phase, __ATOMIC_RELAXED);

		t.tv_nsec += MS;
		if (t.tv_nsec >= 1000 * MS) {
			t.tv_nsec -= 1000 * MS;
			t.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		clock_gettime(CLOCK_MONOTONIC, &woke);
		late = (woke.tv_sec - t.tv_sec) * 1000 * MS + woke.tv_nsec - t.tv_nsec;
		if (late > worst[at][cpu])
			worst[at][cpu] = late;
		if (late > MS)
			t = woke;
	}
	return NULL;
}

static void start_sleepers(void)
{
	const struct sched_param top = {.sched_priority = 99};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	mlockall(MCL_CURRENT | MCL_FUTURE);
	for (long cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
		pthread_attr_t attr;
		pthread_t id;

		pthread_attr_init(&attr);
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
		pthread_attr_setschedparam(&attr, &top);
		errno = pthread_create(&id, &attr, sleeper, (void *)cpu);
		if (errno)
			die("pthread_create", NULL);
	}
}

static void enter(enum phase p)
{
	__atomic_store_n(&phase, p, __ATOMIC_RELAXED);
}

static void print_worst(void)
{
	for (int p = 0; p < PHASES; p++) {
		long most = 0;

		for (int cpu = 0; cpu < CPUS_MAX; cpu++)
			most = worst[p][cpu] > most ? worst[p][cpu] : most;
		printf("ms_held_%s %.3f\n", phases[p], (double)most / MS);
	}
}

/* ---- counters ---- */

struct work {
	struct ki_target *t;
	struct ki_plan *plan;
	uint32_t first, count, wanted;
	struct ki_err err;
};

static int add_block(struct work *w, const struct ki_function *fn, const struct ki_spans *spans,
		     uint32_t block)
{
	const struct ki_point pt = {.kind = KI_POINT_BLOCK, .block = block};
	struct ki_place *place;
	struct ki_code code;
	uint32_t id;
	size_t n;
	int ret = ki_point_places(fn, spans, &pt, &place, &n, &w->err);

	if (!ret && !place->reason) {
		ki_snippet_count(&code, w->first + w->count++, place->flags_live);
		ret = ki_plan_add(w->plan, &(struct ki_insertion){fn, spans, place, 0}, &code, &id,
				  &w->err);
	}
	free(place);
	return ret;
}

static int add_function(void *arg, size_t i, const struct ki_function *fn)
{
	struct work *w = arg;
	struct ki_spans spans;
	int ret;

	(void)i;
	if (fn->reason || w->count == w->wanted)
		return 0;
	ret = ki_spans_find(fn, &spans, &w->err);
	for (uint32_t b = 0; !ret && b < fn->nblocks && w->count < w->wanted; b++)
		ret = add_block(w, fn, &spans, b);
	ki_spans_free(&spans);
	return ret;
}

static size_t list_faulting(struct work *w, const struct ki_symbol **out)
{
	const struct ki_text_range *kernel = ki_target_ranges(w->t, &(size_t){0});
	const struct ki_reserved_row *rows;
	const struct ki_symbol *sym;
	size_t n, count = 0;

	if (ki_target_reserved(w->t, kernel->start, kernel->end, &rows, &n, &w->err))
		die("reserved", &w->err);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].reason != KI_R_EXTABLE)
			continue;
		sym = ki_target_symbol_at(w->t, rows[i].addr);
		if (sym && (!count || sym != out[count - 1]))
			out[count++] = sym;
	}
	return count;
}

static void make_plan(struct work *w, size_t stride)
{
	size_t n, count = 0;
	const struct ki_symbol *all = ki_target_symbols(w->t, &n), **some;

	some = malloc(n * sizeof(*some));
	if (!stride)
		count = list_faulting(w, some);
	for (size_t i = 0; stride && i < n; i += stride)
		if (!all[i].alias && !*all[i].module)
			some[count++] = &all[i];
	if (ki_plan_new(&w->plan) || ki_counters_take(w->t, w->wanted, &w->first, &w->err) ||
	    ki_functions_analyze(w->t,
				 &(struct ki_functions_job){
					 .syms = some, .n = count, .take = add_function, .arg = w},
				 &w->err))
		die("plan", &w->err);
	free(some);
}

static void apply(struct work *w)
{
	if (ki_plan_apply(w->plan, w->t, true, &w->err))
		die("apply", &w->err);
}

static void take_out(struct work *w)
{
	if (ki_plan_remove(w->plan, w->t, &w->err))
		die("remove", &w->err);
}

/* In and out, without a reading of symbols or of code in what is timed. */
static void again(struct work *w, size_t stride, int times)
{
	double t[3], cpu[3], sum[4] = {0};

	for (int i = 0; i < times; i++) {
		w->count = 0;
		make_plan(w, stride);
		t[0] = now();
		cpu[0] = ran();
		apply(w);
		t[1] = now();
		cpu[1] = ran();
		take_out(w);
		t[2] = now();
		cpu[2] = ran();
		for (int k = 0; k < 2; k++) {
			sum[k] += (t[k + 1] - t[k]) / times;
			sum[2 + k] += (cpu[k + 1] - cpu[k]) / times;
		}
		ki_plan_free(w->plan);
	}
	printf("again_install %.9f\nagain_remove %.9f\nagain_cpu_install %.9f\nagain_cpu_remove %.9f\n",
	       sum[0], sum[1], sum[2], sum[3]);
}

/* Until no patch is left: they are given back when nobody can be inside any more. */
static void wait_given_back(struct work *w)
{
	struct ki_info info = {.size = sizeof(info)};

	do {
		usleep(10000);
		if (ioctl(ki_target_fd(w->t), KI_IOC_INFO, &info))
			die("info", NULL);
	} while (info.heap_used);
}

int main(int argc, char **argv)
{
	struct work w = {.wanted = argc > 1 ? (uint32_t)atoi(argv[1]) : 20000};
	size_t stride = argc > 2 ? (size_t)atoi(argv[2]) : 25, refused = 0;
	struct ki_counter_map *map;
	uint64_t hits = 0;
	double t[5], cpu[5];

	t[0] = now();
	cpu[0] = ran();
	if (ki_target_new_live(&w.t, &w.err) || ki_counter_map_new(w.t, &map, &w.err))
		die("open", &w.err);
	make_plan(&w, stride);
	t[1] = now();
	cpu[1] = ran();
	start_sleepers();
	sleep(1);
	enter(INSTALL);
	t[2] = now();
	cpu[2] = ran();
	apply(&w);
	t[3] = now();
	cpu[3] = ran();
	enter(REMOVE);
	take_out(&w);
	t[4] = now();
	cpu[4] = ran();
	enter(GIVE_BACK);
	wait_given_back(&w);
	enter(REST);
	for (uint32_t i = 0; i < w.count; i++) {
		refused += ki_plan_refusal(w.plan, i) != KI_R_OK;
		hits += ki_counter_read(map, w.first + i);
	}
	printf("counters %u\nrefused %zu\nwindows %zu\nhosts %zu\nhits %llu\n", w.count, refused,
	       ki_plan_windows(w.plan), ki_plan_hosts(w.plan), (unsigned long long)hits);
	printf("analysis %.6f\ninstall %.6f\nremove %.6f\n", t[1] - t[0], t[3] - t[2], t[4] - t[3]);
	printf("cpu_analysis %.6f\ncpu_install %.6f\ncpu_remove %.6f\n", cpu[1] - cpu[0],
	       cpu[3] - cpu[2], cpu[4] - cpu[3]);
	print_worst();
	if (argc > 3)
		again(&w, stride, atoi(argv[3]));
	return 0;
}
