// SPDX-License-Identifier: GPL-2.0-only
/*
 * native: what laying out gains in time of a real processor. Functions of a kernel that only
 * compute are lifted into this process (test/lift), profiled by single steps, laid out each by the
 * product's policy and the driver's linker, and timed in the text and laid out, in windows in turn.
 *
 * usage: native VMLINUX SYSTEM_MAP [LOAD]
 *
 * warm: one operation after the other, so all code is in the first-level cache both times, and
 * what is left to gain is branches that fall. cold: between two operations 64 KiB of other code are
 * executed, as a system call finds the cache after a program: then lines count, too.
 *
 * What this shows: the time that the same bytes take which a running kernel would execute, on this
 * processor. What it does not: a kernel's own mixture (interrupts, several CPUs, data that is cold,
 * page tables of 2 MiB).
 *
 * promise: Layouts of functions that compute gain time on a real processor.
 */
#include "native.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <x86intrin.h>

#include "kerninst/err.h"
#include "lay.h"
#include "splice/plan.h"
#include "util/welch.h"

#define WINDOWS	  30
#define PARTS	  200	     /* of a window */
#define WARM_OPS  20	     /* of a part */
#define STEPPED	  200	     /* operations of the profile */
#define STEPS	  (1u << 20) /* instructions of it */
#define FUNCTIONS 64
#define OTHER	  (64u << 10) /* bytes of other code */
#define LINE	  64

static struct lift lift;
static uint64_t *trace;
static size_t ntrace;

/* ---- the profile ---- */

static void on_step(int sig, siginfo_t *info, void *context)
{
	uint64_t rip = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)sig;
	(void)info;
	if (rip >= lift.text && rip < lift.text_end && ntrace < STEPS)
		trace[ntrace++] = rip;
}

static void step(const struct native_load *load)
{
	struct sigaction sa = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	ntrace = 0;
	sigaction(SIGTRAP, &sa, NULL);
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "cc", "memory");
	for (unsigned int i = 0; i < STEPPED && ntrace < STEPS / 8; i++)
		load->once(i * 77u);
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "cc", "memory");
}

struct hot {
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_lay_graph graph;
	uint32_t *order;
};

static struct hot hot[FUNCTIONS];
static size_t nhot;
static struct laid laid; /* all of them that can be */

static void begin(const struct ki_symbol *sym)
{
	struct hot *h = &hot[nhot];
	struct ki_err err = {0};

	if (nhot == FUNCTIONS || ki_function_analyze(lift.target, sym, &h->fn, &err))
		return;
	if (ki_spans_find_laid(h->fn, &h->spans, &err)) {
		ki_function_free(h->fn);
		return;
	}
	h->graph = (struct ki_lay_graph){.nblocks = h->fn->nblocks};
	h->graph.blocks = calloc(h->fn->nblocks + 1, sizeof(*h->graph.blocks));
	h->graph.edges = calloc(h->fn->nedges + 1, sizeof(*h->graph.edges));
	h->order = calloc(h->fn->nblocks + 1, sizeof(*h->order));
	for (uint32_t b = 0; b < h->fn->nblocks; b++)
		h->graph.blocks[b].size = (uint32_t)(h->fn->blocks[b].end - h->fn->blocks[b].start);
	for (uint32_t e = 0; e < h->fn->nedges; e++)
		if (h->fn->edges[e].to_block < h->fn->nblocks)
			h->graph.edges[h->graph.nedges++] = (struct ki_lay_edge){
				h->fn->edges[e].block, h->fn->edges[e].to_block, 0};
	nhot++;
}

static struct hot *hot_at(uint64_t rip)
{
	static struct hot *last;
	const struct ki_symbol *sym;

	if (last && last < hot + nhot && rip >= last->fn->start && rip < last->fn->end)
		return last;
	for (size_t i = 0; i < nhot; i++)
		if (rip >= hot[i].fn->start && rip < hot[i].fn->end)
			return last = &hot[i];
	sym = ki_target_symbol_at(lift.target, rip);
	if (!sym || sym->addr != rip) /* of one that is not entered nothing is known */
		return NULL;
	begin(sym);
	last = nhot && hot[nhot - 1].fn->start == rip ? &hot[nhot - 1] : NULL;
	return last;
}

static uint32_t block_of(const struct ki_function *fn, uint64_t start)
{
	uint32_t b = 0;

	while (b < fn->nblocks && fn->blocks[b].start != start)
		b++;
	return b;
}

/* Control came from the last instruction of a block to the first of another. */
static void count(struct hot *h, uint64_t from, uint64_t to)
{
	uint32_t b = block_of(h->fn, to);

	if (b == h->fn->nblocks)
		return;
	h->graph.blocks[b].count++;
	for (uint32_t i = 0; i < h->graph.nedges; i++) {
		struct ki_lay_edge *e = &h->graph.edges[i];
		const struct ki_block *f = &h->fn->blocks[e->from];

		if (e->to == b && h->fn->insns[f->first + f->count - 1].addr == from)
			e->count++;
	}
}

static void profile(const struct native_load *load)
{
	nhot = 0;
	step(load);
	for (size_t i = 0; i < ntrace; i++) {
		struct hot *h = hot_at(trace[i]);

		if (h)
			count(h, i ? trace[i - 1] : 0, trace[i]);
	}
}

/* ---- layouts ---- */

static void no_trap(uint64_t addr, uint64_t via)
{
	(void)addr;
	(void)via;
	abort();
}

static bool has_traps(const struct laid *v)
{
	const struct ki_plan *p = v->plan;

	for (size_t i = 0; i < p->windows.n; i++)
		if (p->windows.v[i].board == KI_BOARD_TRAP &&
		    !(p->windows.v[i].flags & KI_WINDOW_UNBOARDED))
			return true;
	return false;
}

/* Whether it can be laid out by itself, without a breakpoint. */
static bool can_be(struct ki_layout *l)
{
	struct laid alone;
	bool can = !lay_in(&alone, l, 1, lift.patch, LIFT_PATCH) && !has_traps(&alone);

	lay_free(&alone);
	return can;
}

static int by_address(const void *a, const void *b)
{
	const struct ki_layout *x = a, *y = b;

	return (x->fn->start > y->fn->start) - (x->fn->start < y->fn->start);
}

static size_t lay_all(void)
{
	struct ki_layout l[FUNCTIONS];
	size_t n = 0;

	for (size_t i = 0; i < nhot; i++) {
		struct hot *h = &hot[i];
		uint64_t calls = h->graph.nblocks ? h->graph.blocks[0].count : 0;

		l[n] = (struct ki_layout){.fn = h->fn, .spans = &h->spans, .blocks = h->order};
		n += !ki_lay_ext_tsp(&h->graph, calls / 20, h->order, &l[n].nhot) && can_be(&l[n]);
	}
	qsort(l, n, sizeof(*l), by_address);
	return lay_in(&laid, l, n, lift.patch, LIFT_PATCH) || has_traps(&laid) ? 0 : n;
}

static void forget(void)
{
	lay_free(&laid);
	for (size_t i = 0; i < nhot; i++) {
		ki_lay_graph_free(&hot[i].graph);
		free(hot[i].order);
		ki_spans_free(&hot[i].spans);
		ki_function_free(hot[i].fn);
	}
	nhot = 0;
}

/* ---- time ---- */

static uint8_t *other;

/* A jump to the next line in each, then a return. */
static int make_other(void)
{
	other = mmap(NULL, OTHER + LINE, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (other == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < OTHER; i += LINE) {
		other[i] = 0xeb;
		other[i + 1] = LINE - 2;
	}
	other[OTHER] = 0xc3;
	return 0;
}

static uint64_t cycles(void)
{
	unsigned int cpu;
	uint64_t now = __rdtscp(&cpu);

	_mm_lfence();
	return now;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median of its parts: others may have had the processor meanwhile. */
static double one_window(const struct native_load *load, bool cold)
{
	void (*run_other)(void) = (void (*)(void))(uintptr_t)other; // NOLINT
	uint64_t v[PARTS];
	unsigned int ops = cold ? 1 : WARM_OPS;

	for (unsigned int i = 0; i < PARTS; i++) {
		uint64_t start;

		if (cold)
			run_other();
		start = cycles();
		for (unsigned int k = 0; k < ops; k++)
			load->once(i * 7 + k);
		v[i] = cycles() - start;
	}
	qsort(v, PARTS, sizeof(*v), by_size);
	return (double)v[PARTS / 2] / ops;
}

static void measure(const struct native_load *load, bool cold, size_t functions)
{
	double v[2][WINDOWS];
	struct ki_sample s[2];
	struct ki_comparison c;

	for (int i = -2; i < WINDOWS; i++)
		for (int on = 0; on < 2; on++) {
			double t;

			lay_switch(&laid, on, no_trap);
			one_window(load, cold); /* what the switch has made cold */
			t = one_window(load, cold);
			if (i >= 0)
				v[on][i] = t;
		}
	lay_switch(&laid, false, no_trap);
	for (int on = 0; on < 2; on++)
		ki_sample_of(v[on], WINDOWS, &s[on]);
	ki_sample_compare(&s[0], &s[1], 0.95, &c);
	printf("%-8s %-5s %10.0f %10.0f %+8.1f %% [%+.1f, %+.1f] %4zu\n", load->name,
	       cold ? "cold" : "warm", s[0].mean, s[1].mean, c.difference / s[0].mean * 100,
	       c.low / s[0].mean * 100, c.high / s[0].mean * 100, functions);
}

/* What layouts ask: who uses ftrace, before calls pass a site by; the keys of static branches. */
static void nobody_traces(const char *system_map)
{
	uint64_t list = lift_symbol(system_map, "ftrace_ops_list");

	linker_users = (unsigned long *)(uintptr_t)list; // NOLINT
	linker_ours = list ? *linker_users : 0;
	lay_branches(lift_symbol(system_map, "__start___jump_table"),
		     lift_symbol(system_map, "__stop___jump_table"));
}

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	trace = malloc(STEPS * sizeof(*trace));
	if (argc < 3 || !trace) {
		fprintf(stderr, "usage: %s VMLINUX SYSTEM_MAP [LOAD]\n", argv[0]);
		return 2;
	}
	if (lift_open(argv[1], argv[2], &lift) || make_other())
		return 1;
	nobody_traces(argv[2]);
	printf("Functions that compute, lifted into a process, on this processor; cycles of its clock.\n");
	printf("%-8s %-5s %10s %10s %10s  95 %%            laid out\n", "load", "cache", "text",
	       "laid out", "change");
	for (size_t i = 0; i < native_nloads; i++) {
		const struct native_load *load = &native_loads[i];
		size_t n;

		if (argc > 3 && strcmp(argv[3], load->name))
			continue;
		if (load->prepare(argv[2])) {
			printf("%-8s the kernel has not what it needs\n", load->name);
			continue;
		}
		profile(load);
		n = lay_all();
		measure(load, false, n);
		measure(load, true, n);
		forget();
	}
	lift_close(&lift);
	return 0;
}
