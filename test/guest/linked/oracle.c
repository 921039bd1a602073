// SPDX-License-Identifier: GPL-2.0-only
/*
 * oracle FUNCTION...: count every block of the functions, and the edges that lead to it, over a
 * known load, between two marks that the exec_count plugin sees too.
 *
 * The counters are read from the mapping right at the marks: no system call is between a mark
 * and its reading. Prints, for each block that carries a counter: the address of its window
 * (what the witness saw executed: the springboard), the count, and function:block/N; and for each
 * block all of whose edges could be counted, together by one counter: the address of the block,
 * which whoever comes to it executes, the count, and function:into/N.
 *
 * It runs on the last CPU, and what it prints was counted there. That CPU is isolated (isolcpus=),
 * so nothing else runs there.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kerninst/splice.h"
#include "prog/mark.h"

#define COUNTERS 4096
#define ROUNDS	 200

struct spot {
	uint64_t window;
	uint32_t block;
	uint32_t chunk, nchunks;
	const char *function;
	const char *what;
};

static struct spot spots[COUNTERS];
static uint32_t nspots, refused;
static uint32_t first;
static unsigned int cpu;
static uint64_t before[COUNTERS], after[COUNTERS];

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "oracle: %s: %s\n", what, err->msg);
	exit(1);
}

static void add_block(struct ki_plan *plan, const struct ki_function *fn,
		      const struct ki_spans *spans, uint32_t block)
{
	struct ki_point pt = {.kind = KI_POINT_BLOCK, .block = block};
	struct ki_place *places;
	struct ki_code code;
	struct spot *s = &spots[nspots];
	size_t n;

	if (nspots == COUNTERS || ki_point_places(fn, spans, &pt, &places, &n, NULL))
		return;
	ki_snippet_count(&code, first + nspots, places[0].flags_live);
	if (!places[0].reason &&
	    !ki_plan_add(plan, &(struct ki_insertion){fn, spans, &places[0], 0}, &code, &s->chunk,
			 NULL)) {
		s->window = ki_spans_at(spans, fn, places[0].addr)->addr;
		s->block = block;
		s->nchunks = 1;
		s->function = fn->symbol->name;
		s->what = "block";
		nspots++;
	} else {
		refused++;
	}
	free(places);
}

/* The place of an edge is counted; false: it cannot be. */
static bool add_edge(struct ki_plan *plan, const struct ki_function *fn,
		     const struct ki_spans *spans, uint32_t edge, struct spot *s)
{
	struct ki_point pt = {.kind = KI_POINT_EDGE, .edge = edge};
	struct ki_place *place;
	struct ki_code code;
	uint32_t id;
	size_t n;
	bool ok;

	if (ki_point_places(fn, spans, &pt, &place, &n, NULL))
		return false;
	ki_snippet_count(&code, first + nspots, place->flags_live);
	ok = !place->reason &&
	     !ki_plan_add(plan, &(struct ki_insertion){fn, spans, place, 0}, &code, &id, NULL);
	if (ok && !s->nchunks++)
		s->chunk = id;
	free(place);
	return ok;
}

/* A counter for all edges to a block, if nothing else leads there. */
static void add_edges(struct ki_plan *plan, const struct ki_function *fn,
		      const struct ki_spans *spans, uint32_t block)
{
	struct spot *s = &spots[nspots];
	bool all = block && !fn->blocks[block].entered;

	if (nspots == COUNTERS)
		return;
	*s = (struct spot){.window = fn->blocks[block].start, .block = block, .what = "into"};
	for (uint32_t e = 0; all && e < fn->nedges; e++)
		if (fn->edges[e].to_block == block)
			all = add_edge(plan, fn, spans, e, s);
	if (all && s->nchunks)
		s->function = fn->symbol->name;
	else
		refused++;
	nspots++; /* some may be in the plan already: this counter is used up */
}

static void add_function(struct ki_target *t, struct ki_plan *plan, const char *name)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t, "", name, NULL);
	struct ki_err err = {0};
	struct ki_function *fn;
	struct ki_spans spans;

	if (!sym) {
		fprintf(stderr, "oracle: this kernel has no %s\n", name);
		return;
	}
	if (ki_function_analyze(t, sym, &fn, &err) || ki_spans_find(fn, &spans, &err))
		die(name, &err);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		add_block(plan, fn, &spans, b);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		add_edges(plan, fn, &spans, b);
	ki_spans_free(&spans);
	ki_function_free(fn);
}

/* A bit of everything a program does with files, memory, processes and sockets. */
static void load(void)
{
	static char buf[4096];
	struct stat st;
	int fd, pair[2];

	for (int i = 0; i < ROUNDS; i++) {
		sys4(SYS_getppid, 0, 0, 0, 0);
		fd = open(i % 7 ? "/dev/zero" : "/nonexistent", O_RDONLY);
		if (fd >= 0) {
			if (read(fd, buf, i % 5 ? 1 : sizeof(buf)) < 0)
				return;
			close(fd);
		}
		stat(i % 3 ? "/proc/self/status" : "/etc", &st);
		munmap(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
		if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
			if (write(pair[0], buf, 10 + i) < 0 || read(pair[1], buf, 5) < 0)
				return;
			close(pair[0]);
			close(pair[1]);
		}
	}
}

static void snapshot(const struct ki_counter_map *map, uint64_t *out)
{
	for (uint32_t i = 0; i < nspots; i++)
		out[i] = ki_counter_read_cpu(map, first + i, cpu);
}

/* All of it is installed. */
static bool is_whole(const struct ki_plan *plan, const struct spot *s)
{
	bool whole = s->function != NULL;

	for (uint32_t i = 0; i < s->nchunks; i++)
		whole = whole && !ki_plan_refusal(plan, s->chunk + i);
	return whole;
}

static void stay_on_last_cpu(void)
{
	cpu_set_t set;

	cpu = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("oracle: sched_setaffinity");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct ki_counter_map *map;
	struct ki_target *t;
	struct ki_plan *plan;
	struct ki_err err = {0};

	if (ki_target_new_live(&t, &err) || ki_counters_take(t, COUNTERS, &first, &err) ||
	    ki_counter_map_new(t, &map, &err) || ki_plan_new(&plan))
		die("open", &err);
	for (int i = 1; i < argc; i++)
		add_function(t, plan, argv[i]);
	if (ki_plan_apply(plan, t, true, &err))
		die("apply", &err);
	stay_on_last_cpu();
	load();		       /* once before, so that nothing is met for the first time */
	snapshot(map, before); /* maps its pages */

	MARK_BEGIN();
	snapshot(map, before);
	load();
	snapshot(map, after);
	MARK_END();

	for (uint32_t i = 0; i < nspots; i++)
		if (is_whole(plan, &spots[i]))
			printf("%016llx %llu %s:%s/%u\n", (unsigned long long)spots[i].window,
			       (unsigned long long)(after[i] - before[i]), spots[i].function,
			       spots[i].what, spots[i].block);
	fprintf(stderr, "oracle: %u counters, %u blocks or their edges refused\n", nspots, refused);
	ki_plan_free(plan);
	ki_counter_map_free(map);
	ki_target_free(t);
	return 0;
}
