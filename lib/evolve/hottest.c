// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where the kernel spends its time: samples of each CPU's clock, by perf events, without any
 * counter of the processor.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "evolve/inside.h"

#define HERTZ	  2000
#define RING	  (1u << 16) /* bytes of a CPU's samples, 16 each: two seconds */
#define LOOK_EACH 0.5	     /* seconds */

struct sampler {
	struct ki_target *t;
	const struct ki_symbol *first; /* of the target's, which are in order of address */
	uint64_t *hits;		       /* of each symbol */
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
				       .sample_type = PERF_SAMPLE_IP,
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

static void count_sample(struct sampler *s, uint64_t ip)
{
	const struct ki_symbol *sym = ki_target_symbol_at(s->t, ip);

	if (sym)
		s->hits[sym - s->first]++;
}

static void read_ring(struct sampler *s, struct cpu_ring *r)
{
	const uint8_t *data = (const uint8_t *)r->page + s->page;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->page->data_tail;

	while (at < head) {
		struct perf_event_header h;
		uint64_t ip;

		/* records are multiples of 8 bytes, so neither is cut by the ring's end */
		memcpy(&h, data + at % RING, sizeof(h));
		memcpy(&ip, data + (at + sizeof(h)) % RING, sizeof(ip));
		if (h.type == PERF_RECORD_SAMPLE)
			count_sample(s, ip);
		at += h.size;
	}
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

static int sample(struct sampler *s, double seconds, bool (*wait)(void *arg, double seconds),
		  void *arg)
{
	int ret = 0;

	while (seconds > 0 && !ret) {
		double now = seconds < LOOK_EACH ? seconds : LOOK_EACH;

		if (!wait(arg, now))
			ret = -ECANCELED;
		for (size_t i = 0; i < s->ncpus; i++)
			read_ring(s, &s->rings[i]);
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

/* The n hottest: *out of *count; free(). */
static int rank(const struct sampler *s, size_t n, const struct ki_symbol ***out, size_t *count)
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
		(*out)[*count] = v[*count].sym;
	free(v);
	return 0;
}

int ki_evolve_hottest(struct ki_target *t, const struct ki_evolve_search *how,
		      const struct ki_symbol ***out, size_t *count, struct ki_err *err)
{
	struct sampler s = {.t = t};
	int ret = open_rings(&s);

	if (ret)
		ki_err_set(err, ret, 0, "hottest: the CPUs' clocks cannot be sampled: %s",
			   strerror(-ret));
	else
		ret = sample(&s, how->seconds, how->wait, how->arg);
	if (!ret)
		ret = rank(&s, how->n, out, count);
	if (ret == -ENOMEM)
		ki_err_set(err, ret, 0, "hottest: out of memory");
	if (ret == -ECANCELED)
		ki_err_set(err, ret, 0, "hottest: stopped; nothing has changed");
	close_rings(&s);
	return ret;
}
