/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Metrics: what can be measured at points of the kernel, and measurements.
 *
 * A metric is a row of one table (lib/metric/metrics.c): its name, what it means, in what unit,
 * what code is put at which points of a function; and how its value comes from what that code has
 * written. A measurement is metrics x places x predicates, installed together, read as often as
 * wanted at no cost for the kernel, and taken out together.
 *
 * Points
 *  - What lasts is measured of functions, and of points that have a beginning and an end:
 *     - a block, from its first instruction to before the one by which it is left (its post-hook)
 *     - an instruction, wherever it goes on
 *     - a call in a function (KI_POINT_EDGE), from before it to after it; of a tail jump until
 *       what it leads to returns
 *     - all calls of a function (KI_POINT_CALLS) that come back
 *
 *    What is said below of a call of a function holds for these. Other points are one moment:
 *    KI_R_NO_DURATION.
 *  - "calls" of such a point is how often it begins, "exits" and "returns" how often it ends.
 *
 * Time
 *  - walltime goes from a call to when its caller gets control back, whether the thread runs or
 *    sleeps; vtime is the part during which it ran. Both in seconds, of the time stamp counter.
 *  - Recursion is charged once. A call inside a call of the same function is part of the outer
 *    one. The same thread makes it, or an interrupt that came to it. That holds down to 127 calls;
 *    ki_measure_too_deep says how many there were below these.
 *  - A call that was there already when the measurement began is not seen. One that is not over yet
 *    counts with what it has taken so far: in every reading, but not in histograms, nor in values
 *    per call, which are of calls that are over.
 *  - Page faults and switches between threads are known of calls that are over only, in every
 *    reading.
 *  - Events (cycles, cache misses, ...) are the thread's own: what was counted while it ran, on
 *    whichever CPU, interrupts that came meanwhile included; of calls that are over. Each event
 *    takes a hardware counter for as long as the target is open; when there is none left the metric
 *    is refused (KI_R_EVENTS_BUSY), and those that came before go on.
 *  - concurrency is walltime divided by the time that has passed: how many threads are inside, on
 *    average.
 *
 * Predicates
 *  - What counts asks at its point. What goes from a call to its return asks at the call: a thread
 *    that was let in is measured to the end. A call inside a call that is measured is part of it,
 *    whatever the predicate says of it.
 *  - inside(FUNCTION) is true from its entry until its caller has control back. A thread that was
 *    there when the measurement began is not seen until it comes again. Of several functions of
 * that name all are meant.
 */
#ifndef KERNINST_METRIC_H
#define KERNINST_METRIC_H

#include "kerninst/predicate.h"
#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ki_unit {
	KI_UNIT_COUNT,
	KI_UNIT_SECONDS,
	KI_UNIT_THREADS, /* a mean number of threads */
	KI_UNITS
};

enum ki_metric_form {
	KI_FORM_TOTAL,	   /* grows: the difference of two readings is what came between */
	KI_FORM_MEAN,	   /* a quotient of two such differences; nothing if the divisor is 0 */
	KI_FORM_HISTOGRAM, /* buckets by powers of two, each of form TOTAL */
	KI_FORMS
};

struct ki_metric {
	const char *name; /* as people write it: "walltime/call" */
	const char *text; /* what it means, one sentence */
	const char *code; /* what is put where */
	uint8_t unit;	  /* enum ki_unit, of values or of what a histogram is about */
	uint8_t form;	  /* enum ki_metric_form */
	bool lasts;	  /* of what has a beginning and an end only */
};

/* The table, in the order in which it is shown; NULL: no such number, no such name. */
const struct ki_metric *ki_metric_at(size_t n);
const struct ki_metric *ki_metric_find(const char *name);

/* Does only the kernel know it (vtime, faults, switches, events)? Of a process, too, it is then
   measured in the kernel (ki_measure_tell). */
bool ki_metric_needs_kernel(const struct ki_metric *m);

/*
 * The formula of what is computed, "walltime / calls", of names of metrics; calls are those that
 * are over, time is what has passed. "": it is measured as it is.
 */
#define KI_METRIC_DERIVED 192
void ki_metric_derived(const struct ki_metric *m, char *text, size_t size);

/*
 * A metric that is in no table: an event's with modifiers, "cycles:k" only in the kernel, "ipc:u"
 * only in user mode, "page-faults:k/call"; or an event of the processor by its number, as perf
 * writes it, "r01c2", with these too. It must outlive what measures it; free it with
 * ki_metric_free. -EINVAL: it is none.
 */
int ki_metric_new(const char *name, struct ki_metric **out, struct ki_err *err);
void ki_metric_free(struct ki_metric *m); /* NULL is allowed */

/*
 * Can it be measured on this machine? That is a question of events only, and the kernel is asked,
 * without the driver. The reason if not; another error: it does not tell, for example not whom it
 * does not trust. Whether a counter is free, only ki_measure_add finds out.
 */
int ki_metric_check(const struct ki_metric *m, struct ki_err *err);

/* The events that have names, one after the other; NULL: there are no more. */
const char *ki_event_at(size_t n);

/* Is this one counted here? Errors as of ki_metric_check. */
int ki_event_check(size_t n, struct ki_err *err);

/* "s", "threads"; "" for counts. */
const char *ki_unit_name(enum ki_unit unit);

struct ki_measure;

/*
 * The target must be live, the kernel or a process, and outlive the measurement.
 *
 * Of a process: all threads share one counter, changed with a lock. Of single CPUs hits are told,
 * no times (KI_R_NOT_IN_PROCESS); a thread that is moved at that moment may be told of the CPU that
 * it was on. A tail jump ends a call, as if it were a return; "returns" is refused where there is
 * one. Metrics of what only the kernel knows are refused: vtime, faults, switches, events. What has
 * not come to its end when the process ends, or becomes another program, is not counted. A thread
 * that leaves otherwise (longjmp, an exception, pthread_exit) stays inside, and walltime and
 * concurrency go on. What is forked is counted too, each process by itself for what lasts: of its
 * calls those that are over. ki_measure_pause, _update and _sample_to are for the kernel.
 */
int ki_measure_new(struct ki_target *t, struct ki_measure **out, struct ki_err *err);
void ki_measure_free(struct ki_measure *m); /* takes out what is installed */

/*
 * What is added from now on is of points of that process (of ki_target_new_process, which must live
 * on). It is measured in the kernel, the measurement's target, which is told of each hit by a
 * breakpoint of the driver's (ki_process_new_hits). So predicates and actions have all that there
 * is in the kernel, with registers, parameters and memory of the thread (ki_snippet_of_thread).
 * What lasts can be had of functions, with what only the kernel knows of a thread; a tail jump ends
 * it. What has a place after an instruction, or on an edge, is refused: KI_R_NOT_IN_PROCESS. NULL:
 * of the kernel.
 */
void ki_measure_tell(struct ki_measure *m, struct ki_target *process);

/* What is installed in the process, since the start: its costs, its end (kerninst/process.h), the
   measurement's. NULL: in the kernel. */
struct ki_splice_process;
const struct ki_splice_process *ki_measure_process(const struct ki_measure *m);
/* The same of one of the processes of ki_measure_tell; of the first one: NULL. */
const struct ki_splice_process *ki_measure_process_of(const struct ki_measure *m,
						      const struct ki_target *process);

/* Where it is measured, and when. None of them need live on. */
struct ki_measured_at {
	const struct ki_function *fn;
	const struct ki_spans *spans; /* the function's */
	const struct ki_point *point;
	uint16_t order;			 /* as in struct ki_insertion */
	const struct ki_predicate *when; /* NULL: always */
};

/*
 * A curve: one metric at one point of a function under a predicate (NULL: always). KI_POINT_ENTRY
 * means the whole function. *curve numbers it: 0, 1, ... On a
 * refusal no curve is added, and err has the reason; what it had put into the plan is never
 * installed. Curves that need the same
 * code (walltime and walltime/call of one function under one predicate) share it. Not after the
 * start: -EBUSY.
 */
int ki_measure_add(struct ki_measure *m, const struct ki_metric *metric,
		   const struct ki_measured_at *at, uint32_t *curve, struct ki_err *err);

/*
 * The same of the metric "count", with a statement that is executed each time when the point is
 * counted, after that: a record, for example. make builds it in the snippet; it is called before
 * this returns. -EINVAL, -E2BIG: it cannot stand there.
 */
typedef int ki_measure_action(void *arg, struct ki_snippet *s, struct ki_node **stmt,
			      struct ki_err *err);
int ki_measure_add_action(struct ki_measure *m, const struct ki_measured_at *at,
			  ki_measure_action *make, void *arg, uint32_t *curve, struct ki_err *err);

/*
 * A metric that lasts (KI_FORM_TOTAL), and what is done beside it each time when it is over: a row
 * of a table changed, for example. What its end needs of the beginning (an argument) begin leaves
 * in words of the thread. Both are called before this returns, to build their nodes. Of a call
 * inside a call nothing is done, nor of what began before the code came.
 */
#define KI_MEASURE_WORDS 12

struct ki_measure_ends {
	unsigned int words; /* at most KI_MEASURE_WORDS */
	/* When it begins, if there are words: the value of each. Of up to 4 evaluating them takes
	   no time that is measured. */
	int (*begin)(void *arg, struct ki_snippet *s, struct ki_node **values, struct ki_err *err);
	/* When it is over. words: variables, u64. took: a variable, u64: nanoseconds, or how many
	 * events, faults, ... */
	int (*end)(void *arg, struct ki_snippet *s, const struct ki_var *words,
		   const struct ki_var *took, struct ki_node **stmt, struct ki_err *err);
	void *arg;
};

int ki_measure_add_ends(struct ki_measure *m, const struct ki_metric *metric,
			const struct ki_measured_at *at, const struct ki_measure_ends *ends,
			uint32_t *curve, struct ki_err *err);

/* The plan, for its progress and counts; and the code that a curve puts somewhere, with its source
   beside it: one text for each of its places. Free *out with ki_free(). */
struct ki_plan *ki_measure_plan(struct ki_measure *m);
int ki_measure_listing(const struct ki_measure *m, uint32_t curve, char **out, struct ki_err *err);

/* Readings are to keep what each CPU counted, which takes memory for each. Before the start. */
void ki_measure_each_cpu(struct ki_measure *m);
/* Of how many CPUs that is. 1: of a process, where each is not wanted. */
unsigned int ki_measure_cpus(const struct ki_measure *m);

/* Ask the driver about everything, and install nothing: ki_measure_refusal then tells what would be
   left out. */
int ki_measure_check(struct ki_measure *m, struct ki_err *err);

/*
 * Install: what ends a measurement at a point before what begins it. Curves that the driver refuses
 * are left out (ki_measure_refusal tells which), with all their places. Once: what threads that are
 * inside have in their words at the stop cannot be told from what they would have later.
 */
int ki_measure_start(struct ki_measure *m, struct ki_err *err);
int ki_measure_stop(struct ki_measure *m, struct ki_err *err);
unsigned int ki_measure_refusal(const struct ki_measure *m, uint32_t curve); /* KI_R_OK: none */

/* What a curve of "count" has counted since its code came, exactly; after the stop, too. */
uint64_t ki_measure_hits(const struct ki_measure *m, uint32_t curve);

/* Of what goes from a call to its return: calls that were more than 127 deep inside themselves. If
   there are any, what they were a part of was taken to end too early. */
uint64_t ki_measure_too_deep(const struct ki_measure *m, uint32_t curve);

/* Instructions of inserted code that one pass through all of a curve's points costs at most. */
unsigned int ki_measure_cost(const struct ki_measure *m, uint32_t curve);

/*
 * What a measurement costs, while it goes on. Its parts come and go by themselves: each curve that
 * counts, each pair of a call and its return with all its curves (of two, if a curve is their
 * quotient). A part that is paused is not in the text; it goes on with what it has. Of a pair only
 * what begins is paused, so that what has begun is measured to its end, and no thread is left
 * inside.
 *
 * ki_measure_meter: before the first curve. Each part then also counts how often control comes by,
 * which is one instruction more where that is not what it counts anyway.
 */
void ki_measure_meter(struct ki_measure *m);

/* Before it begins: parts will be paused. In a process that is not so without it. */
void ki_measure_sheds(struct ki_measure *m);

/*
 * What lasts and has a predicate begins before that is decided: its clock is read once for all
 * predicates of a point. What deciding takes is then in each, as it is in everything around, and
 * parts that predicates make add up to the whole. Before the first curve. What is metered, or does
 * something at its end (ki_measure_add_ends), begins after its predicate all the same.
 */
void ki_measure_prior_clock(struct ki_measure *m);

/* The number of its point that code of curves added from now on tells instruments (struct ki_here
   of kerninst/instrument.h): its lower 16 bits. 0 if none is set. */
void ki_measure_number(struct ki_measure *m, uint32_t number);

/*
 * Actions (ki_measure_add_action) that are done at some of the hits only; all are counted. Before
 * the first curve: each action can then be sampled, as often as wanted, to one of 2^k hits, at
 * random. At first k is 0. On each CPU it holds from the next action on. -EINVAL: the part has no
 * action, or k is more than KI_RAREST.
 */
#define KI_RAREST 24
void ki_measure_sample(struct ki_measure *m);
int ki_measure_sample_to(struct ki_measure *m, uint32_t part, unsigned int k, struct ki_err *err);

/* Which part a curve belongs to, of how many. The last ones are what predicates need (inside()): if
   these are paused, so must all that have such a predicate. */
uint32_t ki_measure_part(const struct ki_measure *m, uint32_t curve);
uint32_t ki_measure_parts(const struct ki_measure *m);
uint32_t ki_measure_parts_needed(const struct ki_measure *m); /* those last ones */
/* Has a part such a predicate? What it needs is one of the last ones. */
bool ki_measure_part_needs(const struct ki_measure *m, uint32_t part, uint32_t other);

/* Instructions that the part's code has executed since it was first installed, jumps and helpers
   included: an estimate, from how often control came by and what the ways through the code cost. */
double ki_measure_spent(const struct ki_measure *m, uint32_t part);

/* Those of them that were for actions, which sampling saves; 0 if there are none, or they cannot be
   sampled. */
double ki_measure_acted(const struct ki_measure *m, uint32_t part);

/* Of one pass: where nothing is to be done (a predicate says no), and where all is done. Of a pair:
   of a call and its return. */
struct ki_cost {
	double least, most;
};
struct ki_cost ki_measure_pass_cost(const struct ki_measure *m, uint32_t part);

/* Pause, or pause no longer, from the next ki_measure_update on. for_good: what is not over yet
   is not measured to its end, and counts no longer. */
void ki_measure_pause(struct ki_measure *m, uint32_t part, bool pause, bool for_good);
int ki_measure_update(struct ki_measure *m, struct ki_err *err);

/*
 * A reading: everything that has been measured since the start, at one moment: between the start
 * and the stop. Values are of two readings, of which the first may be NULL: the start; of one CPU,
 * or of all. A MEAN is the quotient of what two totals have grown by.
 */
struct ki_reading;

int ki_measure_read(struct ki_measure *m, struct ki_reading **out, struct ki_err *err);
void ki_reading_free(struct ki_reading *r);

#define KI_ALL_CPUS (-1)

/*
 * What came between two readings. Not a number: a MEAN of nothing. cpu: after ki_measure_each_cpu
 * only, else not a number. What goes on is that CPU's where it ended, all of it, as threads move;
 * so these make the total, but for what is not over yet, which is in the total alone.
 */
double ki_reading_value(const struct ki_measure *m, const struct ki_reading *from,
			const struct ki_reading *to, uint32_t curve, int cpu);

/* The same for TOTALs of unit COUNT, exactly; how many a HISTOGRAM has in all its buckets; 0 for a
   CPU of which nothing is known. */
uint64_t ki_reading_count(const struct ki_measure *m, const struct ki_reading *from,
			  const struct ki_reading *to, uint32_t curve, int cpu);

/* A histogram: KI_LOG2_BUCKETS counts; bucket n is of 2^(n-1) to 2^n - 1 nanoseconds, or of counts
   if the unit is that. */
void ki_reading_buckets(const struct ki_measure *m, const struct ki_reading *from,
			const struct ki_reading *to, uint32_t curve,
			uint64_t buckets[KI_LOG2_BUCKETS]);
/* Those of one CPU, as ki_reading_value's. */
void ki_reading_buckets_cpu(const struct ki_measure *m, const struct ki_reading *from,
			    const struct ki_reading *to, uint32_t curve, int cpu,
			    uint64_t buckets[KI_LOG2_BUCKETS]);

#ifdef __cplusplus
}
#endif

#endif
