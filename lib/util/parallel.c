/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "util/parallel.h"

#include <pthread.h>
#include <sched.h>

#define MAX_THREADS 64

struct loop {
	size_t n, next;
	ki_parallel_step step;
	void *arg;
	int error;
};

struct worker {
	struct loop *loop;
	pthread_t id;
	unsigned int number;
};

unsigned int ki_parallel_cpus(void)
{
	cpu_set_t set;
	int n = 1;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
	return n < 1 ? 1 : (unsigned int)n;
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct loop *l = w->loop;

	while (!__atomic_load_n(&l->error, __ATOMIC_RELAXED)) {
		size_t i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
		int none = 0, ret;

		if (i >= l->n)
			break;
		ret = l->step(l->arg, w->number, i);
		if (ret)
			__atomic_compare_exchange_n(&l->error, &none, ret, 0, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
	}
	return NULL;
}

int ki_parallel(size_t n, unsigned int threads, ki_parallel_step step, void *arg)
{
	struct loop l = {.n = n, .step = step, .arg = arg};
	struct worker w[MAX_THREADS];
	unsigned int started = 1;

	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	for (; started < threads && started < n; started++) {
		w[started] = (struct worker){.loop = &l, .number = started};
		if (pthread_create(&w[started].id, NULL, run, &w[started]))
			break;
	}
	w[0] = (struct worker){.loop = &l, .number = 0};
	run(&w[0]);
	for (unsigned int i = 1; i < started; i++)
		pthread_join(w[i].id, NULL);
	return l.error;
}
