// SPDX-License-Identifier: GPL-2.0-only
/*
 * process: what a hit of a counter in a process costs, and a call whose time is measured, natively,
 * on this machine: beside the same function without one, and beside a breakpoint that the process
 * handles itself (SIGTRAP). They are put in by the library, through a guard, as kerninst stat does
 * it, and each must have counted all calls, or have a mean time of them. The machine may be shared:
 * each kind is timed many times, in turn, and the least counts.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/metric.h"
#include "kerninst/process.h"

#define CALLS	 2000000
#define TRAPS	 20000
#define ROUNDS	 12
#define NOINLINE __attribute__((noinline, noclone))

enum kind { PLAIN, COUNTED, KEPT, SHARED, ASKED, MISSED, TIMED, LATENCY, TRAP, KINDS };

static NOINLINE unsigned long hit(unsigned long n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static NOINLINE unsigned long trapped(unsigned long n)
{
	__asm__ volatile("int3" : "+r"(n));
	return n + 1;
}

static void on_trap(int sig)
{
	(void)sig;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double time_calls(unsigned long (*f)(unsigned long), int calls)
{
	unsigned long n = 0;
	double start = now_ns();

	for (int i = 0; i < calls; i++)
		n = f(n);
	return n ? (now_ns() - start) / calls : 0;
}

static int until;

static void *other(void *unused)
{
	while (!__atomic_load_n(&until, __ATOMIC_RELAXED))
		hit(1);
	return unused;
}

/* Another thread hits the same counter all the time. */
static double time_shared(void)
{
	pthread_t thread;
	double ns;

	until = 0;
	pthread_create(&thread, NULL, other, NULL);
	ns = time_calls(hit, CALLS);
	__atomic_store_n(&until, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return ns;
}

/* The process that is measured: a kind comes, its time goes. */
static void serve(int from, int to)
{
	char kind;

	signal(SIGTRAP, on_trap);
	while (read(from, &kind, 1) == 1) {
		double ns = kind == SHARED ? time_shared()
			    : kind == TRAP ? time_calls(trapped, TRAPS)
					   : time_calls(hit, CALLS);

		if (write(to, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

struct bench {
	pid_t pid;
	int to, from;
	struct ki_target *t;
	struct ki_function *fn;
	struct ki_spans spans;
	double least[KINDS];
};

static int fail(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "process: %s: %s\n", what, err->msg);
	return 1;
}

static int look(struct bench *b)
{
	const struct ki_symbol *sym;
	struct ki_err err = {0};

	if (ki_target_new_process(b->pid, &b->t, &err))
		return fail("open", &err);
	sym = ki_target_symbol_named(b->t, NULL, "hit", NULL);
	if (!sym || ki_function_analyze(b->t, sym, &b->fn, &err) ||
	    ki_spans_find(b->fn, &b->spans, &err))
		return fail("hit", &err);
	return 0;
}

static int put_in(struct bench *b, bool keep_flags, struct ki_splice_process **out)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct ki_err err = {0};
	struct ki_place *places;
	struct ki_plan *plan;
	struct ki_code code;
	uint32_t id;
	size_t n;
	int ret;

	ki_process_count(&code, 0, keep_flags);
	if (ki_plan_new(&plan) || ki_point_places(b->fn, &b->spans, &entry, &places, &n, &err))
		return fail("place", &err);
	ret = ki_plan_add(plan, &(struct ki_insertion){b->fn, &b->spans, places, 0}, &code, &id,
			  &err);
	if (!ret)
		ret = ki_process_new(b->t, plan, 1, out, &err);
	free(places);
	ki_plan_free(plan);
	return ret ? fail("splice", &err) : 0;
}

static int ask(struct bench *b, enum kind kind)
{
	char byte = (char)kind;
	double ns;

	if (write(b->to, &byte, 1) != 1 || read(b->from, &ns, sizeof(ns)) != sizeof(ns))
		return 1;
	if (!b->least[kind] || ns < b->least[kind])
		b->least[kind] = ns;
	return 0;
}

static int ask_counted(struct bench *b, enum kind kind)
{
	struct ki_splice_process *s;
	uint64_t n;

	if (put_in(b, kind == KEPT, &s) || ask(b, kind))
		return 1;
	n = ki_process_read(s, 0);
	ki_process_free(s);
	if (kind == SHARED ? n >= CALLS : n == CALLS)
		return 0;
	fprintf(stderr, "process: %llu hits were counted\n", (unsigned long long)n);
	return 1;
}

static const char *const metrics[KINDS] = {
	[ASKED] = "calls", [MISSED] = "calls", [TIMED] = "walltime/call", [LATENCY] = "latency"};

/* How many calls it has seen. */
static uint64_t calls_of(const struct ki_measure *m, uint32_t curve, const struct ki_reading *r,
			 enum kind kind)
{
	const double total = ki_reading_value(m, NULL, r, curve, KI_ALL_CPUS);

	if (kind != TIMED)
		return ki_reading_count(m, NULL, r, curve, KI_ALL_CPUS);
	return total > 0 && total < 1e-3 ? CALLS : 0; /* a mean, of whatever number */
}

/* Of ASKED only if the argument is not the last number there is, of MISSED only if it is. */
static const char *const conditions[KINDS] = {
	[ASKED] = "arg0 != 0xffffffffffffffff", [MISSED] = "arg0 == 0xffffffffffffffff"};

/* By a metric. */
static int ask_measured(struct bench *b, enum kind kind)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct ki_predicate *when = NULL;
	struct ki_reading *r = NULL;
	struct ki_measure *m = NULL;
	struct ki_err err = {0};
	uint32_t curve = 0;
	uint64_t n = 0;
	int ret = conditions[kind] ? ki_predicate_new(conditions[kind], &when, &err) : 0;

	if (!ret)
		ret = ki_measure_new(b->t, &m, &err);
	if (!ret)
		ret = ki_measure_add(m, ki_metric_find(metrics[kind]),
				     &(struct ki_measured_at){b->fn, &b->spans, &entry, 0, when},
				     &curve, &err);
	if (!ret)
		ret = ki_measure_start(m, &err);
	if (!ret && !ask(b, kind) && !ki_measure_read(m, &r, &err))
		n = calls_of(m, curve, r, kind);
	ki_reading_free(r);
	ki_measure_free(m);
	ki_predicate_free(when);
	if (ret || n != (kind == MISSED ? 0 : CALLS))
		return fail(metrics[kind], &err);
	return 0;
}

static void show(const struct bench *b)
{
	static const char *const names[KINDS] = {[PLAIN] = "no probe",
						 [COUNTED] = "counter",
						 [KEPT] = "counter, flags kept",
						 [SHARED] = "counter, two threads at once",
						 [ASKED] = "counter behind a predicate",
						 [MISSED] = "the same, that does not hold",
						 [TIMED] = "time from call to return",
						 [LATENCY] = "histogram of these times",
						 [TRAP] = "breakpoint, SIGTRAP handled"};

	printf("%-30s  %9s  %9s  %s\n", "a call of a function", "ns", "ns more",
	       "times the counter");
	for (int k = 0; k < KINDS; k++) {
		double more = b->least[k] - b->least[PLAIN];

		printf("%-30s  %9.2f  %9.2f", names[k], b->least[k], more);
		if (k != PLAIN)
			printf("  %.1f", more / (b->least[COUNTED] - b->least[PLAIN]));
		printf("\n");
	}
}

int main(void)
{
	struct bench b = {0};
	int to[2], from[2], ret;

	if (pipe(to) || pipe(from))
		return 1;
	b.pid = fork();
	if (!b.pid) {
		close(to[1]);
		serve(to[0], from[1]);
	}
	b.to = to[1];
	b.from = from[0];
	ret = look(&b);
	for (int i = 0; !ret && i < ROUNDS; i++)
		ret = ask(&b, PLAIN) || ask(&b, TRAP) || ask_counted(&b, COUNTED) ||
		      ask_counted(&b, KEPT) || ask_counted(&b, SHARED) || ask_measured(&b, ASKED) ||
		      ask_measured(&b, MISSED) || ask_measured(&b, TIMED) ||
		      ask_measured(&b, LATENCY);
	if (!ret)
		show(&b);
	ki_spans_free(&b.spans);
	ki_function_free(b.fn);
	ki_target_free(b.t);
	kill(b.pid, SIGKILL);
	return ret;
}
