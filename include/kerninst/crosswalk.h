/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The search for a bottleneck of a process. It begins where the threads do (main) and goes down to
 * the last function of the program. System calls and page faults lead on to the kernel's last one.
 *
 * After Mirgorodskiy and Miller, "CrossWalk: A Tool for Performance Profiling Across the
 * User-Kernel Boundary" (ParCo 2003), and the search by call graph of Paradyn (Cain, Miller, Wylie,
 * Euro-Par 2000).
 *
 * Level by level: the functions in question get a timer each, from a call to its return, for a
 * while. The timers go; whose share of the time that has passed is below the threshold is left, and
 * what the others call is in question next. In the kernel the timers run for the process alone.
 *
 *  - Share: the mean number of threads that are inside, waiting or running: 1 is one thread all the
 *    time. A call inside a call of the same function is a part of it. A call that is there already
 *    when its timer comes is seen by the stacks of the threads, which are read before and after:
 *    one that is in both lasted all the time.
 *  - A function may be called so often that its timer would cost too much. In the program it gets
 *    none: its share is how often it is on a stack of some that are taken meanwhile. In the kernel
 *    it gets one for a quarter of the time; the share is too large then, by what the timer takes.
 *  - What calls through a pointer is watched for a while before its callees are in question.
 *  - A function is in question once, however many call it.
 *
 * Without the driver the search stays in the program, and what is called through pointers is found
 * by stacks alone.
 *
 * Other metrics than time. A timer then adds up what the thread has used in the call: CPU time,
 * page faults, cache misses. In the program it is the kernel that does, told by breakpoints of the
 * driver's; without it CPU time is that of stacks of threads that run.
 *
 * Shares of each thread are found in the same way, whatever the metric: of each call the kernel
 * knows the thread; without the driver they are of stacks.
 *
 *  - Of CPU time, 1 is one CPU all the time.
 *  - Of events, 1 is all that the process's threads had in the level's time. What a timer costs in
 *    events, or a look at stacks (switches), is among them.
 */
#ifndef KERNINST_CROSSWALK_H
#define KERNINST_CROSSWALK_H

#include <sys/types.h>

#include "kerninst/listener.h"
#include "kerninst/page.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ki_crosswalk_truth {
	KI_CROSSWALK_OPEN,   /* in question */
	KI_CROSSWALK_TRUE,   /* its share reaches the threshold */
	KI_CROSSWALK_FALSE,  /* it does not */
	KI_CROSSWALK_REFUSED /* nothing could be measured: `reason` says why */
};

enum ki_crosswalk_how {
	KI_CROSSWALK_ROOT,
	KI_CROSSWALK_CALL,    /* by the code */
	KI_CROSSWALK_POINTER, /* seen: a call through a pointer */
	KI_CROSSWALK_STACK,   /* seen: on a stack */
	KI_CROSSWALK_SYSCALL,
	KI_CROSSWALK_FAULT /* a page fault */
};

/* "call", "pointer" ...; "open", "true" ...; "?" for what is none. */
const char *ki_crosswalk_how_name(unsigned int how);
const char *ki_crosswalk_truth_name(unsigned int truth);

/* What the threshold is compared with. */
enum ki_crosswalk_threads {
	KI_CROSSWALK_SUM, /* of all threads */
	KI_CROSSWALK_ANY, /* the largest of one thread */
	KI_CROSSWALK_MEAN /* the mean of all threads that there are */
};

/* A thread's part. */
struct ki_crosswalk_share {
	pid_t tid;
	char name[16];
	double share;
};

struct ki_crosswalk_node {
	char *name, *module; /* the kernel's own: "kernel" */
	uint64_t addr;
	bool kernel;
	uint8_t truth;	 /* enum ki_crosswalk_truth */
	uint16_t reason; /* of KI_CROSSWALK_REFUSED, by_calls */
	uint32_t level;	 /* 0: a root */
	double share;	 /* of all, or as enum ki_crosswalk_threads says */
	double stood;	 /* of all, by calls that were there already */
	uint64_t calls;	 /* while it was timed, or counted */
	double seconds;	 /* for so long */
	bool sampled;	 /* called too often for a timer: see above */
	bool by_calls;	 /* its calls were timed, since nothing tells where it ends */
	bool is_last;	 /* it is true, and nothing that it calls is: a bottleneck */
	struct ki_crosswalk_share *threads; /* with KI_CROSSWALK_ANY, _MEAN: the largest first */
	uint32_t nthreads;
};

struct ki_crosswalk_edge {
	uint32_t from, to; /* numbers of nodes; from KI_NONE: a root */
	uint8_t how;	   /* enum ki_crosswalk_how */
	uint64_t site;	   /* of KI_CROSSWALK_POINTER: the call; else 0 */
};

struct ki_crosswalk_options {
	size_t size;	  /* of this structure */
	double threshold; /* 0: 0.25 */
	double seconds;	  /* for which a level is timed; 0: 1 */
	double limit;	  /* the share of a CPU that one function's timer may cost; 0: 0.05 */
	uint32_t levels;  /* at most; 0: 100 */
	bool user_only;
	/* Wait so long, as nanosleep does; false: the search is to end. NULL: just wait. */
	bool (*wait)(void *arg, double seconds);
	void *arg;
	/* What is searched: "wall" (NULL), "cpu", or a metric that grows while a function goes on
	   (kerninst/metric.h): "faults", "switches", "llc-misses". It need not live on. */
	const char *metric;
	unsigned int threads; /* enum ki_crosswalk_threads */
};

struct ki_crosswalk;

/*
 * The process must be one that the caller may trace. kernel: a live one, or NULL: in the program
 * only. It must live on. Nothing is put in yet. Errors of ki_target_new_process; -EINVAL: there is
 * no such metric, -EOPNOTSUPP: it is not counted here, or by the driver only.
 */
int ki_crosswalk_new(pid_t pid, struct ki_target *kernel, const struct ki_crosswalk_options *o,
		     struct ki_crosswalk **out, struct ki_err *err);
void ki_crosswalk_free(struct ki_crosswalk *w); /* NULL is allowed */

/*
 * Search to the end. Each level is measured and taken out again, so that nothing is in the text
 * between levels, and when this returns. The listener hears which level it is. 0 also if the
 * process has ended meanwhile, or `wait` has said no: ki_crosswalk_is_whole tells.
 */
int ki_crosswalk_search(struct ki_crosswalk *w, const struct ki_listener *l, struct ki_err *err);
bool ki_crosswalk_is_whole(const struct ki_crosswalk *w);

/* What the timers and counters have cost: shares of the time that the search took. */
struct ki_crosswalk_cost {
	double seconds; /* how long it took */
	double program, kernel;
};
struct ki_crosswalk_cost ki_crosswalk_cost(const struct ki_crosswalk *w);

/*
 * What the kernel has done elsewhere while the search went on: not by the process's threads, and
 * not only for it. Functions that interrupts, softirqs, timers and work queues call, and threads of
 * the kernel's own. What comes in another's time is a part of both: a tasklet of its softirq, a
 * timer of its softirq or interrupt.
 */
enum ki_crosswalk_kind {
	KI_CROSSWALK_INTERRUPT,
	KI_CROSSWALK_SOFTIRQ,
	KI_CROSSWALK_TASKLET,
	KI_CROSSWALK_TIMER,
	KI_CROSSWALK_WORK,
	KI_CROSSWALK_THREAD /* by its name; workers and softirqs' threads are left out */
};
const char *ki_crosswalk_kind_name(unsigned int kind);

struct ki_crosswalk_elsewhere {
	char *name, *module;
	uint64_t addr; /* 0: a thread */
	uint8_t kind;  /* enum ki_crosswalk_kind */
	double share;  /* of one CPU's time, for which it ran */
	double calls_per_second;
};

/* Those that reach this share, the largest first. None without the driver. */
#define KI_CROSSWALK_ELSEWHERE 0.01
const struct ki_crosswalk_elsewhere *ki_crosswalk_elsewhere(const struct ki_crosswalk *w,
							    uint32_t *n);

/* What has been found, as long as w lives. */
const struct ki_crosswalk_node *ki_crosswalk_nodes(const struct ki_crosswalk *w, uint32_t *n);
const struct ki_crosswalk_edge *ki_crosswalk_edges(const struct ki_crosswalk *w, uint32_t *n);

/* As a tree of what is true (page->verbose: of all), or an object for each node; then what was
   elsewhere. As a graph for dot. 0, or -errno. */
int ki_crosswalk_show(const struct ki_crosswalk *w, const struct ki_page *page, struct ki_err *err);
int ki_crosswalk_dot(const struct ki_crosswalk *w, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
