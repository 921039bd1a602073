// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where the kernel spends its time, and who calls whom meanwhile: samples of each CPU's clock, by
 * perf events, without any counter of the processor.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code/function/function.h"
#include "evolve/inside.h"
#include "util/search.h"

#define HERTZ	   2000
#define RING	   (1u << 17) /* bytes of a CPU's samples, at most 88 each: 0.7 seconds */
#define LOOK_EACH  0.5	      /* seconds */
#define DEPTH	   6	      /* frames: where it is, and callers */
#define CANDIDATES 16	      /* callers that are asked to be the judge */

/* A sample, as perf writes it. */
struct sample {
	struct perf_event_header header;
	uint64_t ip, n;
	uint64_t chain[DEPTH + 2]; /* with marks between contexts */
};

/* Numbers of symbols. */
struct call {
	uint32_t callee, caller;
};

struct sampler {
	struct ki_target *t;
	const struct ki_symbol *first; /* of the target's, which are in order of address */
	uint64_t *hits;		       /* of each symbol */
	ki_vec(struct call) calls;
	struct cpu_ring {
		int fd;
		struct perf_event_mmap_page *page;
	} * rings;
	size_t ncpus, page;
};

static int open_ring(struct sampler *s, int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_freq = HERTZ,
				       .freq = 1,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
				       .sample_max_stack = DEPTH,
				       .exclude_callchain_user = 1,
				       .exclude_user = 1,
				       .exclude_hv = 1};
	struct cpu_ring *r = &s->rings[s->ncpus];
	void *page;

	r->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0)
		return errno == ENODEV ? 0 : -errno; /* the CPU is off */
	page = mmap(NULL, s->page + RING, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (page == MAP_FAILED) {
		int error = errno;

		close(r->fd);
		return -error;
	}
	r->page = page;
	s->ncpus++;
	return 0;
}

static void close_rings(struct sampler *s)
{
	while (s->ncpus--) {
		munmap(s->rings[s->ncpus].page, s->page + RING);
		close(s->rings[s->ncpus].fd);
	}
	free(s->rings);
	free(s->hits);
	ki_vec_free(&s->calls);
}

static int open_rings(struct sampler *s)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t nsyms;
	int ret = 0;

	s->page = (size_t)sysconf(_SC_PAGESIZE);
	s->first = ki_target_symbols(s->t, &nsyms);
	s->hits = calloc(nsyms + 1, sizeof(*s->hits));
	s->rings = calloc((size_t)cpus + 1, sizeof(*s->rings));
	if (!s->hits || !s->rings)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus && !ret; cpu++)
		ret = open_ring(s, cpu);
	return ret;
}

/* The calls of a sample, from the innermost on, between symbols that are known: a copy of a
   function is not. */
static int count_calls(struct sampler *s, const struct sample *v)
{
	const struct ki_symbol *callee = ki_target_symbol_at(s->t, v->ip), *caller;
	bool first = true; /* the sample's own place */
	int ret = 0;

	for (size_t i = 0; callee && i < v->n && i < DEPTH + 2 && !ret; i++) {
		if (v->chain[i] >= PERF_CONTEXT_MAX)
			continue;
		/* A call may be the last instruction of a function. */
		caller = first ? NULL : ki_target_symbol_at(s->t, v->chain[i] - 1);
		first = false;
		if (!caller || caller == callee)
			continue;
		ret = ki_vec_push(&s->calls, (struct call){(uint32_t)(callee - s->first),
							   (uint32_t)(caller - s->first)});
		callee = caller;
	}
	return ret;
}

static int count_sample(struct sampler *s, const struct sample *v)
{
	const struct ki_symbol *sym = ki_target_symbol_at(s->t, v->ip);

	if (!sym)
		return 0;
	s->hits[sym - s->first]++;
	return count_calls(s, v);
}

/* The ring's bytes from `at` on, which its end may cut in two. */
static void copy_out(const uint8_t *data, uint64_t at, void *to, size_t n)
{
	size_t first = RING - at % RING;

	first = first < n ? first : n;
	memcpy(to, data + at % RING, first);
	memcpy((uint8_t *)to + first, data, n - first);
}

static int read_ring(struct sampler *s, struct cpu_ring *r)
{
	const uint8_t *data = (const uint8_t *)r->page + s->page;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->page->data_tail;
	int ret = 0;

	while (at < head && !ret) {
		struct sample v = {0};

		copy_out(data, at, &v.header, sizeof(v.header));
		if (v.header.type == PERF_RECORD_SAMPLE) {
			copy_out(data, at, &v,
				 v.header.size < sizeof(v) ? v.header.size : sizeof(v));
			ret = count_sample(s, &v);
		}
		at += v.header.size;
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	return ret;
}

static int sample(struct sampler *s, double seconds, bool (*wait)(void *arg, double seconds),
		  void *arg)
{
	int ret = 0;

	while (seconds > 0 && !ret) {
		double now = seconds < LOOK_EACH ? seconds : LOOK_EACH;

		if (!wait(arg, now))
			ret = -ECANCELED;
		for (size_t i = 0; i < s->ncpus && !ret; i++)
			ret = read_ring(s, &s->rings[i]);
		seconds -= now;
	}
	return ret;
}

struct place {
	const struct ki_symbol *sym;
	uint64_t hits;
};

static int hotter_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return x->sym < y->sym ? -1 : x->sym > y->sym;
}

static int by_pair(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

/* Where the calls of a symbol begin; they are in order. */
static size_t first_call(const struct sampler *s, uint32_t callee)
{
	const struct call first = {callee, 0};
	return KI_FIRST(i, s->calls.n, by_pair(&s->calls.v[i], &first) >= 0);
}

/* The most frequent caller of a symbol. */
static const struct ki_symbol *caller_of(const struct sampler *s, const struct ki_symbol *sym)
{
	uint32_t callee = (uint32_t)(sym - s->first);
	const struct ki_symbol *found = NULL;
	size_t lo = first_call(s, callee), most = 0, run = 0;

	for (size_t i = lo; i < s->calls.n && s->calls.v[i].callee == callee; i++) {
		const struct call *c = &s->calls.v[i];

		run = i > lo && !by_pair(c, c - 1) ? run + 1 : 1;
		if (run > most) {
			most = run;
			found = &s->first[c->caller];
		}
	}
	return found;
}

/* The n hottest: *out of *count; free(). */
static int rank(const struct sampler *s, size_t n, struct ki_evolve_hot **out, size_t *count)
{
	size_t nsyms, hit = 0;
	struct place *v;

	ki_target_symbols(s->t, &nsyms);
	v = calloc(nsyms + 1, sizeof(*v));
	*out = calloc(n + 1, sizeof(**out));
	if (!v || !*out) {
		free(v);
		free(*out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nsyms; i++)
		if (s->hits[i])
			v[hit++] = (struct place){&s->first[i], s->hits[i]};
	qsort(v, hit, sizeof(*v), hotter_first);
	for (*count = 0; *count < n && *count < hit; (*count)++)
		(*out)[*count] = (struct ki_evolve_hot){v[*count].sym, caller_of(s, v[*count].sym)};
	free(v);
	return 0;
}

/* The ring of each CPU is open and closed here; then s->calls are in order. */
static int sample_machine(struct sampler *s, const struct ki_evolve_search *how, struct ki_err *err)
{
	int ret = open_rings(s);

	if (ret)
		return ki_err_set(err, ret, 0, "the CPUs' clocks cannot be sampled: %s",
				  strerror(-ret));
	ret = sample(s, how->seconds, how->wait, how->arg);
	if (ret == -ECANCELED)
		return ki_err_set(err, ret, 0, "sampling was stopped; nothing has changed");
	if (ret)
		return ki_err_set(err, ret, 0, "sampling: %s", strerror(-ret));
	if (s->calls.n)
		qsort(s->calls.v, s->calls.n, sizeof(*s->calls.v), by_pair);
	return 0;
}

int ki_evolve_hottest(struct ki_target *t, const struct ki_evolve_search *how,
		      struct ki_evolve_hot **out, size_t *count, struct ki_err *err)
{
	struct sampler s = {.t = t};
	int ret = sample_machine(&s, how, err);

	if (!ret && rank(&s, how->n, out, count))
		ret = ki_err_set(err, -ENOMEM, 0, "hottest: out of memory");
	close_rings(&s);
	return ret;
}

/* How often each symbol was seen to call one of them, if it is none of them itself. */
static void count_callers(const struct sampler *s, const struct ki_symbol *const *callees, size_t n,
			  uint32_t *seen)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t callee = (uint32_t)(callees[i] - s->first);

		for (size_t k = first_call(s, callee); k < s->calls.n; k++) {
			if (s->calls.v[k].callee != callee)
				break;
			seen[s->calls.v[k].caller]++;
		}
	}
	for (size_t i = 0; i < n; i++)
		seen[callees[i] - s->first] = 0;
}

/* The most frequent that can be measured. */
static const struct ki_symbol *judge_of(const struct sampler *s, uint32_t *seen)
{
	size_t nsyms, most;

	ki_target_symbols(s->t, &nsyms);
	for (int tries = 0; tries < CANDIDATES; tries++) {
		most = 0;
		for (size_t i = 1; i < nsyms; i++)
			most = seen[i] > seen[most] ? i : most;
		if (!seen[most])
			break;
		if (ki_evolve_can_judge(s->t, &s->first[most]))
			return &s->first[most];
		seen[most] = 0;
	}
	return NULL;
}

int ki_evolve_find_caller(struct ki_target *t, const struct ki_symbol *const *callees, size_t n,
			  const struct ki_evolve_search *how, const struct ki_symbol **out,
			  struct ki_err *err)
{
	struct sampler s = {.t = t};
	int ret = sample_machine(&s, how, err);
	uint32_t *seen = NULL;
	size_t nsyms;

	*out = NULL;
	ki_target_symbols(t, &nsyms);
	if (!ret) {
		seen = calloc(nsyms + 1, sizeof(*seen));
		if (!seen)
			ret = ki_err_set(err, -ENOMEM, 0, "judge: out of memory");
	}
	if (!ret) {
		count_callers(&s, callees, n, seen);
		*out = judge_of(&s, seen);
	}
	free(seen);
	close_rings(&s);
	return ret;
}

int ki_evolve_find_judge(struct ki_evolve *e, const struct ki_evolve_search *how,
			 const struct ki_symbol **out, struct ki_err *err)
{
	const struct ki_symbol **callees = calloc(e->v.n + 1, sizeof(*callees));
	int ret;

	*out = NULL;
	if (!callees)
		return ki_err_set(err, -ENOMEM, 0, "judge: out of memory");
	for (size_t i = 0; i < e->v.n; i++)
		callees[i] = e->v.v[i].fn->symbol;
	ret = ki_evolve_find_caller(e->t, callees, e->v.n, how, out, err);
	free(callees);
	return ret;
}
